// Goal: transactions that add to the same values can be undone and redone one by one, in any order,
// and the database holds what those that are left have made. Method: single cases by hand, each
// undo in a process of its own as far as the database knows; and random histories against a model
// that knows for each element and each step which transaction it came from.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Undone one after the other,")
struct UndoOrderTests {
  /// The values of a database that is opened again.
  private func values(_ place: Place) throws -> [NodePath: Value] {
    try place.use { database in
      var values: [NodePath: Value] = [:]
      try database.read { snapshot in
        for row in try snapshot.root.rows() { values[row.path] = row.value ?? .null }
      }
      return values
    }
  }

  private func write(_ place: Place, _ body: (borrowing Database.Transaction) throws -> Void) throws
  {
    try place.use { database in try database.write { tx in try body(tx) } }
  }

  private func undo(_ place: Place, _ sequences: SequenceNumber...) throws {
    for sequence in sequences {
      try place.use { database in _ = try database.undo(sequence) }
    }
  }

  @Test(
    "increments leave nothing behind, whichever goes first, and come back",
    arguments: [[2, 3], [3, 2]] as [[SequenceNumber]])
  func increments(order: [SequenceNumber]) throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: ["name": "Ada", "age": 5, "sum": 0.3]) }
    let start = try values(place)
    for (step, share) in [(1, 0.1), (2, 0.2)] as [(Value, Value)] {
      try write(place) { tx in
        for name in ["age", "visits"] { try tx.increment("ada", name, by: step) }
        for name in ["share", "sum"] { try tx.increment("ada", name, by: share) }
        try tx.increment("ada", "likes", "heart", by: step)
        try tx.increment("ada", "shares", "heart", by: share)
        try tx.increment("count", by: step)
        try tx.increment("deep/down/count", by: share)
      }
    }
    let end = try values(place)
    try undo(place, order[0])
    let (step, share): (Value, Value) = order[0] == 2 ? (2, 0.2) : (1, 0.1)
    let between = try values(place)
    #expect(between["count"] == step && between["deep/down/count"] == share)
    #expect(between["ada"]?.record?["visits"] == step && between["ada"]?.record?["share"] == share)
    #expect(between["ada"]?.record?["likes"] == .map(["heart": step]))
    try undo(place, order[1])
    #expect(try values(place) == start)
    try undo(place, 5)
    #expect(try values(place) == between)
    try undo(place, 4)
    #expect(try values(place) == end)
    try place.expectSound()
  }

  @Test("increments of properties come back in the order in which they went")
  func redoneInOrder() throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: [:]) }
    for step in [1, 2] as [Value] {
      try write(place) { tx in
        try tx.increment("ada", "visits", by: step)
        try tx.append(step, to: "ada", "steps")
      }
    }
    try undo(place, 2, 3, 4)
    #expect(try values(place)["ada"] == ["visits": 1, "steps": [1]])
    try undo(place, 5)
    #expect(try values(place)["ada"] == ["visits": 3, "steps": [1, 2]])
    try place.expectSound()
  }

  @Test("changes of another property do not keep an array that is empty")
  func others() throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: [:]) }
    for element in ["a", "b"] as [Value] {
      try write(place) { tx in try tx.append(element, to: "ada", "tags") }
    }
    try write(place) { tx in try tx.update("ada", ["name": "Ada"]) }
    try undo(place, 2, 3)
    #expect(try values(place)["ada"] == ["name": "Ada"])
    try place.expectSound()
  }

  @Test("increments that came to nothing leave those of others")
  func opposites() throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: [:]) }
    for step in [1, 5, -5] as [Value] {
      try write(place) { tx in
        try tx.increment("ada", "visits", by: step)
        try tx.increment("count", by: step)
      }
    }
    try undo(place, 2)
    #expect(try values(place) == ["ada": ["visits": 0], "count": 0])
    // It is as before the third transaction by chance, which counts nonetheless.
    try write(place) { tx in try tx.increment("ada", "visits", by: 1) }
    try undo(place, 4, 3)
    #expect(try values(place)["ada"] == ["visits": 1])
    try place.expectSound()
  }

  @Test(
    "elements that were appended are taken out, whichever goes first",
    arguments: [[2, 3], [3, 2]] as [[SequenceNumber]])
  func appends(order: [SequenceNumber]) throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: ["had": ["x"]]) }
    let start = try values(place)
    for element in ["a", "b"] as [Value] {
      try write(place) { tx in
        try tx.append(element, to: "ada", "had")
        try tx.append(element, to: "ada", "tags")
        try tx.append("same", to: "ada", "same")
        try tx.insert(element, into: "ada", "set")
        try tx.append(element, to: "list")
      }
    }
    let end = try values(place)
    try undo(place, order[0])
    let left: Value = order[0] == 2 ? "b" : "a"
    let between = try values(place)
    let expected: Value = [
      "had": ["x", left], "tags": [left], "same": ["same"], "set": [left],
    ]
    #expect(between == ["ada": expected, "list": [left]])
    try undo(place, order[1])
    #expect(try values(place) == start)
    try undo(place, 5, 4)
    #expect(try values(place) == end)
    try place.expectSound()
  }

  @Test("an element is found where it is now, or is gone for good")
  func moved() throws {
    let place = try Place()
    try write(place) { tx in try tx.set("list", to: ["x"]) }
    try write(place) { tx in try tx.append("e", to: "list") }
    try write(place) { tx in try tx.insert("e", at: 0, into: "list") }
    try write(place) { tx in try tx.removeElement(at: 1, from: "list") }
    #expect(try values(place)["list"] == ["e", "e"])
    try undo(place, 2)
    #expect(try values(place)["list"] == ["e"])
    // It brings back what was between the two.
    try undo(place, 4)
    #expect(try values(place)["list"] == ["e", "x"])
    try undo(place, 5)
    #expect(try values(place)["list"] == ["e", "x", "e"])
    // Another has taken it out, and put in one that is the same.
    try write(place) { tx in
      try tx.removeElement(at: 2, from: "list")
      try tx.append("e", to: "list")
    }
    try undo(place, 2)
    #expect(try values(place)["list"] == ["e", "x", "e"])
    try place.expectSound()
  }

  @Test("a value that was set in between is taken as it is")
  func assigned() throws {
    let place = try Place()
    try write(place) { tx in try tx.set("ada", to: ["n": 5, "list": ["x"]]) }
    try write(place) { tx in
      try tx.increment("ada", "n", by: 3)
      try tx.append("y", to: "ada", "list")
    }
    try write(place) { tx in try tx.update("ada", ["n": 5, "list": ["x"]]) }
    try undo(place, 2)
    #expect(try values(place)["ada"] == ["n": 5, "list": ["x"]])
    try write(place) { tx in try tx.update("ada", ["list": ["z"]]) }
    try place.use { database in
      #expect(throws: DatabaseError.self) { try database.undo(2) }
    }
    try place.expectSound()
  }

  @Test(
    "in any order, changes of numbers and arrays leave what the others have made",
    arguments: SeededGenerator.seeds(51, 52, 53, 54, 55, 56))
  func anyOrder(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      var oracle = ForceOracle(seed: seed)
      try database.write { tx in try tx.set("r", to: ["had": ["x", "y"]]) }
      for step in 0..<150 {
        if step < 20 || oracle.random.oneIn(3) {
          try oracle.change(database)
        } else {
          try oracle.toggleAny(database)
        }
        try oracle.compare(database)
      }
    }
  }
}

