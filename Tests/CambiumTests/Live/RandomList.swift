import Simulation

@testable import Cambium

/// An item of a list, known by its number whatever else changes.
struct Item: Hashable, CustomStringConvertible {
  var id: Int
  var version: Int
  /// The section that it belongs to.
  var group: Int

  var description: String { "\(id).\(version)/\(group)" }
}

/// A list that changes at random, and says by its items' numbers what the diff must be.
struct RandomList {
  private(set) var items: [Item] = []
  var random: SeededGenerator
  private var lastID = 0
  private var gone: [Int] = []
  private var sequence = SequenceNumber(0)

  init(seed: UInt64, count: Int) {
    random = SeededGenerator(seed: seed, 16)
    items = (0..<count).map { _ in newItem() }
  }

  /// Deletes, takes out and puts back, changes and inserts items; each kind often not at all, and
  /// sometimes with most of the items.
  mutating func step() -> LiveDiff<Item> {
    let before = items
    var removed: [Int] = []
    let rates = (0..<3).map { _ in random.pick([0, 0, 2, 10, 80]) }
    var (kept, touched): ([Item], [Item]) = ([], [])
    for var item in before {
      if random.below(100) < rates[0] {
        removed.append(item.id)
        continue
      }
      if random.below(100) < rates[1] { change(&item) }
      if random.below(100) < rates[2] { touched.append(item) } else { kept.append(item) }
    }
    for item in touched.shuffled(using: &random) { put(item, into: &kept) }
    let inserted = random.oneIn(2) ? 0 : random.below(random.oneIn(5) ? 30 : 4)
    for _ in 0..<inserted { put(newItem(), into: &kept) }
    items = kept
    gone += removed
    sequence = sequence.next
    return Self.diff(before, items, touched: Set(touched.map(\.id)), at: sequence)
  }

  private mutating func put(_ item: Item, into list: inout [Item]) {
    list.insert(item, at: random.below(list.count + 1))
  }

  private mutating func change(_ item: inout Item) {
    item.version = random.below(3)
    if random.oneIn(3) { item.group = random.below(6) }
  }

  /// A new item; sometimes one that was there before.
  private mutating func newItem() -> Item {
    lastID += 1
    var item = Item(id: lastID, version: random.below(3), group: random.below(6))
    if random.oneIn(4), let old = gone.popLast() { item.id = old }
    return item
  }

  /// The diff of two lists, by the items' numbers.
  static func diff(
    _ before: [Item], _ after: [Item], touched: Set<Int>, at sequence: SequenceNumber = 1
  ) -> LiveDiff<Item> {
    let places = Dictionary(uniqueKeysWithValues: before.enumerated().map { ($1.id, $0) })
    let stays = Set(after.map(\.id)).intersection(places.keys)
    let removed = before.indices.filter { !stays.contains(before[$0].id) }
    let inserted = after.indices.filter { !stays.contains(after[$0].id) }
    let pairs = after.indices.compactMap { index in
      places[after[index].id].map { ListMove(before: $0, after: index) }
    }
    let moves = MovedRows.moves(
      removed: removed, inserted: inserted,
      touched: pairs.filter { touched.contains(after[$0.after].id) })
    return LiveDiff(
      sequence: sequence, elements: LiveElements(after),
      deletions: removed.map { .init(position: $0, element: before[$0], cause: .own) },
      insertions: inserted.map { .init(position: $0, element: after[$0], cause: .own) },
      moves: moves.map { .init(from: $0.before, to: $0.after, element: after[$0.after]) },
      updates: pairs.compactMap { update(before[$0.before], after[$0.after], $0) })
  }

  private static func update(_ old: Item, _ new: Item, _ place: ListMove) -> LiveDiff<Item>.Update?
  {
    if old == new { return nil }
    var properties: [PropertyUpdate] = []
    for (name, old, new) in [
      ("version", old.version, new.version), ("group", old.group, new.group),
    ] where old != new {
      properties.append(
        PropertyUpdate(name: name, old: .integer(Int64(old)), new: .integer(Int64(new))))
    }
    return .init(
      before: place.before, after: place.after, old: old, new: new, properties: properties,
      cause: .own)
  }
}
