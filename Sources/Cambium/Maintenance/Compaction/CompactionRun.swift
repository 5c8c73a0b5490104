import LMDB

/// Takes the steps of a compaction, which Compacting.swift lists.
///
/// It holds nothing that is needed to continue: log and state say which step is next.
final class CompactionRun {
  let writer: Writer
  let progress: ProgressReporter
  private var pace = StepPace()
  /// Set once history is being cut, of the state of this generation. A run that finishes what was
  /// begun before cuts twice, up to different moments.
  private var cut: (history: HistoryCut, generation: UInt64)?
  /// Set while blobs are given up.
  private var blobs: (upTo: SequenceNumber, blobs: Set<[UInt8]>)?

  init(_ writer: Writer, _ progress: ProgressReporter) {
    self.writer = writer
    self.progress = progress
  }

  var directory: OpenDirectory { writer.directory }

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
      (try log.baseline().sequence, try log.head().sequence, try log.recordsBytes())
    }
    guard horizon > baseline, head > baseline else { return false }
    let share = Double(horizon.rawValue - baseline.rawValue)
    let droppable = Double(bytes) * share / Double(head.rawValue - baseline.rawValue)
    let stateBytes = try Baseline.current(directory)?.bytes ?? 0
    return droppable >= Double(max(UInt64(directory.options.compactionLook.bytes), stateBytes))
  }

  /// Compacts what a policy, or that of the database, does not keep.
  func compact(keeping retention: Retention?) throws -> Compaction {
    let (horizon, archives) = try target(of: retention)
    return try compact(upTo: horizon, archives: archives)
  }

  /// Compacts up to a moment, after finishing what was begun before.
  func compact(upTo horizon: SequenceNumber, archives: Bool) throws -> Compaction {
    try finish()
    var result = try begin(upTo: horizon, archives: archives)
    try collectBlobs(withUnleased: result.transactions > 0)
    if result.transactions > 0 {
      try announce(horizon, archives: result.archives)
      try finish()
    }
    result.bytesAfter = try bytesInUse()
    return result
  }

  /// Removes the blobs to which nothing refers once their leases have ended, and the uploads that
  /// nobody goes on with.
  func collectBlobs(withUnleased: Bool = false) throws {
    UploadPart.removeLapsed(in: directory)
    let collection = BlobCollection(directory: directory, progress: progress)
    guard try withUnleased || collection.isDue() else { return }
    var found = try collection.find(withUnleased: withUnleased)
    while !found.isEmpty {
      found = try writer.step("list", &pace) { try collection.list(found, until: $0) }
    }
    try finish()
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

  /// The steps after a horizon was announced.
  private enum Step {
    case publish, drop, cut, giveUp
  }

  /// The next step to take; nil where none is left. The log and the state say which, so that any
  /// process can continue.
  private func next() throws -> (step: Step, horizon: SequenceNumber)? {
    let (horizon, baseline, oldest, hasBlobs) = try directory.log.read { log in
      (
        try log.horizon(), try log.baseline().sequence, try log.oldestRecord(),
        try !log.blobsGivenUp().isEmpty
      )
    }
    if horizon == .zero { return hasBlobs ? (.giveUp, horizon) : nil }
    if horizon > baseline { return (.publish, horizon) }
    if oldest <= horizon { return (.drop, horizon) }
    if try directory.currentState().read({ try $0.cut() }) < horizon { return (.cut, horizon) }
    return hasBlobs ? (.giveUp, horizon) : nil
  }

  /// True if a compaction was begun and is not at its end.
  func isUnfinished() throws -> Bool { try next() != nil }

  /// Takes the steps that are still to be taken, if any.
  func finish() throws {
    while let (step, horizon) = try next() {
      switch step {
      case .publish: try publishBaseline(upTo: horizon)
      case .drop: try dropRecords(upTo: horizon)
      case .cut: try cutHistory(upTo: horizon)
      case .giveUp: try giveUpBlobs()
      }
    }
  }

  // MARK: The steps

  private func announce(_ horizon: SequenceNumber, archives: Bool) throws {
    try writer.step("announce", &pace) { _ in
      // A state that has come as far knows which removed subtrees are restored.
      try writer.catchUp()
      try directory.log.amend { try $0.setHorizon(horizon, archives: archives) }
    }
  }

  private func publishBaseline(upTo horizon: SequenceNumber) throws {
    let unused = try Database.withTemporaryDirectory("\(directory.path)/baseline") { place in
      let (mark, blobs) = try builder(upTo: horizon).make(in: place)
      return try writer.step("publish", &pace) { _ in
        try publish(Baseline(directory: directory, mark: mark), from: place, givingUp: blobs)
      }
    }
    for path in unused { try? Files.removeDirectory(path) }
  }

  func builder(upTo horizon: SequenceNumber) -> BaselineBuilder {
    BaselineBuilder(directory: directory, horizon: horizon, progress: progress)
  }

  /// - Returns: The paths of directories that are no longer used, and have only to be removed.
  private func publish(
    _ baseline: Baseline, from place: String, givingUp blobs: Set<[UInt8]>
  ) throws -> [String] {
    // Not named in the log, so a crash left it.
    if Files.exists(baseline.path) { try Files.removeDirectory(baseline.path) }
    try Files.rename(place, to: baseline.path)
    try Files.sync(directory.path)
    try directory.log.amend { log in
      let (old, checkpoint) = (try log.reader.baseline(), try log.reader.checkpoint())
      let startsArchive = try log.reader.isArchiving() && log.reader.archived() == nil
      try log.setBaseline(baseline.mark)
      try BlobSweep(directory: directory).list(blobs, log)
      if startsArchive && old.sequence > .zero { try log.setArchiveStart(old) }
      // A rebuild from the checkpoint would need records that are dropped now.
      if let checkpoint, checkpoint.sequence < baseline.mark.sequence { try log.setCheckpoint(nil) }
    }
    return directory.unused.setAside()
  }

  /// Drops some of the records up to a moment, or seals them.
  private func dropRecords(upTo horizon: SequenceNumber) throws {
    let (oldest, archives) = try directory.log.read {
      (try $0.oldestRecord(), try $0.isArchiving())
    }
    try progress.tell("drop", oldest.rawValue, horizon.rawValue)
    let segment = try archives ? seal(from: oldest, upTo: horizon) : nil
    // Compressing takes longer than storing, and nobody need wait for it.
    let sealed = try segment?.stored()
    try writer.step(segment == nil ? "drop" : "seal", &pace) { end in
      try directory.log.amend { log in
        if let segment, let sealed { try log.putSegment(segment, stored: sealed) }
        var next = oldest
        while next <= segment?.last ?? horizon, segment != nil || ContinuousClock.now < end {
          // Without that, the next step would find it again, and so on for ever.
          guard try log.removeRecord(next) || next != oldest else {
            throw DatabaseError.corrupt(
              reason: "transaction \(oldest) is the oldest in the log, which does not find it")
          }
          next = next.next
        }
      }
    }
  }

  func seal(from oldest: SequenceNumber, upTo horizon: SequenceNumber) throws -> Segment {
    var segment = Segment(after: oldest.previous)
    let least = directory.options.stepSizes.segmentBytes
    try directory.log.read { log in
      while segment.last < horizon, segment.records.count < least {
        // Reading it checks it: damage must not be sealed.
        segment.append(try log.record(segment.last.next).stored())
      }
    }
    return segment
  }

  private func cutHistory(upTo horizon: SequenceNumber) throws {
    let removed = try writer.step("cut", &pace) { end in
      let state = try directory.stateForStep().state
      // One that finished an earlier compaction goes up to another horizon.
      let goesOn = cut?.generation == state.generation && cut?.history.horizon == horizon
      var history = (goesOn ? cut?.history : nil) ?? HistoryCut(state, upTo: horizon)
      _ = try history.step(until: end)
      cut = (history, state.generation)
      return history.removed
    }
    try progress.tell("cut", removed)
  }

  /// Gives some of the listed blobs up, unless something that is left refers to them.
  private func giveUpBlobs() throws {
    let sweep = BlobSweep(directory: directory)
    let found = try blobs ?? sweep.unreferred()
    let isMore = try writer.step("give up", &pace) { try sweep.step(found, until: $0) }
    blobs = isMore ? found : nil
    try progress.tell("give up", 0)
  }

  /// The pages in use of log, state and baseline.
  func bytesInUse() throws -> UInt64 {
    let state = try directory.currentState()
    var bytes = try state.read { try state.environment.pageBytes(StateTables.names, $0.access) }
    bytes += try directory.log.pageBytes()
    return bytes + (try Baseline.current(directory)?.bytes ?? 0)
  }
}