extension Value {
  fileprivate var record: ValueMap? { if case .map(let record) = self { record } else { nil } }
}

/// A model that knows which transaction each element and each step came from, and which of the
/// transactions are in force.
private struct ForceOracle {
  private struct Element {
    let value: Int64
    var insertedBy: Int?
    var removedBy: [Int] = []
  }

  var random: SeededGenerator
  /// The transactions with changes, and their newest undo where they are undone.
  private var transactions: [(sequence: SequenceNumber, undo: SequenceNumber?)] = []
  private var lists: [String: [Element]] = [
    "had": [Element(value: -1), Element(value: -2)], "list": [],
  ]
  private var steps: [(by: Int, name: String, step: Int64)] = []

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private func isInForce(_ transaction: Int) -> Bool { transactions[transaction].undo == nil }

  private func isThere(_ element: Element) -> Bool {
    (element.insertedBy.map(isInForce) ?? true) && !element.removedBy.contains(where: isInForce)
  }

  mutating func change(_ database: Database) throws {
    let number = transactions.count
    transactions.append((.zero, nil))
    transactions[number].sequence = try database.write { tx in
      for _ in 0..<(1 + random.below(4)) { try change(number, tx) }
      return tx.sequence
    }
  }

  private mutating func change(_ number: Int, _ tx: borrowing Database.Transaction) throws {
    let name = random.pick(["had", "list", "n", "share", "key"])
    if lists[name] != nil { return try changeList(name, number, tx) }
    let step = random.pick([-2, -1, 1, 2]) as Int64
    // Steps of one transaction that come to nothing would not be worth an undo.
    if steps.contains(where: { $0.by == number && $0.name == name }) { return }
    steps.append((number, name, step))
    switch name {
    case "n": try tx.increment("r", name, by: .integer(step))
    case "share": try tx.increment("r", name, by: .double(Double(step) / 10))
    default: try tx.increment("r", "counts", name, by: .integer(step))
    }
  }

