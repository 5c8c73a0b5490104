/// The reason why the database could not do as asked, sorted by the caller's remedy.
///
/// A write that throws has stored nothing, except in the case ``outcomeUnknown(_:)``.
public enum DatabaseError: Error, Equatable, Sendable {
  // MARK: Errors in the request

  /// The text cannot be a key. Recovery: choose another key, or escape `/` and `~` in a path.
  case badKey(String, reason: String)

  /// The value cannot be stored there. Recovery: change the value; `reason` says what is allowed.
  case badValue(NodePath, reason: String)

  /// There is no node (or no array, or nothing to restore) at the path. Recovery: create it first.
  case notFound(NodePath, reason: String)

  /// Another node already has the place. Recovery: choose another path, or remove that node.
  case exists(NodePath, reason: String)

  /// Records break rules that are declared for their collection; all violations are listed.
  /// Recovery: correct the values.
  case invalid([Violation])

  /// Another record has the same values in a unique index. Recovery: choose other values, or change
  /// the record that has them.
  case notUnique(NodePath, index: [String], takenBy: NodePath)

  /// A record cannot be deleted or moved while others refer to it. Recovery: delete or change `by`
  /// first, and others like it.
  case stillReferred(NodePath, by: NodePath, property: String)

  /// A precondition did not hold, because another write came first. Recovery: read again and retry.
  case conflict(NodePath, expected: SequenceNumber, found: SequenceNumber)

  /// The data that an undo would restore has been changed since, in these places. Recovery: undo
  /// the later changes first, or choose a ``ConflictResolution`` that leaves or overwrites them.
  case undoConflict([UndoConflict])

  /// Both databases have changed these places since their common past, each in its own way.
  /// Recovery: change one side so that both agree, or choose a ``ConflictResolution``.
  case mergeConflict([MergeConflict])

  /// The call is not allowed here, such as `write` inside `write`. Recovery: see `reason`.
  case misuse(reason: String)

  /// The transaction's operations exceed the size limit. Recovery: split it.
  case transactionTooLarge(bytes: Int, limit: Int)

  // MARK: Not now

  /// Another writer held the database for longer than the timeout. Recovery: try again.
  case busy(reason: String)

  /// The writes of this process are stored, up to transaction `head`, and can be read only up to
  /// `applied`, because the state could not be written: the disk is full, or has failed.
  ///
  /// Recovery: free space or check the disk, then read again. The next write, the next read, and
  /// the engine by itself retry; no write needs to be repeated.
  case stateBehind(applied: SequenceNumber, head: SequenceNumber, reason: String)

  /// The directory is open in this process already. Recovery: share that ``Database``.
  case alreadyOpen(path: String)

  /// The moment is in the future, or before the first record. Recovery: choose one in range.
  case noSuchMoment(reason: String)

  /// Compaction has removed the records you asked for; `oldest` is the first one left.
  ///
  /// Recovery: read a snapshot, then observe from its sequence number.
  case compacted(oldest: SequenceNumber)

  // MARK: The directory

  /// There is no database at the path. Recovery: check the path, or allow creation.
  case noDatabase(path: String)

  /// The directory is not a database, or has a format that this version does not know, or is in use
  /// and cannot be shared. Recovery: open it with the version that wrote it; otherwise see
  /// `reason`.
  case unsupported(path: String, reason: String)

  /// The collection's records are of an older form than the model's; `steps` are the pending steps.
  ///
  /// Recovery: call `Database.migrate`, or open with `migrating`.
  case needsMigration(NodePath, steps: [String])

  /// The database is open for reading only. Recovery: open it for writing.
  case readOnly(reason: String)

  /// The disk, or the configured maximum, is full. A write has stored nothing then, and everything
  /// stored before is unharmed. Recovery: free space, retry.
  case full(reason: String)

  // MARK: Close and open again

  /// Stored bytes differ from those that were written. Recovery: `cambium verify` finds the place;
  /// restore a backup, or rebuild if only the state is damaged.
  case corrupt(reason: String)

  /// The operating system failed to read or write. Recovery: check the disk and try again. If the
  /// log failed, every further write throws until the database is opened again.
  case ioFailure(reason: String)

  /// The page that makes a commit valid could not be written: the transaction may or may not be
  /// stored. Recovery: close and open again; the head's sequence number shows which.
  case outcomeUnknown(SequenceNumber)

  /// The handle can no longer be used: it was closed, its process forked, or its files were
  /// replaced. Recovery: open again.
  case closed(reason: String)
}

extension DatabaseError {
  /// True if stored bytes are wrong.
  var isDamage: Bool { if case .corrupt = self { true } else { false } }

  /// An error as the reason in another one, without the words that the other begins with as well:
  /// damage that is found while damage is reported is named once.
  static func reason(of error: any Error) -> String {
    switch error {
    case DatabaseError.corrupt(let reason): reason
    default: "\(error)"
    }
  }
}
