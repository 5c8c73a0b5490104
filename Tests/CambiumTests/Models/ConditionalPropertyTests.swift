// Goal: a property under a condition is in no model for which the condition fails, whatever its
// record holds, and gets into no record of such a model. Method: random histories by every way of
// writing, on records that an older app has left with values in the wrong places, against a naive
// model of what is stored.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A property under a condition")
struct ConditionalPropertyTests {
  enum Kind: String, RawProperty, CaseIterable { case note, task }

  struct Entry: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var kind = Kind.note
    var title = ""
    var deadline: Int?
    var effort = 1
    var place = Airport.Place()

    static let schema = ModelSchema<Entry>("entries") {
      Property(\.deadline).when { $0.kind == .task }
      Property(\.effort).when { $0.kind == .task }
      Property(\.place).when { $0.kind == .task }
      Index(\.title)
    }

    /// As it is shown and stored.
    var settled: Entry {
      kind == .task ? self : Entry(id: id, kind: kind, title: title)
    }
  }

  /// A condition that asks about another conditional property, which is named before it.
  struct Chained: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var isOpen = false
    var level = 0
    var note = ""
    static let schema = ModelSchema<Chained>("chained") {
      Property(\.level).when { $0.isOpen }
      Property(\.note).when { $0.level == 2 }
    }
  }

  @Test("is read by what its record has of other conditional properties")
  func chained() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("chained/1", to: ["isOpen": false, "level": 2, "note": "a"])
      }
      try database.register(Chained.self)
      #expect(try database.find(Chained.ID(1)) == Chained(id: .init(1), note: "a"))
    }
  }

  private static func entry(_ key: Int, _ random: inout FormatRandom) -> Entry {
    Entry(
      id: .init(key), kind: random.pick(Kind.allCases), title: random.pick(["a", "b", "c"]),
      deadline: random.chance(oneIn: 3) ? nil : random.below(9), effort: random.below(4),
      place: .init(latitude: Double(random.below(3)), longitude: 0))
  }

  /// Stores what no model would.
  private static func leave(_ entry: Entry, in database: Database) throws {
    var record: ValueMap = [
      "kind": .string(entry.kind.rawValue), "title": .string(entry.title),
      "effort": .integer(Int64(entry.effort)), "place.latitude": .double(entry.place.latitude),
      "place.longitude": .double(0),
    ]
    record["deadline"] = entry.deadline.map { .integer(Int64($0)) }
    let path = try NodePath("entries/\(entry.id.key)")
    try database.write { [record] tx in try tx.set(path, to: .map(record)) }
  }

  @Test(
    "is read and written where the condition holds", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      // The records, with values in the wrong places too: nothing knows of the condition yet.
      var (stored, states) = ([Int: Entry](), [SequenceNumber: [Int: Entry]]())
      for key in 0..<8 {
        stored[key] = Self.entry(key, &random)
        try Self.leave(stored[key] ?? Entry(), in: database)
      }
      try database.register(Entry.self)
      for _ in 1...200 {
        try Self.step(database, &stored, &random)
        states[try database.head] = stored
        try Self.check(try database.snapshot(), stored, seed)
      }
      for (sequence, stored) in states where random.chance(oneIn: 20) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), stored, seed)
      }
    }
  }

  private static func step(
    _ database: Database, _ stored: inout [Int: Entry], _ random: inout FormatRandom
  ) throws {
    let key = random.below(12)
    let made = entry(key, &random)
    guard let old = stored[key] else {
      try database.insert(made)
      stored[key] = made.settled
      return
    }
    let head = try database.head
    try change(database, old, to: made, &stored, &random)
    if try database.head == head {
      // A write that changes nothing does not touch what is not read.
      #expect(stored[key]?.settled == old.settled)
      stored[key] = old
    }
  }

  private static func change(
    _ database: Database, _ old: Entry, to made: Entry, _ stored: inout [Int: Entry],
    _ random: inout FormatRandom
  ) throws {
    let (id, key) = (old.id, old.id.key)
    var new = old
    switch random.below(7) {
    case 0:
      // The whole model: what was not read of it goes.
      try database.write { tx in _ = try tx.upsert(made) }
      new = made
    case 1:
      try database.write { tx in _ = try tx.update(id) { $0.kind = made.kind } }
      new = old.settled
      new.kind = made.kind
    case 2:
      // A single property: the rest of the record stays, as far as the condition allows it.
      try database.write { tx in try tx.set(id, \.kind, to: made.kind) }
      new.kind = made.kind
    case 3:
      try database.write { tx in try tx.set(id, \.deadline, to: made.deadline) }
      new.deadline = made.deadline
    case 4:
      try database.write { tx in try tx.increment(id, \.effort, by: 2) }
      new.effort += 2
    case 5:
      let path = try NodePath("entries/\(key)/title")
      try database.write { tx in try tx.set(path, to: .string(made.title)) }
      new.title = made.title
    default:
      try database.delete(id)
      return stored[key] = nil
    }
    // The condition is asked about a record that has changed.
    if new != old { stored[key] = new.settled }
  }

  private static func check(
    _ snapshot: Snapshot, _ stored: [Int: Entry], _ seed: UInt64
  ) throws {
    let comment = Comment("seed \(seed), \(snapshot.sequence)")
    let shown = stored.values.map(\.settled).sorted { $0.id < $1.id }
    #expect(try snapshot.all(Entry.self).fetch() == shown, comment)
    #expect(try snapshot.query(Entry.self).order(by: \.id).fetch() == shown, comment)
    for entry in shown {
      #expect(try snapshot.find(entry.id) == entry, comment)
      #expect(try snapshot.find(entry.id, \.deadline) == .some(entry.deadline), comment)
      #expect(try snapshot.find(entry.id, \.effort) == entry.effort, comment)
      #expect(try snapshot.find(entry.id, \.place) == entry.place, comment)
      #expect(try snapshot.find(entry.id, \.place.latitude) == entry.place.latitude, comment)
    }
    // Queries look at records themselves.
    for entry in stored.values {
      let values = try snapshot.query(Entry.self).where { $0.id == entry.id }
        .select(\.deadline, \.effort).fetch()
      #expect(values.map(\.0) == [entry.deadline] && values.map(\.1) == [entry.effort], comment)
    }
  }

  @Test("asks for no more than the model has")
  func validated() throws {
    try withDatabase { database in
      var note = Entry(id: 1, title: "x", deadline: 3, effort: 7)
      #expect(note.validationErrors().isEmpty)
      try database.insert(note)
      #expect(try database.get(note.id) == Entry(id: 1, title: "x"))
      // A value that the write does not keep is not what the update says.
      let update = try database.write { tx in try tx.update(note.id) { $0.effort = 9 } }
      #expect(update.properties.isEmpty && update.after == Entry(id: 1, title: "x"))
      note.kind = .task
      try database.write { tx in _ = try tx.upsert(note) }
      #expect(try database.get(note.id) == note)
    }
  }

  // MARK: In an enum of models

  enum Item: ModelUnion, Equatable {
    typealias Key = Int
    case task(Task), other(Other)
    static let cases = ModelCases<Item>(
      ModelCase("task", Item.task) { if case .task(let it) = $0 { it } else { nil } },
      ModelCase("other", Item.other) { if case .other(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Item>(union: "items")

    struct Task: Cambium.Model, Equatable {
      typealias Key = Int
      var id = ID()
      var isDone = false
      var result: String?
      var title = ""
      static let schema = ModelSchema<Task>(caseOf: Item.self) {
        Property(\.result).when { $0.isDone }
      }
    }
    struct Other: Cambium.Model, Equatable {
      typealias Key = Int
      var id = ID()
      static let schema = ModelSchema<Other>(caseOf: Item.self)
    }
  }

  @Test("of one case is so for the enum as well")
  func union() throws {
    try withDatabase { database in
      func stored(_ key: Int) throws -> Value? {
        try database.read {
          try $0[NodePath(keys: ["items", .integer(Int64(key))])].record?["result"]
        }
      }
      try database.write { tx in
        for key in 1...4 {
          try tx.set(
            NodePath(keys: ["items", .integer(Int64(key))]),
            to: ["type": "task", "isDone": false, "result": "old", "title": ""])
        }
      }
      try database.register(Item.self)
      let open = Item.Task(id: 1)
      #expect(try database.find(Item.ID(1)) == .task(open))
      #expect(try database.find(Item.Task.ID(1)) == open)
      #expect(try database.find(Item.Task.ID(1), \.result) == .some(nil))
      // By the enum, by the case, by the path of another property, and by a single property.
      try database.write { tx in _ = try tx.upsert(Item.task(Item.Task(id: 1, isDone: true))) }
      try database.update(Item.Task.ID(2)) { $0.isDone = true }
      try database.write { try $0.set("items/3/title", to: "x") }
      try database.write { tx in try tx.set(Item.Task.ID(4), \.isDone, to: true) }
      #expect(try (1...4).map(stored) == [nil, nil, nil, "old"])
      let results = try database.all(Item.Task.self).fetch().map(\.result)
      #expect(results == [nil, nil, nil, "old"])
    }
  }
}