  private mutating func changeList(
    _ name: String, _ number: Int, _ tx: borrowing Database.Transaction
  ) throws {
    let elements = lists[name] ?? []
    let there = elements.indices.filter { isThere(elements[$0]) }
    let value = Int64(random.below(4))
    let element = Element(value: value, insertedBy: number)
    switch random.below(4) {
    case 0 where !there.isEmpty:
      let place = random.below(there.count)
      try tx.removeElement(at: place, from: "r", name)
      lists[name]?[there[place]].removedBy.append(number)
    case 1 where !there.isEmpty:
      let place = random.below(there.count)
      try tx.insert(.integer(value), at: place, into: "r", name)
      lists[name]?.insert(element, at: there[place])
    default:
      try tx.append(.integer(value), to: "r", name)
      lists[name]?.append(element)
    }
  }

  /// Undoes any transaction, or its undo.
  mutating func toggleAny(_ database: Database) throws {
    let number = random.below(transactions.count)
    if let undo = transactions[number].undo {
      try database.undo(undo)
      transactions[number].undo = nil
    } else {
      transactions[number].undo = try database.undo(transactions[number].sequence).sequence
    }
  }

  func compare(_ database: Database) throws {
    let found = try database.read { try $0["r"].value }?.record ?? ValueMap()
    for (name, elements) in lists {
      let expected = elements.filter(isThere).map { Value.integer($0.value) }
      let list = found[name] ?? []
      let plain: [Value] = expected.map { $0 == .integer(-1) ? "x" : $0 == .integer(-2) ? "y" : $0 }
      guard list == .array(plain) else { throw Divergence("\(name): \(list), not \(plain)") }
    }
    for name in ["n", "share", "key"] {
      let inForce = steps.filter { $0.name == name && isInForce($0.by) }.map(\.step)
      let value = name == "key" ? found["counts"]?.record?["key"] : found[name]
      let isRight =
        switch value {
        case nil: inForce.isEmpty
        case .integer(let sum): !inForce.isEmpty && sum == inForce.reduce(0, +)
        case .double(let sum):
          !inForce.isEmpty && abs(sum - inForce.reduce(0.0) { $0 + Double($1) / 10 }) < 1e-9
        default: false
        }
      guard isRight else {
        throw Divergence("\(name): \(String(describing: value)), not \(inForce)")
      }
    }
  }
}
