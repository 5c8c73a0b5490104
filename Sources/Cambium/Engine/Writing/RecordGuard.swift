// The code of an app that reviews changes of records: the hooks and the rules of models, which the
// layer of models registers. It is called where changes are made, in a transaction's body,
// whichever call makes them; see HookCalls.swift. It is not called about records that are folded in
// from the log: that was done when they were written.

/// A change of one record about which an app's code is called.
struct GuardedChange {
  let path: NodePath
  /// The record's previous key, if it was different.
  var oldKey: [UInt8]?
  /// The stored record before; nil if there was none.
  var old: [UInt8]?
  /// The stored record after; nil if it is removed.
  var new: [UInt8]?
  /// The place of the change in the model, if it is known.
  var place: Range<Int>?
}

/// A record that cannot be read as the type it should have.
struct UnreadableRecord: Error { let cause: any Error }

/// The hooks and rules of one collection's records.
struct RecordGuard: Sendable {
  /// The identity of the type whose code it is.
  let owner: ObjectIdentifier
  /// True if it is called about removed records.
  let isAskedOfDeletions: Bool
  /// Calls the code about a change.
  ///
  /// - Returns: The updates that the code makes in turn, beyond the change itself.
  let ask:
    @Sendable (GuardedChange, borrowing Database.Transaction) throws -> [Operation.PropertyUpdate]
}

/// The guards of a database's collections.
struct RecordGuards: Sendable {
  private var all: [(collection: NodePath, guardian: RecordGuard)] = []

  var isEmpty: Bool { all.isEmpty }

  /// True if any of them is called about removed records.
  private(set) var haveDeletions = false

  /// Adds a collection's guard. Of two, as in tests and migrations, the later one counts.
  mutating func add(_ guardian: RecordGuard, of collection: NodePath) {
    if all.contains(where: { $0.guardian.owner == guardian.owner }) { return }
    all.removeAll { $0.collection == collection }
    all.append((collection, guardian))
    haveDeletions = all.contains(where: \.guardian.isAskedOfDeletions)
  }

  /// The guard of the collection that a node belongs to.
  subscript(of path: NodePath) -> RecordGuard? {
    if all.isEmpty { return nil }
    let count = path.parentCount
    for (collection, guardian) in all where collection.bytes.count == count {
      if path.bytes.starts(with: collection.bytes) { return guardian }
    }
    return nil
  }

  /// The guarded collections at a path or below it.
  func collections(within path: NodePath) -> [(path: NodePath, guardian: RecordGuard)] {
    all.filter { $0.collection.isWithin(path) }.map { ($0.collection, $0.guardian) }
  }

  /// True if any guard must be called about an operation.
  func concern(_ operation: Operation) -> Bool {
    switch operation {
    case .set(let path, _), .update(let path, _), .change(let path, _, _):
      self[of: path] != nil
    // Records that refer to the removed ones may be guarded as well.
    case .remove, .move, .restore: !isEmpty
    case .define, .event, .declare: false
    }
  }
}
