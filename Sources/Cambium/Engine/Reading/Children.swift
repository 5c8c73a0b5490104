import LMDB

/// The children of a node, in key order: a description that reads nothing until it is walked.
///
///     var newest = snapshot["flights"].children.reversed().limit(10).makeCursor()
///     while let flight = try newest.next() { print(flight.path) }
public struct Children: Walk, Refinable {
  let node: Node
  private var first: Key?
  private var most = Int.max
  private var isReversed = false

  init(node: Node) { self.node = node }

  /// Starts at a key, which need not exist: at or after it, or at or before it when reversed. The
  /// key is part of the walk, so skip it to continue after the last one seen.
  public func from(_ key: Key) -> Children {
    changed { $0.first = key }
  }

  /// Limits the number of children; less than zero counts as zero.
  public func limit(_ count: Int) -> Children {
    changed { $0.most = max(count, 0) }
  }

  /// Walks from the last key to the first; reversing twice is forward again.
  public func reversed() -> Children {
    changed { $0.isReversed.toggle() }
  }

  /// Starts a walk.
  ///
  /// - Returns: The walk, which holds the snapshot.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(log n), then O(1) a child at present; in the past two or more lookups a
  ///   child. Memory does not depend on the number of children.
  public func makeCursor() throws -> ChildCursor {
    try ChildCursor(node, from: first, most: most, isReversed: isReversed)
  }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (Node) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<Node> {
    WalkBatches(node.snapshot.readingDirectory, of: makeCursor)
  }

  /// Visits each child's key and one property, without making nodes: the quickest scan.
  ///
  /// - Parameters:
  ///   - property: The property's name.
  ///   - body: Takes the value, or nil for a child without that property.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  public func forEach(_ property: String, _ body: (Value?) throws -> Void) throws {
    let name = try node.snapshot.nameID(property)
    var left = most
    // Mostly each record has the property at the same place.
    var place = 0
    if left == 0 { return }
    var steps = try ChildSteps(node.snapshot, node.nodeID(), from: first, isReversed: isReversed)
    try steps.forEachRecord { record in
      var value: Value?
      if let name, record.byteCount > 0 {
        if let range = try RecordTable.likelyRange(record, of: name, at: place) {
          value = try Value(record.extracting(range))
        } else {
          let table = try RecordTable(record)
          if let index = try table.index(record, of: name) {
            value = try Value(record.extracting(table.value(record, index)))
            place = index
          }
        }
      }
      try body(value)
      left -= 1
      return left > 0
    }
  }
}

extension Children {
  /// Counts the children of a past moment, where each must be looked at, as far as that is quick.
  ///
  /// - Parameters:
  ///   - most: The number of children at which counting ends.
  ///   - placesMax: The number of places to look at. A place may have got its node later.
  /// - Returns: The number that was found, and true if there are no more.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  package func count(
    upTo most: Int, lookingAt placesMax: Int
  ) throws -> (count: Int, isWhole: Bool) {
    guard let id = try node.nodeID() else { return (0, true) }
    var walk = try node.snapshot.walk(id)
    walk.placesLeft = placesMax
    var count = 0
    while count < most {
      guard try walk.next({ _, _, _ in true }) != nil else { return (count, walk.placesLeft > 0) }
      count += 1
    }
    return (count, false)
  }
}

/// A walk over children, on one thread. It holds its snapshot.
public struct ChildCursor: ~Copyable, WalkCursor {
  private let parent: Node
  private let snapshot: Snapshot
  private let base: NodePath
  private var left: Int
  private var steps: ChildSteps

  init(_ node: Node, from: Key?, most: Int, isReversed: Bool) throws {
    let id = try node.nodeID()
    let steps = try ChildSteps(node.snapshot, id, from: from, isReversed: isReversed)
    self.steps = steps
    snapshot = node.snapshot
    parent = node
    base = node.path
    left = most
  }

  /// The next child, or nil after the last.
  ///
  /// - Returns: A node that holds the version that the walk has found, without another lookup.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public mutating func next() throws -> Node? {
    guard left > 0 else { return nil }
    left -= 1
    let (snapshot, base) = (snapshot, base)
    return try steps.next { key, header, version in
      Node(
        snapshot, base: base, key: try Key(key.extracting(droppingFirst: 8)),
        version: snapshot.isLive ? nil : StoredVersion(version, header))
    }
  }

  /// Lends the next child's stored key and version.
  mutating func nextVersion<R>(
    _ body: (_ key: RawSpan, _ header: NodeHeader, _ version: RawSpan) throws -> R
  ) throws -> R? {
    guard left > 0 else { return nil }
    left -= 1
    return try steps.next { key, header, version in
      try body(key.extracting(droppingFirst: 8), header, version)
    }
  }

}

/// Steps through the children of a node id: by one walk over a snapshot; in an open transaction by
/// a search for each step, since the body may have written, or opened a savepoint, in between.
struct ChildSteps: ~Copyable {
  private let snapshot: Snapshot
  private let node: UInt64?
  private let isReversed: Bool
  private var walk: ChildWalk?
  /// In an open transaction: the key to search for, with a flag that is true if it was visited.
  private var place: (key: Key?, isVisited: Bool)

  init(_ snapshot: Snapshot, _ node: UInt64?, from: Key? = nil, isReversed: Bool = false) throws {
    var walk: ChildWalk?
    if let node, !snapshot.isLive {
      walk = try snapshot.walk(node, from: from, isReversed: isReversed)
    }
    self.walk = walk
    self.snapshot = snapshot
    self.node = node
    self.isReversed = isReversed
    place = (from, false)
  }

  /// Visits the next child; arguments as in ``ChildWalk/next(_:)``.
  @inline(__always)
  mutating func next<R>(
    _ body: (_ key: RawSpan, _ header: NodeHeader, _ version: RawSpan) throws -> R
  ) throws -> R? {
    if snapshot.isLive { return try nextLive(body) }
    return try walk?.next(body)
  }

  /// Visits the records of the children from here on, until `body` returns false. Of a child that
  /// is no record, it takes an empty one.
  mutating func forEachRecord(_ body: (_ record: RawSpan) throws -> Bool) throws {
    if !snapshot.isLive && snapshot.moment == nil {
      try walk?.forEachBatch { batch in
        for index in 0..<batch.count {
          let goesOn = try batch.lend(index) { try body($1) }
          if !goesOn { return false }
        }
        return true
      }
      return
    }
    func visit(_ key: RawSpan, _ header: NodeHeader, _ version: RawSpan) throws -> Bool {
      let start = header.kind == .record ? header.contentOffset : version.byteCount
      return try body(version.extracting(droppingFirst: start))
    }
    if snapshot.isLive {
      while try nextLive(visit) ?? false {}
    } else {
      try walk?.forEach(visit)
    }
  }

  private mutating func nextLive<R>(
    _ body: (RawSpan, NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    _ = try snapshot.reader  // the transaction must be open
    guard let node else { return nil }
    let last = place
    var walk = try snapshot.walk(node, from: last.key, isReversed: isReversed)
    while true {
      var found: Key?
      let result = try walk.next { key, header, version -> R? in
        let child = try Key(key.extracting(droppingFirst: 8))
        if last.isVisited && child == last.key { return nil }
        found = child
        return try body(key, header, version)
      }
      guard let result else { return nil }
      if let found { place = (found, true) }
      if let result { return result }
    }
  }
}
