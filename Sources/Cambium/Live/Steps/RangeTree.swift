// The ranges of values that mailboxes are concerned by, in a tree that finds those around a value.
//
//                      [20, 40)  most 90          each node knows the node below it, or itself,
//                     /                \          whose range ends last; a part of the tree whose
//           [10, 15)  most 90     [50, 60)        ranges all end before the value is passed over
//                     \
//                      [12, 90)
//
// It is a search tree by lower bounds and a heap by random priorities, which keeps it balanced.

/// Ranges of ordered bytes, each with a mailbox's slot.
struct RangeTree {
  private struct Node {
    var range: ClosedOpenBytes
    var slot: Int32
    var priority: UInt32
    var left = RangeTree.none
    var right = RangeTree.none
    /// The node of this subtree whose range ends last.
    var last: Int32
  }

  private static let none: Int32 = -1

  private var nodes: [Node] = []
  private var free: [Int32] = []
  private var root = RangeTree.none
  /// The state of a generator of priorities.
  private var seed: UInt32 = 0x9E37_79B9

  var isEmpty: Bool { root == RangeTree.none }

  /// Adds a range.
  ///
  /// - Returns: The node with which it is removed.
  /// - Complexity: O(log *n*) for *n* ranges, expected.
  mutating func add(_ range: ClosedOpenBytes, of slot: Int32) -> Int32 {
    let id = free.popLast() ?? Int32(nodes.count)
    let node = Node(range: range, slot: slot, priority: nextPriority(), last: id)
    if Int(id) == nodes.count { nodes.append(node) } else { nodes[Int(id)] = node }
    root = adding(id, to: root)
    return id
  }

  /// Removes a node.
  ///
  /// - Complexity: O(log *n*), expected.
  mutating func remove(_ id: Int32) {
    root = removing(id, from: root)
    nodes[Int(id)].range = ClosedOpenBytes(from: [], upTo: nil)
    free.append(id)
  }

  /// Visits the slots of the ranges around a value; one with several comes several times.
  ///
  /// - Complexity: O(log *n*) for each range that is found, and for none.
  func forEach(around value: RawSpan, _ body: (Int32) -> Void) {
    visit(root, value, body)
  }

  /// Visits the slots of all ranges.
  func forEach(_ body: (Int32) -> Void) { visitAll(root, body) }

  // MARK: Searching

  private func visit(_ start: Int32, _ value: RawSpan, _ body: (Int32) -> Void) {
    var id = start
    while id != RangeTree.none, ends(nodes[Int(id)].last, after: value) {
      visit(nodes[Int(id)].left, value, body)
      guard begins(id, upTo: value) else { return }
      if ends(id, after: value) { body(nodes[Int(id)].slot) }
      id = nodes[Int(id)].right
    }
  }

  private func visitAll(_ id: Int32, _ body: (Int32) -> Void) {
    if id == RangeTree.none { return }
    visitAll(nodes[Int(id)].left, body)
    body(nodes[Int(id)].slot)
    visitAll(nodes[Int(id)].right, body)
  }

  @inline(__always)
  private func begins(_ id: Int32, upTo value: RawSpan) -> Bool {
    nodes[Int(id)].range.lower.lend { $0.compare(value) <= 0 }
  }

  @inline(__always)
  private func ends(_ id: Int32, after value: RawSpan) -> Bool {
    nodes[Int(id)].range.upper?.lend { value.precedes($0) } ?? true
  }

  // MARK: Changing

  private mutating func adding(_ id: Int32, to top: Int32) -> Int32 {
    if top == RangeTree.none { return id }
    if isBefore(id, top) {
      let left = adding(id, to: nodes[Int(top)].left)
      nodes[Int(top)].left = left
      return isAbove(left, top) ? raiseLeft(of: top) : updated(top)
    }
    let right = adding(id, to: nodes[Int(top)].right)
    nodes[Int(top)].right = right
    return isAbove(right, top) ? raiseRight(of: top) : updated(top)
  }

  private mutating func removing(_ id: Int32, from top: Int32) -> Int32 {
    if top == RangeTree.none { return top }
    if id == top { return joined(nodes[Int(id)].left, nodes[Int(id)].right) }
    if isBefore(id, top) {
      nodes[Int(top)].left = removing(id, from: nodes[Int(top)].left)
    } else {
      nodes[Int(top)].right = removing(id, from: nodes[Int(top)].right)
    }
    return updated(top)
  }

  /// One tree of two, of which the first is before the second.
  private mutating func joined(_ first: Int32, _ second: Int32) -> Int32 {
    if first == RangeTree.none { return second }
    if second == RangeTree.none { return first }
    if isAbove(first, second) {
      nodes[Int(first)].right = joined(nodes[Int(first)].right, second)
      return updated(first)
    }
    nodes[Int(second)].left = joined(first, nodes[Int(second)].left)
    return updated(second)
  }

  private mutating func raiseLeft(of top: Int32) -> Int32 {
    let left = nodes[Int(top)].left
    nodes[Int(top)].left = nodes[Int(left)].right
    nodes[Int(left)].right = updated(top)
    return updated(left)
  }

  private mutating func raiseRight(of top: Int32) -> Int32 {
    let right = nodes[Int(top)].right
    nodes[Int(top)].right = nodes[Int(right)].left
    nodes[Int(right)].left = updated(top)
    return updated(right)
  }

  /// The node, after finding again which range of its subtree ends last.
  private mutating func updated(_ id: Int32) -> Int32 {
    var last = id
    for child in [nodes[Int(id)].left, nodes[Int(id)].right] where child != RangeTree.none {
      let other = nodes[Int(child)].last
      if endsLater(other, than: last) { last = other }
    }
    nodes[Int(id)].last = last
    return id
  }

  private func endsLater(_ a: Int32, than b: Int32) -> Bool {
    guard let end = nodes[Int(b)].range.upper else { return false }
    return nodes[Int(a)].range.upper.map { end.lexicographicallyPrecedes($0) } ?? true
  }

  /// The order of the nodes: by lower bound, then by number.
  private func isBefore(_ a: Int32, _ b: Int32) -> Bool {
    let order = nodes[Int(a)].range.lower.lend { a in
      nodes[Int(b)].range.lower.lend { a.compare($0) }
    }
    return order == 0 ? a < b : order < 0
  }

  private func isAbove(_ a: Int32, _ b: Int32) -> Bool {
    nodes[Int(a)].priority > nodes[Int(b)].priority
  }

  private mutating func nextPriority() -> UInt32 {
    seed ^= seed << 13
    seed ^= seed >> 17
    seed ^= seed << 5
    return seed
  }
}

extension RangeTree {
  /// Traps unless the order, the priorities, and the ranges that end last are as they must be.
  func checkInvariants() {
    var before: Int32?
    var count = 0
    check(root, &before, &count)
    precondition(count + free.count == nodes.count, "a node is lost")
  }

  private func check(_ id: Int32, _ before: inout Int32?, _ count: inout Int) {
    if id == RangeTree.none { return }
    let node = nodes[Int(id)]
    check(node.left, &before, &count)
    if let before { precondition(isBefore(before, id), "ranges are out of order") }
    before = id
    count += 1
    check(node.right, &before, &count)
    for child in [node.left, node.right] where child != RangeTree.none {
      precondition(!isAbove(child, id), "priorities are out of order")
      precondition(!endsLater(nodes[Int(child)].last, than: node.last), "a later end is below")
    }
    precondition(!endsLater(id, than: node.last), "its own end is later")
  }
}
