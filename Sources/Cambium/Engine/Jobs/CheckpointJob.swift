import LMDB
import Synchronization

/// A synced copy of the state, so that after a crash of the system only the log's newer part is
/// folded again, and not all of it.
///
///     state ──copied, synced──▶ checkpoint-<random>.tmp ──renamed──▶ checkpoint-<n>
///                                                                       │
///     log's meta: "checkpoint" names it, and nothing else is trusted ◀──┘
///
/// A crash before the name is in the log leaves a directory that the next opening sweeps; a crash
/// after it leaves the previous checkpoint, which is swept as well.
struct Checkpoint {
  let directory: OpenDirectory
  let mark: CheckpointMark

  /// The newest checkpoint, or nil.
  static func newest(_ directory: OpenDirectory) throws -> Checkpoint? {
    guard let mark = try directory.log.read({ try $0.checkpoint() }) else { return nil }
    return Checkpoint(directory: directory, mark: mark)
  }

  /// The newest checkpoint, if this fold has made it and nothing after it was dropped.
  static func usable(
    _ directory: OpenDirectory, after baseline: SequenceNumber
  ) throws -> Checkpoint? {
    guard let checkpoint = try newest(directory), checkpoint.mark.fold == StateMark.foldNumber,
      checkpoint.mark.sequence >= baseline
    else { return nil }
    return checkpoint
  }

  static func directory(_ sequence: SequenceNumber) -> String { "checkpoint-\(sequence)" }

  var path: String { "\(directory.path)/\(Checkpoint.directory(mark.sequence))" }

  /// Copies the checkpoint to the directory of a new generation of the state.
  ///
  /// - Parameter directory: An empty directory.
  /// - Throws: ``StorageError``.
  func copy(into directory: String) throws {
    try Files.copy("\(path)/data.mdb", to: "\(directory)/data.mdb")
  }
}

/// The rule for making a checkpoint: it is due when the log has grown, compression apart, by about
/// two seconds' worth of folding, and by enough of the state's size that copying it stays a small
/// part of all writing.
struct CheckpointPolicy {
  /// The growth of the log, in bytes, that makes a checkpoint due.
  let growth: Int
  /// The log must also have grown by the state's size divided by this.
  var divisor = StepSizes().checkpointDivisor

  /// Asks if a checkpoint is due.
  ///
  /// - Parameters:
  ///   - logBytes: The bytes of the log now.
  ///   - ratio: The bytes of records before compression, divided by those after it.
  ///   - stateBytes: The bytes of the state.
  ///   - last: The mark of the last checkpoint.
  /// - Returns: True if it is due.
  func isDue(
    logBytes: Int, ratio: Double = 1, stateBytes: Int, last: CheckpointMark?
  ) -> Bool {
    let grown = Double(logBytes) - Double(last?.logBytes ?? 0)
    return grown * ratio >= Double(max(growth, stateBytes / divisor))
  }
}

/// Makes checkpoints in the background.
final class CheckpointJob: Job {
  let name = "checkpoint"
  private unowned let writer: Writer
  private let copy = Mutex<EnvironmentCopy?>(nil)

  init(_ writer: Writer) { self.writer = writer }

  func isDue() throws -> Bool {
    let directory = writer.directory
    guard let growth = directory.options.checkpointGrowth else { return false }
    let logBytes = try directory.log.usedBytes
    let ratio = directory.log.compressor.ratio
    guard Double(logBytes) * ratio >= Double(growth) else { return false }
    let last = try directory.log.read { try $0.checkpoint() }
    let stateBytes = try directory.latestState().environment.usage().usedBytes
    return CheckpointPolicy(growth: growth, divisor: directory.options.stepSizes.checkpointDivisor)
      .isDue(logBytes: logBytes, ratio: ratio, stateBytes: stateBytes, last: last)
  }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    // Another process may have made one since.
    if try isDue() { try make(progress) }
    return .whenDue
  }

  private func make(_ progress: ProgressReporter) throws {
    let directory = writer.directory
    let copied = Database.temporaryPath("\(directory.path)/checkpoint", "-")
    let claim = try ClaimedDirectory(creating: copied)
    defer { try? Files.removeDirectory(copied) }
    let logBytes = try directory.log.usedBytes
    try copy(try directory.currentState(), to: copied, progress)
    let sequence = try sequence(of: copied)
    try Files.sync(copied)
    try writer.exclusively {
      try directory.publish(
        CheckpointMark(sequence: sequence, logBytes: UInt64(logBytes)), from: copied)
    }
    withExtendedLifetime(claim) {}
  }

  private func copy(_ state: State, to directory: String, _ progress: ProgressReporter) throws {
    let copy = try EnvironmentCopy(of: state.environment, to: "\(directory)/data.mdb")
    self.copy.withLock { $0 = copy }
    defer { self.copy.withLock { $0 = nil } }
    try progress.check()
    try copy.run()
  }

  /// The moment of a copy; reading it checks the copy's file.
  private func sequence(of directory: String) throws -> SequenceNumber {
    let options = writer.directory.options.environment(readOnly: false)
    let state = try State(at: directory, generation: 0, options)
    defer { state.environment.close() }
    return try state.applied()
  }

  func interrupt() { copy.withLock { $0?.cancel() } }

  func diagnostic(_ error: any Error) -> Diagnostic? { .checkpointFailed("\(error)") }
}

extension Database {
  /// Waits until a checkpoint under way is complete, or has failed.
  package func finishCheckpoint() { jobs.finish(jobs[CheckpointJob.self]) }
}
