// Goal: the list on a terminal follows other processes, obeys keys and sizes, and gives the
// terminal back on every way out. Method: the program runs on a terminal of its own, whose output
// goes to an emulated one.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("A watched list", .serialized, .timeLimit(.minutes(2)))
struct WatchTests {
  /// The program on a terminal with its output emulated.
  private final class Stage {
    let place: Workplace
    let session: TerminalSession
    private var terminal = TerminalEmulator(rows: 30, columns: 97)

    init(_ place: Workplace, _ command: String) throws {
      self.place = place
      // The text from before must be on the terminal again afterwards.
      let line = "sh -c 'echo before; \(command); status=$?; echo after; exit $status'"
      session = try TerminalSession(
        line, in: place, environment: ["TERM": "xterm", "NO_COLOR": "1"])
    }

    var lines: [String] { terminal.lines }
    var isListShown: Bool { terminal.isAlternate && !terminal.showsCursor }

    /// Reads until the terminal shows what is wanted.
    func wait(
      _ location: SourceLocation = #_sourceLocation, until isWanted: ([String]) -> Bool
    ) throws {
      while !isWanted(terminal.lines) {
        let text = try session.more(location)
        terminal.write(text)
      }
    }

    func type(_ text: String) throws {
      try #require(System.write(Array(text.utf8), to: session.controller) == 0)
    }

    func resize(rows: Int, columns: Int) {
      terminal.resize(rows: rows, columns: columns)
      session.resize(rows: rows, columns: columns)
    }

    /// Reads to the end, and expects the terminal to be as it was.
    func expectReturned(
      _ status: Int32, _ location: SourceLocation = #_sourceLocation
    ) throws {
      try wait(location) { $0.contains("after") }
      #expect(!terminal.isAlternate && terminal.showsCursor, sourceLocation: location)
      #expect(Array(terminal.lines.prefix(2)) == ["before", "after"], sourceLocation: location)
      #expect(session.isLineMode, sourceLocation: location)
      #expect(session.ended() == status, sourceLocation: location)
    }
  }

  private static func with(
    _ command: String = "cambium watch a.cambium \"people section by team sort name\"",
    _ body: (Stage) throws -> Void
  ) throws {
    try Workplace.with { place in
      _ = try place.run(
        """
        cambium put --create a.cambium people/ada '{"name": "Ada", "team": "x"}'
        cambium put a.cambium people/bob '{"name": "Bob", "team": "x"}'
        cambium put a.cambium people/eve '{"name": "Eve", "team": "y"}'
        """)
      let stage = try Stage(place, command)
      try stage.wait { $0.contains { $0.hasSuffix("tx 3") } }
      #expect(stage.isListShown)
      try body(stage)
      #expect(try place.run("cambium verify a.cambium -q") == "")
    }
  }

