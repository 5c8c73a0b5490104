// Taking a subject's data out of everything, for good.
//
// The log remembers all that was ever written, so removing a node leaves its past. An erasure
// rewrites the log as if nothing had ever been written at the places that it names:
//
//     log ──each record without what touched the places──▶ new log, one record more: the erasure
//     baselines ──without what is at the places──────────▶ baselines, next edition
//     both ──folded──────────────────────────────────────▶ state, next generation
//     new log ──renamed over the log──▶ that is the moment at which it is done
//
// Everything is written into fresh files, never changed in place: pages that LMDB has freed, and
// the room between the entries of those in use, keep what was there. Links and sequence numbers
// stay, so the chain verifies as before (see TransactionRecord.swift).

/// The result of an erasure, done or only planned.
public struct Erasure: Hashable, Sendable {
  /// The places whose data is gone: the one asked for, and those where that stood before or after
  /// it was moved. In path order.
  public internal(set) var places: [NodePath] = []
  /// The number of transactions that have lost operations.
  public internal(set) var transactions: UInt64 = 0
  /// The number of operations that were removed, or that have lost a property.
  public internal(set) var operations: UInt64 = 0
  /// The number of blobs that were removed because nothing else refers to them.
  public internal(set) var blobs = 0
  /// The transaction that records the erasure; zero where it was only planned.
  public internal(set) var sequence = SequenceNumber.zero
  /// The sizes of the files of log, state, baselines and checkpoint before, in bytes.
  public internal(set) var bytesBefore: UInt64 = 0
  /// Their sizes now.
  public internal(set) var bytesAfter: UInt64 = 0
}

extension Database {
  /// Erases all that was ever at a path: the node, everything below it, and its whole past. A path
  /// may also be a property's.
  ///
  ///     try Database.erase("users/ada", at: "shop.cambium", metadata: ["reason": "Art. 17 GDPR"])
  ///
  /// The values are gone from log, history, archive and blobs, and from the files, whose free pages
  /// are given back. The transactions stay, with their numbers, times, metadata and what else they
  /// did; their ``Commit/isErased`` says what happened. One more transaction records the erasure:
  /// its event ``Erasure/eventName`` vouches for what is left of each.
  ///
  /// Data that does not belong to the place stays: metadata, events, names of properties,
  /// references to the place, and backups. Make new backups, and delete the old ones. The file
  /// system decides what a disk keeps of files that were removed.
  ///
  /// - Parameters:
  ///   - place: The place; not the root.
  ///   - path: The directory of a database that is not open, in this or any other process.
  ///   - includingMoved: True to erase also where the data was moved from or to. Where it was
  ///     moved, and this is false, nothing is erased. Everything that was ever at such a place
  ///     goes; ``planErasure(of:at:options:progress:)`` names them.
  ///   - metadata: The metadata of the transaction that records the erasure, such as who erased and
  ///     why.
  ///   - options: The options to open the database with.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The erasure: its places, the counts of what it took out, and its transaction.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where nothing was ever there,
  ///   ``DatabaseError/misuse(reason:)`` for the root, and where data was moved;
  ///   ``DatabaseError/alreadyOpen(path:)`` and ``DatabaseError/busy(reason:)`` where the database
  ///   is open, ``DatabaseError/corrupt(reason:)``, ``DatabaseError/full(reason:)``,
  ///   `CancellationError`. Nothing has changed then; a crash leaves all as it was, or all done.
  ///   ``DatabaseError/outcomeUnknown(_:)`` where the file system failed at the last step: open the
  ///   database, which removes what is left, and look whether that transaction is there.
  /// - Complexity: reads the log twice, folds and writes it once, about 3 µs for each operation;
  ///   needs disk space for a second database.
  @discardableResult
  public static func erase(
    _ place: NodePath, at path: String, includingMoved: Bool = false,
    metadata: [String: String] = [:],
    options: Options = Options(), progress: ProgressHandler? = nil
  ) throws -> Erasure {
    try erase(path, options) { path in
      var places = try ErasedPlaces(place)
      try ErasureRun.follow(&places, path, options)
      if !includingMoved, places.paths.count > 1 {
        throw DatabaseError.misuse(
          reason: "what was at \(place) was moved: to erase it, all that was ever at "
            + "\(places.paths.map(\.description).joined(separator: ", ")) must go, too")
      }
      var run = try ErasureRun(path, places, options, progress)
      return try run.run(metadata)
    }
  }

  /// Plans an erasure: does all that ``erase(_:at:includingMoved:metadata:options:progress:)``
  /// would do, but changes nothing.
  ///
  /// - Parameters:
  ///   - place: The place; not the root.
  ///   - path: The directory of a database that is not open.
  ///   - options: The options to open the database with.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The erasure that would be done, with the places where data was moved from or to.
  /// - Throws: As the erasure itself. Nothing has changed.
  /// - Complexity: as the erasure: it makes all the files, and drops them.
  public static func planErasure(
    of place: NodePath, at path: String, options: Options = Options(),
    progress: ProgressHandler? = nil
  ) throws -> Erasure {
    try erase(path, options) { path in
      var places = try ErasedPlaces(place)
      try ErasureRun.follow(&places, path, options)
      var run = try ErasureRun(path, places, options, progress)
      return try run.plan()
    }
  }

  private static func erase(
    _ path: String, _ options: Options, _ body: (_ path: String) throws -> Erasure
  ) throws -> Erasure {
    let path = located(path)
    return try naming(path) {
      guard LogFile(of: path).exists else { throw DatabaseError.noDatabase(path: path) }
      try finishCompaction(path, options)
      return try withLogAtRest(path, options) { try body(path) }
    }
  }

  /// Opens the database once, so that an interrupted compaction is completed, and a damaged
  /// database shows.
  private static func finishCompaction(_ path: String, _ options: Options) throws {
    try LogFile(of: path).checkUnused()
    let database = try Database(at: path, options: options)
    if try database.compaction().isUnfinished() {
      try database.compacting(nil) { try $0.finish() }
    }
    try database.close()
  }
}

extension Erasure {
  /// The name of the event that the record of an erasure holds.
  public static let eventName = TransactionRecord.erasureEventName
}
