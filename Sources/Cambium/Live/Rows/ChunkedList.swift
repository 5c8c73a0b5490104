/// An ordered list in chunks, for long lists that change in a few places at a time.
///
///     var list = ChunkedList(1...1_000_000)
///     list.insert(0, at: 0)
///     let place = list.position { $0 < 500 }
///
/// It is a tree of chunks: a leaf holds up to 128 elements, a branch up to 64 nodes, and each node
/// knows how many elements lie in it. All leaves have the same depth, so a position is found, and
/// an element inserted or removed, in O(log *n* + chunk): about a third of a microsecond among a
/// million elements.
///
/// A copy shares all chunks. A change of one of the two copies the chunks on the path to the
/// changed element and no other, so that a result can be handed out after each step.
///
/// Invariants, all proved by ``checkInvariants()`` in the tests:
/// 1. A node's count is the number of elements below it, its sum that of their weights.
/// 2. All leaves have the same depth.
/// 3. No node holds more than its maximum; none but the root less than a quarter of it.
/// 4. A branch has at least two nodes.
struct WeightedList<Weight: ElementWeight> {
  typealias Element = Weight.Element

  var root = Node()

  /// The empty list.
  init() {}

  /// A list of the elements of a sequence, in O(*n*).
  init(_ elements: some Sequence<Element>) { root = Node(Array(elements)) }

  var count: Int { root.count }

  var isEmpty: Bool { root.count == 0 }

  subscript(position: Int) -> Element {
    precondition(position >= 0 && position < count, "the list has no element at this position")
    return root[position]
  }

  /// The first position whose element is not before a place, or the list's count.
  ///
  /// The condition must hold for the first elements of the list, those before the place, and for
  /// no other. It is asked about log₂ *n* times.
  func position(where isBefore: (Element) throws -> Bool) rethrows -> Int {
    try root.position(where: isBefore)
  }

  /// The sum of the weights before a position, which may be the end.
  func sum(before position: Int) -> Int {
    precondition(position >= 0 && position <= count, "the list has no such position")
    return root.sum(before: position)
  }
}

extension WeightedList: Sendable where Weight.Element: Sendable {}

/// A list whose nodes know counts alone.
typealias ChunkedList<Element> = WeightedList<Unweighted<Element>>

/// Gives the elements of a list the weights that its nodes add up.
protocol ElementWeight: SendableMetatype {
  associatedtype Element
  static func of(_ element: Element) -> Int
  static func sum(_ elements: ArraySlice<Element>) -> Int
}

/// No weight.
enum Unweighted<Element>: ElementWeight {
  @inline(__always)
  static func of(_ element: Element) -> Int { 0 }
  @inline(__always)
  static func sum(_ elements: ArraySlice<Element>) -> Int { 0 }
}

extension WeightedList {
  mutating func insert(_ element: Element, at position: Int) {
    precondition(position >= 0 && position <= count, "an element lies after one that is not there")
    if let right = root.insert(element, at: position) { root = Node(branches: [root, right]) }
  }

  @discardableResult
  mutating func remove(at position: Int) -> Element {
    precondition(position >= 0 && position < count, "the list has no element at this position")
    let element = root.remove(at: position)
    if root.children.count == 1 { root = root.children[0] }
    return element
  }

  /// Puts an element in the place of another, and returns the other.
  @discardableResult
  mutating func replace(at position: Int, with element: Element) -> Element {
    update(at: position) { stored in
      defer { stored = element }
      return stored
    }
  }

  /// Changes an element in its place, without a copy of it.
  mutating func update<Result>(
    at position: Int, _ change: (inout Element) throws -> Result
  ) rethrows -> Result {
    precondition(position >= 0 && position < count, "the list has no element at this position")
    return try root.update(at: position, change)
  }

  /// Traps if an invariant does not hold; for debug builds, in O(*n*).
  func checkInvariants() { assert(root.isSound(isRoot: true), "the chunks of a list are damaged") }
}
