// A compaction's results, worked out without compacting.

import LMDB

extension Database {
  /// Says what `compact` would do, with numbers. Nothing is changed.
  ///
  /// State and baseline are made aside and measured; what the log would take follows from the sizes
  /// of its records.
  ///
  /// - Parameters:
  ///   - retention: The policy to apply; nil for the stored one, which ``retention()`` returns.
  ///   - measures: True to work out the bytes afterwards, which takes as long as compacting;
  ///     otherwise they are those before.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The horizons and bytes that compacting would lead to.
  /// - Throws: As `compact`.
  /// - Complexity: as `compact`, and reads the whole log.
  public func planCompaction(
    keeping retention: Retention? = nil, measures: Bool = true, progress: ProgressHandler? = nil
  ) throws -> Compaction {
    try compacting(progress) { run in
      let (horizon, archives) = try run.target(of: retention)
      let plan = try run.begin(upTo: horizon, archives: archives)
      return measures ? try CompactionPlanner(run: run).measured(plan) : plan
    }
  }
}

private struct CompactionPlanner {
  let run: CompactionRun
  private var directory: OpenDirectory { run.directory }

  func measured(_ plan: Compaction) throws -> Compaction {
    if plan.transactions == 0 { return plan }
    var plan = plan
    plan.bytesAfter = try logBytes(plan) + stateBytes(plan) + baselineBytes(plan)
    return plan
  }

  private func baselineBytes(_ plan: Compaction) throws -> UInt64 {
    try Database.withTemporaryDirectory("\(directory.path)/baseline") { scratch in
      _ = try run.builder(upTo: plan.horizon).make(in: scratch)
      return Files.size(of: "\(scratch)/data.mdb")
    }
  }

  /// The state's pages in use, of a copy that is cut.
  private func stateBytes(_ plan: Compaction) throws -> UInt64 {
    try Database.withTemporaryDirectory("\(directory.path)/baseline") { scratch in
      let current = try directory.currentState().environment
      try EnvironmentCopy(of: current, to: "\(scratch)/data.mdb").run()
      let state = try State(
        at: scratch, generation: 0, directory.options.environment(readOnly: false))
      defer { state.environment.close() }
      try state.makeRoomForChanges()
      var cut = HistoryCut(state, upTo: plan.horizon)
      while try !cut.step(until: .now + .milliseconds(200)) {
        try run.progress.tell("cut", cut.removed)
      }
      return try state.read { try state.environment.pageBytes(StateTables.names, $0.access) }
    }
  }

  /// The log's pages in use without the records up to the horizon, and with their segments.
  private func logBytes(_ plan: Compaction) throws -> UInt64 {
    let others = try directory.log.pageBytes(withRecords: false)
    return try others + recordBytes(after: plan.horizon) + (plan.archives ? segmentBytes(plan) : 0)
  }

  private func recordBytes(after horizon: SequenceNumber) throws -> UInt64 {
    try directory.log.read { log in
      var pages = AppendedPages()
      try log.forEachRecordEntry(after: horizon) { pages.add(key: $0, value: $1) }
      return pages.bytes
    }
  }

  private func segmentBytes(_ plan: Compaction) throws -> UInt64 {
    var pages = AppendedPages()
    var next = try directory.log.read { try $0.oldestRecord() }
    while next <= plan.horizon {
      let segment = try run.seal(from: next, upTo: plan.horizon)
      pages.add(key: segment.key.count, value: try segment.stored().count)
      next = segment.last.next
      try run.progress.tell("compress", next.rawValue, plan.horizon.rawValue)
    }
    return pages.bytes
  }
}

/// The pages that LMDB takes for entries that are appended: it fills each leaf before the next.
struct AppendedPages {
  private var leaves: UInt64 = 0
  private var overflow: UInt64 = 0
  private var free = 0

  private static let pageBytes = 4096
  private static let headerBytes = 16
  /// A leaf's page must have room for two entries, so a value beyond that gets pages of its own.
  private static let inlineBytesMax = (pageBytes - headerBytes) / 2 - 2
  private static let entryBytes = 8
  private static let pointerBytes = 2

  mutating func add(key: Int, value: Int) {
    var bytes = AppendedPages.entryBytes + key + value
    if bytes > AppendedPages.inlineBytesMax {
      bytes = AppendedPages.entryBytes + key + 8
      overflow += UInt64(
        (AppendedPages.headerBytes + value + AppendedPages.pageBytes - 1) / AppendedPages.pageBytes)
    }
    bytes = (bytes + 1) / 2 * 2 + AppendedPages.pointerBytes
    if bytes > free {
      leaves += 1
      free = AppendedPages.pageBytes - AppendedPages.headerBytes
    }
    free -= bytes
  }

  /// With the branch pages, which name some 180 leaves each.
  var bytes: UInt64 {
    (leaves + overflow + (leaves > 1 ? leaves / 180 + 1 : 0)) * UInt64(AppendedPages.pageBytes)
  }
}
