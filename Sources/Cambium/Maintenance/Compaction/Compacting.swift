// Dropping the old end of the log.
//
//     1  horizon     the log says up to where, S: from now on nothing before it can be read,
//                    undone or restored
//     2  baseline    the state as of S is made beside the database, and synced
//     3  publish     the log names the baseline, which replaces the records up to S
//     4  drop        those records go, or are sealed into segments
//     5  cut         the history that serves only moments before S goes, out of the state in use
//     6  give up     the blobs that only what was dropped referred to; see BlobSweep.swift
//
// 2 takes as long as folding those records again, and runs beside readers and writers. 1 and 3 are
// a commit each. 4 to 6 take the writer's turn for a few milliseconds at a time. A crash leaves
// each step done or not done, and whoever compacts next, or opens the database for writing,
// continues where it ended: after step 1 the horizon is ahead of the baseline, after 3 there are
// records or history before it.

/// A summary of what a compaction has done, or would do.
public struct Compaction: Hashable, Sendable {
  /// The oldest moment that could be read before.
  public internal(set) var oldHorizon = SequenceNumber.zero
  /// The oldest moment that can be read afterwards; the old one where nothing was dropped.
  public internal(set) var horizon = SequenceNumber.zero
  /// The newest transaction when it began.
  public internal(set) var head = SequenceNumber.zero
  /// True if dropped records go into segments.
  public internal(set) var archives = false
  /// The bytes of all pages in use before: of log, state and baseline.
  public internal(set) var bytesBefore: UInt64 = 0
  /// The same after it. Free pages inside the files are used again by what is written next;
  /// ``Database/vacuum(at:options:)`` gives them back.
  public internal(set) var bytesAfter: UInt64 = 0

  /// The number of transactions that are dropped.
  public var transactions: UInt64 { horizon.rawValue - oldHorizon.rawValue }
}

extension Database {
  /// Drops the records that a policy does not keep.
  ///
  ///     try database.compact(keeping: Retention(duration: .seconds(90 * 86_400)))
  ///
  /// The records up to the new horizon are replaced by a baseline: the state as of that moment.
  /// Newer records stay as they are, with their sequence numbers; reading older ones throws
  /// ``DatabaseError/compacted(oldest:)``. Readers and writers continue meanwhile, and a crash at
  /// any moment leaves a sound database in which compaction continues later.
  ///
  /// - Parameters:
  ///   - retention: The policy to apply; nil for the stored one, which ``retention()`` returns.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The horizons before and afterwards, and the bytes in use.
  /// - Throws: ``DatabaseError/busy(reason:)`` while another compaction runs,
  ///   ``DatabaseError/full(reason:)``, ``DatabaseError/readOnly(reason:)``, `CancellationError`.
  ///   Records that were dropped until then stay dropped; nothing else has changed.
  /// - Complexity: folds the dropped records once, about 1 µs for each operation, and copies the
  ///   state once; needs disk space for a second state meanwhile.
  @discardableResult
  public func compact(
    keeping retention: Retention? = nil, progress: ProgressHandler? = nil
  ) throws -> Compaction {
    try compacting(progress) { try $0.compact(keeping: retention) }
  }

  /// Drops everything before a moment, whatever policy, tags and consumers say.
  ///
  /// - Parameters:
  ///   - horizon: The oldest moment that can be read afterwards; not after the ``head``.
  ///   - archives: True to put the dropped records into segments. Where there are segments already,
  ///     they go there in any case.
  ///   - progress: As in `compact`.
  /// - Returns: The horizons before and afterwards, and the bytes in use.
  /// - Throws: As `compact`; ``DatabaseError/noSuchMoment(reason:)``.
  /// - Complexity: as `compact`.
  @discardableResult
  public func compact(
    upTo horizon: SequenceNumber, archives: Bool = false, progress: ProgressHandler? = nil
  ) throws -> Compaction {
    let head = try head
    guard horizon <= head else {
      throw DatabaseError.noSuchMoment(
        reason: "transaction \(horizon) is not there; the newest is \(head)")
    }
    return try compacting(progress) { try $0.compact(upTo: horizon, archives: archives) }
  }

  /// The part of the past that is kept by compaction in the background, and by `compact` where it
  /// is given no other policy.
  ///
  /// - Returns: The policy.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  public func retention() throws -> Retention {
    try translating { try directory.log.read { try $0.retention() } }
  }

  /// Stores the policy for keeping the past. From now on each process that writes drops the rest in
  /// the background, once it is worth it.
  ///
  /// - Parameter retention: The policy.
  /// - Throws: ``DatabaseError/readOnly(reason:)``, ``DatabaseError/busy(reason:)``.
  public func setRetention(_ retention: Retention) throws {
    try writer.exclusively {
      try translating {
        try directory.log.damage.checkNone()
        try directory.log.amend { try $0.setRetention(retention) }
      }
    }
  }

  /// A compaction, whose steps are taken by the caller.
  func compaction(_ progress: ProgressReporter = ProgressReporter()) -> CompactionRun {
    CompactionRun(writer, progress)
  }

  /// Runs a requested compaction in place of one in the background, which would keep it waiting;
  /// that one continues afterwards, if any of it is left.
  func compacting<R>(_ progress: ProgressHandler?, _ body: (CompactionRun) throws -> R) throws -> R
  {
    if directory.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(path) is open for reading only")
    }
    let job = jobs[CompactionJob.self]
    // Looked at here: a look in the background would pin pages that the next commit could use.
    defer { if (try? compaction().isUnfinished()) == true { jobs.wake(job) } }
    return try translating {
      let result = try jobs.pausing(job, progress) { try compaction($0).whileAlone(body) }
      guard let result else {
        throw DatabaseError.busy(reason: "another compaction is under way")
      }
      return result
    }
  }
}
