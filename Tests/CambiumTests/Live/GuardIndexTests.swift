// Goal: the index over guards finds a mailbox for every change that a guard of it lets through, and
// forgets a mailbox without a trace. Method: random guards on few collections, properties and
// values, so that they collide, are set, edited and removed; for random changes the index must
// find what a look at each guard finds, and what the values themselves say.
//
// It finds a point that is removed though it was added twice, and a group of properties that looks
// at the first of them alone: each was planted.

import Simulation
import Testing

@testable import Cambium

@Suite("The index of guards")
struct GuardIndexTests {
  @Test(
    "finds the ranges around a value as a look at each does",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func ranges(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var tree = RangeTree()
    var kept: [(node: Int32, range: ClosedOpenBytes, slot: Int32)] = []
    for step in 0..<3000 {
      if kept.isEmpty || random.below(5) < (step < 1500 ? 4 : 1) {
        let range = RandomGuards.range(&random)
        let slot = Int32(random.below(1000))
        kept.append((tree.add(range, of: slot), range, slot))
      } else {
        tree.remove(kept.remove(at: random.below(kept.count)).node)
      }
      if step % 100 == 0 { tree.checkInvariants() }
      let value = RandomGuards.bytes(&random)
      var found: [Int32] = []
      value.lend { tree.forEach(around: $0) { found.append($0) } }
      let expected = kept.filter { entry in value.lend { entry.range.contains($0) } }.map(\.slot)
      try #require(found.sorted() == expected.sorted(), "step \(step), \(value)")
    }
    for entry in kept { tree.remove(entry.node) }
    #expect(tree.isEmpty)
    tree.checkInvariants()
  }

  @Test("keeps lists of slots under hashes", arguments: SeededGenerator.seeds(4, 5))
  func lists(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var lists = SlotLists()
    var kept: [(link: Int32, hash: UInt64, slot: Int32)] = []
    for step in 0..<2000 {
      if kept.isEmpty || random.below(5) < (step < 1000 ? 4 : 1) {
        let (slot, hash) = (Int32(random.below(50)), UInt64(random.below(10)))
        kept.append((lists.add(slot, under: hash), hash, slot))
      } else {
        let (link, hash, _) = kept.remove(at: random.below(kept.count))
        lists.remove(link, under: hash)
      }
      let hash = UInt64(random.below(10))
      var found: [Int32] = []
      lists.forEach(under: hash) { found.append($0) }
      #expect(found.sorted() == kept.filter { $0.hash == hash }.map(\.slot).sorted())
    }
    for entry in kept { lists.remove(entry.link, under: entry.hash) }
    #expect(lists.isEmpty)
  }

  @Test("takes for a point only a whole value", arguments: SeededGenerator.seeds(6))
  func points(seed: UInt64) throws {
    print("seed \(seed)")
    var calls = RandomCalls(seed: seed)
    let values: [[UInt8]] = try (0..<400).map { _ in
      try OrderedBytes.of(calls.value(depth: 1), as: calls.random.pick(RandomGuards.types))
    }
    for value in values {
      for length in 0..<value.count {
        #expect(!OrderedBytes.isWhole(Array(value.prefix(length))), "\(length) of \(value)")
      }
      guard OrderedBytes.isWhole(value) else { continue }
      #expect(!values.contains { $0 != value && $0.starts(with: value) }, "\(value)")
    }
    let key = try OrderedBytes.of(.integer(7), as: .reference("people"))
    #expect(ClosedOpenBytes(prefix: key).isPoint)
    #expect(ClosedOpenBytes(from: key, upTo: key + [0]).isPoint)
    let text = try OrderedBytes.of("ada")
    #expect(ClosedOpenBytes(prefix: text).isPoint)
    #expect(!ClosedOpenBytes(prefix: text.dropLast()).isPoint)
    #expect(!ClosedOpenBytes(from: text, upTo: nil).isPoint)
  }

  @Test(
    "finds the mailboxes that a look at each guard finds",
    arguments: SeededGenerator.seeds(7, 8, 9, 10))
  func mailboxes(seed: UInt64) throws {
    print("seed \(seed)")
    var random = try RandomGuards(seed: seed)
    let index = GuardIndex()
    var guards: [Int32: [LiveGuard]] = [:]
    var (hits, looks) = (0, 0)
    for step in 0..<1500 {
      let slot = Int32(random.random.below(60))
      if random.random.oneIn(3) {
        index.remove(slot)
        guards[slot] = nil
      } else {
        let former = guards[slot] ?? []
        let isKept = former.map { _ in random.random.oneIn(2) }
        let kept = zip(former, isKept).filter(\.1).map(\.0)
        let wanted = (kept + (0..<random.random.below(4)).map { _ in random.next() }).once
        if guards[slot] != nil, random.random.oneIn(2) {
          index.edit(
            removing: zip(former, isKept).filter { !$0.1 }.map(\.0),
            adding: Array(wanted.dropFirst(kept.count)), of: slot, since: 0, random.names)
        } else {
          index.set(wanted, of: slot, since: 0, random.names)
        }
        guards[slot] = wanted
      }
      if step == 700 {
        try random.learnName()
        index.resolve(random.names)
      }
      let change = try random.change()
      let found = index.find(change) == nil ? [] : index.found
      try #require(Set(found).count == found.count, "step \(step)")
      try #require(Set(found) == index.slotsOneByOne(change), "step \(step)")
      let expected = try guards.filter { try random.isConcerned($0.value, by: change) }
      try #require(Set(found) == Set(expected.keys), "step \(step)")
      (hits, looks) = (hits + found.count, looks + guards.count)
    }
    // Neither everything nor nothing.
    #expect(hits > looks / 100 && hits < looks / 2)
    for slot in guards.keys { index.remove(slot) }
    #expect(index.isEmpty)
    #expect(index.collections(within: .root).isEmpty)
    #expect(!index.hasGuard(of: 0, since: 0))
  }

  @Test("finds the collections within a path")
  func collections() throws {
    let index = GuardIndex()
    for (slot, path) in (["a", "a/1/b", "a/1/b/2/c", "a/10/b", "ab", "b"] as [NodePath])
      .enumerated()
    {
      index.set([LiveGuard(collection: path, test: .any)], of: Int32(slot), since: 0, Catalog())
    }
    let within = { (path: NodePath) in index.collections(within: path).map(\.path) }
    #expect(within("a/1") == ["a/1/b", "a/1/b/2/c"])
    #expect(within("a/1/b/2/c") == ["a/1/b/2/c"])
    #expect(within("a/1/c") == [])
    #expect(within("a") == ["a", "a/1/b", "a/1/b/2/c", "a/10/b"])
    #expect(within(.root).count == 6)
    index.remove(1)
    #expect(within("a/1") == ["a/1/b/2/c"])
  }
}

extension [LiveGuard] {
  /// The guards, of which those that have more than points come once.
  fileprivate var once: [LiveGuard] {
    reduce(into: []) { kept, content in
      let isKnown = kept.contains { $0.base.isSame(as: content.base) }
      if content.base.hasOnlyPoints || !isKnown { kept.append(content) }
    }
  }
}

/// Random guards, and changes of records that some of them let through.
private struct RandomGuards {
  static let types: [PropertyType] = [
    .any, .integer, .string, .date, .uuid, .decimal, .reference("people"), .array(.any),
  ]
  private static let collections: [NodePath] = ["people", "cities", "people/1/pets"]
  private static let properties = ["age", "name", "city", "tags", "late"]
  private static let collations: [Collation] = [.binary, .ignoringCase]

