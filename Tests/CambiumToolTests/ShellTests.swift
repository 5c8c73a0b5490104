// Goal: at a prompt a user can edit, complete and repeat lines; neither an error nor Ctrl-C ends
// the shell. Method: the program is typed at, on a terminal of its own. Tests that need no terminal
// are in the transcripts.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("The shell", .serialized, .timeLimit(.minutes(2)))
struct ShellTests {
  /// A shell at its first prompt, on a small database.
  private static func withShell(_ body: (TerminalSession, Workplace) throws -> Void) throws {
    try Workplace.with { place in
      _ = try place.run(
        """
        cambium put --create a.cambium users/ada '{"born": 1815, "name": "Ada"}'
        cambium put a.cambium 'users/bob smith' '{"name": "Bob"}'
        cambium put a.cambium users/ärni 1
        """)
      let shell = try TerminalSession("cambium shell a.cambium", in: place)
      try shell.read(until: "a.cambium> ")
      try body(shell, place)
      #expect(try place.run("cambium verify a.cambium -q") == "")
    }
  }

  @Test("runs commands without the database's name, until Ctrl-D")
  func commands() throws {
    try Self.withShell { shell, _ in
      try shell.type("get users/ada\n", until: "born  1815\r\nname  Ada\r\na.cambium> ")
      try shell.type("put x 'two words'--text\n", until: "a.cambium> ")
      try shell.type("put x 'two words' --text # a comment\n", until: "tx 4\r\na.cambium> ")
      try shell.type("put y '{\"a\":\n", until: "\r\n> ")
      try shell.type("1}'\n", until: "tx 5\r\na.cambium> ")
      try shell.type("cambium get x\n", until: "two words\r\na.cambium> ")
      try shell.type("\n", until: "a.cambium> ")
      try shell.type("\u{4}", until: "\n")
      #expect(shell.ended() == 0)
    }
  }

  @Test("goes to a node, and starts paths there")
  func nodes() throws {
    try Self.withShell { shell, _ in
      try shell.type("cd users\n", until: "a.cambium:users> ")
      try shell.type("get ada/name\n", until: "Ada\r\na.cambium:users> ")
      try shell.type("tree --depth 1\n", until: "└── ärni  1\r\na.cambium:users> ")
      try shell.type("get /users/ärni\n", until: "\r\n1\r\na.cambium:users> ")
      try shell.type("get adda\n", until: "did you mean /users/ada?\r\na.cambium:users> ")
      try shell.type("cd nobody\n", until: "error: nothing is at users/nobody")
      try shell.type("pwd\n", until: "/users\r\na.cambium:users> ")
      try shell.type("cd ..\n", until: "a.cambium> ")
      try shell.type("exit\n", until: "\n")
      #expect(shell.ended() == 0)
    }
  }

  @Test("completes commands, options, values and paths, and shows what it cannot decide")
  func completion() throws {
    try Self.withShell { shell, _ in
      try shell.type("ge\t", until: "t ")
      try shell.type("us\t", until: "users/")
      try shell.type("\t", until: "ada        bob smith  ärni\r\n")
      try shell.type("b\t\n", until: "users/bob\\ smith \r\nname  Bob\r\n")
      try shell.type("get users/ä\t\n", until: "users/ärni \r\n1\r\n")
      try shell.type("get users/ada/n\t\n", until: "Ada\r\n")
      try shell.type("log --onel\t-n \t1\n", until: "3  1 operation\r\n")
      try shell.type("log --output=jso\t", until: "json")
      try shell.type("\t", until: "json-array")
      try shell.type("\u{3}", until: "^C\r\n")
      try shell.type("cd us\t\n", until: "a.cambium:users> ")
      try shell.type("get ad\t\n", until: "name  Ada\r\n")
    }
  }

  @Test("Ctrl-C abandons a line, and stops a command; errors and signals end neither")
  func interrupts() throws {
    try Self.withShell { shell, place in
      try shell.type("delete users\u{3}", until: "^C\r\na.cambium> ")
      try shell.type("put z '\n", until: "> ")
      try shell.type("\u{3}", until: "^C\r\na.cambium> ")
      try shell.type("tail\n", until: "tx 3")
      try shell.type("\u{3}", until: "a.cambium> ")
      try shell.type("delete nobody\n", until: "a.cambium> ")
      try shell.type("nonsense\n", until: "there is no command “nonsense”")
      try shell.type("get users | less\n", until: "“|” does nothing here")
      try shell.type("cd 'a\u{7}'\n", until: "a.cambium> ")
      #expect(try place.run("cambium put a.cambium other 1") == "tx 4\n")
      try shell.type("get other\n", until: "1\r\na.cambium> ")
    }
  }

  @Test("goes back to earlier lines, also those of an earlier shell")
  func history() throws {
    try Self.withShell { shell, place in
      try shell.type("get users/ada/name\n", until: "Ada\r\n")
      try shell.type(" get users/ada/born\n", until: "1815\r\n")
      try shell.type("\u{10}\n", until: "Ada\r\n")
      try shell.type("exit\n", until: "\n")
      _ = shell.ended()
      let file = place.folder + "/.local/state/cambium/history"
      let lines = try String(contentsOfFile: file, encoding: .utf8)
      #expect(lines == "get users/ada/name\nget users/ada/name\nexit\n")
      #expect(try place.run("stat -c %a .local/state/cambium/history") == "600\n")
      let next = try TerminalSession("cambium shell a.cambium", in: place)
      try next.read(until: "a.cambium> ")
      try next.type("\u{10}\u{10}\n", until: "Ada\r\n")
    }
  }

  @Test("works where there is no room for a history, and on a terminal that can do nothing")
  func poorSurroundings() throws {
    try Workplace.with { place in
      _ = try place.run("cambium put --create a.cambium x 1")
      for own in [["HOME": "/dev/null"], ["TERM": "nonsense"], ["LANG": "C", "TERM": ""]] {
        let shell = try TerminalSession("cambium shell a.cambium", in: place, environment: own)
        try shell.read(until: "a.cambium> ")
        try shell.type("get x\n", until: "1\r\n")
        try shell.type("exit\n", until: "\n")
        #expect(shell.ended() == 0)
      }
    }
  }

  @Test("keeps the newest thousand lines, and none that is too long or hidden")
  func bounds() throws {
    try GitFixture.withFolder { folder in
      let history = LineHistory(["XDG_STATE_HOME": folder, "HOME": "/nowhere"])
      #expect(history.lines() == [])
      for number in 1...2500 { history.add("get \(number)") }
      #expect(history.lines() == (1501...2500).map { "get \($0)" })
      history.add("last")
      #expect(history.lines().count == 1000 && history.lines().last == "last")
      let file = try String(contentsOfFile: folder + "/cambium/history", encoding: .utf8)
      #expect(file.split(separator: "\n").count == 1001)
      #expect(LineHistory.keeps("get x") && !LineHistory.keeps(" get x"))
      #expect(!LineHistory.keeps("  ") && !LineHistory.keeps(String(repeating: "a", count: 5000)))
    }
  }
}
