// Goal: the other side of a unique reference is the one record that refers, or nil, however it is
// asked for. Method: random histories of travellers and passports (inserts, passports that change
// hands, refused seconds, deletions on either side, undo) against plain dictionaries, at present,
// in the past and inside a transaction.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("The other side of one to one")
struct OneToOneTests {
  struct Traveller: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var age = 0
    var guide: Traveller.ID?
    var passport: One<Passport> { one(\.holder) }
    var visa: One<Visa> { one(\.holder) }
    var ticket: One<Ticket> { one(\.holder) }
    static let schema = ModelSchema<Traveller>("travellers")
  }

  struct Passport: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var holder: Traveller.ID?
    var number = 0
    static let schema = ModelSchema<Passport>("passports") {
      Property(\.holder).onDelete(.nullify)
      Unique(\.holder)
    }
  }

  /// Refers by a reference that is not unique.
  struct Visa: Cambium.Model {
    var id = ID()
    var holder: Traveller.ID?
    static let schema = ModelSchema<Visa>("visas")
  }

  /// Unique only together with something else, or only for some.
  struct Ticket: Cambium.Model {
    var id = ID()
    var holder: Traveller.ID?
    var day = 0
    static let schema = ModelSchema<Ticket>("tickets") {
      Unique(\.holder, \.day)
      Unique(\.holder).where { $0.day > 0 }
    }
  }

  private struct World {
    var travellers: [Int: Traveller] = [:]
    var passports: [Int: Passport] = [:]

    func passport(of traveller: Int?) -> Passport? {
      passports.values.first { $0.holder != nil && $0.holder?.key == traveller }
    }
  }

  @Test("is the same as looking through all", arguments: SeededGenerator.seeds(1, 2, 3))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Traveller.self, Passport.self)
      var (world, worlds) = (World(), [SequenceNumber: World]())
      for step in 1...300 {
        let before = (try database.head, world)
        try Self.step(database, &world, &random)
        if try database.head == before.0.next, random.chance(oneIn: 6) {
          try database.undoLast()
          world = before.1
        }
        worlds[try database.head] = world
        if step % 50 == 0 {
          try Self.check(try database.snapshot(), world, seed)
          try database.write { tx in try Self.check(try tx.readingSnapshot(), world, seed) }
        }
      }
      for (sequence, world) in worlds where random.chance(oneIn: 30) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), world, seed)
      }
    }
  }

  private static func step(
    _ database: Database, _ world: inout World, _ random: inout FormatRandom
  ) throws {
    let (person, paper) = (random.below(10), random.below(8))
    if world.travellers[person] == nil {
      let traveller = Traveller(
        id: .init(person), age: random.below(5), guide: .init(random.below(10)))
      try database.insert(traveller)
      world.travellers[person] = traveller
    } else if random.chance(oneIn: 10) {
      try database.delete(Traveller.ID(person))
      world.travellers[person] = nil
      for key in world.passports.keys where world.passports[key]?.holder?.key == person {
        world.passports[key]?.holder = nil
      }
    } else if random.chance(oneIn: 10) {
      try database.delete(Passport.ID(paper))
      world.passports[paper] = nil
    } else {
      let passport = Passport(
        id: .init(paper), holder: random.chance(oneIn: 4) ? nil : .init(person),
        number: random.below(5))
      let other = passport.holder.flatMap { world.passport(of: $0.key) }
      if let other, other.id != passport.id {
        #expect(throws: DatabaseError.self) {
          try database.write { tx in _ = try tx.upsert(passport) }
        }
      } else {
        try database.write { tx in _ = try tx.upsert(passport) }
        world.passports[paper] = passport
      }
    }
  }

  private static func check(_ snapshot: Snapshot, _ world: World, _ seed: UInt64) throws {
    let comment = Comment("seed \(seed), \(snapshot.sequence)")
    let all = snapshot.query(Traveller.self)
    for traveller in world.travellers.values {
      let expected = world.passport(of: traveller.id.key)
      #expect(try snapshot.find(traveller.passport) == expected, comment)
      let related = try snapshot.related(traveller.passport).fetch()
      #expect(related == (expected.map { [$0] } ?? []), comment)
    }
    func keys(_ holds: (Traveller) -> Bool) -> Set<Int> {
      Set(world.travellers.values.filter(holds).map(\.id.key))
    }
    func found(_ query: ModelQuery<Traveller>) throws -> Set<Int> {
      Set(try query.ids().map(\.key))
    }
    #expect(
      try found(all.where { $0.passport.isNil })
        == keys { world.passport(of: $0.id.key) == nil }, comment)
    #expect(
      try found(all.where { $0.passport.has { $0.number > 2 } })
        == keys { world.passport(of: $0.id.key)?.number ?? 0 > 2 }, comment)
    #expect(
      try found(
        all.where {
          $0.age < 3
          !$0.passport.has { $0.number > 2 }
        }) == keys { $0.age < 3 && world.passport(of: $0.id.key)?.number ?? 0 <= 2 }, comment)
    for (traveller, own, guides) in try all.with(\.passport, \.guide.passport).fetch() {
      #expect(own == world.passport(of: traveller.id.key), comment)
      let guide = traveller.guide.flatMap { world.travellers[$0.key] }
      #expect(guides == guide.flatMap { world.passport(of: $0.id.key) }, comment)
    }
  }

  @Test("is nil until there is one")
  func nilAtFirst() throws {
    try withDatabase { database in
      try database.register(Passport.self)
      let ada = try database.insert(Traveller(id: 1))
      let none = try database.get(ada).passport
      #expect(try database.find(none) == nil && database.related(none).count() == 0)
      let id = try database.insert(Passport(id: 7, holder: ada, number: 3))
      #expect(try database.find(database.get(ada).passport)?.id == id)
      #expect(try database.related(database.get(ada).passport).explain().contains("holder"))
      #expect(try database.find(Traveller().passport) == nil)
    }
  }

  @Test("is refused, with the remedy, where more than one could refer")
  func refusals() throws {
    try withDatabase { database in
      let ada = try database.get(try database.insert(Traveller(id: 1)))
      try database.register(Visa.self, Ticket.self)
      func reason(_ body: () throws -> Void) -> String {
        do { try body() } catch DatabaseError.misuse(let reason) { return reason } catch {
          return "\(error)"
        }
        return "nothing"
      }
      let text = """
        Visa.holder is not unique, so that more than one could refer: declare Unique(\\.holder) in \
        the schema of Visa, or use Many
        """
      #expect(reason { _ = try database.find(ada.visa) } == text)
      #expect(reason { _ = try database.related(ada.visa) } == text)
      let all = database.query(Traveller.self)
      #expect(reason { _ = try all.where { $0.visa.isNil }.fetch() }.contains(text))
      let held = all.where { $0.visa.has { $0.holder != nil } }
      #expect(reason { _ = try held.count() }.contains(text))
      #expect(reason { _ = try all.with(\.visa).fetch() }.contains(text))
      #expect(reason { _ = try all.with(\.guide.visa).fetch() }.contains(text))
      let ticket = reason { _ = try database.find(ada.ticket) }
      #expect(ticket.hasPrefix("Ticket.holder is not unique"))
    }
  }
}
