import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

/// Indexes are folded from the records. Goal: after every transaction of a random history each
/// index has exactly the entries that its definition asks for. Method: writes of all kinds, with
/// savepoints, failures, removed and restored collections and changing declarations; the entries
/// are computed again from the tree and compared; `verify` compares with a fold of the log.
@Suite("An index", .timeLimit(.minutes(2)))
struct IndexTests {
  /// The declarations that the collection may have, at different times.
  static func definitions() -> [CollectionDefinition] {
    var plain = CollectionDefinition()
    plain.properties = [
      .init("number", .any), .init("name", .any), .init("tags", .array(.string)),
      .init("next", .reference("things")),
    ]
    plain.indexes = [
      .init([.init("number")]),
      .init([.init("name", isDescending: true), .init("number")]),
      .init([.init("tags")]),
    ]
    var covering = IndexDefinition([.init("number", isDescending: true)])
    covering.covered = ["name", "next"]
    var folded = IndexDefinition([.init("name", collation: .ignoringCaseAndDiacritics)])
    folded.covered = ["name"]
    var other = plain
    let both = IndexDefinition([.init("tags"), .init("number", isDescending: true)])
    other.indexes = [covering, folded, both]
    other.properties[0].absence = 3
    return [plain, other, CollectionDefinition()]
  }

  /// One history.
  struct History {
    var random: SeededGenerator
    let database: Database
    /// The largest number of records.
    var keysCount = 12
    var removals: [(NodePath, SequenceNumber)] = []

    mutating func step() throws {
      var removed: [NodePath] = []
      var calls = (0..<(1 + random.below(6))).map { _ in random.next() }
      let sequence = try? database.write { tx in
        while let seed = calls.popLast() {
          var random = SeededGenerator(seed: seed)
          if random.oneIn(8) {
            try? tx.attempt {
              try call(tx, &random, &removed)
              if random.oneIn(2) { throw CancellationError() }
            }
          } else {
            try? call(tx, &random, &removed)
          }
        }
        if random.oneIn(12) { throw CancellationError() }
        return tx.sequence
      }
      if let sequence { removals += removed.map { ($0, sequence) } }
    }

    private func call(
      _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator,
      _ removed: inout [NodePath]
    ) throws {
      let path = NodePath(keys: ["things", .integer(Int64(random.below(keysCount)))])
      switch random.below(24) {
      case 0...6: try tx.set(path, to: .map(record(&random)))
      case 7...9:
        let name = ["number", "name", "tags", "next", "other"][random.below(5)]
        try tx.update(path, [(name, random.oneIn(4) ? nil : value(name, &random))])
      case 10: try tx.increment(path, "number", by: 1)
      case 11: try tx.append(value("name", &random), to: path, "tags")
      case 12: try tx.removeElement(at: 0, from: path, "tags")
      case 13, 14: if try tx.remove(path) { removed.append(path) }
      case 15:
        try tx.move(path, to: NodePath(keys: ["things", .integer(Int64(random.below(keysCount)))]))
      case 16: try tx.move(path, to: NodePath(keys: ["others", .integer(Int64(random.below(3)))]))
      case 17: if random.oneIn(3), try tx.remove("things") { removed.append("things") }
      case 18, 19:
        if let (path, sequence) = removals.last(where: { _ in random.oneIn(2) }) {
          try tx.restore(path, removedAt: sequence)
        }
      case 20: if random.oneIn(2) { try tx.move("things", to: "elsewhere") }
      case 21: try tx.move("elsewhere", to: "things")
      case 22:
        let definitions = IndexTests.definitions()
        try tx.declare("things", definitions[random.below(3)])
      default:
        try tx.set(path.appending(.text("note")), to: "below a record")
      }
    }

    private func record(_ random: inout SeededGenerator) -> ValueMap {
      var record = ValueMap()
      for name in ["number", "name", "tags", "next"] where !random.oneIn(4) {
        record[name] = value(name, &random)
      }
      return record
    }

