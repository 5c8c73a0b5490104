// Walking a subtree in path order.

extension Node {
  /// Walks the node and all below it, in path order.
  ///
  /// - Parameter includingSelf: Whether the node itself comes first, if it exists. The root, which
  ///   has no value, never does.
  /// - Returns: The walk, which holds the snapshot.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: memory in proportion to the depth, not to the number of nodes.
  public func descendants(includingSelf: Bool = true) throws -> DescendantCursor {
    try DescendantCursor(self, includingSelf: includingSelf)
  }
}

/// A walk over a subtree in path order, on one thread: a node, then its children, each followed by
/// its own.
public struct DescendantCursor: ~Copyable {
  /// One level of the way down: a walk in a box, since an array cannot hold what cannot be copied.
  private final class Level {
    var children: ChildCursor

    init(_ node: Node) throws { children = try node.children.makeCursor() }
  }

  private var start: Node?
  private var levels: [Level] = []
  private var current: Node?

  init(_ node: Node, includingSelf: Bool) throws {
    if includingSelf && !node.path.isRoot {
      start = try node.exists ? node : nil
    } else {
      current = node
    }
  }

  /// The next node, or nil after the last.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public mutating func next() throws -> Node? {
    if let first = start {
      start = nil
      current = first
      return first
    }
    if let node = current, try node.nodeID() != nil { levels.append(try Level(node)) }
    current = nil
    while let level = levels.last {
      if let child = try level.children.next() {
        current = child
        return child
      }
      levels.removeLast()
    }
    return nil
  }
}
