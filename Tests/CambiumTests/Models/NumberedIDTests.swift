// Goal: an integer id is given once, whatever became of the record that had it. Method: each way in
// which a record comes and goes, random histories against a model that remembers the greatest, and
// `verify`, which folds the counters again.

import Simulation
import Testing

@testable import Cambium

@Suite("Integer ids")
struct NumberedIDTests {
  struct Ticket: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""

    static let schema = ModelSchema<Ticket>("tickets")
  }

  @Test("are not used again after the greatest was deleted")
  func deleted() throws {
    try withDatabase { database in
      try database.register(Ticket.self)
      #expect(try database.insert(Ticket(title: "a")) == 1)
      let second = try database.insert(Ticket(title: "b"))
      try database.delete(second)
      #expect(try database.insert(Ticket(title: "c")) == 3)
      try database.write { _ = try $0.deleteAll(Ticket.self) }
      #expect(try database.insert(Ticket(title: "d")) == 4)
    }
  }

  @Test("count records that were put by path, moved, restored, and brought back by undo")
  func ways() throws {
    try withDatabase { database in
      try database.register(Ticket.self)
      try database.write { try $0.set("tickets/10", to: ["title": "by path"]) }
      let removal = try database.write { tx in
        _ = try tx.remove("tickets/10")
        return tx.sequence
      }
      #expect(try database.insert(Ticket()) == 11)
      try database.write { tx in
        try tx.restore("tickets/10", removedAt: removal)
        try tx.set("drafts/20", to: ["title": "draft"])
        try tx.move("drafts/20", to: "tickets/20")
        _ = try tx.remove("tickets/20")
      }
      #expect(try database.insert(Ticket()) == 21)
      // A place below a record that is not there makes the node.
      try database.write { try $0.set("tickets/30/note", to: "x") }
      #expect(try database.insert(Ticket()) == 31)
      let last = try database.write { tx in
        try tx.insert(contentsOf: [Ticket(), Ticket()])
        return tx.sequence
      }
      _ = try database.undo(last)
      #expect(try database.insert(Ticket()) == 34)
      _ = try database.write { try $0.remove("tickets") }
      #expect(try database.insert(Ticket()) == 35)
    }
  }

  @Test("are free again where the transaction that gave them was not stored")
  func rolledBack() throws {
    struct Stop: Error {}
    try withDatabase { database in
      try database.register(Ticket.self)
      #expect(throws: Stop.self) {
        try database.write { tx in
          _ = try tx.insert(Ticket())
          throw Stop()
        }
      }
      let id = try database.write { tx in
        _ = try? tx.attempt {
          _ = try tx.insert(Ticket())
          throw Stop()
        }
        // A record that the rules refuse does not count either.
        _ = try? tx.set("tickets/77", to: ["title": 3])
        return try tx.insert(Ticket())
      }
      #expect(id == 1)
    }
  }

  @Test("are remembered by a state that is made anew, by a baseline, and by a restored backup")
  func lasting() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/a.cambium"
    let database = try Database(at: path, for: Ticket.self)
    for _ in 0..<4 { _ = try database.insert(Ticket()) }
    try database.delete(Ticket.ID(4))
    _ = try database.insert(Ticket())
    try database.delete(Ticket.ID(5))
    try database.compact(upTo: database.head)
    try expectSound(database)
    try database.rebuild()
    #expect(try database.insert(Ticket()) == 6)
    try expectSound(database)
    let backup = "\(directory.path)/a.backup"
    try database.backUp(to: backup)
    try database.close()
    let restored = "\(directory.path)/b.cambium"
    try Database.restore(backup, to: restored)
    let other = try Database(at: restored, for: Ticket.self)
    try other.delete(Ticket.ID(6))
    #expect(try other.insert(Ticket()) == 7)
    try expectSound(other)
    try other.close()
  }

  @Test("of a collection that is declared later go on from what is there")
  func declaredLater() throws {
    try withDatabase { database in
      try database.write { try $0.set("tickets/5", to: ["title": "x"]) }
      try database.register(Ticket.self)
      try database.delete(Ticket.ID(5))
      #expect(try database.insert(Ticket()) == 6)
    }
  }

  @Test("ascend in random histories", arguments: [1, 2, 3, 4, 5] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      try database.register(Ticket.self)
      var greatest = 0
      var removals: [(Int, SequenceNumber)] = []
      for _ in 0..<120 {
        let present = try database.query(Ticket.self).ids().map(\.key)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
          greatest += 1
          #expect(try database.insert(Ticket()).key == greatest, "seed \(seed)")
        case 2:
          let key = Int.random(in: max(1, greatest - 3)...(greatest + 3), using: &random)
          try database.write { try $0.set(try NodePath("tickets/\(key)"), to: ["title": "p"]) }
          greatest = max(greatest, key)
        case 3:
          guard let key = present.last else { continue }
          let at = try database.write { tx in
            try tx.delete(Ticket.ID(key))
            return tx.sequence
          }
          removals.append((key, at))
        case 4:
          guard let (key, at) = removals.randomElement(using: &random) else { continue }
          try? database.write { try $0.restore(try NodePath("tickets/\(key)"), removedAt: at) }
        case 5: _ = try? database.undoLast()
        default:
          if Int.random(in: 0..<4, using: &random) == 0 {
            try database.write { _ = try $0.deleteAll(Ticket.self) }
          } else if Int.random(in: 0..<4, using: &random) == 0 {
            try database.rebuild()
          }
        }
      }
    }
  }

  /// A key that is greater than all before is not looked up, so this looks for records that such a
  /// key would hide: around the greatest, in transactions of many steps.
  @Test("never take a record that is there for none", arguments: 1...8)
  func taken(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    try withDatabase { database in
      try database.register(Ticket.self)
      var titles: [Int: String] = [:]
      for number in 0..<60 {
        let before = titles
        let isKept = random.below(4) > 0
        do {
          try database.write { tx in
            for step in 0..<random.below(20) {
              try change(tx, &titles, "\(number) \(step)", &random)
            }
            if !isKept { throw Undone() }
          }
        } catch is Undone { titles = before }
        let found = try database.query(Ticket.self).fetch().map { ($0.id.key, $0.title) }
        #expect(Dictionary(uniqueKeysWithValues: found) == titles, "seed \(seed)")
      }
      #expect(try database.verify().isSound, "seed \(seed)")
    }
  }

  private struct Undone: Error {}

  private func change(
    _ tx: borrowing Database.Transaction, _ titles: inout [Int: String], _ title: String,
    _ random: inout SeededGenerator
  ) throws {
    let key = max(1, (titles.keys.max() ?? 0) - 3 + random.below(6))
    let path = try Ticket.ID(key).path
    switch random.below(8) {
    case 0, 1, 2:
      var isInserted = true
      do { try tx.insert(Ticket(id: .init(key), title: title)) } catch DatabaseError.exists {
        isInserted = false
      }
      #expect(isInserted == (titles[key] == nil))
      if isInserted { titles[key] = title }
    case 3:
      try tx.set(path, to: ["title": .string(title)])
      titles[key] = title
    case 4:
      let wasThere = try tx.remove(path)
      #expect(wasThere == (titles.removeValue(forKey: key) != nil))
    case 5:
      if titles[key] != nil { return }
      let draft = try NodePath("drafts/\(title)")
      try tx.set(draft, to: ["title": .string(title)])
      try tx.move(draft, to: path)
      titles[key] = title
    case 6:
      // The counter goes back with the records that are undone.
      var tried = titles
      do {
        try tx.attempt {
          for _ in 0..<random.below(4) { try change(tx, &tried, title, &random) }
          throw Undone()
        }
      } catch is Undone {}
    default: titles[try tx.insert(Ticket(title: title)).key] = title
    }
  }
}

