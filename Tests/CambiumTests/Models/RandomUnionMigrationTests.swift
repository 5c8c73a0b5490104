// Goal: whatever becomes of an enum of models, its records become what a naive migration of maps in
// memory makes of them, however often it is broken off. Method: a chain of random forms of one
// collection, from a seed that is printed. Each changes properties of one case or of several that
// share them, gives a case another name, adds one, drops one in any of the ways that there are, or
// makes records of one case those of another. Between them models are written, and become other
// cases. Read through the newest form, and byte by byte after a migration, all records must be what
// the oracle has; and the moment before a migration that reads lazily, too.

import Foundation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Random changes of an enum of models", .serialized)
struct RandomUnionMigrationTests {
  @Test(
    "lead to the records that a naive migration makes",
    arguments: SeededGenerator.seeds(1, 2, 3, 4, 5, 6, 7, 8))
  func chains(seed: UInt64) throws {
    print("seed \(seed)")
    let history = try UnionHistory(seed: seed)
    for _ in 0..<14 { try history.step() }
    try history.finish()
  }
}

/// A record as it must be.
struct Raw: Equatable {
  var name: String
  var values: [String: Value] = [:]

  var stored: ValueMap {
    var all = values
    all["type"] = .string(name)
    return ValueMap(all.map { (name: $0.key, value: $0.value) })
  }
}

final class UnionHistory {
  var random: SeededGenerator
  private let directory = try? TemporaryDirectory()
  private var database: Database
  var form = MorphForm()
  var nameCount = 0
  /// Names under which values of both kinds may be stored.
  var convertedNames: Set<String> = []
  private var records: [Int: Raw] = [:]

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    database = try Database(at: try #require(directory).path + "/a.cambium")
    form.cases = [newCase(0), newCase(1)]
    form.use()
    try database.register(MorphUnion.self)
    for _ in 0..<12 { try insert() }
  }

  func pick<T>(_ all: [T]) -> T { all[random.below(all.count)] }

  /// One more form.
  func step() throws {
    if isPending, random.below(2) == 0 { try migrate() }
    form.version += 1
    for _ in 0...random.below(2) { evolve() }
    form.use()
    if isBlocked {
      #expect(throws: DatabaseError.self) { try self.database.register(MorphUnion.self) }
      try migrate()
    } else {
      try database.register(MorphUnion.self)
      try compare()
    }
    for _ in 0..<6 { try write() }
    try compare()
  }

  func finish() throws {
    try migrate()
    try expectSound(database)
    try database.close()
  }

  private var isPending: Bool {
    form.cases.contains {
      !$0.formerNames.isEmpty || !$0.removed.isEmpty || $0.slots.contains(where: \.isLazy)
    }
  }

  private var isBlocked: Bool {
    form.move != nil || !form.removals.isEmpty
      || form.cases.contains { $0.slots.contains(where: \.isStep) }
  }

  // MARK: The oracle

  private func own(_ raw: Raw) -> MorphForm.Case? {
    form.cases.first { ([$0.name] + $0.formerNames).contains(raw.name) }
  }

  private func values(_ raw: Raw, _ own: MorphForm.Case) -> [Value] {
    own.slots.map { $0.read(raw.values) }
  }

  /// A record of one case as it is when it has become another.
  private func become(_ new: MorphForm.Case, _ values: [Value], _ raw: inout Raw) {
    for slot in own(raw)?.slots ?? [] {
      raw.values[slot.name] = nil
      if let former = slot.former { raw.values[former] = nil }
    }
    raw.name = new.name
    for (slot, value) in zip(new.slots, values) { slot.store(value, in: &raw.values) }
  }

  private func migrated(_ old: Raw, _ key: Int) -> Raw? {
    var raw = old
    guard let own = own(raw) else {
      guard let removal = form.removals.first(where: { $0.name == raw.name }),
        case .converted(let target) = removal.outcome
      else { return nil }
      let new = form.cases.first { $0.kind == target.kind } ?? target
      raw.values = [:]
      become(new, target.values(key, "c"), &raw)
      return raw
    }
    let values = values(raw, own)
    for (slot, value) in zip(own.slots, values) { slot.store(value, in: &raw.values) }
    for name in own.removed { raw.values[name] = nil }
    raw.name = own.name
    if let move = form.move, move.from.kind == own.kind, key % 2 == 0,
      let target = form.cases.first(where: { $0.kind == move.to.kind })
    {
      for name in target.removed { raw.values[name] = nil }
      become(target, move.to.values(key, "m"), &raw)
    }
    return raw
  }

  // MARK: Writing

  private func model(_ own: MorphForm.Case, _ key: Int?) -> MorphUnion {
    var model = MorphUnion(kind: own.kind)
    if let key { model.id = MorphUnion.ID(key) }
    for slot in own.slots {
      model[slot.index] =
        switch random.below(4) {
        case 0: .null
        default: slot.isInt ? .integer(Int64(random.below(9))) : .string("t\(random.below(50))")
        }
    }
    return model
  }

  private func insert() throws {
    let own = pick(form.cases)
    let model = model(own, nil)
    let id = try database.insert(model)
    var raw = Raw(name: own.name)
    for slot in own.slots { slot.store(model[slot.index], in: &raw.values) }
    records[id.key] = raw
  }

