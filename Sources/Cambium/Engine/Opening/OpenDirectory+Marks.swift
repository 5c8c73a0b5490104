// The marks of states and checkpoints in the log, which alone make them trusted.

import LMDB

extension OpenDirectory {
  /// Renames a finished copy of the state, and stores in the log that it can be trusted; the
  /// writer's turn and lock must be held.
  func publish(_ mark: CheckpointMark, from temporary: String) throws {
    let (head, old) = try log.readNewest { (try $0.head(), try $0.checkpoint()) }
    guard mark.sequence <= head.sequence, mark.sequence > old?.sequence ?? .zero else { return }
    let checkpoint = Checkpoint(directory: self, mark: mark)
    // The log does not name it, so a crash left it.
    if Files.exists(checkpoint.path) { try Files.removeDirectory(checkpoint.path) }
    try Files.rename(temporary, to: checkpoint.path)
    try Files.sync(path)
    try log.amend { try $0.setCheckpoint(mark) }
    if let old { try Files.removeDirectory(Checkpoint(directory: self, mark: old).path) }
  }

  /// Syncs the state and records that in the log, so that a system start requires no rebuild.
  func markClean() throws {
    let (head, mark) = try log.readNewest { (try $0.head(), try $0.stateMark()) }
    // This version cannot vouch for the state of a later version of the program.
    guard var mark, !mark.isClean, mark.fold == StateMark.foldNumber else { return }
    let state = try state(of: mark)
    let isWhole = (try? state.behind.write()) == true
    if state.environment.health.failure != nil { return try distrust(mark) }
    // A reader may still write to it what it lacks, in this process or in another.
    if try !isWhole || state.environment.isShared && state.applied() < head.sequence { return }
    do {
      try state.environment.sync()
    } catch {
      // The system may discard pages from memory that it could not write.
      try distrust(mark)
      throw error
    }
    mark.isClean = true
    try publish(mark)
  }

  /// Marks a state so that the next process that opens the database rebuilds it.
  private func distrust(_ mark: StateMark) throws {
    var mark = mark
    mark.isClean = false
    mark.boot = StateMark.untrustedBoot
    try publish(mark)
  }

  /// Stores the mark of a state.
  func publish(_ mark: StateMark) throws {
    try log.amend { try $0.setStateMark(mark) }
  }
}
