// Goal: nothing that a database holds can control a terminal, or leave its columns. Method: the
// commands are run on a pseudo-terminal, on a database whose keys, names, texts and metadata try
// to.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("On a terminal", .serialized, .timeLimit(.minutes(1)))
struct TerminalCommandTests {
  private static let evil = "e\u{1B}[31mv\u{7}i\rl\u{202E}\u{9B}2J\u{61C}"

  private static func withDatabase(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "cambium-terminal-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/a.cambium"
    try fill(path)
    try await body(path)
  }

  private static func fill(_ path: String) throws {
    let database = try Database(at: path)
    defer { try? database.close() }
    let long = String(repeating: "long ", count: 100)
    try database.write(metadata: ["actor": evil, "reason": evil + long, evil: evil]) { tx in
      let record: ValueMap = [evil: .string(evil), "long": .string(long)]
      try tx.set(NodePath(keys: ["a", try Key(evil)]), to: .map(record))
      try tx.set("text", to: .string(evil + "\n" + evil))
      try tx.set("data", to: .data(Data([0x1B, 0x5B, 0xFF])))
      try tx.event(evil, .string(evil))
    }
  }

  @Test(
    "no command passes on what could control it",
    arguments: [
      "log", "show DB 1", "get DB text", "get DB data", "tree", "history DB text", "info", "verify",
      "get DB text -o csv", "show DB 1 -o tsv", "tree DB -o markdown", "log DB -o table",
      "export", "export DB a -o csv", "schema",
    ])
  func escapes(_ line: String) async throws {
    try await Self.withDatabase { path in
      let words = line.contains("DB") ? line : line + " DB"
      let arguments = words.split(separator: " ").map { $0 == "DB" ? path : String($0) }
      let text = try await Self.output(of: arguments)
      #expect(text.utf8.count > 20)
      for scalar in text.unicodeScalars where !"\r\n\t".unicodeScalars.contains(scalar) {
        #expect(!scalar.properties.isBidiControl && scalar.properties.generalCategory != .control)
      }
      #expect(!text.contains("\r") || !text.replacing("\r\n", with: "").contains("\r"))
    }
  }

  @Test(
    "no form of a query's results passes on what could control it, not in names either",
    arguments: [
      "short", "table", "json", "json-pretty", "json-array", "csv", "tsv", "markdown",
    ])
  func queried(_ form: String) async throws {
    try await Self.withDatabase { path in
      let text = try await Self.output(of: ["query", path, "a", "-o", form])
      #expect(text.utf8.count > 20)
      for scalar in text.unicodeScalars where !"\r\n\t".unicodeScalars.contains(scalar) {
        #expect(
          !scalar.properties.isBidiControl && scalar.properties.generalCategory != .control,
          "\(form): \(scalar.value)")
      }
      // A terminal ends its lines with both.
      #expect(!text.replacing("\r\n", with: "").contains("\r"))
    }
  }

  @Test("a pipe gets the bytes as they are", arguments: ["csv", "tsv"])
  func piped(_ form: String) async throws {
    try await Self.withDatabase { path in
      let pipe = Pipe()
      let output = Output(pipe.fileHandleForWriting.fileDescriptor)
      let invocation = try Self.invocation(["query", path, "a", "-o", form])
      try await invocation.command.run(Call(invocation, output))
      try output.finish()
      try pipe.fileHandleForWriting.close()
      let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
      let text = form == "csv" ? Self.evil : Self.evil.replacing("\r", with: "\\r")
      #expect(String(decoding: bytes, as: UTF8.self).contains(text))
    }
  }

  @Test("a transaction is one line, and a node is one", arguments: ["log", "tree"])
  func cuts(_ command: String) async throws {
    try await Self.withDatabase { path in
      let text = try await Self.output(of: [command, path])
      let lines = text.split(whereSeparator: \.isNewline)
      #expect(lines.count == (command == "log" ? 1 : 5))
      for line in lines { #expect(Terminal.displayWidth(String(line)) <= 97, "\(line)") }
      #expect(lines.contains { $0.hasSuffix("…") })
    }
  }

  @Test("text keeps its lines, and bytes that are none are only told of")
  func raw() async throws {
    try await Self.withDatabase { path in
      let escaped = Terminal.escaped(Self.evil)
      let text = try await Self.output(of: ["get", path, "text"])
      #expect(text == "\(escaped)\r\n\(escaped)\r\n")
      let data = try await Self.output(of: ["get", path, "data"])
      #expect(data == "3 B that are no text; send them to a file\r\n")
    }
  }

  /// The output of a command on a terminal of 97 columns without colours.
  private static func output(of arguments: [String]) async throws -> String {
    let invocation = try invocation(arguments)
    let terminal = try PseudoTerminal(columns: 97)
    let output = Output(terminal.descriptor, environment: ["NO_COLOR": "1"])
    #expect(output.isTerminal)
    try await invocation.command.run(Call(invocation, output))
    try output.finish()
    return terminal.read()
  }

  private static func invocation(_ arguments: [String]) throws -> Invocation {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    return try Parser(commands: Commands.all, here: here).parse(arguments)
  }
}
