// Goal: whatever becomes of a schema, its records become what a naive migration of maps in memory
// makes of them, however often it is broken off. Method: a chain of random forms of one collection,
// from a seed that is printed. Each adds, drops, renames, converts, splits or merges properties,
// lazily or by a step; between them models are written. Read through the newest form, and byte by
// byte after a migration, all records must be what the oracle has.

import Foundation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Random changes of a schema", .serialized)
struct RandomMigrationTests {
  @Test(
    "lead to the records that a naive migration makes",
    arguments: SeededGenerator.seeds(1, 2, 3, 4, 5, 6, 7, 8))
  func chains(seed: UInt64) throws {
    print("seed \(seed)")
    let history = try SchemaHistory(seed: seed)
    for _ in 0..<14 { try history.step() }
    try history.finish()
  }
}

/// A model of which the schema is whatever the test makes it.
private struct Morph: SlottedModel {
  var id = ID()
  var int0: Int?
  var int1: Int?
  var int2: Int?
  var text0: String?
  var text1: String?
  var text2: String?
  var text3: String?

  /// All that there were, so that none takes the place of another in memory.
  static let schemas = Mutex<[ModelSchema<Morph>]>([])
  static var schema: ModelSchema<Morph> { schemas.withLock { $0[$0.count - 1] } }

  static let ints: [WritableKeyPath<Morph, Int?> & Sendable] = [\.int0, \.int1, \.int2]
  static let texts: [WritableKeyPath<Morph, String?> & Sendable] = [
    \.text0, \.text1, \.text2, \.text3,
  ]
}

private final class SchemaHistory {
  private var random: SeededGenerator
  private let directory = try? TemporaryDirectory()
  private var database: Database
  private var slots = [Slot(index: 0, name: "p0"), Slot(index: 3, name: "p1")]
  private var removed: [String] = []
  private var version = 1
  private var nameCount = 2
  private var convertedNames: Set<String> = []
  /// The stored records, as they must be.
  private var records: [Int: [String: Value]] = [:]
  private static let failing = Mutex<Int?>(nil)

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    database = try Database(at: try #require(directory).path + "/a.cambium")
    makeSchema()
    try database.register(Morph.self)
    for _ in 0..<12 { try insert() }
  }