@Suite("Texts that are equal")
struct ComposedKeyTests {
  struct City: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var people = 0
    var twin: City.ID?

    static let schema = ModelSchema<City>("cities") { Property(\.twin).onDelete(.nullify) }
  }

  static let composed = "Z\u{fc}rich"
  static let decomposed = "Zu\u{308}rich"

  @Test("are one id, whichever form they have")
  func oneKey() throws {
    try withDatabase { database in
      try database.register(City.self)
      let id = try database.insert(City(id: City.ID(Self.decomposed), people: 4))
      #expect(try database.find(City.ID(Self.composed))?.people == 4)
      #expect(try database.find(City.ID(Self.decomposed))?.people == 4)
      #expect(throws: DatabaseError.self) {
        try database.insert(City(id: City.ID(Self.composed)))
      }
      _ = try database.insert(City(id: "Bern", twin: City.ID(Self.decomposed)))
      #expect(try database.query(City.self).where { $0.twin == id }.count() == 1)
      #expect(
        try database.query(City.self).where { $0.id == City.ID(Self.decomposed) }.count() == 1)
      try database.delete(City.ID(Self.decomposed))
      #expect(try database.get(City.ID("Bern")).twin == nil)
    }
  }

  @Test("are two keys in a path, which is compared by its bytes")
  func paths() throws {
    try withDatabase { database in
      let (one, other) = (try NodePath("a/\(Self.decomposed)"), try NodePath("a/\(Self.composed)"))
      #expect(one != other)
      try database.write { tx in
        try tx.set(one, to: 1)
        try tx.set(other, to: 2)
      }
      #expect(try database.read { try [$0[one].value, $0[other].value] } == [1, 2])
    }
  }
}
