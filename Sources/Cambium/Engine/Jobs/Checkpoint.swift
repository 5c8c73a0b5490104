import Dispatch
import LMDB
import Synchronization

/// A synced copy of the state, so that after a crash of the system only what the log got since is
/// folded again, and not all of it.
///
///     state ──copied, synced──▶ checkpoint-<random>.tmp ──renamed──▶ checkpoint-<n>
///                                                                       │
///     log's meta: "checkpoint" names it, and nothing else is trusted ◀──┘
///
/// A crash before the name is in the log leaves a directory that the next opening sweeps; a crash
/// after it leaves the checkpoint before, which is swept as well.
struct Checkpoint {
  let directory: OpenDirectory
  let mark: CheckpointMark

  /// The newest one, or nil.
  static func newest(_ directory: OpenDirectory) throws -> Checkpoint? {
    guard let mark = try directory.log.read({ try $0.checkpoint() }) else { return nil }
    return Checkpoint(directory: directory, mark: mark)
  }

  static func directory(_ sequence: SequenceNumber) -> String { "checkpoint-\(sequence)" }

  var path: String { "\(directory.path)/\(Checkpoint.directory(mark.sequence))" }

  /// Copies it to where a new generation of the state is made.
  ///
  /// - Parameter directory: An empty directory.
  /// - Throws: ``StorageError``.
  func copy(into directory: String) throws {
    try Files.copy("\(path)/data.mdb", to: "\(directory)/data.mdb")
  }
}

/// When a checkpoint is due: when the log has grown by as much as takes about two seconds to fold
/// anew, and by enough of the state's size that copying it stays a small part of all writing.
struct CheckpointPolicy {
  /// The log's growth that makes one due, in bytes.
  let growth: Int

  func isDue(logBytes: Int, stateBytes: Int, last: CheckpointMark?) -> Bool {
    logBytes - Int(clamping: last?.logBytes ?? 0) >= max(growth, stateBytes / 4)
  }
}

extension Database {
  /// Waits until a checkpoint that is being made is there, or has failed.
  package func finishCheckpoint() { writer.checkpointer.finish() }
}

/// Makes checkpoints in the background, one at a time.
final class Checkpointer: Sendable {
  private let isBusy = Atomic<Bool>(false)
  private let running = Mutex<EnvironmentCopy?>(nil)
  private let isClosed = Atomic<Bool>(false)
  private let queue: any WorkQueue

  init(_ background: any BackgroundWork) {
    queue = background.makeQueue("cambium.checkpoint", .utility)
  }

  /// Makes a checkpoint if one is due; returns at once.
  ///
  /// - Parameters:
  ///   - directory: The open directory whose current state is copied, into itself.
  ///   - exclusively: Runs something while nothing else writes.
  func consider(
    _ directory: OpenDirectory,
    _ exclusively: @escaping @Sendable (() throws -> Void) throws -> Void
  ) {
    guard let growth = directory.options.checkpointGrowth, (try? isDue(directory, growth)) == true,
      !isBusy.exchange(true, ordering: .relaxed)
    else { return }
    queue.run { [self] in
      defer { isBusy.store(false, ordering: .relaxed) }
      do {
        // Another process may have made one since.
        if try isDue(directory, growth) { try make(directory, exclusively) }
      } catch {
        if !isClosed.load(ordering: .relaxed) { directory.report(.checkpointFailed("\(error)")) }
      }
    }
  }

  private func isDue(_ directory: OpenDirectory, _ growth: Int) throws -> Bool {
    let logBytes = try directory.log.environment.usage().usedBytes
    guard logBytes >= growth else { return false }
    let last = try directory.log.read { try $0.checkpoint() }
    let stateBytes = try directory.currentState().environment.usage().usedBytes
    return CheckpointPolicy(growth: growth)
      .isDue(logBytes: logBytes, stateBytes: stateBytes, last: last)
  }

  private func make(_ directory: OpenDirectory, _ exclusively: (() throws -> Void) throws -> Void)
    throws
  {
    let copied = Database.temporaryPath("\(directory.path)/checkpoint", "-")
    let claim = try ClaimedDirectory(creating: copied)
    defer { try? Files.removeDirectory(copied) }
    let logBytes = try directory.log.environment.usage().usedBytes
    try copy(try directory.currentState(), to: copied)
    let sequence = try Checkpointer.sequence(of: copied, directory)
    try Files.sync(copied)
    try exclusively {
      try directory.publish(
        CheckpointMark(sequence: sequence, logBytes: UInt64(logBytes)), from: copied)
    }
    withExtendedLifetime(claim) {}
  }

  private func copy(_ state: State, to directory: String) throws {
    let copy = try EnvironmentCopy(of: state.environment, to: "\(directory)/data.mdb")
    running.withLock { $0 = copy }
    defer { running.withLock { $0 = nil } }
    if isClosed.load(ordering: .relaxed) { throw CancellationError() }
    try copy.run()
  }

  /// The moment that a copy holds; reading it checks the copy's file.
  private static func sequence(of copied: String, _ directory: OpenDirectory) throws
    -> SequenceNumber
  {
    let state = try State(
      at: copied, generation: 0, directory.options.environment(readOnly: false))
    defer { state.environment.close() }
    let transaction = try ReadTransaction(state.environment, tables: [])
    return try StateReader(access: transaction.access, tables: state.tables).head().applied
  }

  /// Gives up what is being made, and waits for it to end.
  func close() {
    isClosed.store(true, ordering: .relaxed)
    running.withLock { $0?.cancel() }
    finish()
  }

  /// Waits for what is being made.
  func finish() { queue.finish() }
}
