// Goal: sets and dictionaries of models, changed part by part without being read, are what whole
// values would be. Method: random typed calls against Swift's own sets and dictionaries, at present
// and in the past; the rules one by one.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Sets and dictionaries of models")
struct ModelPartsTests {
  struct Gadget: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var tags: Set<String> = []
    var marks: Set<Int>?
    var prices: [String: Int] = [:]
    var seats: [Airport.ID: Int] = [:]
    var airports: Set<Airport.ID> = []
    var rated: [String: Double] = ["new": 1]

    static let schema = ModelSchema<Gadget>("gadgets") {
      Property(\.tags).validated("must be few") { $0.count < 20 }
      Property(\.airports).mustExist()
      Property(\.seats).mustExist()
      Property(\.rated).defaultOnEmpty()
    }
  }

  @Test("come out as Swift's own do, also in the past", arguments: SeededGenerator.seeds(1, 2))
  func random(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      try database.register(Gadget.self)
      var gadget = Gadget(id: 1)
      try database.insert(gadget)
      var past: [(sequence: SequenceNumber, gadget: Gadget)] = []
      for _ in 0..<150 {
        try database.write { tx in
          for _ in 0..<3 { try Self.change(&gadget, tx, &random) }
        }
        past.append((try database.head, gadget))
        #expect(try database.get(gadget.id) == gadget)
      }
      // Written whole it is the same bytes, so there is nothing to log.
      let head = try database.head
      try database.write { tx in try tx.update(gadget.id) { $0 = gadget } }
      #expect(try database.head == head)
      for moment in past.filter({ $0.sequence.rawValue % 10 == 0 }) {
        let found = try database.read(at: .sequence(moment.sequence)) { try $0.get(gadget.id) }
        #expect(found == moment.gadget)
      }
    }
  }

  private static func change(
    _ gadget: inout Gadget, _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let (id, number) = (gadget.id, random.below(12))
    let (text, key) = (random.pick(["a", "bb", "é", "", "long text"]), "\(number)")
    switch random.below(9) {
    case 0:
      try tx.insert(text, into: id, \.tags)
      gadget.tags.insert(text)
    case 1:
      try tx.remove(text, from: id, \.tags)
      gadget.tags.remove(text)
    case 2:
      try tx.insert(number * 100, into: id, \.marks)
      gadget.marks = (gadget.marks ?? []).union([number * 100])
    case 3:
      try tx.remove(number * 100, from: id, \.marks)
      gadget.marks?.remove(number * 100)
    case 4:
      try tx.set(id, \.marks, to: nil)
      gadget.marks = nil
    case 5:
      try tx.set(id, \.prices, key, to: number)
      gadget.prices[key] = number
    case 6:
      try tx.removeValue(forKey: key, from: id, \.prices)
      gadget.prices[key] = nil
    case 7:
      try tx.increment(id, \.prices, key, by: number)
      gadget.prices[key, default: 0] += number
    default:
      try tx.increment(id, \.rated, text, by: 0.5)
      gadget.rated[text, default: 0] += 0.5
    }
  }

  @Test("keep to the rules, as whole values do")
  func rules() throws {
    try withDatabase { database in
      try database.register(Gadget.self, Airport.self)
      try database.insert(Airport(id: "JFK"))
      let id = try database.insert(Gadget(id: 1, tags: Set((1..<20).map { "\($0)" })))
      let head = try database.head
      #expect(throws: ValidationError.self) {
        try database.write { tx in try tx.insert("more", into: id, \.tags) }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.insert("LGA", into: id, \.airports) }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set(id, \.seats, "LGA", to: 1) }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.insert("LGA", into: "gadgets/1", "airports") }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.append("LGA", to: "gadgets/1", "airports") }
      }
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.insert("x", into: Gadget.ID(9), \.tags) }
      }
      #expect(try database.head == head)
      try database.write { tx in
        try tx.insert("JFK", into: id, \.airports)
        try tx.set(id, \.seats, "JFK", to: 7)
        try tx.set(id, \.rated, "old", to: 2)
      }
      let gadget = try database.get(id)
      #expect(gadget.airports == ["JFK"] && gadget.seats == ["JFK": 7])
      // The default that absence stands for is not lost when one entry is set.
      #expect(gadget.rated == ["new": 1, "old": 2])
    }
  }
}
