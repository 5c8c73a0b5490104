// From a path to a place in the tree: one lookup for each level, none for the levels that the
// previous operation has resolved.

extension Tree where Host: ~Copyable {
  /// Goes to the place of a path.
  ///
  /// - Parameters:
  ///   - path: The path of a node, existing or not; not the root.
  ///   - creating: True to create missing ancestors.
  ///   - host: The tree's storage.
  /// - Returns: The parent's node id, or nil if an ancestor is missing.
  /// - Throws: ``DatabaseError/exists(_:reason:)`` if the path leads through a property.
  @discardableResult
  mutating func locate(_ path: NodePath, creating: Bool, _ host: inout Host) throws -> UInt64? {
    let bytes = path.bytes
    guard !bytes.isEmpty else {
      throw DatabaseError.badValue(
        .root, reason: "the root holds no value of its own; choose a child")
    }
    var start = 0
    var end = Key.end(terminatedIn: bytes, at: 0)
    var parent = StateHead.root
    if let known = memory.parent, known.path.isProperPrefix(of: bytes) {
      start = known.path.count
      end = Key.end(terminatedIn: bytes, at: start)
      parent = known.node
    }
    // Only the deepest of the levels passed is remembered, however many there are.
    var plain: (count: Int, node: UInt64)?
    defer { if let plain { memory.parent = (Array(bytes[..<plain.count]), plain.node) } }
    while end < bytes.count {
      place.aim(parent, bytes, start, end)
      let next = Key.end(terminatedIn: bytes, at: end)
      guard
        let node = try descend(
          bytes, next: end..<next, parentCount: start, creating: creating, &host)
      else { return nil }
      (start, end, parent) = (end, next, node.id)
      if node.isPlain { plain = (start, parent) }
    }
    place.aim(parent, bytes, start, end)
    return parent
  }

  /// True if the previous operation has resolved the parent of a path, which is no record then.
  func isLastParent(of path: NodePath) -> Bool {
    guard let known = memory.parent, known.path.count == path.parentCount else { return false }
    return known.path.isProperPrefix(of: path.bytes)
  }

  /// The node id of the node at the place; if required, an id is assigned, or the node created.
  private mutating func descend(
    _ path: [UInt8], next: Range<Int>, parentCount: Int, creating: Bool, _ host: inout Host
  ) throws -> (id: UInt64, isPlain: Bool)? {
    guard let header = try place.load(host) else {
      guard creating else { return nil }
      try host.willMakeParent(place.key, of: path[..<parentCount])
      return (try makeParent(&host), true)
    }
    if header.kind == .record { try place.checkNoProperty(header, path, next, host) }
    if header.node != 0 { return (header.node, header.kind != .record) }
    guard creating else { return nil }
    var changed = header
    changed.node = takeNode()
    try write(changed, content: place.content(header), linking: try place.links(header), host)
    return (changed.node, header.kind != .record)
  }

  private mutating func takeNode() -> UInt64 {
    defer { memory.nextNode += 1 }
    return memory.nextNode
  }

  /// Makes a node without content at the place.
  private mutating func makeParent(_ host: inout Host) throws -> UInt64 {
    let node = takeNode()
    count(+1)
    try write(NodeHeader(kind: .none, modified: memory.sequence, node: node), content: [], host)
    return node
  }
}

// MARK: Child counts

extension Tree where Host: ~Copyable {
  /// Counts a child of the place's parent.
  mutating func count(_ change: Int64) { memory.counts.add(change, to: place.parent) }

  /// The number of children of a node, including changes that are not stored yet.
  func childCount(_ node: UInt64, _ host: borrowing Host) throws -> Int {
    try host.childCount(node) + Int(memory.counts[node])
  }

  /// Stores the changes of child counts.
  mutating func flushCounts(_ host: inout Host) throws {
    try memory.counts.take { node, change in
      try host.putChildCount(Int64(host.childCount(node)) + change, of: node)
    }
  }
}
