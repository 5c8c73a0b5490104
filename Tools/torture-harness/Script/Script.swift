import Cambium
import Simulation

/// The steps of transaction *n* of a seed, and what a database holds after it.
///
/// Everything follows from seed and number, so that whoever finds a database after a crash can say
/// what it must hold, whichever process and thread wrote it.
struct Script: Sendable {
  /// The kind of transactions.
  enum Shape: Sendable {
    /// A handful of changes.
    case small
    /// Each third transaction fills some pages.
    case large
    /// A collection is redeclared and migrated; see ``Members``.
    case migrating
    /// One collection with all kinds of indexes and views; see ``Staff``.
    case staff
    /// The same, with photos that come and go all the time.
    case photos

    fileprivate var isAboutStaff: Bool { self == .staff || self == .photos }
  }

  /// The steps of each transaction, the first at 0.
  private(set) var transactions: [[Step]] = []
  /// The world at each moment, the empty one at 0.
  private(set) var worlds = [World()]

  /// The transactions that are no writes, but erase ``Staff/erased``.
  private(set) var erasures: [UInt64]
  /// The texts that are written there.
  let secrets: Secrets
  /// The times of the transactions.
  let times: ScriptTimes
  /// The members' declarations at each moment, where the script is about them.
  private(set) var members: [Members] = []

  /// Where each transaction writes down its own number.
  static let lastPath: NodePath = "last"
  /// The consumer whose position each third transaction moves to its own number. The others store
  /// nothing but records, which go to the log's tail where there is one.
  static let consumer = "mirror"
  /// The consumer whose position is kept for the next commit.
  static let keeper = "keeper"
  /// The property that holds a set, and the one that holds a dictionary.
  fileprivate static let (tags, votes) = ("tags", "votes")
  /// The collection in which every record has both.
  fileprivate static let parts: NodePath = "parts"
  /// The collections whose records have whatever the script writes into p, q and r.
  static let letters: [NodePath] = ["a", "b", "c", "d", "bulk"]

  init(
    seed: UInt64, _ shape: Shape, count: Int, erasures: [UInt64] = [], _ sizes: Sizes = .usual
  ) {
    self.erasures = erasures
    secrets = Secrets(seed: seed, erasures: erasures)
    times = ScriptTimes(seed: seed, count: count, erasures: erasures)
    var author = Author(seed: seed, shape, bulkCount: sizes.bulkCount)
    var staff = shape.isAboutStaff ? Staff(seed: seed, shape, secrets) : nil
    var members = shape == .migrating ? Members(seed: seed) : nil
    if let members { self.members.append(members) }
    for number in 1...UInt64(count) {
      let world = worlds[worlds.count - 1]
      if erasures.contains(number) {
        staff?.forget()
        transactions.append([])
        worlds.append(world.without(Staff.erased))
        continue
      }
      var steps =
        members?.write(number, world) ?? staff?.write(number, world)
        ?? author.write(number, world)
      if number == 1 { steps = sizes.ballast.steps + steps }
      if let members { self.members.append(members) }
      transactions.append(steps)
      worlds.append(world.after(steps, sequence: number))
    }
  }

  /// True if it is about ``Staff``.
  var isAboutStaff: Bool { worlds.dropFirst().first?.nodes[Staff.path] != nil }

  /// True if a transaction is part of a migration, which no application writes.
  func isMigration(_ number: UInt64) -> Bool {
    number < UInt64(members.count) && members[Int(number)].isMigrating
  }

  /// True if a migration has begun by then, and not ended.
  func isMigrating(at moment: UInt64) -> Bool {
    moment + 1 < UInt64(members.count) && members[Int(moment)].isUnfinished
  }

  /// The position of the consumer at a moment.
  func position(at moment: UInt64) -> UInt64 {
    var number = moment
    while number > 0, erasures.contains(number) || isMigration(number) || !movesPosition(number) {
      number -= 1
    }
    return number
  }

  private func movesPosition(_ number: UInt64) -> Bool { number % 3 == 0 }

  /// The number of transactions.
  var count: Int { transactions.count }

  /// The script as a database shows it whose newest transaction is a given one: without what was
  /// erased up to there.
  func seen(at head: UInt64) -> Script {
    guard let erasure = erasures.last(where: { $0 <= head }) else { return self }
    var seen = self
    for moment in 0...Int(erasure) {
      seen.worlds[moment] = worlds[moment].without(Staff.erased)
    }
    return seen
  }

