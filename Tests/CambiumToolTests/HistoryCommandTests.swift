import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("A node's history, followed") struct HistoryCommandTests {
  @Test("goes on where the node was before it was moved")
  func follow() throws {
    try GitFixture.withFolder { folder in
      let path = folder + "/a.cambium"
      let database = try Database(at: path)
      try database.write { tx in try tx.set("old/name", to: ["a": 1]) }
      try database.write { tx in try tx.move("old/name", to: "new") }
      try database.write { tx in
        try tx.move("new", to: "newer")
        try tx.update("newer", ["a": 2])
      }
      #expect(try database.verify().isSound)
      try database.close()
      #expect(
        try told(path, "--follow") == [
          "+  a 1", ">  old/name → new", ">  new → newer", "~  a 1 → 2",
        ])
      #expect(try told(path, "--follow", "-n", "1") == [">  new → newer", "~  a 1 → 2"])
      #expect(try told(path) == ["+  a 2"])
    }
  }

  /// The command's output for `newer`, without the lines of the transactions.
  private func told(_ path: String, _ options: String...) throws -> [String] {
    let here = Surroundings(
      environment: [:], now: Date(), zone: .utc, holdsDatabase: { _ in false })
    let invocation = try Parser(commands: Commands.all, here: here)
      .parse(["history", path, "newer"] + options)
    let text = try Captured.text { try HistoryCommand.run(Call(invocation, $0)) }
    return text.split(separator: "\n").filter { !$0.hasPrefix("tx ") }
      .map { String($0.drop { $0 == " " }) }
  }
}

@Suite("A stretch between two moments") struct MomentRangeTests {
  private static let now = Date(timeIntervalSince1970: 1_795_179_785)

  @Test("is read from both sides of the dots")
  func reading() throws {
    let range = try MomentRange("HEAD~3..@7", now: Self.now, zone: .utc)
    #expect(range.from == .head(back: 3) && range.to == .sequence(7))
    let open = try MomentRange("..", now: Self.now, zone: .utc)
    #expect(open.from == nil && open.to == nil)
    let exact = try MomentRange("14:03:05.250..now", now: Self.now, zone: .utc)
    #expect(exact.to == .head(back: 0) && exact.from != nil)
  }

  @Test(
    "says where it cannot be read",
    arguments: [("1", 1), ("1...3", 3), ("1..x", 3), ("x..1", 0), ("é..1", 0), ("", 0)])
  func errors(text: String, offset: Int) throws {
    let error = try #require(throws: GrammarError.self) {
      try MomentRange(text, now: Self.now, zone: .utc)
    }
    #expect(error.text == text && error.offset == offset)
  }
}
