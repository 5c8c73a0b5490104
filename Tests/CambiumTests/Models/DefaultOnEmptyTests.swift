// Goal: an initial value that is not stored is one in everything that is asked. Method: models with
// and without it, what lies in their records, and every kind of question.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("An initial value that is not stored")
struct DefaultOnEmptyTests {
  struct Gauge: Cambium.Model, Equatable {
    var id = ID()
    var number = 0
    var level = 3
    var limit: Int? = 9

    static let schema = ModelSchema<Gauge>("gauges") {
      Property(\.level).defaultOnEmpty()
      Property(\.limit).defaultOnEmpty()
      Index(\.limit)
      Count(by: \.level)
    }
  }

  private func withGauges(_ body: (Database, [Gauge]) throws -> Void) throws {
    let database = try Database.inMemory(for: Gauge.self)
    let gauges = (0..<600).map {
      let limit = $0 % 40 == 0 ? 9 : [7, nil, 4, 20][$0 % 4]
      return Gauge(number: $0, level: $0 % 3 == 0 ? 3 : $0 % 7, limit: limit)
    }
    try database.write { tx in for gauge in gauges { try tx.insert(gauge) } }
    try body(database, gauges)
    try expectSound(database)
    try database.close()
  }

  @Test("takes no room, and is there when the model is read")
  func stored() throws {
    try withGauges { database, gauges in
      let snapshot = try database.snapshot()
      #expect(
        try snapshot.all(Gauge.self).fetch().sorted { $0.number < $1.number }.map(\.level)
          == gauges.map(\.level))
      for record in try snapshot.records("gauges").fetch() {
        let gauge = try #require(gauges.first { .integer(Int64($0.number)) == record["number"] })
        #expect((record.values["level"] == nil) == (gauge.level == 3))
        #expect((record.values["limit"] == nil) == (gauge.limit == 9))
        #expect(gauge.limit != nil || record.values["limit"] == .null)
      }
      let id = try #require(try snapshot.query(Gauge.self).where { $0.number == 1 }.first()).id
      try database.update(id) { $0.level = 3 }
      #expect(try database.snapshot()[id.path].record?.values["level"] == nil)
      try database.write { try $0.increment(id, \.level, by: 4) }
      #expect(try database.find(id)?.level == 7)
      #expect(try database.snapshot()[id.path].record?["level"] == 7)
      try database.write { try $0.increment(id, \.level, by: -4) }
      #expect(try database.find(id)?.level == 3)
      // Logged as a change, which leaves the sum.
      #expect(try database.snapshot()[id.path].record?.values["level"] == 3)
    }
  }

  struct Post: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var likes = 0
    var shares = 0
    var stars = 3
    var tags: Set<String> = []
    var prices: [String: Int] = [:]
    var lines: [String] = []

    static let schema = ModelSchema<Post>("posts") {
      Property(\.likes).defaultOnEmpty()
      Property(\.shares).defaultOnEmpty().clamped(to: 0...9)
      Property(\.stars).defaultOnEmpty()
      Property(\.tags).defaultOnEmpty()
      Property(\.prices).defaultOnEmpty()
      Property(\.lines).defaultOnEmpty()
    }
  }

  @Test("that is zero or empty is changed in place for the first time as it is later")
  func firstChange() throws {
    try withDatabase { database in
      try database.register(Post.self)
      let id = try database.insert(Post(id: 1))
      func change(_ likes: Int, _ tag: String, _ price: String) throws -> SequenceNumber {
        try database.write { tx in
          try tx.remove("none", from: id, \.tags)
          try tx.increment(id, \.likes, by: likes)
          try tx.increment(id, \.shares, by: likes)
          try tx.insert(tag, into: id, \.tags)
          try tx.set(id, \.prices, price, to: 1)
          try tx.append(tag, to: id, \.lines)
          return tx.sequence
        }
      }
      let first = try change(2, "a", "USD")
      _ = try change(3, "b", "EUR")
      try database.undo(first)
      #expect(
        try database.get(id)
          == Post(id: 1, likes: 3, shares: 3, tags: ["b"], prices: ["EUR": 1], lines: ["b"]))
    }
  }

  @Test("that is something else is logged with the first change in place")
  func firstUpdate() throws {
    try withDatabase { database in
      try database.register(Post.self)
      let id = try database.insert(Post(id: 1))
      try database.write { tx in
        try tx.increment(id, \.stars, by: 1)
        try tx.increment(id, \.shares, by: 50)
      }
      #expect(try database.get(id) == Post(id: 1, shares: 9, stars: 4))
      try database.write { tx in try tx.increment(id, \.shares, by: -50) }
      #expect(try database.snapshot()[id.path].record?.values["shares"] == nil)
    }
  }

  @Test("is found, ordered, selected, summed and grouped by")
  func asked() throws {
    try withGauges { database, gauges in
      let query = database.query(Gauge.self)
      func numbers(_ query: ModelQuery<Gauge>) throws -> [Int] {
        try query.fetch().map(\.number).sorted()
      }
      func wanted(_ holds: (Gauge) -> Bool) -> [Int] { gauges.filter(holds).map(\.number) }
      #expect(try numbers(query.where { $0.level == 3 }) == wanted { $0.level == 3 })
      #expect(try numbers(query.where { $0.level < 4 }) == wanted { $0.level < 4 })
      #expect(
        try numbers(query.where { $0.level.in([3, 5]) }) == wanted { [3, 5].contains($0.level) })
      #expect(try numbers(query.where { $0.limit == 9 }) == wanted { $0.limit == 9 })
      #expect(try numbers(query.where { $0.limit == nil }) == wanted { $0.limit == nil })
      #expect(try numbers(query.where { $0.limit > 5 }) == wanted { ($0.limit ?? 0) > 5 })
      let words = try query.where { $0.limit == 9 }.explain()
      #expect(words.contains("use the index (`limit`) where `limit` = 9"), "\(words)")
      let ordered = try query.order(by: \.level.descending, \.number).fetch()
      #expect(
        ordered
          == gauges.sorted { ($1.level, $0.number) < ($0.level, $1.number) }.map { gauge in
            ordered.first { $0.number == gauge.number } ?? gauge
          })
      #expect(try query.order(by: \.number).select(\.level).fetch() == gauges.map(\.level))
      #expect(try query.sum(\.level) == gauges.map(\.level).reduce(0, +))
      let groups = try query.group(by: \.level).select { $0.count }
      let expected = Dictionary(grouping: gauges, by: \.level).mapValues(\.count)
      #expect(Dictionary(uniqueKeysWithValues: groups.map { ($0.0, $0.1) }) == expected)
      #expect(try query.group(by: \.level).aggregates { $0.count }.explain().contains("view"))
      #expect(try database.records("gauges where level = 3").count() == expected[3])
    }
  }
}