  /// Declares indexes and views of what the script writes, which `verify` compares with the log.
  private static func declare(_ tx: borrowing Database.Transaction) throws {
    var definition = CollectionDefinition()
    var covering = IndexDefinition([.init("q", isDescending: true), .init("p")])
    covering.covered = ["r"]
    definition.indexes = [IndexDefinition([.init("p")]), covering]
    definition.views = [
      ViewDefinition(.groups(by: ["p"], [.count, .sum("q"), .maximum("r")])),
      ViewDefinition(.text(["q"], language: nil)),
    ]
    for collection in letters {
      try tx.declare(collection, definition)
    }
    // Its indexes have an entry for each element of the set, and for each key of the dictionary.
    var parts = CollectionDefinition()
    parts.properties = [
      PropertyDefinition(tags, .array(.integer)),
      PropertyDefinition(votes, .keyed(by: "voters", .integer)),
    ]
    parts.indexes = [tags, votes].map { IndexDefinition([.init($0)]) }
    try tx.declare(Script.parts, parts)
  }

  /// The metadata of a transaction. Of some it makes the frame in the log's tail longer than a
  /// page: one in a single page is written once more with the next one.
  func metadata(of number: UInt64) -> [String: String] {
    if isMigration(number) { return Members.metadata }
    let own = ["number": "\(number)"]
    return number % 8 == 4 ? own.merging(["padding": Script.padding]) { own, _ in own } : own
  }

  private static let padding = (1...300).map { "\($0 &* 0x9E37_79B9_7F4A)" }.joined()

  /// Does what the running transaction has to do.
  func perform(_ tx: borrowing Database.Transaction) throws {
    let number = tx.sequence.rawValue
    try demand(number <= UInt64(count), "the script has no transaction \(number)")
    times.clock.set(number)
    if number == 1 && members.isEmpty && !isAboutStaff { try Script.declare(tx) }
    for step in transactions[Int(number) - 1] { try step.perform(tx) }
    if movesPosition(number) { try tx.advance(Script.consumer, to: tx.sequence) }
    for (key, value) in metadata(of: number) { tx.annotate(key, value) }
  }

  /// Does the next transaction in a database to which nobody else writes.
  ///
  /// - Returns: Its number.
  func writeNext(_ database: Database) throws -> UInt64 {
    // A write that changes nothing stores nothing.
    let number = members.isEmpty ? 0 : try database.write { $0.sequence.rawValue }
    if isMigration(number) {
      times.clock.set(number)
      try members[Int(number) - 1].migrateOnce(database)
      return number
    }
    return try database.write { tx in
      try perform(tx)
      return tx.sequence.rawValue
    }
  }
}

/// Makes up transactions that fit the world before them.
private struct Author {
  private var random: SeededGenerator
  private let shape: Script.Shape
  /// The nodes that a large transaction sets.
  private let bulkCount: Int
  /// The path that the transaction before removed, if it did nothing else.
  private var removed: NodePath?

  private static let names = ["p", "q", "r"]

  init(seed: UInt64, _ shape: Script.Shape, bulkCount: Int) {
    random = SeededGenerator(seed: seed)
    self.shape = shape
    self.bulkCount = bulkCount
  }

  mutating func write(_ number: UInt64, _ world: World) -> [Step] {
    let restorable = removed
    removed = nil
    if number > 4, random.oneIn(6), let path = anyPath(world) {
      removed = path
      return [.remove(path)]
    }
    var (steps, world) = ([Step](), world)
    func add(_ step: Step) {
      steps.append(step)
      world.apply(step, number)
    }
    if let path = restorable, random.oneIn(2) { add(.restore(path, removedAt: number - 1)) }
    add(.set(Script.lastPath, .integer(Int64(number))))
    for _ in 0..<random.below(5) { if let step = change(world) { add(step) } }
    if shape == .large && number % 3 == 0 {
      for index in 0..<bulkCount {
        add(.set(NodePath(keys: ["bulk", .integer(Int64(random.below(400)))]), bulk(index)))
      }
    }
    return steps
  }

  private mutating func change(_ world: World) -> Step? {
    switch random.below(27) {
    case 0..<7: return .set(path(), value())
    case 7: return .blob(path(), bytes(random.oneIn(3) ? 6_000 : 40))
    case 8..<11: return property(world)
    case 11..<13: return increment(world)
    case 13..<15: return append(world)
    case 15..<17: return anyPath(world).map { .remove($0) }
    case 17..<19: return move(world)
    case 19..<24: return partOfProperty(world)
    case 24..<26: return partOfValue(world)
    default: return .event(Int64(random.below(1000)))
    }
  }

  private mutating func property(_ world: World) -> Step? {
    let paths = records(lookedAt(world))
    guard !paths.isEmpty else { return nil }
    return .update(
      random.pick(paths), random.pick(Author.names), random.oneIn(3) ? nil : scalar())
  }

