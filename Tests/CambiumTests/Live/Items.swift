// Records that change at random, with values that are hard to group and to sum.

import FoundationEssentials
import Simulation

@testable import Cambium

/// A collection of items in a database.
final class Items {
  typealias Visitor = (_ key: RawSpan, _ record: RawSpan?, _ records: QueryRecords) throws -> Void

  var random: SeededGenerator
  private let database: Database
  private let kinds: [Value]
  private let prices: [Value]
  private let collection: NodePath = "items"

  /// Starts with one record, which is 0 and gives all names their numbers. Kinds and prices may be
  /// declared as decimals.
  init(_ database: Database, _ seed: UInt64, areDecimals: Bool) throws {
    self.database = database
    random = SeededGenerator(seed: seed)
    prices = areDecimals ? Items.decimals : Items.numbers
    kinds = areDecimals ? Items.decimals : Items.kinds
    let nothing: Value = ["kind": .null, "note": .null, "price": .null]
    try database.write { tx in
      if areDecimals {
        var definition = CollectionDefinition()
        definition.properties = [
          PropertyDefinition("kind", .decimal), PropertyDefinition("price", .decimal),
        ]
        try tx.declare("items", definition)
      }
      try tx.set(Items.path(0), to: nothing)
    }
  }

  private static let kinds: [Value] = [
    .null, 1, 1.0, .decimal(1), "a", "b", true, 0, 0.0, -0.0, .double(.nan), 2,
  ]
  private static let numbers: [Value] = [
    .null, 1, 1.0, -3, 2.5, .double(.nan), .double(.infinity), .double(-.infinity), .decimal(1.5),
    .decimal(.nan), .integer(.max), .integer(.max), .integer(.min), "x", true, 1e300, 1e-300, -0.0,
    0,
  ]
  private static let decimals: [Value] = [
    .null, 1, .decimal(1), 2, .decimal(1.5), .decimal(-1.5), .decimal(0), 0, .integer(.max),
  ]

  func records() throws -> QueryRecords { try QueryRecords(try database.snapshot()) }

  /// The results of a query, run now.
  func results(of query: QueryDescription) throws -> [[Value]] {
    var results: [[Value]] = []
    try QueryRun(query, on: try database.snapshot()).visit { results.append($0) }
    return results
  }

  /// Visits all records.
  func forEach(_ visit: Visitor) throws {
    let records = try records()
    try records.forEach(in: collection) { key, record in
      try visit(key, record, records)
      return true
    }
  }

  /// Changes a few records at random in one transaction, and visits them as they are then.
  func change(_ visit: Visitor) throws {
    var changes: [Int: Value?] = [:]
    for _ in 0..<(1 + random.below(4)) { changes[random.below(24)] = .some(item()) }
    try change(changes, visit)
  }

  /// Changes or removes one record, and visits it.
  func change(_ key: Int, to value: Value?, _ visit: Visitor) throws {
    try change([key: value], visit)
  }

  private static func path(_ key: Int) -> NodePath {
    NodePath(keys: ["items", .integer(Int64(key))])
  }

  private func item() -> Value? {
    if random.oneIn(3) { return nil }
    let kind = random.oneIn(2) ? random.pick(Array(kinds.prefix(3))) : random.pick(kinds)
    var members: [(name: String, value: Value)] = [("kind", kind)]
    if random.oneIn(2) { members.append(("note", random.pick(["x", "y", .null]))) }
    if !random.oneIn(4) { members.append(("price", random.pick(prices))) }
    return .map(ValueMap(members))
  }

  private func change(_ changes: [Int: Value?], _ visit: Visitor) throws {
    try database.write { tx in
      for (key, value) in changes.sorted(by: { $0.key < $1.key }) {
        let path = Items.path(key)
        if let value { try tx.set(path, to: value) } else { _ = try tx.remove(path) }
      }
    }
    let records = try records()
    for number in changes.keys {
      var key: [UInt8] = []
      Key.integer(Int64(number)).append(to: &key)
      try key.lend { key in
        let isThere: Void? = try records.lend(collection, key) { try visit(key, $0, records) }
        if isThere == nil { try visit(key, nil, records) }
      }
    }
  }
}