  /// One more form.
  func step() throws {
    if slots.contains(where: \.isLazy) || !removed.isEmpty, random.below(2) == 0 { try migrate() }
    version += 1
    try evolve()
    makeSchema()
    if slots.contains(where: \.isStep) {
      #expect(throws: DatabaseError.self) { try self.database.register(Morph.self) }
      try migrate()
    } else {
      try database.register(Morph.self)
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

  // MARK: The form

  private func freshName() -> String {
    defer { nameCount += 1 }
    return "p\(nameCount)"
  }

  private func freeIndex(_ range: Range<Int>) -> Int? {
    range.first { index in !slots.contains { $0.index == index } }
  }

  private func evolve() throws {
    // A property that is still read from older records is left alone until it is migrated.
    let settled = slots.indices.filter { !slots[$0].isLazy }
    let pick = settled.isEmpty ? nil : settled[random.below(settled.count)]
    let texts = settled.filter { !slots[$0].isInt }
    switch random.below(9) {
    case 0, 1:
      if let index = freeIndex(random.below(2) == 0 ? 0..<3 : 3..<7) {
        slots.append(Slot(index: index, name: freshName()))
      }
    case 2:
      guard let pick, slots.count > 2 else { return }
      if random.below(2) == 0 { removed.append(slots[pick].name) }
      slots.remove(at: pick)
    case 3:
      guard let pick else { return }
      slots[pick].was = .renamed(slots[pick].name)
      slots[pick].name = freshName()
    case 4, 5, 6: convert(pick)
    case 7: split(texts.first)
    default: merge(texts)
    }
  }

  private func convert(_ pick: Int?) {
    guard let pick, let index = freeIndex(slots[pick].isInt ? 3..<7 : 0..<3) else { return }
    slots[pick].index = index
    let old = slots[pick].name
    switch random.below(3) {
    // The same a second time would be the same step.
    case 0 where convertedNames.insert(old).inserted: slots[pick].was = .converted(old)
    case 1: (slots[pick].was, slots[pick].name) = (.converted(old), freshName())
    default: slots[pick].was = .stepped(old)
    }
  }

  private func split(_ pick: Int?) {
    guard let pick, let int = freeIndex(0..<3) else { return }
    let old = slots[pick]
    slots[pick] = Slot(index: old.index, name: freshName(), was: .split(old.name))
    slots.append(Slot(index: int, name: freshName(), was: .split(old.name)))
    if random.below(2) == 0 { removed.append(old.name) }
  }

  private func merge(_ texts: [Int]) {
    guard texts.count > 1 else { return }
    let (one, other) = (slots[texts[0]], slots[texts[1]])
    let isLazy = random.below(2) == 0
    let was = isLazy ? Slot.Was.joined(one.name, other.name) : .merged(one.name, other.name)
    slots[texts[0]] = Slot(index: one.index, name: freshName(), was: was)
    slots.remove(at: texts[1])
    if !isLazy && random.below(2) == 0 { removed += [one.name, other.name] }
  }

  private func makeSchema() {
    let parts: () -> [SchemaItem<Morph>] = { [items] in items }
    let schema = ModelSchema<Morph>(listing: "morphs", version: version, parts)
    Morph.schemas.withLock { $0.append(schema) }
  }

  private var items: [SchemaItem<Morph>] {
    [Property("id", \Morph.id).item]
      + slots.flatMap { slot in
        slot.items(of: Morph.self, step: version) { key in
          SchemaHistory.failing.withLock { $0 == key }
        }
      } + removed.map { Removed<Morph>($0).item }
  }

  // MARK: Writing

  private func value(_ slot: Slot) -> Value {
    switch random.below(4) {
    case 0: .null
    default: slot.isInt ? .integer(Int64(random.below(50))) : .string("t\(random.below(50))")
    }
  }

  private func insert() throws {
    var model = Morph()
    for slot in slots { model[slot.index] = value(slot) }
    let id = try database.insert(model)
    records[id.key] = [:]
    for slot in slots { store(model[slot.index], slot, id.key) }
  }

  private func store(_ value: Value, _ slot: Slot, _ key: Int) {
    slot.store(value, in: &records[key, default: [:]])
  }

  private func write() throws {
    let keys = records.keys.sorted()
    guard !keys.isEmpty, random.below(3) > 0 else { return try insert() }
    let key = keys[random.below(keys.count)]
    if random.below(5) == 0 {
      try database.delete(Morph.ID(key))
      records[key] = nil
      return
    }
    let slot = slots[random.below(slots.count)]
    let new = value(slot)
    let isSame = slot.read(records[key] ?? [:]) == new
    try database.update(Morph.ID(key)) { $0[slot.index] = new }
    if !isSame { store(new, slot, key) }
  }

  // MARK: Migrating

  private func migrate() throws {
    for key in records.keys {
      let raw = records[key] ?? [:]
      let values = slots.map { $0.read(raw) }
      for (slot, value) in zip(slots, values) { store(value, slot, key) }
      for name in removed { records[key]?[name] = nil }
    }
    while try !migrateOnce() {}
    try compare()
    let found = try database.read { snapshot in
      try snapshot["morphs"].children.fetch().map { ($0.key, try $0.value) }
    }
    for (key, value) in found {
      guard case .integer(let key)? = key else { throw Slot.Failing() }
      let expected = ValueMap((records[Int(key)] ?? [:]).map { (name: $0.key, value: $0.value) })
      try #require(value == .map(expected), "record \(key)")
    }
    for index in slots.indices { slots[index].was = .same }
    removed = []
  }

  /// Migrates until it is done or something breaks it off.
  ///
  /// - Returns: True if nothing broke it off.
  private func migrateOnce() throws -> Bool {
    let left = Mutex(random.below(6))
    let failing = random.below(3) == 0 ? records.keys.sorted().first : nil
    Self.failing.withLock { $0 = slots.contains(where: \.isStep) ? failing : nil }
    defer { Self.failing.withLock { $0 = nil } }
    do {
      try database.migrate(Morph.self, batch: 1 + random.below(5)) { _ in
        left.withLock { left in
          left -= 1
          return left >= 0
        }
      }
      return true
    } catch is CancellationError {
    } catch is MigrationError {}
    if random.below(3) == 0 {
      try database.close()
      database = try Database(at: try #require(directory).path + "/a.cambium")
    }
    return false
  }

  private func compare() throws {
    let models = try database.all(Morph.self).fetch()
    try #require(models.map(\.id.key) == records.keys.sorted())
    for model in models {
      for slot in slots {
        let expected = slot.read(records[model.id.key] ?? [:])
        try #require(model[slot.index] == expected, "\(model.id), \(slot)")
      }
    }
  }
}
