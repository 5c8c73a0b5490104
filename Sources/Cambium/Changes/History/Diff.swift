/// The differences between two moments, in path order: a description that reads nothing until it is
/// walked.
///
///     let diff = try database.diff(from: .sequence(41), to: .now, under: "users")
///     try diff.forEach { change in print(change.path, change.old ?? .null, change.new ?? .null) }
///
/// Only nodes that the log says were touched between the moments are looked at, on both sides; a
/// node that holds the same at both is left out, whatever happened to it in between.
public struct Diff: Walk {
  /// The moment that ``Change/old`` is of.
  public let from: SequenceNumber
  /// The moment that ``Change/new`` is of; it may be the earlier one.
  public let to: SequenceNumber

  let directory: OpenDirectory
  let under: NodePath

  /// Starts a walk: reads which paths were touched, and sorts them.
  ///
  /// - Returns: The walk, at its start. It renews its snapshots as it goes, so it may be slow.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``,
  ///   ``DatabaseError/compacted(oldest:)`` where the horizon has passed the earlier moment;
  ///   ``DatabaseError/full(reason:)`` or ``DatabaseError/ioFailure(reason:)`` where a temporary
  ///   file cannot be written.
  /// - Complexity: O(*k* log *k*) for *k* operations between the moments, whatever the size of the
  ///   database. At most 10 MB of memory and the largest transaction; what does not fit is sorted
  ///   in an unnamed file in `TMPDIR`.
  public func makeCursor() throws -> DiffCursor {
    try translating {
      try DiffCursor(
        over: [LogStretch(directory: directory, after: min(from, to), upTo: max(from, to))], under,
        Differences(directory, from: from, to: to))
    }
  }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (Change) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<Change> {
    WalkBatches(directory, of: makeCursor)
  }
}

/// A walk over what differs between two moments, of one database or of two, in path order and on
/// one thread.
public struct DiffCursor: ~Copyable, WalkCursor {
  private let touched: TouchedPaths
  private var differences: Differences

  init(
    over stretches: [LogStretch], _ under: NodePath, _ differences: consuming Differences
  ) throws {
    touched = try TouchedPaths(stretches, under: under)
    self.differences = differences
  }

  /// The next change, or nil after the last.
  ///
  /// - Returns: The change.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``,
  ///   ``DatabaseError/ioFailure(reason:)``.
  /// - Complexity: O(log n) for each path that was touched, and for each node of a subtree that was
  ///   moved, removed or restored as a whole.
  public mutating func next() throws -> Change? {
    let touched = touched
    return try translating { try differences.next { try touched.next() } }
  }
}

extension Database {
  /// Compares any two moments, whichever is the earlier.
  ///
  ///     let diff = try database.diff(from: .time(yesterday), under: "orders")
  ///     var count = 0
  ///     try diff.forEach { _ in count += 1 }
  ///
  /// - Parameters:
  ///   - from: The moment that is compared.
  ///   - to: The moment to which it is compared; now by default.
  ///   - under: Only this node and what is below it, or this property.
  /// - Returns: The differences, not read yet; any thread may walk them. Later writes do not change
  ///   them.
  /// - Throws: As ``snapshot(at:)``.
  /// - Complexity: O(1), and what finding a time of day costs; walking costs what
  ///   ``Diff/makeCursor()`` says.
  public func diff(from: Moment, to: Moment = .now, under: NodePath = .root) throws -> Diff {
    Diff(
      from: try snapshot(at: from).sequence, to: try snapshot(at: to).sequence,
      directory: directory, under: under)
  }
}
