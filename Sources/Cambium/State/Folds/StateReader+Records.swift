// The present records of a collection, read by the plans that are resolved for it.

import LMDB

extension StateReader {
  /// The node id of the node at a path, or nil if there is no node or it never had children.
  func node(at path: NodePath, asOf moment: UInt64? = nil) throws -> UInt64? {
    var (node, offset) = (StateHead.root, 0)
    var treeKey: [UInt8] = []
    while offset < path.bytes.count {
      // A path has its keys as the tree has them, but that it ends texts.
      let (tag, end) = (path.bytes[offset], Key.end(terminatedIn: path.bytes, at: offset))
      // No node has a key that is not valid.
      if tag == KeyTag.invalid { return nil }
      treeKey.removeAll(keepingCapacity: true)
      treeKey.append(bigEndian: node)
      treeKey += path.bytes[offset..<(tag == KeyTag.text ? end - 1 : end)]
      let next = try treeKey.lend { try version($0, asOf: moment) { header, _ in header.node } }
      guard let next, next != 0 else { return nil }
      (node, offset) = (next, end)
    }
    return node
  }

  /// Lends the version of the node at a path as of a moment, or at present; nil where there is
  /// none.
  func version<R>(
    of path: NodePath, asOf moment: UInt64? = nil, _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    try treeKey(of: path, asOf: moment)?.lend { try version($0, asOf: moment, body) }
  }

  /// The tree's key of a path, whether there is a node or not; nil if its parent has no children.
  func treeKey(of path: NodePath, asOf moment: UInt64? = nil) throws -> [UInt8]? {
    guard let key = path.last, let parent = path.parent,
      let node = try node(at: parent, asOf: moment)
    else { return nil }
    return key.lendTreeKey(parent: node) { $0.array() }
  }

  /// Lends each record below a path, in key order.
  func forEachRecord(
    of path: NodePath, _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    guard let node = try node(at: path) else { return }
    var walk = try ChildWalk(self, node: node, moment: nil)
    while try walk.next({ key, header, version in
      guard header.kind == .record else { return }
      try body(
        key.extracting(droppingFirst: 8), version.extracting(droppingFirst: header.contentOffset))
    }) != nil {}
  }

  /// Copies of the next records of a collection after a key, in key order.
  ///
  /// - Parameters:
  ///   - plan: The collection.
  ///   - last: The key; empty for the first records.
  ///   - most: The maximum number of children to read; fewer are read if records are large.
  /// - Returns: The records, and the key that was read last; nil after the end.
  /// - Throws: ``DatabaseError``.
  func records(
    of plan: CollectionPlan, behind last: [UInt8], atMost most: Int
  ) throws -> (records: [(key: [UInt8], record: [UInt8])], last: [UInt8]?) {
    guard let node = try node(at: plan.path) else { return ([], nil) }
    let from = last.isEmpty ? nil : try last.lend { try Key($0) }
    var walk = try ChildWalk(self, node: node, moment: nil, from: from)
    var (records, bytesCount, place) = ([(key: [UInt8], record: [UInt8])](), 0, last)
    for _ in 0...most where bytesCount < StateReader.copiedBytesMax {
      let visited: Void? = try walk.next { treeKey, header, version in
        let key = treeKey.extracting(droppingFirst: 8).array()
        if key == last { return }
        place = key
        guard header.kind == .record else { return }
        records.append((key, version.extracting(droppingFirst: header.contentOffset).array()))
        bytesCount += version.byteCount
      }
      if visited == nil { return (records, nil) }
    }
    return (records, place)
  }

  private static let copiedBytesMax = 16 << 10

  /// Lends one record.
  func withRecord<R>(
    _ key: [UInt8], of plan: CollectionPlan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    try withRecord(key, below: plan.path, body)
  }

  /// Lends one record.
  func withRecord<R>(
    _ key: [UInt8], below path: NodePath, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard let parent = try node(at: path) else { return nil }
    var treeKey = [UInt8](bigEndian: parent)
    treeKey += key
    return try treeKey.lend { treeKey in
      try access.get(tables.tree, treeKey) { version in
        let header = try NodeHeader(version, key: treeKey)
        guard header.kind == .record else { return nil }
        return try body(version.extracting(droppingFirst: header.contentOffset))
      } ?? nil
    }
  }

  /// The entries of a fold that result from the records of a collection, in order.
  ///
  /// - Parameters:
  ///   - fold: The fold.
  ///   - plan: Its collection.
  ///   - fence: The key after which entries are returned.
  ///   - seen: Called after each record; an error that it throws ends the sorting.
  /// - Returns: The entries.
  /// - Throws: ``DatabaseError``, and any error that `seen` throws.
  func entries(
    of fold: Fold, _ plan: CollectionPlan, behind fence: [UInt8] = [],
    _ seen: () throws -> Void = {}
  ) throws -> FoldEntries {
    var builder = FoldBuilder(fold, behind: fence)
    try forEachRecord(of: plan.path) { key, record in
      try seen()
      try builder.add(key, record, self)
    }
    return try builder.finish()
  }
}
