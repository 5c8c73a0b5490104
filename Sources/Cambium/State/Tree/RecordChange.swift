/// The change of one record: what the tree yields for each node that it writes, and what every fold
/// and every observer takes.
///
///     path  users/ada     key  ada     old  {"name": "Ada"}     new  {"name": "Ada L."}
///
/// Its bytes are lent by the tree, which needs them itself until the change is made: they are
/// shared, never copied.
struct RecordChange {
  /// The node.
  let path: Path
  /// The collection that the node belongs to, where one is declared.
  let collection: CollectionPlan?
  /// The tree's key: the parent's node id, then the node's own key in its stored form.
  let treeKey: [UInt8]
  /// The version that was there, and where its content begins; nil where there was no node.
  ///
  /// Not its whole header: a struct of more than fifteen words is copied wherever it is handed on.
  let old: (kind: ContentKind, offset: Int, version: [UInt8])?
  /// The content from now on; nil where there is no node.
  let content: Content?
  /// True if all that is below the node comes or goes with it.
  let isSubtree: Bool

  /// True if there was or is a record, or all that is below the node comes or goes.
  var concernsRecords: Bool {
    isSubtree || old?.kind == .record || content?.kind == .record
  }

  /// Lends the record's key, the record that was there, and the one that is there from now on; nil
  /// where there is none.
  @inline(__always)
  func lend<R>(
    _ body: (_ key: RawSpan, _ old: RawSpan?, _ new: RawSpan?) throws -> R
  ) rethrows -> R {
    let isRecord = (old: old?.kind == .record, new: content?.kind == .record)
    let (version, bytes) = (old?.version ?? [], content?.bytes ?? [])
    let offset = old?.offset ?? 0
    return try treeKey.lend { treeKey in
      try version.lend { version in
        try bytes.lend { new in
          try body(
            treeKey.extracting(droppingFirst: 8),
            isRecord.old ? version.extracting(droppingFirst: offset) : nil,
            isRecord.new ? new : nil)
        }
      }
    }
  }
}

/// The changes of one committed transaction, in the order in which they were made.
///
/// A node that was changed twice comes twice, the second time from what the first change has left.
struct CommittedChanges: Sendable {
  let sequence: SequenceNumber
  let changes: [RecordChange]
}
