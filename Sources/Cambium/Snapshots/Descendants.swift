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
///
/// What it keeps per level does not grow with the depth: the path is kept once, for the lowest.
public struct DescendantCursor: ~Copyable {
  /// One level of the way down: steps in a box, since an array cannot hold what cannot be copied.
  private final class Level {
    var children: ChildSteps
    /// How long the path of the level's parent is.
    let pathCount: Int

    init(_ children: consuming ChildSteps, pathCount: Int) {
      self.children = children
      self.pathCount = pathCount
    }
  }

  private let snapshot: Snapshot
  private var start: Node?
  private var levels: [Level] = []
  /// The path of the lowest level's parent.
  private var base: Path
  /// The node that was visited last, whose children come next.
  private var current: Node?

  init(_ node: Node, includingSelf: Bool) throws {
    let isStart = includingSelf && !node.path.isRoot
    // Asked here, so that an error comes when the walk begins.
    let exists = try isStart ? node.exists : node.nodeID() != nil
    start = isStart && exists ? node : nil
    current = isStart ? nil : node
    snapshot = node.snapshot
    base = node.path
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
    if let node = current { try descend(into: node) }
    current = nil
    while let level = levels.last {
      if let child = try step(level) {
        current = child
        return child
      }
      levels.removeLast()
      if let upper = levels.last { base = Path(bytes: Array(base.bytes[..<upper.pathCount])) }
    }
    return nil
  }

  private mutating func descend(into node: Node) throws {
    guard let id = try node.nodeID() else { return }
    base = node.path
    levels.append(Level(try ChildSteps(snapshot, id), pathCount: base.bytes.count))
  }

  private func step(_ level: Level) throws -> Node? {
    let (snapshot, base) = (snapshot, base)
    return try level.children.next { key, header, version in
      Node(
        snapshot, base: base, key: try Key(key.extracting(droppingFirst: 8)),
        version: snapshot.isLive ? nil : StoredVersion(version, header))
    }
  }
}
