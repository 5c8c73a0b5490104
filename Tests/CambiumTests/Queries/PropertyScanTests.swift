// Goal: what a scan hands out, counts and adds up is what each record has, or what stands for it.
// Method: a list of values, of which some are absent or null, with and without a default; another
// collection lies behind.

import Synchronization
import Testing

@testable import Cambium

@Suite("A scan of one property")
struct PropertyScanTests {
  private let stored: [Value?] = (0..<300).map { number -> Value? in
    switch number % 5 {
    case 0: nil
    case 1: .null
    default: .integer(Int64(number * number % 97))
    }
  }

  @Test("sees what each record has, or what stands for it", arguments: [false, true])
  func values(hasDefault: Bool) throws {
    try withDatabase { database in
      if hasDefault { try declareDefault(in: database) }
      try fill(database)
      let seen = stored.map { $0 ?? (hasDefault ? .integer(7) : .null) }
      let numbers = seen.compactMap { if case .integer(let number) = $0 { number } else { nil } }
      let snapshot = try database.snapshot()
      let selected = try snapshot.records("items select size").fetch().map { $0["size"] ?? .null }
      #expect(selected == seen)
      let (sum, least, greatest) = (numbers.reduce(0, +), numbers.min() ?? 0, numbers.max() ?? 0)
      #expect(try answer("sum(size)", snapshot) == .integer(sum))
      #expect(try answer("avg(size)", snapshot) == .double(Double(sum) / Double(numbers.count)))
      #expect(try answer("min(size)", snapshot) == .integer(least))
      #expect(try answer("max(size)", snapshot) == .integer(greatest))
      #expect(try answer("count", snapshot) == .integer(300))
      let some = try snapshot.records("items where size > 40 and size < 90").count()
      #expect(some == numbers.count { $0 > 40 && $0 < 90 })
    }
  }

  @Test(
    "counts what an offset and a limit leave", arguments: [0, 1, 7, 290, 400], [0, 1, 20, 500])
  func windows(offset: Int, limit: Int) throws {
    try withDatabase { database in
      try fill(database)
      let query = try database.records("items offset \(offset) limit \(limit)")
      let expected = min(max(300 - offset, 0), limit)
      #expect(try query.count() == expected)
      #expect(try query.fetch().count == expected)
    }
  }

  @Test("tells how many records it read up to its limit", arguments: [1, 2, 3, 30, 100])
  func traces(limit: Int) throws {
    let traces = Traces()
    try withDatabase({ $0.queryTrace = { trace in traces.all.withLock { $0.append(trace) } } }) {
      try fill($0)
      _ = try $0.records("items limit \(limit)").fetch()
      _ = try $0.records("items where size >= 0 limit \(limit)").fetch()
    }
    let (all, some) = try traces.all.withLock { traces in
      try #require(traces.count == 2)
      return (traces[0], traces[1])
    }
    #expect([all.recordsRead, all.accepted, all.results] == [limit, limit, limit])
    let places = stored.indices.filter { stored[$0] != nil && stored[$0] != .null }
    let last = places[limit - 1] + 1
    #expect([some.recordsRead, some.accepted, some.results] == [last, limit, limit])
  }

  private final class Traces: Sendable {
    let all = Mutex<[QueryTrace]>([])
  }

  @Test("of children is that of one node alone, both ways, up to a limit")
  func children() throws {
    try withDatabase { database in
      try fill(database)
      let children = try database.snapshot()["items"].children
      let least = try database.write { tx in try values(tx["items"].children) }
      #expect(least == stored)
      for limit in [1, 10, 299, 300, 400] {
        #expect(try values(children.limit(limit)) == Array(stored.prefix(limit)))
        let last = try values(children.reversed().limit(limit))
        #expect(last == Array(stored.reversed().prefix(limit)))
      }
      #expect(try values(children.from(.integer(100))) == Array(stored[100...]))
    }
  }

  private func values(_ children: Children) throws -> [Value?] {
    var values: [Value?] = []
    try children.forEach("size") { values.append($0) }
    return values
  }

  private func answer(_ aggregate: String, _ snapshot: Snapshot) throws -> Value? {
    try snapshot.records("items | \(aggregate)").fetch()[0][aggregate]
  }

  private func declareDefault(in database: Database) throws {
    var definition = CollectionDefinition()
    definition.properties = [PropertyDefinition("size", .integer)]
    definition.properties[0].absence = .integer(7)
    definition.properties[0].isNullable = true
    try database.write { [definition] in try $0.declare("items", definition) }
  }

  private func fill(_ database: Database) throws {
    try database.write { tx in
      for (number, size) in stored.enumerated() {
        var record: ValueMap = ["name": .string("item \(number)")]
        if let size { record["size"] = size }
        let key = Key.integer(Int64(number))
        try tx.set(NodePath(keys: ["items", key]), to: .map(record))
        try tx.set(NodePath(keys: ["others", key]), to: ["size": 1_000_000])
      }
    }
  }
}
