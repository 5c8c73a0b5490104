/// The change of one node: the tree yields one for each that it writes. Every fold takes it, and
/// every observer where a record, or a whole subtree, was there or is.
///
///     path  users/ada     key  ada     old  {"name": "Ada"}     new  {"name": "Ada L."}
///
/// Its bytes are lent by the tree, which needs them itself until the change is made: they are
/// shared, never copied.
struct RecordChange {
  /// The node.
  let path: NodePath
  /// The collection that the node belongs to, if one is declared.
  let collection: CollectionPlan?
  /// The tree's key: the parent's node id, then the node's own key in its stored form.
  let treeKey: [UInt8]
  /// The version before, and the offset of its content; nil if there was no node.
  ///
  /// Not its whole header: a struct of more than fifteen words is copied wherever it is passed on.
  let old: (kind: ContentKind, offset: Int, version: [UInt8])?
  /// The content from now on; nil if there is no node.
  let content: Content?
  /// True if everything below the node arrives or leaves with it.
  let isSubtree: Bool

  /// True if there was or is a record, or everything below the node arrives or leaves.
  var concernsRecords: Bool {
    isSubtree || old?.kind == .record || content?.kind == .record
  }

  /// Lends the record's key, the record before the change, and the one after it; nil if there is
  /// none.
  @inline(__always)
  func lend<R>(
    _ body: (_ key: RawSpan, _ old: RawSpan?, _ new: RawSpan?) throws -> R
  ) rethrows -> R {
    try treeKey.lend { treeKey in
      let key = treeKey.extracting(droppingFirst: 8)
      guard let old, old.kind == .record else { return try lendNew(key, nil, body) }
      return try old.version.lend {
        try lendNew(key, $0.extracting(droppingFirst: old.offset), body)
      }
    }
  }

  @inline(__always)
  private func lendNew<R>(
    _ key: RawSpan, _ old: RawSpan?,
    _ body: (_ key: RawSpan, _ old: RawSpan?, _ new: RawSpan?) throws -> R
  ) rethrows -> R {
    guard let content, content.kind == .record else { return try body(key, old, nil) }
    return try content.bytes.lend { try body(key, old, $0) }
  }
}

/// The changes of one committed transaction, in the order in which they were made.
///
/// A node that was changed twice occurs twice, the second time with the first change as `old`.
struct CommittedChanges: Sendable {
  let sequence: SequenceNumber
  let changes: [RecordChange]
  /// True if it has declared a collection, or taken a declaration back.
  let declares: Bool
  /// The number of names that were defined by its end.
  let names: Int
}
