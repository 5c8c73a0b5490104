// Goal: what a transaction did to models, and the history of each, are what happened. Method:
// random transactions beside a list of the states after each; all commits, histories and times are
// compared with what the list says. Older forms and shared collections by hand.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Changes of models")
struct TypedChangeTests {
  /// A state of all airports.
  private typealias State = [Airport.ID: Airport]

  /// The states after each transaction, from the first on, beside a database.
  private struct Past {
    var states: [SequenceNumber: State] = [:]
    var last = State()
    /// The transaction that last wrote each.
    var written: [Airport.ID: SequenceNumber] = [:]
    /// The transactions that wrote each.
    var steps: [Airport.ID: [SequenceNumber]] = [:]
    var random: FormatRandom

    /// Makes a random transaction.
    mutating func write(_ database: Database) throws {
      var (next, random) = (last, self.random)
      var touched: Set<Airport.ID> = []
      let sequence = try database.write(metadata: ["step": "\(states.count)"]) { tx in
        if random.chance(oneIn: 12) {
          try tx.deleteAll(Airport.self)
          (touched, next) = (Set(next.keys), [:])
        }
        for _ in 0..<random.below(5) {
          let id = Airport.ID(random.pick(["a", "b", "c", "1", "10", "é"]))
          if try touched.contains(id) || !Past.change(id, &next, &random, tx) { continue }
          touched.insert(id)
        }
        // Others that are not asked for.
        try tx.set("others/note", to: .integer(Int64(random.below(9))))
        try tx.upsert(Airline(id: "x", name: "\(random.below(9))"))
        return tx.sequence
      }
      for id in touched {
        steps[id, default: []].append(sequence)
        written[id] = next[id] == nil ? nil : sequence
      }
      (states[sequence], last, self.random) = (next, next, random)
    }

    /// Makes one change; false if it changes nothing.
    private static func change(
      _ id: Airport.ID, _ next: inout State, _ random: inout FormatRandom,
      _ tx: borrowing Database.Transaction
    ) throws -> Bool {
      guard var model = next[id] else {
        let new = Airport(id: id, name: random.pick(["x", "y"]))
        try tx.insert(new)
        next[id] = new
        return true
      }
      switch random.below(4) {
      case 0:
        try tx.delete(id)
        next[id] = nil
        return true
      case 1: model.name = random.pick(["x", "y", "z"])
      case 2: model.place.latitude = Double(random.below(3))
      default:
        model.name = random.pick(["x", "y"])
        model.place.longitude += 1
      }
      let isOther = next[id] != model
      next[id] = model
      try tx.update(id) { [model] in $0 = model }
      return isOther
    }

    func state(before sequence: SequenceNumber) -> State { states[sequence.previous] ?? [:] }

    /// The change that a transaction made to one of them.
    func change(_ id: Airport.ID, _ sequence: SequenceNumber) -> ModelChange<Airport>? {
      ModelChange(from: state(before: sequence)[id], to: states[sequence]?[id])
    }
  }

