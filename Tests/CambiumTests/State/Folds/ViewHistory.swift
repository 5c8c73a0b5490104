import FoundationEssentials
import Simulation

@testable import Cambium

/// A random history of a collection with views of all kinds.
struct ViewHistory {
  private struct Abandoned: Error {}

  static let path: NodePath = "things"
  static let words = ["red", "blue", "redder", "green", "bluebell", "x1", "42", "green"]

  private static let isPositive = Condition(
    .compare(PropertyPath("number"), .greater, .integer(0)))

  static let definition: CollectionDefinition = {
    var definition = CollectionDefinition()
    definition.properties = [
      PropertyDefinition("amount", .double), PropertyDefinition("number", .integer),
      PropertyDefinition("title", .string), PropertyDefinition("tags", .array(.string)),
    ]
    definition.views = [
      ViewDefinition(.groups(by: [], [.count, .sum("amount"), .minimum("title")])),
      ViewDefinition(
        .groups(
          by: ["kind"],
          [.sum("number"), .average("number"), .maximum("amount"), .maximum("title"), .count])),
      ViewDefinition(.groups(by: ["kind", "flag"], [.minimum("kind"), .sum("kind")])),
      ViewDefinition(.top(by: ["kind"], [.init("amount", isDescending: true), .init("title")])),
      ViewDefinition(.top(by: [], [.init("title", isDescending: true)])),
      ViewDefinition(.top(by: ["flag"], [.init("number")]), where: isPositive),
      ViewDefinition(.groups(by: ["flag"], [.count, .maximum("number")]), where: isPositive),
      ViewDefinition(.text(["title", "tags"], language: nil)),
      ViewDefinition(.text(["tags"], language: nil), where: isPositive),
      ViewDefinition(.text(["title"], language: "en")),
    ]
    return definition
  }()

  let database: Database
  var random: SeededGenerator
  private var removed: [(key: Key, sequence: SequenceNumber)] = []
  private var away: NodePath?

  init(_ database: Database, seed: UInt64) {
    self.database = database
    random = SeededGenerator(seed: seed)
  }

  /// Makes so many transactions.
  mutating func run(_ count: Int) throws {
    for _ in 0..<count {
      do {
        try database.write { tx in
          for _ in 0..<(1 + random.below(8)) {
            do { try change(tx) } catch is DatabaseError {}
          }
          if random.oneIn(12) { throw Abandoned() }
        }
      } catch is Abandoned {}
    }
  }

  private mutating func change(_ tx: borrowing Database.Transaction) throws {
    let path = ViewHistory.path.appending(key())
    switch random.below(40) {
    case 0..<18: try tx.set(path, to: .map(record()))
    case 18..<25: try tx.update(path, ["amount": amount(), "title": title()])
    case 25..<29:
      try tx.remove(path)
      if let key = path.last { removed.append((key, tx.sequence)) }
    case 29..<31:
      guard !removed.isEmpty else { return }
      let (key, sequence) = removed.remove(at: random.below(removed.count))
      try tx.restore(ViewHistory.path.appending(key), removedAt: sequence)
    case 31..<34: try tx.move(path, to: ViewHistory.path.appending(key()))
    case 34: try tx.increment(path, "number", by: .integer(Int64(random.below(9)) - 4))
    case 35: try tx.append(.string(random.pick(ViewHistory.words)), to: path, "tags")
    case 36:
      try tx.attempt {
        try tx.set(path, to: .map(record()))
        try tx.remove(ViewHistory.path.appending(key()))
        if random.oneIn(2) { throw DatabaseError.misuse(reason: "given up") }
      }
    case 37: try moveAway(tx)
    case 38 where random.oneIn(6):
      try tx.remove(ViewHistory.path)
      if random.oneIn(2) { removed = [] }
    default: try tx.set(NodePath(keys: ["elsewhere", key()]), to: .map(record()))
    }
  }

  /// Moves the whole collection away, or back.
  private mutating func moveAway(_ tx: borrowing Database.Transaction) throws {
    try tx.move(ViewHistory.path, to: "away")
    if random.oneIn(3) { return }
    _ = try tx.remove(ViewHistory.path)
    try tx.move("away", to: ViewHistory.path)
  }

  // MARK: Random values

  private mutating func key() -> Key {
    switch random.below(10) {
    case 0: .text(String(repeating: "long", count: 100) + "\(random.below(6))")
    case 1: .text(String(repeating: "k", count: 182 + random.below(4)))
    case 2: .text("key \(random.below(20))")
    default: .integer(Int64(random.below(40)))
    }
  }

  private mutating func record() -> ValueMap {
    var record = ValueMap()
    if random.below(8) > 0 { record["kind"] = kind() }
    if random.oneIn(2) { record["flag"] = .bool(random.oneIn(2)) }
    if random.below(6) > 0 { record["amount"] = amount() }
    if random.below(6) > 0 { record["number"] = .integer(Int64(random.below(2000)) - 1000) }
    if random.below(6) > 0 { record["title"] = title() }
    if random.oneIn(2) {
      record["tags"] = .array((0..<random.below(4)).map { _ in .string(phrase()) })
    }
    return record
  }

  private mutating func kind() -> Value {
    switch random.below(8) {
    case 0: .null
    case 1: .double(Double(random.below(3)))
    case 2: .integer(Int64(random.below(3)))
    case 3: .double(0.5)
    case 4: .string(String(repeating: "kind", count: 50) + "\(random.below(3))")
    default: .string(random.pick(["a", "b", "c", ""]))
    }
  }

  private mutating func amount() -> Value {
    random.oneIn(4)
      ? .integer(Int64(random.below(30))) : .double(Double(random.below(4000)) / 8 - 250)
  }

  private mutating func title() -> Value {
    if random.oneIn(10) { return .null }
    let start = random.oneIn(5) ? String(repeating: "red ", count: 30 + random.below(8)) : ""
    return .string(start + phrase())
  }

  private mutating func phrase() -> String {
    (0..<random.below(5)).map { _ in random.pick(ViewHistory.words) }
      .joined(separator: random.pick([" ", ", ", "-"]))
  }
}
