// Walking a subtree in path order.

extension Node {
  /// Walks the node and all below it, in path order.
  ///
  /// - Parameter includingSelf: True to begin with the node itself, if it exists. The root, which
  ///   has no value, is never included.
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
/// The memory that it takes per level does not grow with the depth: the path is stored once, for
/// the lowest level, and changed in place unless a node that was visited before is still held.
public struct DescendantCursor: ~Copyable, WalkCursor {
  /// One level of the descent: a class, since an array cannot hold noncopyable steps.
  private final class Level {
    var children: ChildSteps
    /// The length of the path of the level's parent.
    let pathCount: Int

    init(_ children: consuming ChildSteps, pathCount: Int) {
      self.children = children
      self.pathCount = pathCount
    }
  }

  /// The node whose children come next.
  private enum Parent {
    case start
    /// A child of the lowest level, with the node id that its children's keys begin with; 0 if it
    /// never had any. In an open transaction the id is looked up again.
    case child(Key, UInt64)
  }

  private let snapshot: Snapshot
  private let start: Node
  /// True if the start itself is to be visited.
  private var includesStart: Bool
  private var levels: [Level] = []
  /// The path of the lowest level's parent.
  private var base: NodePath
  private var parent: Parent?

  init(_ node: Node, includingSelf: Bool) throws {
    let isStart = includingSelf && !node.path.isRoot
    // Checked here, so that an error is thrown when the walk begins.
    let exists = try isStart ? node.exists : node.nodeID() != nil
    includesStart = isStart && exists
    parent = isStart ? nil : .start
    start = node
    snapshot = node.snapshot
    base = node.path
  }

  /// The next node, or nil after the last.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public mutating func next() throws -> Node? {
    if includesStart {
      includesStart = false
      parent = .start
      return start
    }
    if let parent { try descend(into: parent) }
    parent = nil
    while let level = levels.last {
      if let child = try step(level) { return child }
      levels.removeLast()
      if let upper = levels.last { cutBase(to: upper.pathCount) }
    }
    return nil
  }

  private mutating func descend(into parent: Parent) throws {
    guard case .child(let key, let node) = parent else {
      return try descend(into: try start.nodeID())
    }
    if !snapshot.isLive && node == 0 { return }
    let count = base.bytes.count
    base.withBytes { key.appendTerminated(to: &$0) }
    let id = snapshot.isLive ? try snapshot.node(at: base) : node
    if id == nil { cutBase(to: count) }
    try descend(into: id)
  }

  private mutating func descend(into id: UInt64?) throws {
    guard let id else { return }
    levels.append(Level(try ChildSteps(snapshot, id), pathCount: base.bytes.count))
  }

  private mutating func cutBase(to count: Int) {
    base.withBytes { $0.removeLast($0.count - count) }
  }

  private mutating func step(_ level: Level) throws -> Node? {
    let (snapshot, base) = (snapshot, base)
    let found = try level.children.next { key, header, version in
      let key = try Key(key.extracting(droppingFirst: 8))
      let version = snapshot.isLive ? nil : StoredVersion(version, header)
      return (
        Node(snapshot, base: base, key: key, version: version), Parent.child(key, header.node)
      )
    }
    parent = found?.1
    return found?.0
  }
}
