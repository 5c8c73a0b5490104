import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The table of commands") struct CommandsTests {
  @Test("has each name once, and letters that are no digits")
  func names() {
    #expect(Set(Commands.all.map(\.name)).count == Commands.all.count)
    for command in Commands.all {
      let letters = command.allOptions.compactMap(\.letter)
      #expect(Set(letters).count == letters.count, "\(command.name)")
      #expect(letters.allSatisfy { $0.isLetter })
      let names = command.allOptions.map(\.name) + command.operands.map(\.name)
      #expect(Set(names).count == names.count, "\(command.name)")
    }
  }

  @Test("has operands that can be told apart", arguments: Commands.all.map(\.name))
  func operands(_ name: String) throws {
    let command = try #require(Commands.all.first { $0.name == name })
    let others = command.otherOperands
    #expect(command.operands.dropFirst().allSatisfy { $0.kind != .database })
    let firstOptional = others.firstIndex(where: \.isOptional) ?? others.endIndex
    #expect(others[firstOptional...].allSatisfy { $0.isOptional })
    #expect(others.dropLast().allSatisfy { !$0.repeats })
  }

  @Test("has values to fall back to that can be read")
  func fallbacks() throws {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    for option in Commands.all.flatMap(\.allOptions) {
      guard let fallback = option.fallback else { continue }
      _ = try #require(option.value).kind.read(fallback, option.name, here)
    }
  }

  @Test("has examples that are understood", arguments: Commands.all.map(\.name))
  func examples(_ name: String) throws {
    let command = try #require(Commands.all.first { $0.name == name })
    #expect(!command.examples.isEmpty)
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    for example in command.examples {
      let stages = example.key.split(separator: "|").map {
        ParserTests.shellWords(String($0.prefix { $0 != ">" }))
      }
      let words = try #require(stages.first { $0.first == "cambium" }, "\(example.key)")
      let parsed = try Parser(commands: Commands.all, here: here).parse(Array(words.dropFirst()))
      #expect(parsed.command.name == name, "\(example.key)")
    }
  }
}
