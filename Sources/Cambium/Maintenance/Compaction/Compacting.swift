// Dropping the old end of the log.
//
//     1  horizon     the log says up to where, S: from now on nothing before it can be read,
//                    undone or restored
//     2  baseline    the state as of S is made beside the database, and synced
//     3  publish     the log names the baseline: it stands in the place of the records up to S
//     4  drop        those records go, or are sealed into segments
//     5  cut         the history that serves only moments before S goes, out of the state in use
//     6  give up     the blobs that only what was dropped referred to; see BlobSweep.swift
//
// 2 takes as long as folding those records anew, and happens beside readers and writers. 1 and 3
// are a commit each. 4 to 6 take the writer's turn for a few milliseconds at a time. A crash
// leaves each step done or not done, and whoever compacts next, or opens the database for writing,
// goes on where it ended: after step 1 the horizon is ahead of the baseline, after 3 there are
// records or history before it.

import LMDB

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
  /// ``DatabaseError/compacted(oldest:)``. Readers and writers go on meanwhile, and a crash at any
  /// moment leaves a sound database in which compaction goes on later.
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
    try compacting { run in
      let (horizon, archives) = try run.target(of: retention)
      return try run.compact(upTo: horizon, archives: archives, progress)
    }
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
    return try compacting { try $0.compact(upTo: horizon, archives: archives, progress) }
  }

  /// How much of the past is kept, by compaction in the background and where
  /// `compact` is given nothing else.
  ///
  /// - Returns: The policy.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  public func retention() throws -> Retention {
    try translating { try directory.log.read { try $0.retention() } }
  }

  /// Stores how much of the past is kept. From now on each process that writes drops the rest in
  /// the background, once it is worth it.
  ///
  /// - Parameter retention: The policy.
  /// - Throws: ``DatabaseError/readOnly(reason:)``, ``DatabaseError/busy(reason:)``.
  public func setRetention(_ retention: Retention) throws {
    try writer.exclusively {
      try translating {
        try directory.log.damage.checkNone()
        let head = try directory.log.readNewest { try $0.head() }
        let log = try LogWriter(directory.log)
        try log.setRetention(retention)
        try log.commit(head: head)
      }
    }
  }

  func compacting<R>(_ body: (CompactionRun) throws -> R) throws -> R {
    if directory.isReadOnly {
      throw DatabaseError.readOnly(reason: "\(path) is open for reading only")
    }
    return try translating {
      let run = writer.compaction
      let result = try writer.compactor.instead(of: run) { try run.whileAlone(body) }
      guard let result else {
        throw DatabaseError.busy(reason: "another compaction is under way")
      }
      return result
    }
  }
}

/// Takes the steps of a compaction.
struct CompactionRun: Sendable {
  let directory: OpenDirectory
  let writer: Writer

  init(_ directory: OpenDirectory, _ writer: Writer) {
    self.directory = directory
    self.writer = writer
  }

  private var lockPath: String { "\(directory.path)/compact.lock" }

  /// True if the database was ever compacted, or somebody is about to compact it.
  private var hasLock: Bool { Files.exists(lockPath) }

  /// Runs something while nobody else compacts, in any process.
  ///
  /// - Returns: nil where somebody still does after a while.
  func whileAlone<R>(
    timeout: Duration = .zero, _ body: (CompactionRun) throws -> R
  ) throws -> R? {
    let lock = try FileLock(path: lockPath)
    guard try lock.lock(timeout: timeout) else { return nil }
    defer { lock.unlock() }
    return try body(self)
  }

  /// Runs a body that reads the baseline and all records, which a compaction would drop meanwhile:
  /// waits for one that is under way, and holds the next one up. No lock is made in a directory
  /// that was never compacted; where the first compaction begins meanwhile, a doubtful read is done
  /// again.
  ///
  /// - Parameters:
  ///   - isSure: Returns true for a result that no compaction can have caused.
  ///   - body: Reads the log; it may run twice.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; ``DatabaseError/busy(reason:)`` after the busy
  ///   timeout.
  func whileNothingIsDropped<R>(
    isSure: (R) -> Bool = { _ in true }, _ body: () throws -> R
  ) throws -> R {
    if directory.isReadOnly || !hasLock {
      let result = Result { try body() }
      if directory.isReadOnly || !hasLock { return try result.get() }
      if case .success(let found) = result, isSure(found) { return found }
    }
    let timeout = directory.options.busyTimeout
    guard let result = try whileAlone(timeout: timeout, { _ in try body() }) else {
      throw DatabaseError.busy(reason: "a compaction took longer than \(timeout)")
    }
    return result
  }

