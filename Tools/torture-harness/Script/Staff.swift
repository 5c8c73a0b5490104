import Cambium
import Simulation

/// Makes up transactions about the staff of a firm: one collection with indexes and views of every
/// kind, whose records share photos, and which leaves and comes back as a whole.
///
///     firm/staff/3         name, team, pay, tags, badge
///     firm/staff/3/photo   a blob, which others may have as well
///
/// Parts of a transaction are undone, and some of its changes refused. One record, ``erased``, is
/// what an erasure takes out; whatever is written there holds a secret, and nothing else does.
struct Staff {
  static let path: NodePath = "firm/staff"
  /// The key of the record that is erased, and its path.
  private static let erasedKey = 3
  static let erased: NodePath = "firm/staff/3"
  static let teams = ["blue", "green", "red"]
  static let names = ["ada", "grace", "joan", "mary"]
  /// The least pay of the records that are in the index with a condition.
  static let payMin: Int64 = 50
  private static let keys = 14
  /// The transaction with which the collection leaves for sure, to come back with the next.
  private static let leaving: UInt64 = 6
  /// For so many moments a blob is stored for sure after nothing refers to it any more.
  private static let momentsKept = 3

  private var random: SeededGenerator
  private let secrets: Secrets
  /// True if every second change is about a photo.
  private let isAboutPhotos: Bool
  /// The path that the transaction before removed, if it did nothing else.
  private var removed: NodePath?
  private var photos: [[UInt8]] = []
  /// A photo of two chunks, which is there for a while, and is referred to again.
  private var large: [UInt8] = []
  private var hasStoredLarge = false
  /// The sizes of the blobs that were referred to at the newest moments; no two photos have the
  /// same.
  private var recent: [Set<Int>] = []

  init(seed: UInt64, _ shape: Script.Shape, _ secrets: Secrets) {
    random = SeededGenerator(seed: seed, 41)
    (self.secrets, isAboutPhotos) = (secrets, shape == .photos)
    photos = [bytes(40), bytes(5_000), Array(repeating: UInt8(random.below(256)), count: 9_000)]
    large = Array(repeating: UInt8(random.below(256)), count: 270_000)
  }

  /// Forgets the removal, which is not to be restored.
  mutating func forget() { removed = nil }

  /// The steps of transaction `number`.
  mutating func write(_ number: UInt64, _ world: World) -> [Step] {
    recent = recent.suffix(Staff.momentsKept - 1) + [Staff.blobs(world)]
    let restorable = removed
    removed = nil
    let leaves = number == Staff.leaving || number > Staff.leaving + 3 && random.oneIn(5)
    if leaves, world.nodes[Staff.path] != nil {
      removed = Staff.path
      return [.remove(Staff.path)]
    }
    var (steps, world) = ([Step](), world)
    func add(_ step: Step) {
      steps.append(step)
      world.apply(step, number)
    }
    add(.set(Script.lastPath, .integer(Int64(number))))
    if number == 1 { add(.declare(Staff.path, Staff.definition)) }
    if let path = restorable, number == Staff.leaving + 1 || random.oneIn(2) {
      add(.restore(path, removedAt: number - 1))
    }
    for step in certain(number, world) { add(step) }
    for _ in 0..<(number == 1 ? 0 : 2 + random.below(3)) {
      for step in change(number, world, depth: 0) { add(step) }
    }
    return steps
  }

  /// The steps that each seed has, so that what they show is always tried.
  private mutating func certain(_ number: UInt64, _ world: World) -> [Step] {
    let erased = Staff.photo(Staff.erasedKey)
    switch number {
    case 1: return (0..<10).map { set($0, number, world) }
    case 2:
      return refused(4, [5], world, takesBadge: true)
        + [.blob(erased, photos[1]), .share(Staff.photo(5), from: erased)]
    case 3: return [set(Staff.erasedKey, number, world), .blob(erased, secret(number))]
    case 4 where isAboutPhotos:
      hasStoredLarge = true
      return carriers(world).prefix(1).map { .blob($0, large) }
    case 5 where hasStoredLarge:
      let bearers = carriers(world).filter { world.nodes[$0]?.blob?.count == large.count }
      return [set(Staff.erasedKey, number, world)] + bearers.map(Step.remove)
    // It is referred to only by what the next compaction drops, and by this.
    case Staff.leaving + 1 where hasStoredLarge:
      return carriers(world).prefix(1).map { .refer($0, large) }
    case 5, 8: return [set(Staff.erasedKey, number, world)]
    default: return []
    }
  }

  private static func path(_ key: Int) -> NodePath { path.appending(.integer(Int64(key))) }
  private static func photo(_ key: Int) -> NodePath { path(key).appending(Key.text("photo")) }

  /// The keys of the records that are there, in order.
  private func present(_ world: World) -> [Int] {
    (0..<Staff.keys).filter { world.nodes[Staff.path($0)] != nil }
  }

  /// The places of the photos of those that are never erased.
  private func carriers(_ world: World) -> [NodePath] {
    present(world).filter { $0 != Staff.erasedKey }.map(Staff.photo)
  }

  /// The blobs that nodes refer to which no erasure takes out.
  private static func blobs(_ world: World) -> Set<Int> {
    Set(world.nodes.lazy.filter { !$0.key.isWithin(erased) }.compactMap { $0.value.blob?.count })
  }

  // MARK: Changes

