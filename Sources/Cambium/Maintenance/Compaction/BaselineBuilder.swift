import LMDB

/// Makes a baseline.
struct BaselineBuilder {
  let directory: OpenDirectory
  let horizon: SequenceNumber
  let progress: ProgressReporter

  /// Folds, cuts, copies compactly, and syncs.
  ///
  /// - Parameter place: A directory of its own; `data.mdb` is there afterwards, and alone.
  /// - Returns: The baseline's mark for the log, and the blobs that only dropped records and the
  ///   old baseline refer to.
  /// - Throws: ``DatabaseError``, `CancellationError`.
  func make(in place: String) throws -> (mark: BaselineMark, blobs: Set<[UInt8]>) {
    let kept = try removalsToKeep()
    let scratch = "\(place)/scratch"
    try Files.createDirectory(scratch)
    let state = try directory.scratchState(in: scratch)
    // Archived records still refer to their blobs.
    let isArchiving = try directory.log.read { try $0.isArchiving() }
    var blobs =
      isArchiving ? [] : try BlobSweep(directory: directory).referred(by: state, upTo: horizon)
    var replay = try Replay(
      into: state, stepBytes: directory.options.stepSizes.replayBytes)
    try replay.run(directory.log, upTo: horizon, progress)
    var cut = HistoryCut(state, upTo: horizon, keeping: kept)
    while try !cut.step(until: .now + .milliseconds(200)) {
      try progress.tell("cut", cut.removed)
    }
    if !blobs.isEmpty { try BlobReferences.forEach(in: state) { blobs.remove($0.hash) } }
    try EnvironmentCopy(of: state.environment, to: "\(place)/data.mdb").run()
    state.environment.close()
    try Files.removeDirectory(scratch)
    try Files.sync(place)
    let record = try directory.log.read { try $0.record(horizon) }
    return (BaselineMark(record, digest: try Files.digest("\(place)/data.mdb")), blobs)
  }

  /// The removals up to the horizon that the state in use knows to be restored after it. No more of
  /// them will be, since the log has named the horizon.
  private func removalsToKeep() throws -> Set<HistoryLink> {
    let state = try directory.currentState()
    return try state.read { try HistoryCut.removalsToKeep($0, upTo: horizon) }
  }
}
