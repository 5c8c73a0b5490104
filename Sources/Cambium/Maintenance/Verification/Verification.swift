// Proving that what is stored is what was written.

import FoundationEssentials

/// The findings of a verification, and how much it has read.
public struct Verification: Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The environment: `log` or `state`.
    public let part: String
    /// A description of the fault, with the record, page or path.
    public let description: String
    /// True if rebuilding the state repairs it.
    public var isRepairable: Bool { part == "state" }
  }

  /// The faults that were found; empty for a sound database. At most a hundred.
  public internal(set) var findings: [Finding] = []
  /// The number of records of the log that were read.
  public internal(set) var records: UInt64 = 0
  /// The number of operations in those records.
  public internal(set) var operations: UInt64 = 0
  /// The number of records that were changed by an erasure which this log does not record, as it
  /// may have been cut off before. Only their checksums vouch for what is left of them.
  public internal(set) var unvouched: UInt64 = 0
  /// The number of the newest transactions that the state has not folded in, and so cannot be read.
  /// That is harmless where the database was opened for reading only: the next opening for writing
  /// folds them in. Otherwise it could not be done, and a finding says why.
  public internal(set) var behind: UInt64 = 0
  /// The number of nodes in the present tree.
  public internal(set) var nodes: UInt64 = 0
  /// The number of pages that were walked in both environments.
  public internal(set) var pages: UInt64 = 0
  /// The digest of the canonical dump: BLAKE2b-256 over path, value and modifying transaction of
  /// each node in path order; a path of more than 4 KiB by its length and last key. Empty where
  /// damage was found before. Equal histories have equal digests.
  public internal(set) var digest: [UInt8] = []

  /// The number of times that the log was folded again to check that it always gives that digest.
  public internal(set) var replays = 0

  /// True if nothing was found.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ part: String, _ description: String) {
    if findings.count < 100 { findings.append(Finding(part: part, description: description)) }
  }
}

extension Database {
  /// Checks pages, records, the chain of the log, its entries and blobs, and that the state is what
  /// the log says.
  ///
  /// It works on one moment; readers and writers continue meanwhile. The rebuild for comparison
  /// happens in a temporary directory inside the database's, or beside a read-only one's in
  /// `TMPDIR`.
  ///
  /// - Parameters:
  ///   - replaying: True to check that folding always gives the same: the log is folded twice, in
  ///     steps of different sizes, and the digests are compared.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The findings, and how much was read. Damage is a finding, not an error.
  /// - Throws: `CancellationError`; ``DatabaseError/busy(reason:)`` while the database is being
  ///   compacted; ``DatabaseError`` when reading is impossible.
  /// - Complexity: reads both environments twice, and folds the log once, about 4 µs for each
  ///   operation in all; needs disk space for a second state. Replaying takes as much again.
  public func verify(
    replaying: Bool = false, progress: ProgressHandler? = nil
  ) throws -> Verification {
    try translating {
      try compaction().whileNothingIsDropped(isSure: \.isSound) {
        let lag = try writer.settledLag()
        return try jobs[IndexBuildJob.self].pausing {
          var verifier = Verifier(directory, replaying: replaying, progress)
          if let lag { verifier.note(lag) }
          return try verifier.run()
        }
      }
    }
  }
}
