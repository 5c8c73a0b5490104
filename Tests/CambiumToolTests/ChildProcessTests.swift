// Goal: whatever a program does, running it ends, with its output or with an error that says why.
// Method: small programs that every system has, through a shell where they must misbehave.

import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("A child process")
struct ChildProcessTests {
  private let environment = ["PATH": "/usr/bin:/bin"]

  private func shell(_ script: String, takesInput: Bool = false) throws -> ChildProcess {
    try ChildProcess(
      "sh", ["-c", script], name: "script", environment: environment, takesInput: takesInput)
  }

  @Test("gets its arguments and variables as they are, and nothing to read")
  func passesArguments() throws {
    let process = try ChildProcess(
      "sh", ["-c", #"printf '%s|' "$@" "$A"; cat"#, "sh", "a b", "$HOME", "", "é\n"],
      environment: environment.merging(["A": "x=y"]) { $1 })
    #expect(String(decoding: try process.readAll(), as: UTF8.self) == "a b|$HOME||é\n|x=y|")
  }

  @Test("passes more input and output than any pipe holds")
  func passesMuch() throws {
    let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: ($0 &* $0) >> 7) }
    let process = try ChildProcess("cat", [], environment: environment, takesInput: true)
    process.send(bytes)
    #expect(try process.readAll() == bytes)
  }

  @Test("may fill its standard error while it is read and written")
  func drainsErrors() throws {
    let process = try shell(
      "head -c 1000000 /dev/zero | tr '\\0' e >&2; cat; echo >&2; echo last >&2; exit 3",
      takesInput: true)
    process.send([UInt8](repeating: 7, count: 1_000_000))
    let error = #expect(throws: ChildProcessError.self) { try process.readAll() }
    guard case .failed("script", .exited(3), let errors) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(errors.hasSuffix("eee; last"))
    #expect(process.errorBytes.count == 64 << 10)
  }

  @Test("may end without reading its input")
  func endsWithoutReading() throws {
    let process = try shell("exec 0<&-; echo out", takesInput: true)
    process.send([UInt8](repeating: 7, count: 10_000_000))
    #expect(try process.readAll() == Array("out\n".utf8))
  }

  @Test("answers requests one by one")
  func answersRequests() throws {
    let process = try ChildProcess("cat", [], environment: environment, takesInput: true)
    let reader = OutputReader(process, bufferBytes: 4)
    for index in 0..<100 {
      let line = "request \(index)"
      process.send((line + "\n").utf8)
      let piece = try #require(try reader.piece(endedBy: UInt8(ascii: "\n")))
      #expect(String(decoding: piece, as: UTF8.self) == line)
    }
    process.endInput()
    #expect(try reader.piece(endedBy: 0) == nil)
    try process.finish()
  }

  @Test("is read piece by piece whatever the buffer holds", arguments: [1, 2, 7, 1000])
  func readsPieces(bufferBytes: Int) throws {
    let reader = OutputReader(
      try shell(#"printf 'ab\0\0cdefghi\0j\n'"#), bufferBytes: bufferBytes)
    var pieces: [String] = []
    for _ in 0..<3 {
      pieces.append(String(decoding: try reader.piece(endedBy: 0) ?? [], as: UTF8.self))
    }
    #expect(pieces == ["ab", "", "cdefghi"])
    #expect(try reader.peek() == UInt8(ascii: "j"))
    #expect(throws: GitError.badOutput("script", reason: "it ends in the middle")) {
      try reader.piece(endedBy: 0)
    }
  }

  @Test("reports its exit status, its signal and what it said")
  func reportsFailure() throws {
    let failed = ChildProcessError.failed(
      name: "script", ending: .exited(7), errors: "one; two \u{FFFD}")
    #expect(throws: failed) { try shell(#"printf 'one\ntwo \377\n' >&2; exit 7"#).readAll() }
    #expect(failed.description == "script failed with exit status 7: one; two \u{FFFD}")
    let killed = ChildProcessError.failed(name: "script", ending: .killed(signal: 9), errors: "")
    #expect(throws: killed) { try shell("kill -9 $$").readAll() }
    #expect(killed.description == "script was ended by signal 9")
  }

  @Test("that does not exist, or is not a program, is an error")
  func reportsMissingProgram() throws {
    let missing = ChildProcessError.notFound(program: "no-such-program")
    #expect(throws: missing) { try ChildProcess("no-such-program", [], environment: [:]) }
    #expect(missing.hint == "install no-such-program, or put its folder into PATH")
    let denied = ChildProcessError.notStarted(program: "/", reason: "Permission denied")
    #expect(throws: denied) { try ChildProcess("/", [], environment: [:]) }
    #expect(throws: ChildProcessError.self) { try ChildProcess("sh", ["a\0b"], environment: [:]) }
  }

  @Test("is ended when nobody wants its output any more")
  func endsWhenDropped() throws {
    try GitFixture.withFolder { folder in
      let script = "echo $$ >\(folder)/id; echo; exec sleep 1000"
      do {
        var buffer: [UInt8] = [0]
        _ = try shell(script).read(into: &buffer, at: 0)
      }
      let id = try String(contentsOf: URL(filePath: folder + "/id"), encoding: .utf8)
      let error = #expect(throws: ChildProcessError.self) {
        try shell("kill -0 \(id.filter(\.isNumber)) 2>/dev/null").readAll()
      }
      #expect(error == .failed(name: "script", ending: .exited(1), errors: ""))
    }
  }

  @Test("does not keep another's input open", .timeLimit(.minutes(1)))
  func inheritsNothing() throws {
    let first = try ChildProcess("cat", [], environment: environment, takesInput: true)
    let second = try ChildProcess("cat", [], environment: environment, takesInput: true)
    #expect(try first.readAll() == [])
    #expect(try second.readAll() == [])
  }
}