  var random: SeededGenerator
  private(set) var names = Catalog()

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    for (id, name) in RandomGuards.properties.dropLast().enumerated() {
      try names.define(name, as: NameID(id))
    }
    // The absent age of people is 3.
    var definition = CollectionDefinition()
    var age = PropertyDefinition("age", .integer)
    age.absence = 3
    definition.properties = [age]
    names.collections.declare(try CollectionPlan(drafting: "people", definition, names))
  }

  /// Gives the last property a number: before that no record has it.
  mutating func learnName() throws { try names.define("late", as: 4) }

  static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<random.below(4)).map { _ in UInt8(random.below(4)) }
  }

  static func range(_ random: inout SeededGenerator) -> ClosedOpenBytes {
    let lower = bytes(&random)
    return random.oneIn(4)
      ? ClosedOpenBytes(prefix: lower)
      : ClosedOpenBytes(from: lower, upTo: random.oneIn(4) ? nil : bytes(&random))
  }

  private mutating func value() -> Value {
    switch random.below(8) {
    case 0: .null
    case 1: .string(random.pick(["ada", "Ada", "bob", "bo", ""]))
    case 2: .double(Double(random.below(8)) / 2)
    case 3: .array((0..<random.below(3)).map { _ in .integer(Int64(random.below(6))) })
    case 4: .string(String(random.below(6)))
    default: .integer(Int64(random.below(6)))
    }
  }

  private mutating func key() -> Key { .integer(Int64(random.below(12))) }

  private func stored(_ key: Key) -> [UInt8] {
    var bytes: [UInt8] = []
    key.append(to: &bytes)
    return bytes
  }

  mutating func next() -> LiveGuard {
    let names = RandomGuards.properties.filter { _ in random.oneIn(3) }.sorted()
    return LiveGuard(
      collection: random.pick(RandomGuards.collections), test: test(),
      properties: random.oneIn(3) ? names : nil)
  }

  private mutating func test() -> LiveGuard.Test {
    if random.oneIn(12) { return .any }
    if random.oneIn(4) { return .keys(Set((0..<random.below(3)).map { _ in stored(key()) })) }
    let types: [PropertyType] = [
      .any, .integer, .string, .reference("people"), .array(.integer),
    ]
    let type = random.pick(types)
    let collation = random.pick(RandomGuards.collations)
    let ranges = (0..<(1 + random.below(2))).map { _ in range(as: type, collation) }
    let name = random.pick(RandomGuards.properties)
    if random.oneIn(4) {
      let points = ranges.map { $0.lower.lend { Checksum.of($0) } }
      return .points(GuardedProperty(name: name, type: type, collation: collation), points)
    }
    return .values(property: name, type: type, collation: collation, ranges: ranges)
  }

  private mutating func range(as type: PropertyType, _ collation: Collation) -> ClosedOpenBytes {
    let one = (try? OrderedBytes.of(value(), as: type, collation)) ?? []
    if random.below(10) < 6 { return ClosedOpenBytes(prefix: one) }
    let other = (try? OrderedBytes.of(value(), as: type, collation)) ?? []
    if random.oneIn(3) { return ClosedOpenBytes(from: one, upTo: nil) }
    if random.oneIn(3) { return ClosedOpenBytes(prefix: Array(one.dropLast())) }
    return ClosedOpenBytes(
      from: one.lexicographicallyPrecedes(other) ? one : other,
      upTo: one.lexicographicallyPrecedes(other) ? other : one)
  }

  // MARK: Changes

  private mutating func record() throws -> [UInt8]? {
    if random.oneIn(5) { return nil }
    var builder = RecordBuilder()
    for id in 0..<names.count where random.oneIn(2) { builder[NameID(id)] = try value().stored() }
    return builder.stored()
  }

  mutating func change() throws -> RecordChange {
    let (key, old) = (key(), try record())
    let path = random.pick(RandomGuards.collections + ["others"]).appending(key)
    return RecordChange(
      path: path, collection: nil, treeKey: [0, 0, 0, 0, 0, 0, 0, 9] + stored(key),
      old: try (old ?? record()).map { (.record, 3, [7, 7, 7] + $0) },
      content: try record().map { Content(kind: .record, bytes: $0) }, isSubtree: false)
  }

  /// True if the records' values themselves meet one of the guards.
  func isConcerned(_ guards: [LiveGuard], by change: RecordChange) throws -> Bool {
    let net = NetChange(change, in: change.path.parent ?? .root)
    let (old, new) = (try values(net.old), try values(net.new))
    let records = [old, new].compactMap(\.self)
    if records.isEmpty { return false }
    return try guards.contains { entry in
      guard entry.collection == net.collection else { return false }
      if let properties = entry.properties, let old, let new,
        properties.allSatisfy({ old[$0] == new[$0] })
      {
        return false
      }
      return try isMet(entry.test, by: net.key, records, in: net.collection)
    }
  }

  private func values(_ record: StoredRecord?) throws -> ValueMap? {
    try record?.lend { try ValueMap(stored: $0, names) }
  }

  private func isMet(
    _ test: LiveGuard.Test, by key: [UInt8], _ records: [ValueMap], in collection: NodePath
  ) throws -> Bool {
    func forms(_ record: ValueMap, _ property: GuardedProperty) throws -> [[UInt8]] {
      let absence: Value? = collection == "people" && property.name == "age" ? 3 : nil
      let value = record[property.name] ?? absence
      var forms = [try OrderedBytes.of(value, as: property.type, property.collation)]
      if case .array(let elements)? = value {
        let type: PropertyType = property.type == .array(.integer) ? .integer : property.type
        forms += try elements.map { try OrderedBytes.of($0, as: type, property.collation) }
      }
      return forms
    }
    switch test {
    case .any: return true
    case .keys(let keys): return keys.contains(key)
    case .values(let name, let type, let collation, let ranges):
      let property = GuardedProperty(name: name, type: type, collation: collation)
      return try records.contains { record in
        try forms(record, property).contains { form in
          ranges.contains { range in form.lend { range.contains($0) } }
        }
      }
    case .points(nil, let points): return points.contains(key.lend { Checksum.of($0) })
    case .points(let property?, let points):
      return try records.contains { record in
        try forms(record, property).contains { points.contains($0.lend { Checksum.of($0) }) }
      }
    }
  }
}
