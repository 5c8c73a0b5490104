/// A list of counts, with the sum of those before any position.
///
/// A derived result that shows several elements for one, or none, finds their positions by it: the
/// elements of the source at position 7 begin at `sums.sum(before: 7)`.
///
/// It is a tree as ``ChunkedList`` is one, whose nodes know their sums as well, so that each
/// operation takes O(log *n* + chunk). A copy shares all nodes that do not change.
///
/// Invariants, proved by ``checkInvariants()`` in the tests:
/// 1. A node's count and sum are those of the counts below it.
/// 2. All leaves have the same depth; no node holds more than its maximum, and none but the root
///    less than a quarter of it.
struct PrefixSums: Sendable {
  private var root = Node()

  init() {}

  /// Takes counts in their order, in O(*n*).
  init(_ counts: [Int]) { root = Node(counts) }

  var count: Int { root.count }

  /// The sum of all counts.
  var total: Int { root.sum }

  subscript(position: Int) -> Int {
    precondition(position >= 0 && position < count, "the list has no count at this position")
    return root[position]
  }

  /// The sum of the counts before a position, which may be the end.
  func sum(before position: Int) -> Int {
    precondition(position >= 0 && position <= count, "the list has no such position")
    return root.sum(before: position)
  }

  /// The positions that the elements of one source have.
  func range(of position: Int) -> Range<Int> {
    let start = sum(before: position)
    return start..<start + self[position]
  }

  mutating func replace(at position: Int, with value: Int) {
    precondition(position >= 0 && position < count, "the list has no count at this position")
    root.add(value - root[position], at: position)
  }

  mutating func insert(_ value: Int, at position: Int) {
    precondition(position >= 0 && position <= count, "a count lies after one that is not there")
    if let right = root.insert(value, at: position) { root = Node(branches: [root, right]) }
  }

  mutating func remove(at position: Int) {
    precondition(position >= 0 && position < count, "the list has no count at this position")
    root.remove(at: position)
    if root.children.count == 1 { root = root.children[0] }
  }

  /// Applies an edit, in O(*m* log *n*), or in O(*n*) where it changes much of the list.
  mutating func apply(_ edit: ListEdit<Int>) {
    if edit.removals.count + edit.insertions.count > 64 + count / 16 {
      var counts: [Int] = []
      counts.reserveCapacity(count)
      root.append(to: &counts)
      self = PrefixSums(edit.applied(to: counts))
      return
    }
    for position in edit.removals.reversed() { remove(at: position) }
    for (position, value) in edit.insertions { insert(value, at: position) }
  }

  /// Traps if an invariant does not hold; for debug builds, in O(*n*).
  func checkInvariants() { assert(root.isSound(isRoot: true), "the nodes of sums are damaged") }
}

// A node of the tree: a leaf with counts, or a branch with nodes.
extension PrefixSums {
  fileprivate struct Node: Sendable {
    var count = 0
    var sum = 0
    var counts: [Int] = []
    var children: [Node] = []
  }
}

extension PrefixSums.Node {
  private static var countsMax: Int { 128 }
  private static var childrenMax: Int { 64 }

  /// A tree whose nodes are three quarters full.
  init(_ counts: [Int]) {
    var level = Self.parts(of: counts, max: Self.countsMax).map { Self(leaf: $0) }
    while level.count > 1 {
      level = Self.parts(of: level, max: Self.childrenMax).map { Self(branches: $0) }
    }
    self = level.first ?? Self()
  }

  init(branches: some Collection<Self>) {
    children = Array(branches)
    for child in children { (count, sum) = (count + child.count, sum + child.sum) }
  }

  private init(leaf: some Collection<Int>) {
    counts = Array(leaf)
    (count, sum) = (counts.count, counts.reduce(0, +))
  }

  private static func parts<Item>(of items: [Item], max: Int) -> [ArraySlice<Item>] {
    let full = max * 3 / 4
    let parts = (items.count + full - 1) / full
    return (0..<parts).map { items[items.count * $0 / parts..<items.count * ($0 + 1) / parts] }
  }

  private var isLeaf: Bool { children.isEmpty }
  private var isOverfull: Bool {
    counts.count > Self.countsMax || children.count > Self.childrenMax
  }
  private var isSparse: Bool {
    isLeaf ? counts.count < Self.countsMax / 4 : children.count < Self.childrenMax / 4
  }

  /// The child with a position, and the position within it.
  private func child(with position: Int) -> (index: Int, position: Int) {
    var (index, rest) = (0, position)
    while rest >= children[index].count {
      rest -= children[index].count
      index += 1
    }
    return (index, rest)
  }

  subscript(position: Int) -> Int {
    if isLeaf { return counts[position] }
    let (index, rest) = child(with: position)
    return children[index][rest]
  }

  func sum(before position: Int) -> Int {
    if position == count { return sum }
    if isLeaf { return counts[..<position].reduce(0, +) }
    let (index, rest) = child(with: position)
    return children[..<index].reduce(0) { $0 + $1.sum } + children[index].sum(before: rest)
  }

  func append(to all: inout [Int]) {
    all += counts
    for child in children { child.append(to: &all) }
  }

  mutating func add(_ difference: Int, at position: Int) {
    sum += difference
    if isLeaf {
      counts[position] += difference
      return
    }
    let (index, rest) = child(with: position)
    children[index].add(difference, at: rest)
  }

  /// Inserts a count; returns the right half if the node had to be split.
  mutating func insert(_ value: Int, at position: Int) -> Self? {
    (count, sum) = (count + 1, sum + value)
    if isLeaf {
      counts.insert(value, at: position)
    } else {
      // At the end there is no child with the position, but one before it.
      let (index, rest) = child(with: Swift.max(position - 1, 0))
      guard let right = children[index].insert(value, at: position == 0 ? 0 : rest + 1) else {
        return nil
      }
      children.insert(right, at: index + 1)
    }
    return isOverfull ? splitOff() : nil
  }

  mutating func remove(at position: Int) {
    (count, sum) = (count - 1, sum - self[position])
    if isLeaf {
      counts.remove(at: position)
      return
    }
    let (index, rest) = child(with: position)
    children[index].remove(at: rest)
    if children[index].isSparse { merge(Swift.max(index - 1, 0)) }
  }

  /// Takes the right half out of the node.
  private mutating func splitOff() -> Self {
    let whole = self
    let (half, middle) = (counts.count / 2, children.count / 2)
    self = isLeaf ? Self(leaf: counts[..<half]) : Self(branches: children[..<middle])
    return isLeaf ? Self(leaf: whole.counts[half...]) : Self(branches: whole.children[middle...])
  }

  /// Joins a child and the next one, and splits both evenly if that is too much for one.
  private mutating func merge(_ index: Int) {
    let right = children.remove(at: index + 1)
    let left = children[index]
    let isLeaf = left.isLeaf
    children[index] =
      isLeaf
      ? Self(leaf: left.counts + right.counts) : Self(branches: left.children + right.children)
    guard children[index].isOverfull else { return }
    children.insert(children[index].splitOff(), at: index + 1)
  }

  func isSound(isRoot: Bool = false) -> Bool {
    if isOverfull || isSparse && !isRoot { return false }
    if isLeaf { return count == counts.count && sum == counts.reduce(0, +) }
    return counts.isEmpty && children.count > 1 && Set(children.map(\.depth)).count == 1
      && count == children.reduce(0) { $0 + $1.count }
      && sum == children.reduce(0) { $0 + $1.sum } && children.allSatisfy { $0.isSound() }
  }

  private var depth: Int { isLeaf ? 0 : 1 + children[0].depth }
}
