import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The help") struct HelpTests {
  private static func help(columns: Int = 80) -> Help {
    Help(commands: Commands.all, style: .plain, columns: columns)
  }

  @Test("lists every command under its group, three examples, and every topic")
  func overview() throws {
    let lines = Self.help().overview().split(separator: "\n", omittingEmptySubsequences: false)
    for command in Commands.all {
      let heading = try #require(lines.firstIndex { $0 == command.group.rawValue })
      let line = try #require(lines.firstIndex { $0.hasPrefix("  \(command.name) ") })
      #expect(line > heading && lines[heading..<line].allSatisfy { !$0.isEmpty })
      #expect(lines[line].hasSuffix(command.summary))
    }
    for topic in Topic.all {
      #expect(lines.contains { $0.hasPrefix("  cambium help \(topic.name) ") })
    }
    let examples = try #require(lines.firstIndex { $0 == "Examples" })
    #expect(lines[(examples + 1)...].prefix { $0.hasPrefix("  cambium ") }.count == 3)
  }

  @Test("explains every operand, option and example", arguments: Commands.all.map(\.name))
  func full(_ name: String) throws {
    let command = try #require(Commands.all.first { $0.name == name })
    let full = Self.help(columns: 1000).full(command)
    let short = Self.help(columns: 1000).short(command)
    for text in [full, short] {
      #expect(text.contains(command.summary) && text.contains("usage: \(command.usage)\n"))
      for operand in command.operands {
        #expect(text.contains("\n  \(operand.name) ") && text.contains(operand.help))
      }
      for option in command.allOptions {
        #expect(
          text.contains(
            option.letter.map { "\n  -\($0), --\(option.name)" } ?? "\n      --\(option.name)"))
        #expect(text.contains(option.help))
        if let fallback = option.fallback { #expect(text.contains("(default \(fallback))")) }
      }
    }
    for example in command.examples {
      #expect(full.contains("  # \(example.value)\n  \(example.key)\n"))
      #expect(!short.contains(example.key))
    }
    #expect(
      full.contains(command.discussion.split(separator: " ").prefix(3).joined(separator: " ")))
  }

  @Test("keeps within the columns", arguments: [50, 80, 100])
  func width(_ columns: Int) {
    let help = Self.help(columns: columns)
    let commands = Commands.all.map { help.short($0) }
    for text in commands + Topic.all.filter({ $0.name == "moments" }).map(help.page) {
      for line in text.split(separator: "\n")
      where !line.hasPrefix("usage:") && !Self.isVerbatim(line) {
        #expect(Terminal.displayWidth(String(line)) <= columns, "\(line)")
      }
    }
  }

  /// Indented text of topics is printed as it was written.
  private static func isVerbatim(_ line: Substring) -> Bool {
    Topic.all.contains { $0.text.contains(line) }
  }

  @Test("prints what is asked for, and helps with a wrong name")
  func command() throws {
    #expect(try Self.printed([]) == Self.help().overview())
    let log = try #require(Commands.all.first { $0.name == "log" })
    #expect(try Self.printed(["log"]) == Self.help().full(log))
    #expect(try Self.printed(["log", "--short"]) == Self.help().short(log))
    #expect(try Self.printed(["moments"]).hasPrefix("moments: "))
    let failure = try #require(throws: Failure.self) { try Self.printed(["momnts"]) }
    #expect(failure.exit == .usage)
    #expect(failure.hint?.contains("help moments") == true)
  }

  private static func printed(_ arguments: [String]) throws -> String {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    let invocation = try Parser(commands: Commands.all, here: here).parse(["help"] + arguments)
    return try Captured.text { try HelpCommand.run(Call(invocation, $0)) }
  }

  @Test("lists every exit code with its number")
  func exitCodes() throws {
    let topic = try #require(Topic.all.first { $0.name == "exit-codes" })
    for code in ExitCode.allCases {
      #expect(topic.text.contains(" \(code.rawValue)  \(code.meaning)"))
    }
    #expect(ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130, 141, 143])
  }
}