    private func value(_ name: String, _ random: inout SeededGenerator) -> Value {
      switch name {
      case "number": random.oneIn(9) ? .null : .integer(Int64(random.below(5)))
      case "name":
        random.oneIn(12)
          ? .string(String(repeating: "long ", count: 100) + "\(random.below(3))")
          : .string(["Ada", "ada", "Ädä", "b", ""][random.below(5)])
      case "tags":
        .array((0..<random.below(4)).map { _ in .string(["x", "y", "z"][random.below(3)]) })
      case "next": .integer(Int64(random.below(keysCount)))
      default: .bool(true)
      }
    }
  }

  @Test(
    "has the entries of the records, whatever happened", arguments: SeededGenerator.seeds(1, 2, 3))
  func randomHistory(seed: UInt64) throws {
    try withDatabase { database in
      try database.write { tx in try tx.declare("things", Self.definitions()[0]) }
      var history = History(random: SeededGenerator(seed: seed), database: database)
      for step in 0..<400 {
        try history.step()
        try expectEntries(database, "seed \(seed), step \(step)")
      }
    }
  }

  /// Compares what is in the table with what the records ask for, as far as that is filled in.
  func expectEntries(_ database: Database, _ place: String) throws {
    let snapshot = try database.snapshot()
    var expected: Set<[UInt8]> = []
    for plan in try snapshot.names.collections.all {
      var children = try snapshot[plan.path].children.makeCursor()
      while let child = try children.next() {
        guard case .map(let record)? = try child.ownValue, let key = child.key else { continue }
        for index in plan.indexes {
          expected.formUnion(try entries(index, plan, record, key, snapshot.names))
        }
      }
    }
    var found: Set<[UInt8]> = []
    var cursor = try Cursor(snapshot.reader.access, snapshot.reader.tables.index)
    var isThere = try cursor.first()
    while isThere {
      found.insert(cursor.withEntry { key, value in key.array() + value.array() })
      isThere = try cursor.next()
    }
    let unfinished = try snapshot.names.collections.unfinished
    func isFinished(_ entry: [UInt8]) -> Bool {
      let number = entry.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
      guard let unfinished = unfinished[number] else { return true }
      return entry.lend { !unfinished.isAhead(of: $0) }
    }
    let missing = expected.subtracting(found).filter(isFinished).count
    let extra = found.subtracting(expected).filter(isFinished).count
    #expect((missing, extra) == (0, 0), "\(place)")
  }

  /// The entries of one record, made of its values.
  private func entries(
    _ index: IndexPlan, _ plan: CollectionPlan, _ record: ValueMap, _ key: Key, _ names: Catalog
  ) throws -> Set<[UInt8]> {
    var keyBytes: [UInt8] = []
    key.append(to: &keyBytes)
    var rows: [[UInt8]] = [IndexEntry.prefix(index.number)]
    for term in index.definition.terms {
      let property = plan.definition[term.property]
      let value = record[term.property] ?? property?.absence
      var choices = [value]
      if property?.type.isPlural == true {
        guard case .array(let elements)? = value else { return [] }
        choices = elements
      }
      rows = try rows.flatMap { row in
        try choices.map {
          row
            + (try OrderedBytes.of(
              $0, as: property?.type.element ?? .any, term.collation,
              isDescending: term.isDescending))
        }
      }
    }
    var value: [UInt8] = []
    var covered = RecordBuilder()
    let copied = index.definition.covered.isEmpty ? [] : index.definition.terms.map(\.property)
    for name in index.definition.covered + copied {
      covered[try names.defined(name)] = try record[name]?.stored()
    }
    return Set(
      rows.map { row in
        let room = 511 - keyBytes.count
        value = []
        value.append(
          littleEndian: UInt16(keyBytes.count) | (row.count > room ? 0x8000 : 0))
        if !index.definition.covered.isEmpty { value += covered.stored() }
        return row.prefix(room) + keyBytes + value
      })
  }
}