  private func write() throws {
    let keys = records.keys.sorted()
    guard !keys.isEmpty, random.below(3) > 0 else { return try insert() }
    let key = pick(keys)
    guard var raw = records[key], let own = own(raw) else { return }
    switch random.below(6) {
    case 0:
      try database.delete(MorphUnion.ID(key))
      records[key] = nil
    case 1, 2:
      let new = pick(form.cases)
      let model = model(new, key)
      try database.upsert(model)
      if new.kind == own.kind {
        for slot in own.slots where slot.read(raw.values) != model[slot.index] {
          slot.store(model[slot.index], in: &raw.values)
        }
      } else {
        become(new, new.slots.map { model[$0.index] }, &raw)
      }
      records[key] = raw
    default:
      guard !own.slots.isEmpty else { return }
      let slot = pick(own.slots)
      let new = model(own, key)[slot.index]
      try database.update(MorphUnion.ID(key)) { $0[slot.index] = new }
      if slot.read(raw.values) != new { slot.store(new, in: &raw.values) }
      records[key] = raw
    }
  }

  // MARK: Migrating

  private func migrate() throws {
    let before = try database.head
    let past = isBlocked ? nil : records
    try removeRefused()
    // Where there is nothing to do, no record is looked at.
    if try !database.planMigration(of: MorphUnion.self).steps.isEmpty {
      for (key, raw) in records { records[key] = migrated(raw, key) }
    }
    while try !migrateOnce() {}
    try compare()
    let found = try database.read {
      try $0["morphs"].children.fetch().map { ($0.key, try $0.value) }
    }
    try #require(found.count == records.count)
    for (key, value) in found {
      guard case .integer(let key)? = key, let expected = records[Int(key)] else {
        throw Slot.Failing()
      }
      try #require(value == .map(expected.stored), "record \(key)")
    }
    if let past {
      try compare(past, database.snapshot(at: .sequence(before)))
    }
    for index in form.cases.indices {
      for slot in form.cases[index].slots.indices { form.cases[index].slots[slot].was = .same }
      form.cases[index].removed = []
      form.cases[index].formerNames = []
    }
    (form.removals, form.move) = ([], nil)
    // The lines for what is done go, and the schema's version says so.
    form.version += 1
    form.use()
    try database.register(MorphUnion.self)
  }

  /// Records of a case of which there must be none stop the migration, and are deleted by hand.
  private func removeRefused() throws {
    let names = form.removals.filter { if case .refused = $0.outcome { true } else { false } }
      .map(\.name)
    let left = records.filter { names.contains($0.value.name) }.keys.sorted()
    guard let first = left.first, let raw = records[first] else { return }
    let error = #expect(throws: MigrationError.self) {
      try self.database.migrate(MorphUnion.self, batch: 1000)
    }
    #expect(error?.step == "case '\(raw.name)' removed")
    #expect(error?.path == ("morphs" as NodePath).appending(.integer(Int64(first))))
    try database.write { tx in
      for key in left { try tx.remove(("morphs" as NodePath).appending(.integer(Int64(key)))) }
    }
    for key in left { records[key] = nil }
  }

  /// Migrates until it is done or something breaks it off.
  ///
  /// - Returns: True if nothing broke it off.
  private func migrateOnce() throws -> Bool {
    let left = Mutex(random.below(6))
    let isFailing = random.below(3) == 0
    MorphForm.failing.withLock { $0 = isFailing ? records.keys.min() : nil }
    defer { MorphForm.failing.withLock { $0 = nil } }
    do {
      // Any case stands for all.
      let progress: ProgressHandler = { _ in
        left.withLock { left in
          left -= 1
          return left >= 0
        }
      }
      try database.migrate(MorphUnion.self, batch: 1 + random.below(5), progress: progress)
      return true
    } catch is CancellationError {
    } catch let error as MigrationError {
      try #require(error.cause is Slot.Failing, "\(error)")
    }
    if random.below(3) == 0 {
      try database.close()
      database = try Database(at: try #require(directory).path + "/a.cambium")
    }
    return false
  }

  // MARK: Reading

  private func compare() throws {
    try compare(records, database.snapshot())
    for own in form.cases {
      switch own.kind {
      case 0: try compare(MorphItem<Kind0>.self, own)
      case 1: try compare(MorphItem<Kind1>.self, own)
      case 2: try compare(MorphItem<Kind2>.self, own)
      default: try compare(MorphItem<Kind3>.self, own)
      }
    }
  }

  private func compare(_ records: [Int: Raw], _ snapshot: Snapshot) throws {
    let models = try snapshot.all(MorphUnion.self).fetch()
    try #require(models.map(\.id.key) == records.keys.sorted())
    for model in models {
      let raw = try #require(records[model.id.key])
      let form = try #require(own(raw))
      try #require(model.kind == form.kind)
      for slot in form.slots {
        try #require(model[slot.index] == slot.read(raw.values), "\(model.id), \(slot)")
      }
    }
  }

  /// Reads by the face of one case.
  private func compare<K: MorphKind>(_ type: MorphItem<K>.Type, _ form: MorphForm.Case) throws {
    let expected = records.filter { own($0.value)?.kind == form.kind }
    let models = try database.all(type).fetch()
    try #require(models.map(\.id.key) == expected.keys.sorted())
    try #require(try database.query(type).count() == expected.count)
    for model in models {
      for slot in form.slots {
        let value = expected[model.id.key].map { slot.read($0.values) }
        try #require(model[slot.index] == value, "\(model.id), \(slot)")
      }
    }
    if let other = records.keys.first(where: { expected[$0] == nil }) {
      try #require(try database.find(MorphItem<K>.ID(other)) == nil)
      #expect(throws: DatabaseError.self) { try self.database.get(MorphItem<K>.ID(other)) }
    }
    guard let slot = form.slots.first(where: { $0.index == 0 }), !slot.isLazy else { return }
    let few = try database.query(type).where { $0.int0 < 4 }.ids().map(\.key)
    let wanted = expected.filter { record in
      if case .integer(let number) = slot.read(record.value.values) { number < 4 } else { false }
    }
    try #require(few.sorted() == wanted.keys.sorted())
  }
}
