/// Runs through a list leaf by leaf, so that no position has to be found.
extension WeightedList: Sequence {
  struct Iterator: IteratorProtocol {
    private var leaf: [Element] = []
    private var position = 0
    /// The nodes that are still to come, on each level of the tree; the lowest level is last.
    private var rest: [ArraySlice<Node>] = []

    fileprivate init(_ root: Node) { descend(into: root) }

    mutating func next() -> Element? {
      while true {
        if position < leaf.count {
          defer { position += 1 }
          return leaf[position]
        }
        guard let node = nextNode() else { return nil }
        descend(into: node)
      }
    }

    private mutating func nextNode() -> Node? {
      while !rest.isEmpty {
        if let node = rest[rest.count - 1].popFirst() { return node }
        rest.removeLast()
      }
      return nil
    }

    private mutating func descend(into node: Node) {
      var node = node
      while let first = node.children.first {
        rest.append(node.children.dropFirst())
        node = first
      }
      (leaf, position) = (node.elements, 0)
    }
  }

  func makeIterator() -> Iterator { Iterator(root) }

  var underestimatedCount: Int { count }
}

extension WeightedList.Iterator: Sendable where Weight.Element: Sendable {}
