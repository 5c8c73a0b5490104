// The code of an app that has a say in changes of records: the hooks and the rules of models, which
// the layer of models registers. It is asked where changes arise, in a transaction's body,
// whichever call makes them; see HookCalls.swift. Records that are folded in from the log are
// not asked about: that was done where they were written.

/// A change of one record that an app's code is asked about.
struct GuardedChange {
  let path: Path
  /// The key that it had before, where that is another.
  var oldKey: [UInt8]?
  /// The stored record before; nil where there was none.
  var old: [UInt8]?
  /// The stored record after; nil where it goes.
  var new: [UInt8]?
  /// Where in the model the change lies, where that is known.
  var place: Range<Int>?
}

/// A record that cannot be read as the type that it is to be.
struct UnreadableRecord: Error { let cause: any Error }

/// The hooks and rules of one collection's records.
struct RecordGuard: Sendable {
  /// Identifies the type whose code it is.
  let owner: ObjectIdentifier
  /// True if it is asked about records that go.
  let isAskedOfDeletions: Bool
  /// Asks about a change.
  ///
  /// - Returns: The updates that the code makes in turn, beyond the change itself.
  let ask: @Sendable (GuardedChange, borrowing Transaction) throws -> [Operation.PropertyUpdate]
}

/// The guards of a database's collections.
struct RecordGuards: Sendable {
  private var all: [(collection: Path, guardian: RecordGuard)] = []

  var isEmpty: Bool { all.isEmpty }

  /// True if any of them is asked about records that go.
  private(set) var haveDeletions = false

  /// Adds a collection's guard. Of two, as tests and migrations have them, the later one counts.
  mutating func add(_ guardian: RecordGuard, of collection: Path) {
    if all.contains(where: { $0.guardian.owner == guardian.owner }) { return }
    all.removeAll { $0.collection == collection }
    all.append((collection, guardian))
    haveDeletions = all.contains(where: \.guardian.isAskedOfDeletions)
  }

  /// The guard of the collection that a node belongs to.
  subscript(of path: Path) -> RecordGuard? {
    if all.isEmpty { return nil }
    let count = path.parentCount
    for (collection, guardian) in all where collection.bytes.count == count {
      if path.bytes.starts(with: collection.bytes) { return guardian }
    }
    return nil
  }

  /// The guarded collections that lie at a path or below it.
  func collections(within path: Path) -> [(path: Path, guardian: RecordGuard)] {
    all.filter { $0.collection.isWithin(path) }.map { ($0.collection, $0.guardian) }
  }

  /// True if any guard has to be asked about an operation.
  func concern(_ operation: Operation) -> Bool {
    switch operation {
    case .set(let path, _), .update(let path, _), .change(let path, _, _):
      self[of: path] != nil
    // Records that refer to those that go may be guarded as well.
    case .remove, .move, .restore: !isEmpty
    case .define, .event, .declare: false
    }
  }
}