  @Test("are those that were made", arguments: FormatSeeds.first(4))
  func random(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      try database.register(Airport.self, Airline.self)
      var past = Past(random: FormatRandom(seed: 900 + seed))
      for _ in 0..<120 { try past.write(database) }
      try Self.compareCommits(database, past, seed)
      try Self.compareHistories(database, past, seed)
    }
  }

  private static func compareCommits(
    _ database: Database, _ past: Past, _ seed: UInt64
  ) throws {
    var kinds: Set<String> = []
    for sequence in past.states.keys {
      let commit = try database.commit(sequence)
      let right = try past.steps.filter { $0.value.contains(sequence) }.keys
        .sorted { try $0.path < $1.path }.compactMap { past.change($0, sequence) }
      let found = try commit.changes(of: Airport.self)
      #expect(found == right, "seed \(seed), transaction \(sequence)")
      for change in right {
        #expect(try commit.change(of: change.id) == change)
        #expect(change.properties == names(change), "seed \(seed), \(change)")
        #expect(change.affects(\.name) == change.properties.contains("name"))
        #expect(
          change.affects(\.place) == change.properties.contains { $0.hasPrefix("place") })
        kinds.insert(change.old == nil ? "created" : change.new == nil ? "deleted" : "updated")
      }
      #expect(try commit.change(of: Airport.ID("never")) == nil)
      let ids = try commit.changes.fetch().compactMap { $0.id(of: Airport.self) }
      #expect(ids == right.map(\.id))
    }
    #expect(kinds.count == 3)
  }

  private static func names(_ change: ModelChange<Airport>) -> [String] {
    let (old, new) = (change.old, change.new)
    var names: [String] = []
    if old?.name != new?.name { names.append("name") }
    if old?.place.latitude != new?.place.latitude { names.append("place.latitude") }
    if old?.place.longitude != new?.place.longitude { names.append("place.longitude") }
    return names
  }

  private static func compareHistories(
    _ database: Database, _ past: Past, _ seed: UInt64
  ) throws {
    for (id, steps) in past.steps {
      let history = try database.history(of: id)
      let revisions = try history.fetch()
      #expect(revisions.map(\.sequence) == steps, "seed \(seed), \(id)")
      #expect(revisions.map(\.change) == steps.compactMap { past.change(id, $0) })
      #expect(try history.reversed().fetch() == revisions.reversed())
      for revision in revisions {
        let commit = try database.commit(revision.sequence)
        #expect(revision.time == commit.time && revision.metadata == commit.metadata)
        #expect(revision.model == past.states[revision.sequence]?[id])
      }
      #expect(try database.modified(id) == past.written[id])
      #expect(
        try database.updatedAt(id) == past.written[id].map { try database.commit($0).time })
    }
  }

  private struct Old: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var delay: Int?
    var number = ""
    static let schema = ModelSchema<Old>("trips")
  }

  private struct New: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var departureDelay: Int?
    var number = 0
    static let schema = ModelSchema<New>("trips") {
      Property(\.departureDelay).was("delay")
      Property(\.number).was("number", as: String.self) { Int($0) ?? -1 }
    }
  }

  @Test("of older forms are read as they are elsewhere")
  func older() throws {
    try withDatabase { database in
      try database.register(Old.self)
      try database.insert(Old(id: 1, delay: 5, number: "7"))
      try database.update(Old.ID(1)) { $0.delay = 6 }
      let old = try database.head
      try database.register(New.self)
      try database.update(New.ID(1)) { $0.number = 8 }
      let (first, second) = (
        New(id: 1, departureDelay: 5, number: 7), New(id: 1, departureDelay: 6, number: 7)
      )
      let third = New(id: 1, departureDelay: 6, number: 8)
      #expect(try database.commit(old).changes(of: New.self) == [.updated(second, from: first)])
      #expect(try database.commit(old).changes(of: New.self)[0].properties == ["departureDelay"])
      #expect(
        try database.history(of: New.ID(1)).fetch().map(\.change)
          == [.created(first), .updated(second, from: first), .updated(third, from: second)])
    }
  }

  private enum Shape: ModelUnion, Equatable {
    case disc(Disc), box(Box)

    static let cases = ModelCases<Shape>(
      ModelCase("disc", Shape.disc) { if case .disc(let disc) = $0 { disc } else { nil } },
      ModelCase("box", Shape.box) { if case .box(let box) = $0 { box } else { nil } })
    static let schema = ModelSchema<Shape>(union: "shapes") { Index(\.type) }
  }

  private struct Disc: Cambium.Model, Equatable {
    var id = ID()
    var radius = 1
    static let schema = ModelSchema<Disc>(caseOf: Shape.self)
  }

  private struct Box: Cambium.Model, Equatable {
    var id = ID()
    var width = 2
    static let schema = ModelSchema<Box>(caseOf: Shape.self)
  }

  @Test("that share a collection are told by kind")
  func unions() throws {
    try withDatabase { database in
      try database.register(Shape.self)
      let id = try database.insert(Shape.disc(Disc(radius: 2)))
      let disc = try database.get(Disc.ID(id.key))
      #expect(try last(database).changes(of: Shape.self) == [.created(.disc(disc))])
      #expect(try last(database).changes(of: Disc.self) == [.created(disc)])
      #expect(try last(database).changes(of: Box.self) == [])
      try database.update(disc.id) { $0.radius = 4 }
      #expect(try last(database).changes(of: Shape.self)[0].properties == ["radius"])
      try database.upsert(Shape.box(Box(id: .init(id.key))))
      let box = try database.get(Box.ID(id.key))
      #expect(try last(database).changes(of: Box.self) == [.created(box)])
      #expect(try last(database).changes(of: Disc.self).map(\.new) == [nil])
      let names = try last(database).changes(of: Shape.self)[0].properties
      #expect(names.contains("radius") && names.contains("width"))
    }
  }

  private func last(_ database: Database) throws -> Commit {
    try database.commit(try database.head)
  }

  @Test("inside a transaction have no time yet, and those of others have")
  func open() throws {
    try withDatabase { database in
      try database.register(Airport.self)
      try database.insert(Airport(id: "JFK"))
      let time = try database.updatedAt(Airport.ID("JFK"))
      #expect(time != nil)
      try database.write { tx in
        #expect(try tx.updatedAt(Airport.ID("JFK")) == time)
        try tx.set(Airport.ID("JFK"), \.name, to: "Kennedy")
        #expect(try tx.updatedAt(Airport.ID("JFK")) == nil)
        #expect(try tx.modified(Airport.ID("JFK")) == tx.sequence)
      }
      #expect(try database.updatedAt(Airport.ID("LGA")) == nil)
      #expect(throws: DatabaseError.self) { try database.history(of: Airport.ID()) }
    }
  }
}
