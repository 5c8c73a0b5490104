/// Why the database could not do what was asked, sorted by what you can do about it.
///
/// A write that throws has stored nothing, except in the case ``outcomeUnknown(_:)``.
public enum DatabaseError: Error, Equatable, Sendable {
  // MARK: Errors in the request

  /// The key cannot be one. Recovery: choose another key, or escape `/` and `~` in a path.
  case badKey(String, reason: String)

  /// The value cannot be stored there. Recovery: change the value; `reason` says what is allowed.
  case badValue(Path, reason: String)

  /// There is no node (or no array, or nothing to restore) at the path. Recovery: create it first.
  case notFound(Path, reason: String)

  /// Something else already has the place. Recovery: choose another path, or remove what is there.
  case exists(Path, reason: String)

  /// Records break rules that are declared for their collection; all that is wrong with what was
  /// written. Recovery: correct the values.
  case invalid([Violation])

  /// Another record has the same values in a unique index. Recovery: choose other values, or change
  /// the record that has them.
  case notUnique(Path, index: [String], takenBy: Path)

  /// A record cannot go, or be moved, as long as others refer to it. Recovery: delete or change
  /// `by` first, and others like it.
  case stillReferred(Path, by: Path, property: String)

  /// A precondition did not hold: somebody wrote in between. Recovery: read again and retry.
  case conflict(Path, expected: SequenceNumber, found: SequenceNumber)

  /// The data that an undo would restore has been changed since, in these places. Recovery: undo
  /// the later changes first, or choose a ``ConflictResolution`` that leaves or overwrites them.
  case undoConflict([UndoConflict])

  /// The call is not allowed here, such as `write` inside `write`. Recovery: see `reason`.
  case misuse(reason: String)

  /// The transaction has more operations than one may. Recovery: split it.
  case transactionTooLarge(bytes: Int, limit: Int)

  // MARK: Not now

  /// Another writer held the database for longer than the timeout. Recovery: try again.
  case busy(reason: String)

  /// The writes of this process are stored, up to transaction `head`, and can be read only up to
  /// `applied`, because the state could not be written: the disk is full, or has failed.
  ///
  /// Recovery: free space or check the disk, then read again. The next write, the next read, and
  /// the engine by itself try again; nothing needs to be written a second time.
  case stateBehind(applied: SequenceNumber, head: SequenceNumber, reason: String)

  /// The directory is open in this process already. Recovery: share that ``Database``.
  case alreadyOpen(path: String)

  /// The moment lies in the future, or before the first record. Recovery: ask for one in range.
  case noSuchMoment(reason: String)

  /// Compaction has removed the records you asked for; `oldest` is the first one left.
  ///
  /// Recovery: read a snapshot, then observe from its sequence number.
  case compacted(oldest: SequenceNumber)

  // MARK: The directory

  /// There is no database at the path. Recovery: check the path, or allow creation.
  case noDatabase(path: String)

  /// The directory holds something else, or a format this version does not know, or is in use where
  /// it cannot be shared. Recovery: open it with the version that wrote it; otherwise see `reason`.
  case unsupported(path: String, reason: String)

  /// The collection's records are of an older form than the model's: what is still to be done.
  ///
  /// Recovery: call `Database.migrate`, or open with `migrating`.
  case needsMigration(Path, steps: [String])

  /// The database is open for reading only. Recovery: open it for writing.
  case readOnly(reason: String)

  /// The disk, or the configured maximum, is full. A write has stored nothing then, and what was
  /// stored before is unharmed. Recovery: free space, retry.
  case full(reason: String)

  // MARK: Close and open again

  /// Stored bytes are not what was written. Recovery: `cambium verify` says where; restore a
  /// backup, or rebuild if only the state is damaged.
  case corrupt(reason: String)

  /// The operating system failed to read or write. Recovery: check the disk and try again. Where it
  /// was the log that failed, every further write throws until the database is opened again.
  case ioFailure(reason: String)

  /// The page that makes a commit valid could not be written: the transaction may or may not be
  /// stored. Recovery: close and open again; the head's sequence number tells.
  case outcomeUnknown(SequenceNumber)

  /// The handle can no longer be used: it was closed, its process forked, or its files were
  /// replaced. Recovery: open again.
  case closed(reason: String)
}

extension DatabaseError {
  /// True if stored bytes are wrong.
  var isDamage: Bool { if case .corrupt = self { true } else { false } }
}