  /// The horizon that a policy asks for, and true if dropped records are archived.
  func target(of retention: Retention?) throws -> (horizon: SequenceNumber, archives: Bool) {
    let applied = try directory.snapshot(at: .now).sequence
    let now = directory.present ?? .max
    return try directory.log.read { log in
      let policy = try retention ?? log.retention()
      return (try policy.horizon(log, upTo: applied, now: now), policy.archives)
    }
  }

  /// True if so much can be dropped that folding it and copying the state is worth it: as much as
  /// the state takes, so that all compacting costs no more than twice what writing did.
  func isWorthIt() throws -> Bool {
    let (horizon, _) = try target(of: nil)
    let (baseline, head, bytes) = try directory.log.read { log in
      (
        try log.baseline().sequence, try log.head().sequence,
        try log.access.size(log.tables.records)
      )
    }
    guard horizon > baseline, head > baseline else { return false }
    let share = Double(horizon.rawValue - baseline.rawValue)
    let droppable = Double(bytes) * share / Double(head.rawValue - baseline.rawValue)
    let stateBytes = try Baseline.current(directory)?.bytes ?? 0
    return droppable >= Double(max(UInt64(directory.options.compactionLook.bytes), stateBytes))
  }

  /// Compacts up to a moment, after finishing what was begun before.
  func compact(
    upTo horizon: SequenceNumber, archives: Bool, _ progress: ProgressHandler?
  ) throws -> Compaction {
    try finish(progress)
    var result = try begin(upTo: horizon, archives: archives)
    if result.transactions > 0 {
      try announce(horizon, archives: result.archives)
      try finish(progress)
    }
    result.bytesAfter = try bytesInUse()
    return result
  }

  /// The horizons, the head and the bytes in use before anything is done.
  func begin(upTo horizon: SequenceNumber, archives: Bool) throws -> Compaction {
    var result = Compaction()
    try directory.log.read { log in
      result.oldHorizon = try log.horizon()
      result.head = try log.head().sequence
      result.archives = try archives || log.archived() != nil
    }
    result.horizon = max(horizon, result.oldHorizon)
    result.bytesBefore = try bytesInUse()
    result.bytesAfter = result.bytesBefore
    return result
  }

  /// True if a compaction was begun and is not at its end.
  func isUnfinished() throws -> Bool {
    let horizon = try directory.log.read { try $0.horizon() }
    if horizon == .zero { return false }
    let (baseline, oldest) = try directory.log.read { log in
      (try log.baseline().sequence, try log.oldestRecord())
    }
    let hasBlobs = try !directory.log.read { try $0.blobsGivenUp().isEmpty }
    return try horizon > baseline || oldest <= baseline || cut() < baseline || hasBlobs
  }

  /// Takes the steps that are still to be taken, if any.
  func finish(_ progress: ProgressHandler?) throws {
    let (horizon, baseline) = try directory.log.read { (try $0.horizon(), try $0.baseline()) }
    if horizon > baseline.sequence { try publishBaseline(upTo: horizon, progress) }
    var pace = StepPace()
    while try dropRecords(upTo: horizon, &pace, progress) {}
    if try cut() < horizon { try cutHistory(upTo: horizon, progress) }
    try giveUpBlobs(progress)
  }

  // MARK: The steps

  private func announce(_ horizon: SequenceNumber, archives: Bool) throws {
    try step("announce") {
      // A state that has come as far knows which removed subtrees are restored.
      try writer.catchUp()
      let head = try directory.log.readNewest { try $0.head() }
      let log = try LogWriter(directory.log)
      try log.setHorizon(horizon, archives: archives)
      try log.commit(head: head)
    }
  }

  private func publishBaseline(upTo horizon: SequenceNumber, _ progress: ProgressHandler?) throws {
    let claim = try ClaimedDirectory(
      creating: Database.temporaryPath("\(directory.path)/baseline", "-"))
    defer {
      if Files.exists(claim.path) { try? Files.removeDirectory(claim.path) }
    }
    let (mark, blobs) = try BaselineBuilder(directory, upTo: horizon, progress).make(in: claim.path)
    let unused = try step("publish") {
      try publish(Baseline(directory: directory, mark: mark), from: claim.path, givingUp: blobs)
    }
    for path in unused { try? Files.removeDirectory(path) }
  }