  private mutating func change(_ number: UInt64, _ world: World, depth: Int) -> [Step] {
    let keys = present(world)
    let free = (0..<Staff.keys).filter { !keys.contains($0) }
    if keys.count < 6 { return [set(random.pick(free), number, world)] }
    let isErased = random.oneIn(4) && keys.contains(Staff.erasedKey)
    let key = isErased ? Staff.erasedKey : random.pick(keys)
    let path = Staff.path(key)
    if isAboutPhotos, random.oneIn(2) { return photo(key, number, world) }
    switch random.below(24) {
    case 0..<3: return [set(random.oneIn(3) ? key : free.first ?? key, number, world)]
    case 3..<6: return [.update(path, "pay", pay())]
    case 6..<8: return [.update(path, "team", .string(random.pick(Staff.teams)))]
    case 8: return [.update(path, "name", .string(name(key, number)))]
    case 9..<11: return [.change(path, "pay", .increment(by: .integer(Int64(random.below(9)))))]
    case 11..<13: return [.change(path, "tags", .include(tag()))]
    case 13: return [.change(path, "tags", .exclude(tag()))]
    case 14..<16: return [.remove(path)]
    case 16..<19: return photo(key, number, world)
    case 19: return move(key, free)
    case 20: return refused(key, keys, world, takesBadge: random.oneIn(2))
    default: return depth < 2 ? attempt(number, world, depth) : [.update(path, "pay", pay())]
    }
  }

  private mutating func attempt(_ number: UInt64, _ world: World, _ depth: Int) -> [Step] {
    var (steps, world) = ([Step](), world)
    for _ in 0..<1 + random.below(3) {
      for step in change(number, world, depth: depth + 1) {
        steps.append(step)
        world.apply(step, number)
      }
    }
    return [.attempt(steps, isKept: random.oneIn(3))]
  }

  private mutating func set(_ key: Int, _ number: UInt64, _ world: World) -> Step {
    let record: ValueMap = [
      "name": .string(name(key, number)), "team": .string(random.pick(Staff.teams)), "pay": pay(),
      "tags": .array(Set([random.below(5), random.below(5)]).sorted().map { .integer(Int64($0)) }),
      "badge": .string("badge \(key) of \(number) \(random.below(1_000_000))"),
    ]
    return .set(Staff.path(key), .map(record))
  }

  private mutating func pay() -> Value { .integer(Int64(random.below(100))) }
  private mutating func tag() -> Value { .integer(Int64(random.below(5))) }

  private mutating func name(_ key: Int, _ number: UInt64) -> String {
    let name = random.pick(Staff.names)
    return key == Staff.erasedKey ? "\(name) \(secrets.text(number))" : "\(name) \(key)"
  }

  /// A photo of one's own, that of another, or one that is stored already; or none any more.
  private mutating func photo(_ key: Int, _ number: UInt64, _ world: World) -> [Step] {
    let path = Staff.photo(key)
    let others = present(world).map(Staff.photo).filter { other in
      // A secret is not handed on.
      other != path && world.nodes[other]?.blob.map { photos.contains($0) } ?? false
    }
    let stored = photos.filter { photo in recent.contains { $0.contains(photo.count) } }
    switch random.below(8) {
    case 0 where world.nodes[path] != nil: return [.remove(path)]
    case 1..<3 where !others.isEmpty: return [.share(path, from: random.pick(others))]
    case 3..<5 where !stored.isEmpty: return [.refer(path, random.pick(stored))]
    case _ where key == Staff.erasedKey && random.oneIn(2):
      return [.blob(path, secret(number))]
    default: return [.blob(path, random.pick(photos))]
    }
  }

  /// A record changes its key; the erased one stays where it is.
  private mutating func move(_ key: Int, _ free: [Int]) -> [Step] {
    let free = free.filter { $0 != Staff.erasedKey }
    guard key != Staff.erasedKey, !free.isEmpty else { return [] }
    return [.move(Staff.path(key), to: Staff.path(random.pick(free)))]
  }

  /// A record of the wrong type, or with the badge of another.
  private func refused(
    _ key: Int, _ keys: [Int], _ world: World, takesBadge: Bool
  ) -> [Step] {
    guard let other = keys.first(where: { $0 != key && $0 != Staff.erasedKey }),
      key != Staff.erasedKey, var record = world.nodes[Staff.path(key)]?.record
    else { return [] }
    if takesBadge {
      record["badge"] = world.nodes[Staff.path(other)]?.record?["badge"]
    } else {
      record["pay"] = .string("a lot")
    }
    return [.refused(Staff.path(key), .map(record))]
  }

  private mutating func secret(_ number: UInt64) -> [UInt8] {
    Array(secrets.text(number).utf8) + bytes(random.pick([30, 3_000]))
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  // MARK: Declarations

  private static var definition: CollectionDefinition {
    var definition = CollectionDefinition()
    definition.keys = .integer
    definition.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("team", .string),
      PropertyDefinition("pay", .integer), PropertyDefinition("tags", .array(.integer)),
      PropertyDefinition("badge", .string),
    ]
    var teams = IndexDefinition([.init("team"), .init("pay")])
    teams.covered = ["name"]
    var pays = IndexDefinition([.init("pay", isDescending: true)])
    pays.covered = ["name", "team"]
    var tags = IndexDefinition([.init("tags")])
    tags.covered = ["pay"]
    var names = IndexDefinition([.init("name", isDescending: true)])
    names.condition = Condition(.compare(PropertyPath("pay"), .greaterOrEqual, .integer(payMin)))
    names.covered = ["pay"]
    var badges = IndexDefinition([.init("badge")])
    badges.isUnique = true
    badges.covered = ["pay"]
    definition.indexes = [teams, pays, tags, names, badges]
    definition.views = [
      ViewDefinition(
        .groups(by: ["team"], [.count, .sum("pay"), .maximum("name"), .minimum("pay")])),
      ViewDefinition(.top(by: ["team"], [.init("pay", isDescending: true)])),
      ViewDefinition(.text(["name"], language: nil)),
    ]
    return definition
  }
}