  /// The nodes that have properties, or could.
  private func records(_ world: World) -> [NodePath] {
    world.nodes.filter { $0.value.isEmpty || $0.value.record != nil }.keys.sorted()
  }

  /// An element of a record's set, or an entry of its dictionary; mostly of one that has both.
  private mutating func partOfProperty(_ world: World) -> Step {
    let (number, key) = (Int64(random.below(4)), random.pick(["x", "y", "z"]))
    var path = Script.parts.appending(.integer(Int64(random.below(2))))
    let others = records(world)
    if !others.isEmpty, random.oneIn(3) { path = random.pick(others) }
    if world.nodes[path] == nil {
      let (tags, votes) = (Value.array([.integer(number)]), Value.map([key: .integer(number)]))
      return .set(path, .map([Script.tags: tags, Script.votes: votes]))
    }
    switch random.below(8) {
    case 0..<2: return .change(path, Script.tags, .include(.integer(number)))
    case 2: return .change(path, Script.tags, .exclude(.integer(number)))
    case 3..<6:
      let value: Value? = random.oneIn(3) ? nil : .integer(number)
      return .change(path, Script.votes, .setEntry(key: key, value))
    default: return .change(path, Script.votes, .incrementEntry(key: key, by: .integer(number - 2)))
    }
  }

  /// An element of a set that a node is.
  private mutating func partOfValue(_ world: World) -> Step {
    let path = world.nodes.filter { $0.value.elements != nil }.keys.sorted().last
    let element = Value.integer(Int64(random.below(4)))
    if let path, random.oneIn(3) { return .change(path, nil, .exclude(element)) }
    return .change(path ?? freePath(world), nil, .include(element))
  }

  private mutating func increment(_ world: World) -> Step {
    let numbers = world.nodes.filter { $0.value.integer != nil && $0.key != Script.lastPath }
    let path = numbers.keys.sorted().first { _ in random.oneIn(2) }
    let step: Int64 = path == nil ? 1 : Int64(random.below(100)) - 50
    return .change(path ?? freePath(world), nil, .increment(by: .integer(step)))
  }

  private mutating func append(_ world: World) -> Step {
    let path = world.nodes.filter { $0.value.elements != nil }.keys.sorted().first
    let element = Value.integer(Int64(random.below(10)))
    return .change(path ?? freePath(world), nil, .append(element))
  }

  private mutating func move(_ world: World) -> Step? {
    guard let source = anyPath(world) else { return nil }
    let destination = path()
    guard world.nodes[destination] == nil, !destination.isWithin(source) else { return nil }
    return .move(source, to: destination)
  }

  // MARK: Paths and values

  /// A path of one to three keys, out of a few.
  private mutating func path() -> NodePath {
    var keys: [Key] = [random.pick(["a", "b", "c", "d"])]
    if random.below(4) > 0 { keys.append(.integer(Int64(random.below(6)))) }
    if keys.count == 2 && random.oneIn(3) { keys.append(random.pick(["x", "y"])) }
    return NodePath(keys: keys)
  }

  private mutating func freePath(_ world: World) -> NodePath {
    for _ in 0..<20 {
      let path = path()
      if world.nodes[path] == nil { return path }
    }
    return NodePath(keys: ["e", .integer(Int64(random.below(1 << 20) + 1))])
  }

  private mutating func anyPath(_ world: World) -> NodePath? {
    let paths = lookedAt(world).nodes.keys.filter { $0 != Script.lastPath }.sorted()
    return paths.isEmpty ? nil : random.pick(paths)
  }

  /// The world, mostly without the ballast, among which the few other nodes would hardly be met.
  private mutating func lookedAt(_ world: World) -> World {
    random.oneIn(3) ? world : world.without { Ballast.holds($0) }
  }

  private mutating func value() -> Value {
    switch random.below(8) {
    case 0..<3: return scalar()
    case 3..<6:
      return .map(ValueMap(Author.names.prefix(1 + random.below(3)).map { ($0, scalar()) }))
    case 6: return .array([.integer(Int64(random.below(9)))])
    default: return .string(String(repeating: "long ", count: random.oneIn(3) ? 1_200 : 30))
    }
  }

  private mutating func scalar() -> Value {
    random.oneIn(3) ? .string("text \(random.below(1000))") : .integer(Int64(random.below(1000)))
  }

  private mutating func bulk(_ index: Int) -> Value {
    let text = String(repeating: "x", count: random.below(60))
    return .map(["p": .integer(Int64(index)), "q": .string(text)])
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }
}