  /// - Returns: The paths of directories that are no longer used, and have only to be removed.
  private func publish(
    _ baseline: Baseline, from made: String, givingUp blobs: Set<[UInt8]>
  ) throws -> [String] {
    let (head, old, checkpoint, startsArchive) = try directory.log.readNewest { log in
      (
        try log.head(), try log.baseline(), try log.checkpoint(),
        try log.isArchiving() && log.archived() == nil
      )
    }
    // Not named in the log, so a crash left it.
    if Files.exists(baseline.path) { try Files.removeDirectory(baseline.path) }
    try Files.rename(made, to: baseline.path)
    try Files.sync(directory.path)
    let log = try LogWriter(directory.log)
    try log.setBaseline(baseline.mark)
    try BlobSweep(directory: directory).list(blobs, log)
    if startsArchive && old.sequence > .zero { try log.setArchiveStart(old) }
    // A rebuild from the checkpoint would need records that are dropped now.
    if let checkpoint, checkpoint.sequence < baseline.mark.sequence { try log.setCheckpoint(nil) }
    try log.commit(head: head)
    return directory.setUnusedAside()
  }

  /// Drops some of the records up to a moment, or seals them.
  ///
  /// - Returns: True if there may be more.
  private func dropRecords(
    upTo horizon: SequenceNumber, _ pace: inout StepPace, _ progress: ProgressHandler?
  ) throws -> Bool {
    let (oldest, archives) = try directory.log.read {
      (try $0.oldestRecord(), try $0.isArchiving())
    }
    guard oldest <= horizon else { return false }
    let done = Progress(phase: "drop", done: oldest.rawValue, total: horizon.rawValue)
    if progress?(done) == false { throw CancellationError() }
    let segment = try archives ? seal(from: oldest, upTo: horizon) : nil
    // Compressing takes longer than storing, and nobody need wait for it.
    let sealed = try segment?.stored()
    if let segment, try !directory.log.environment.hasRoom(for: 4 * segment.records.count) {
      try directory.log.environment.growMap(headroom: 8 * segment.records.count)
    }
    try step(segment == nil ? "drop" : "seal", &pace) { duration in
      let head = try directory.log.readNewest { try $0.head() }
      let log = try LogWriter(directory.log)
      if let segment, let sealed { try log.putSegment(segment, stored: sealed) }
      let end = ContinuousClock.now + duration
      var next = oldest
      while next <= segment?.last ?? horizon, segment != nil || ContinuousClock.now < end {
        try log.removeRecord(next)
        next = next.next
      }
      try log.commit(head: head)
    }
    return true
  }

  func seal(from oldest: SequenceNumber, upTo horizon: SequenceNumber) throws -> Segment {
    var segment = Segment(after: oldest.previous)
    try directory.log.read { log in
      while segment.last < horizon, segment.records.count < Segment.bytesMin {
        // Reading it checks it: damage must not be sealed.
        segment.append(try log.record(segment.last.next).stored())
      }
    }
    return segment
  }

  private func cutHistory(upTo horizon: SequenceNumber, _ progress: ProgressHandler?) throws {
    var cut: HistoryCut?
    var generation: UInt64 = 0
    var isDone = false
    var pace = StepPace()
    while !isDone {
      try step("cut", &pace) { duration in
        let state = try directory.prepareState().state
        if cut == nil || generation != state.generation {
          cut = HistoryCut(state, upTo: horizon)
          generation = state.generation
        }
        if try !state.environment.hasRoom(for: 64 << 20) {
          try state.environment.growMap(headroom: 128 << 20)
        }
        isDone = try cut?.step(until: .now + duration) ?? true
      }
      let done = Progress(phase: "cut", done: cut?.removed ?? 0, total: nil)
      if progress?(done) == false { throw CancellationError() }
    }
  }

  /// How far the history of the state in use is cut.
  private func cut() throws -> SequenceNumber {
    let state = try directory.currentState()
    let transaction = try ReadTransaction(state.environment, tables: [])
    return try StateReader(access: transaction.access, tables: state.tables).cut()
  }

  /// The pages in use of log, state and baseline.
  func bytesInUse() throws -> UInt64 {
    let state = try directory.currentState()
    let transaction = try ReadTransaction(state.environment, tables: [])
    var bytes = try state.environment.pageBytes(StateTables.names, transaction.access)
    bytes += try directory.log.read {
      try directory.log.environment.pageBytes(LogTables.names, $0.access)
    }
    return bytes + (try Baseline.current(directory)?.bytes ?? 0)
  }
}
