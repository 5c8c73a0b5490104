/// The differences between two databases that share a past, in path order: a description that reads
/// nothing until it is walked.
///
///     let diff = try database.diff(with: trial, under: "prices")
///     try diff.forEach { change in print(change.path, change.old ?? .null, change.new ?? .null) }
///
/// Only nodes that either log says were touched since the common past are looked at.
public struct DatabaseDiff: Walk {
  /// The newest transaction that both databases have.
  public let base: SequenceNumber
  /// The moment of this database that ``Change/old`` is of.
  public let from: SequenceNumber
  /// The moment of the other database that ``Change/new`` is of.
  public let to: SequenceNumber

  let directory: OpenDirectory
  let other: OpenDirectory
  let under: NodePath

  /// Starts a walk: reads which paths were touched on either side, and sorts them.
  ///
  /// - Returns: The walk, at its start. It renews its snapshots as it goes, so it may be slow.
  /// - Throws: As ``Diff/makeCursor()``.
  /// - Complexity: As ``Diff/makeCursor()``, for the operations since the common past on both
  ///   sides.
  public func makeCursor() throws -> DiffCursor {
    try translating {
      try DiffCursor(
        over: [
          LogStretch(directory: directory, after: base, upTo: from),
          LogStretch(directory: other, after: base, upTo: to),
        ], under,
        Differences(
          from: PlacedMoment(directory: directory, sequence: from),
          to: PlacedMoment(directory: other, sequence: to)))
    }
  }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (Change) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<Change> {
    WalkBatches(directory, of: makeCursor)
  }
}

extension Database {
  /// Compares this database with another that shares a past with it: a branch of it, its origin, or
  /// another branch of the same.
  ///
  /// - Parameters:
  ///   - other: The database that is compared with this one.
  ///   - under: Only this node and what is below it, or this property.
  /// - Returns: The differences from this database's present to the other's, not read yet; any
  ///   thread may walk them. Later writes do not change them.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where they share no past that is still there;
  ///   otherwise as ``snapshot(at:)``.
  /// - Complexity: O(log *n*) reads of records to find the common past, of *n* transactions;
  ///   walking costs what ``DatabaseDiff/makeCursor()`` says.
  public func diff(with other: Database, under: NodePath = .root) throws -> DatabaseDiff {
    try translating {
      let past = try CommonPast(of: directory, and: other.directory)
      return DatabaseDiff(
        base: past.last, from: past.head, to: past.otherHead, directory: directory,
        other: other.directory, under: under)
    }
  }
}
