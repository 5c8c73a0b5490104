/// A node of a list's tree: a leaf with elements, or a branch with nodes.
///
/// A value: the arrays of a node are shared between copies of a list until one of them changes.
extension WeightedList {
  struct Node {
    private(set) var count = 0
    /// The weights of all elements.
    private(set) var sum = 0
    private(set) var elements: [Element] = []
    private(set) var children: [Node] = []
  }
}

extension WeightedList.Node: Sendable where Weight.Element: Sendable {}

extension WeightedList.Node {
  typealias Element = Weight.Element

  private static var elementsMax: Int { 128 }
  private static var childrenMax: Int { 64 }

  /// A tree whose nodes are three quarters full.
  init(_ elements: [Element]) {
    var level = Self.parts(of: elements, max: Self.elementsMax).map(Self.init(leaf:))
    while level.count > 1 {
      level = Self.parts(of: level, max: Self.childrenMax).map(Self.init(branches:))
    }
    self = level.first ?? Self()
  }

  init(branches: some Collection<Self>) {
    children = Array(branches)
    for child in children { (count, sum) = (count + child.count, sum + child.sum) }
  }

  private init(leaf: some Collection<Element>) {
    elements = Array(leaf)
    (count, sum) = (elements.count, Weight.sum(elements[...]))
  }

  private static func parts<Item>(of items: [Item], max: Int) -> [ArraySlice<Item>] {
    let full = max * 3 / 4
    let parts = (items.count + full - 1) / full
    return (0..<parts).map { items[items.count * $0 / parts..<items.count * ($0 + 1) / parts] }
  }

  private var isLeaf: Bool { children.isEmpty }

  private var isOverfull: Bool {
    elements.count > Self.elementsMax || children.count > Self.childrenMax
  }

  private var isSparse: Bool {
    isLeaf ? elements.count < Self.elementsMax / 4 : children.count < Self.childrenMax / 4
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
}

// Reading.
extension WeightedList.Node {
  subscript(position: Int) -> Element {
    if isLeaf { return elements[position] }
    let (index, rest) = child(with: position)
    return children[index][rest]
  }

  func position(where isBefore: (Element) throws -> Bool) rethrows -> Int {
    if isLeaf { return try elements.partitionPoint(where: isBefore) }
    // The last child is taken even if all its elements are before the place.
    let index = try children.dropLast().partitionPoint { try isBefore($0.last) }
    let before = children[..<index].reduce(0) { $0 + $1.count }
    return before + (try children[index].position(where: isBefore))
  }

  func sum(before position: Int) -> Int {
    if position == count { return sum }
    if isLeaf { return Weight.sum(elements[..<position]) }
    let (index, rest) = child(with: position)
    return children[..<index].reduce(0) { $0 + $1.sum } + children[index].sum(before: rest)
  }

  private var last: Element {
    isLeaf ? elements[elements.count - 1] : children[children.count - 1].last
  }

  func isSound(isRoot: Bool = false) -> Bool {
    if isOverfull || isSparse && !isRoot { return false }
    if isLeaf { return count == elements.count && sum == Weight.sum(elements[...]) }
    return elements.isEmpty && children.count > 1 && Set(children.map { $0.depth }).count == 1
      && count == children.reduce(0) { $0 + $1.count }
      && sum == children.reduce(0) { $0 + $1.sum } && children.allSatisfy { $0.isSound() }
  }

  private var depth: Int { isLeaf ? 0 : 1 + children[0].depth }
}

// Changing.
extension WeightedList.Node {
  /// Inserts an element; returns the right half if the node had to be split.
  mutating func insert(_ element: Element, at position: Int) -> Self? {
    (count, sum) = (count + 1, sum + Weight.of(element))
    if isLeaf {
      elements.insert(element, at: position)
    } else {
      // At the end of the list there is no child with the position, but one before it.
      let (index, rest) = child(with: Swift.max(position - 1, 0))
      let place = position == 0 ? 0 : rest + 1
      guard let right = children[index].insert(element, at: place) else { return nil }
      children.insert(right, at: index + 1)
    }
    return isOverfull ? splitOff() : nil
  }

  mutating func remove(at position: Int) -> Element {
    count -= 1
    let element: Element
    if isLeaf {
      element = elements.remove(at: position)
    } else {
      let (index, rest) = child(with: position)
      element = children[index].remove(at: rest)
      if children[index].isSparse { merge(Swift.max(index - 1, 0)) }
    }
    sum -= Weight.of(element)
    return element
  }

  mutating func update<Result>(
    at position: Int, _ change: (inout Element) throws -> Result
  ) rethrows -> Result {
    if isLeaf {
      let before = Weight.of(elements[position])
      defer { sum += Weight.of(elements[position]) - before }
      return try change(&elements[position])
    }
    let (index, rest) = child(with: position)
    let before = children[index].sum
    defer { sum += children[index].sum - before }
    return try children[index].update(at: rest, change)
  }

  /// Takes the right half out of the node.
  private mutating func splitOff() -> Self {
    let whole = self
    let (half, middle) = (elements.count / 2, children.count / 2)
    self = isLeaf ? Self(leaf: elements[..<half]) : Self(branches: children[..<middle])
    return isLeaf ? Self(leaf: whole.elements[half...]) : Self(branches: whole.children[middle...])
  }

  /// Joins a child and the next one, and splits both evenly if that is too much for one.
  private mutating func merge(_ index: Int) {
    let right = children.remove(at: index + 1)
    children[index].elements += right.elements
    children[index].children += right.children
    children[index].count += right.count
    children[index].sum += right.sum
    guard children[index].isOverfull else { return }
    children.insert(children[index].splitOff(), at: index + 1)
  }
}
