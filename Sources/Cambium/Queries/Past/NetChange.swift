// Net changes: the steps of a live query see each record once, as it was and as it is now,
// whatever happened to it in between.
//
//     commits   a → b     b → c     c → a        (nothing)
//               a → b     b → gone               a → gone

/// The change of one record between two moments. It was there at one of them, and differs.
///
/// In a mailbox it goes from before the first to after the last change that a guard let through, so
/// that the record may be another by now.
struct NetChange: Sendable, Equatable {
  /// The path of the record's parent.
  let collection: NodePath
  /// The record's key in its stored form.
  let key: [UInt8]
  /// The record before; nil if it was not there.
  let old: StoredRecord?
  /// The record after; nil if it is not there any more.
  let new: StoredRecord?

  /// The bytes that are kept for it.
  var byteCount: Int { key.count + (old?.bytes.count ?? 0) + (new?.bytes.count ?? 0) }

  /// The record's place, by which its changes are found.
  private struct Place: Hashable {
    let collection: NodePath
    let key: [UInt8]
  }

  private var place: Place { Place(collection: collection, key: key) }

  /// One change for each record, in the order of the first: the first state before, the last one
  /// after. Records that are the same in the end are left out.
  ///
  /// - Complexity: O(*n*) for *n* changes, and the comparison of their bytes.
  static func folded(_ changes: [NetChange]) -> [NetChange] {
    if changes.count < 2 { return changes.first.map { $0.old == $0.new } ?? true ? [] : changes }
    var indexes: [Place: Int] = [:]
    var folded: [NetChange] = []
    for change in changes {
      if let index = indexes[change.place] {
        folded[index] = folded[index].followed(by: change)
      } else {
        indexes[change.place] = folded.count
        folded.append(change)
      }
    }
    return folded.filter { $0.old != $0.new }
  }

  private func followed(by next: NetChange) -> NetChange {
    NetChange(collection: collection, key: key, old: old, new: next.new)
  }
}

extension NetChange {
  /// A change as the tree has yielded it.
  init(_ change: RecordChange, in collection: NodePath) {
    self.collection = collection
    key = Array(change.treeKey.dropFirst(8))
    old = change.old.flatMap { old in
      old.kind == .record ? StoredRecord(bytes: old.version, offset: old.offset) : nil
    }
    new = change.content.flatMap { $0.kind == .record ? StoredRecord(bytes: $0.bytes) : nil }
  }
}
