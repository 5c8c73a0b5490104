// Goal: ids that are texts compare as texts, whatever they read as. Method: random keys that look
// like integers, UUIDs and words; every condition, order and page against Swift's own comparison of
// the texts' bytes, with only words and with all kinds, and at a moment of the past.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Text ids")
struct TextKeyTests {
  struct Part: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var size = 0
    static let schema = ModelSchema<Part>("parts") { Index(\.size) }
  }

  struct Order: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var part: Part.ID?
    var plain: Part.ID?
    static let schema = ModelSchema<Order>("orders") { Index(\.part) }
  }

  private static func key(_ isMixed: Bool, _ random: inout SeededGenerator) -> String {
    switch isMixed ? Int.random(in: 0..<4, using: &random) : 3 {
    case 0: return "\(Int.random(in: -20...120, using: &random))"
    case 1:
      return "0192f0c1-2d3e-7f40-8abc-def0123456\(Int.random(in: 10...99, using: &random))"
    case 2: return "0\(Int.random(in: 0...9, using: &random))"
    default:
      var text = ""
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        text.append("abyzF".randomElement(using: &random) ?? "a")
      }
      return text
    }
  }

  private static func precedes(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }

  @Test("that read as numbers are found and compared as texts")
  func examples() throws {
    try withDatabase { database in
      try database.register(Part.self, Order.self)
      try database.write { tx in
        for key in ["1", "10", "5", "9", "a", "-3"] { try tx.insert(Part(id: Part.ID(key))) }
        for key in 1...3 { try tx.insert(Order(id: Order.ID(key), part: Part.ID("\(key * 5)"))) }
      }
      let query = database.query(Part.self)
      func ids(_ query: ModelQuery<Part>) throws -> Set<String> { Set(try query.ids().map(\.key)) }
      #expect(try ids(query.where { $0.id > "5" }) == ["9", "a"])
      #expect(try ids(query.where { $0.id <= "10" }) == ["-3", "1", "10"])
      #expect(try database.records("parts where id > \"5\"").count() == 2)
      #expect(try database.records("parts where id prefix \"1\"").count() == 2)
      #expect(try query.order { $0.id }.ids().map(\.key) == ["-3", "1", "10", "5", "9", "a"])
      #expect(try query.order { $0.id.descending }.first()?.id == "a")
      #expect(try query.where { $0.id == "10" }.explain().contains("look up 1 key"))
      let orders = database.query(Order.self)
      #expect(try orders.where { $0.part > "10" }.ids().map(\.key).sorted() == [1, 3])
      #expect(try orders.order { $0.part }.ids().map(\.key) == [2, 3, 1])
    }
  }

  @Test(
    "compare as texts in random collections",
    arguments: [(31, true), (32, true), (33, true), (34, false), (35, false)] as [(UInt64, Bool)])
  func random(seed: UInt64, isMixed: Bool) throws {
    var random = SeededGenerator(seed: seed)
    let keys = Set((0..<60).map { _ in Self.key(isMixed, &random) })
    let sorted = keys.sorted(by: Self.precedes)
    try withDatabase { database in
      try database.register(Part.self, Order.self)
      try database.write { tx in
        for key in keys.sorted() { try tx.insert(Part(id: Part.ID(key), size: key.utf8.count)) }
        for (number, key) in sorted.enumerated() {
          try tx.insert(Order(id: Order.ID(number), part: Part.ID(key), plain: Part.ID(key)))
        }
      }
      let past = try database.snapshot(at: .sequence(database.head))
      try database.write { _ = try $0.deleteAll(Part.self) }
      try database.write { tx in
        for key in keys { try tx.insert(Part(id: Part.ID(key), size: key.utf8.count)) }
      }
      for snapshot in [try database.snapshot(), past] {
        try check(snapshot, sorted, &random, "seed \(seed)")
      }
    }
  }

  private func check(
    _ snapshot: Snapshot, _ sorted: [String], _ random: inout SeededGenerator, _ comment: Comment
  ) throws {
    let query = snapshot.query(Part.self)
    #expect(try query.order { $0.id }.ids().map(\.key) == sorted, comment)
    #expect(try query.order { $0.id.descending }.ids().map(\.key) == sorted.reversed(), comment)
    for _ in 0..<12 {
      let bound = Self.key(true, &random)
      let id = Part.ID(bound)
      let less = sorted.filter { Self.precedes($0, bound) }
      let greater = sorted.filter { Self.precedes(bound, $0) }
      #expect(try Set(query.where { $0.id < id }.ids().map(\.key)) == Set(less), comment)
      #expect(try Set(query.where { $0.id > id }.ids().map(\.key)) == Set(greater), comment)
      #expect(
        try query.where { $0.id >= id }.order { $0.id }.ids().map(\.key)
          == sorted.filter { !Self.precedes($0, bound) }, comment)
      let orders = snapshot.query(Order.self)
      #expect(
        try Set(orders.where { $0.part < id }.ids().map(\.key)) == Set(less.indices), comment)
      #expect(
        try Set(orders.where { $0.plain > id }.ids().map(\.key)).count == greater.count, comment)
      let prefix = String(bound.prefix(1))
      let text = try snapshot.records("parts where id prefix $1", prefix)
      #expect(try text.count() == sorted.count { $0.hasPrefix(prefix) }, comment)
    }
    let orders = snapshot.query(Order.self)
    #expect(try orders.order { $0.part }.ids().map(\.key) == Array(sorted.indices), comment)
    #expect(
      try orders.order { $0.plain.descending }.limit(5).ids().map(\.key)
        == Array(sorted.indices.reversed().prefix(5)), comment)
    // Pages, by id and by a size that many have.
    var pages: [String] = []
    var page = try query.order { $0.id }.limit(7).page()
    pages += page.results.map(\.id.key)
    while let next = page.next {
      page = try query.order { $0.id }.after(next).limit(7).page()
      pages += page.results.map(\.id.key)
    }
    #expect(pages == sorted, comment)
    let sizes = sorted.enumerated().sorted {
      ($0.element.utf8.count, $0.offset) < ($1.element.utf8.count, $1.offset)
    }
    #expect(
      try query.order { $0.size }.limit(20).ids().map(\.key) == sizes.prefix(20).map(\.element),
      comment)
  }
}