  @Test("follows another process, and q leaves the screen as it was")
  func following() throws {
    try Self.with { stage in
      #expect(
        stage.lines[2..<7] == [
          "x  2", "  ada  Ada   x", "  bob  Bob   x", "y  1", "  eve  Eve   y",
        ])
      _ = try stage.place.run(
        "cambium put a.cambium people/bea '{\"name\":\"Bea\",\"team\":\"x\"}'")
      try stage.wait { $0.contains("+ bea  Bea   x") }
      _ = try stage.place.run("cambium patch a.cambium people/bob '{\"team\":\"y\"}'")
      try stage.wait { $0.contains("↓ bob  Bob   y") }
      _ = try stage.place.run("cambium delete a.cambium people/ada")
      try stage.wait { $0.contains("− ada  Ada   x") }
      try stage.wait { !$0.contains { $0.contains("ada") } }
      try stage.type("q")
      try stage.expectReturned(0)
    }
  }

  @Test("moves a row when a record behind its reference changes")
  func references() throws {
    try Workplace.with { place in
      _ = try place.run(
        """
        cat > a.jsonl <<'END'
        {"operations": [{"op": "declare", "path": "people", "definition": {"version": 1, \
        "properties": [{"name": "name", "type": "string"}, \
        {"name": "team", "type": {"reference": "teams"}}]}}]}
        END
        cambium put --create a.cambium teams/x '{"rank": 1}'
        cambium put a.cambium teams/y '{"rank": 2}'
        cambium apply a.cambium a.jsonl
        cambium put a.cambium people/ada '{"name": "Ada", "team": "x"}'
        cambium put a.cambium people/bob '{"name": "Bob", "team": "y"}'
        """)
      let query = "people where team.rank < 9 section by team.rank sort name"
      let stage = try Stage(place, "cambium watch a.cambium \"\(query)\"")
      try stage.wait { $0[2..<6] == ["1  1", "  ada  Ada   x", "2  1", "  bob  Bob   y"] }
      _ = try place.run("cambium patch a.cambium teams/x '{\"rank\": 3}'")
      try stage.wait { $0[2..<6] == ["2  1", "  bob  Bob   y", "3  1", "↓ ada  Ada   x"] }
      _ = try place.run("cambium patch a.cambium teams/y '{\"rank\": 10}'")
      try stage.wait { $0.contains("− bob  Bob   y") }
      try stage.type("q")
      try stage.expectReturned(0)
      #expect(try place.run("cambium verify a.cambium -q") == "")
    }
  }

  @Test("gives the terminal back after a signal", arguments: [SIGINT, SIGTERM, SIGQUIT, SIGHUP])
  func signals(_ signal: Int32) throws {
    try Self.with("trap : INT QUIT HUP TERM; cambium watch a.cambium people") { stage in
      stage.session.send(signal)
      try stage.expectReturned(128 + signal)
    }
  }

  @Test("gives the terminal back where it ends by itself")
  func ends() throws {
    try Self.with("cambium watch a.cambium people --count 2") { stage in
      _ = try stage.place.run("cambium delete a.cambium people/ada")
      try stage.expectReturned(0)
    }
  }

  @Test("is drawn again in another size, and scrolls")
  func sizes() throws {
    // Ctrl-C goes to the shell around the program as well.
    let command = "trap : INT; cambium watch a.cambium \"people section by team sort name\""
    try Self.with(command) { stage in
      stage.resize(rows: 6, columns: 40)
      try stage.wait { $0[2...4] == ["x  2", "  ada  Ada   x", "  bob  Bob   x"] }
      try stage.type("\u{1B}[B\u{1B}[6~")
      try stage.wait { $0[2...4] == ["  bob  Bob   x", "y  1", "  eve  Eve   y"] }
      try stage.type("\u{1B}[H")
      try stage.wait { $0[2] == "x  2" }
      #expect(stage.lines.allSatisfy { $0.count <= 40 })
      try stage.type("\u{3}")
      try stage.expectReturned(130)
    }
  }

  @Test("stops for a while, and goes on with the newest state")
  func suspension() throws {
    try Workplace.with { place in
      _ = try place.run("cambium put --create a.cambium people/ada '{\"name\": \"Ada\"}'")
      // A shell with job control, so that there is somebody to continue the program.
      let session = try TerminalSession(
        "sh -i", in: place, environment: ["TERM": "xterm", "NO_COLOR": "1", "PS1": "ready> "])
      try session.read(until: "ready> ")
      try session.type("cambium watch a.cambium people\n", until: "Ada")
      try session.type("\u{1A}", until: "\u{1B}[?1049l")
      try session.read(until: "ready> ")
      #expect(session.isLineMode)
      _ = try place.run("cambium put a.cambium people/bob '{\"name\": \"Bob\"}'")
      try session.type("fg\n", until: "\u{1B}[?1049h")
      try session.read(until: "Bob")
      try session.type("q", until: "\u{1B}[?1049l")
      // The shell may be gone before anybody reads its echo.
      try #require(System.write(Array("exit\n".utf8), to: session.controller) == 0)
      #expect(session.ended() == 0)
    }
  }

  @Test("is lines of JSON on a terminal that can only print lines")
  func dumb() throws {
    try Workplace.with { place in
      _ = try place.run("cambium put --create a.cambium people/ada '{\"name\": \"Ada\"}'")
      let session = try TerminalSession("cambium watch a.cambium people --count 1", in: place)
      try session.read(until: "\"insertions\":[{\"at\":0,\"id\":\"ada\"")
      #expect(session.ended() == 0)
    }
  }
}
