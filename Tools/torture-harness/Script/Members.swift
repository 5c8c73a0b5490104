import Cambium
import Simulation

/// The collection of the workload that migrates: what is declared about it at one moment, how far
/// its migration is, and what comes next.
///
///     1 declare, 4 add an index, 7 drop one and make one unique, 9 begin to migrate, 10 write,
///     11 a batch, 12 write, 13 a batch, … the last one, which declares the new form, … declare
///
/// A member has a name, a score and a captain, another member, whose name an index previews. The
/// migration gives it points, of those that it has: running the step twice shows, as leaving it out
/// does. Records that are written meanwhile have points where the migration has been, and none
/// where it has yet to come.
struct Members: Sendable {
  static let path: NodePath = "members"
  /// The metadata of each transaction of the migration.
  static let metadata = ["migration": "members: points"]

  /// True if the transaction of this moment is one of the migration.
  private(set) var isMigrating = false
  private var random: SeededGenerator
  private let batch: Int
  private var definition = CollectionDefinition()
  private var migration: UnfinishedMigration?
  /// The transaction with which the migration ended.
  private var ended: UInt64?

  private static let countMin = 8
  private static let keys = 14
  private static let begin: UInt64 = 9

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed, 37)
    batch = 3 + random.below(3)
  }

  /// True if the migration has begun and not ended.
  var isUnfinished: Bool { migration != nil }

  // MARK: In a database

  /// Does one transaction of the migration, the next one after this moment.
  func migrateOnce(_ database: Database) throws {
    let done = migration.map { UInt64($0.done) }
    let target = Members.form(3)
    let migration = CollectionMigration(
      Members.path, steps: ["points"], applied: [AppliedStep("points", version: 2)],
      target: { _ in target },
      rewrite: { record, _ in
        let points = try record["points", as: Int?.self] ?? 0
        record["points"] = .integer(Int64(try Members.step(points, record["score", as: Int.self])))
      })
    do {
      _ = try database.migrate(migration, batch: batch) { $0.done == done }
    } catch is CancellationError {}
  }

  private static func step(_ points: Int, _ score: Int) -> Int { points + score + 100 }

  /// Checks what a database says.
  func check(_ snapshot: Snapshot) throws {
    let found = try snapshot.definition(of: Members.path)
    if let migration {
      return try demand(
        found?.migration == migration,
        "P2: instead of \(migration) there is \(String(describing: found))")
    }
    try demand(
      found ?? CollectionDefinition() == definition,
      "P2: instead of \(definition) there is \(String(describing: found))")
  }

  // MARK: The script

  /// The steps of transaction `number`; afterwards this is the moment after it.
  mutating func write(_ number: UInt64, _ world: World) -> [Step] {
    let isBetween = (number - min(number, Members.begin)).isMultiple(of: 2)
    isMigrating = number >= Members.begin && ended == nil && isBetween
    if isMigrating { return migrate(number, world) }
    var (steps, world) = ([Step.set(Script.lastPath, .integer(Int64(number)))], world)
    if let form = form(at: number) {
      definition = form
      steps.append(.declare(Members.path, form))
    }
    let count = number == 1 ? Members.countMin + 2 : 1 + random.below(3)
    for _ in 0..<count {
      let step = change(world)
      steps.append(step)
      world.apply(step, number)
    }
    return steps
  }

  private mutating func change(_ world: World) -> Step {
    let keys = Members.keys(world)
    let free = (0..<Members.keys).filter { !keys.contains($0) }
    switch random.below(6) {
    case 0...2 where !free.isEmpty: return set(random.pick(free), world)
    case _ where keys.count < Members.countMin: return set(random.pick(free), world)
    case 3: return .remove(Members.path(random.pick(keys)))
    case 4: return set(random.pick(keys), world)
    default:
      return .update(Members.path(random.pick(keys)), "score", .integer(Int64(random.below(5))))
    }
  }

  private mutating func set(_ key: Int, _ world: World) -> Step {
    var record: ValueMap = [
      "name": .string("no \(key) of \(random.below(100))"),
      "score": .integer(Int64(random.below(5))),
      "captain": .integer(Int64(random.below(Members.keys))),
    ]
    let isPassed = migration?.last.map { key <= Int($0) ?? 0 } ?? false
    if ended != nil || isPassed { record["points"] = .integer(Int64(random.below(9))) }
    return .set(Members.path(key), .map(record))
  }

  /// Begins, or does the next records; where there are less than a batch, it ends.
  private mutating func migrate(_ number: UInt64, _ world: World) -> [Step] {
    guard var position = migration else {
      migration = UnfinishedMigration(["points"])
      return []
    }
    let last = position.last.flatMap { Int($0) } ?? -1
    let due = Members.keys(world).filter { $0 > last }.prefix(batch)
    if due.count < batch {
      (migration, ended) = (nil, number)
      definition = declared(3)
    } else {
      position.done += due.count
      position.last = due.last.map { "\($0)" }
      migration = position
    }
    return due.map { key in
      let record = world.nodes[Members.path(key)]?.record ?? ValueMap()
      let points = Members.step(record.integer("points"), record.integer("score"))
      return .update(Members.path(key), "points", .integer(Int64(points)))
    }
  }

  private static func path(_ key: Int) -> NodePath { path.appending(.integer(Int64(key))) }

  /// The members' keys, in order.
  private static func keys(_ world: World) -> [Int] {
    (0..<keys).filter { world.nodes[path($0)] != nil }
  }

  // MARK: Declarations

  /// The declaration that a transaction makes, if it makes one.
  private func form(at number: UInt64) -> CollectionDefinition? {
    if let ended { return number == ended + 2 ? declared(4) : nil }
    return [1: 0, 4: 1, 7: 2][number].map { declared($0) }
  }

  private func declared(_ number: Int) -> CollectionDefinition {
    var definition = Members.form(number)
    if let ended {
      definition.steps = [AppliedStep("points", version: 2, sequence: SequenceNumber(ended))]
    }
    return definition
  }

  /// The declarations, in the order in which they come; the migration leads to the fourth.
  private static func form(_ number: Int) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.keys = .integer
    definition.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("score", .integer),
      PropertyDefinition("points", .integer), PropertyDefinition("captain", .reference(path)),
    ]
    definition.properties[0].isRequired = true
    definition.properties[2].isRequired = number >= 3
    let (score, name) = (IndexDefinition([.init("score")]), IndexDefinition([.init("name")]))
    var unique = name
    unique.isUnique = true
    var points = IndexDefinition([.init("points", isDescending: true), .init("score")])
    points.covered = ["name", "captain.name"]
    definition.indexes =
      [[score], [score, name], [unique], [unique, points], [points, score]][number]
    let counts = ViewDefinition(.groups(by: ["score"], [.count, .sum("points"), .maximum("name")]))
    let text = ViewDefinition(.text(["name"], language: nil))
    let top = ViewDefinition(.top(by: ["score"], [.init("name", isDescending: true)]))
    definition.views = [[counts], [counts, text], [text, top], [counts, top], [text]][number]
    return definition
  }
}

extension ValueMap {
  fileprivate func integer(_ name: String) -> Int {
    if case .integer(let number)? = self[name] { Int(number) } else { 0 }
  }
}
