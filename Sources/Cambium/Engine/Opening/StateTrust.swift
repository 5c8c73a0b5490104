// The conditions under which a state that was not closed properly is used as it is.
//
// A state is written without waiting for the disk. As long as the file system stays mounted, pages
// that are not on disk yet are in the system's memory, and every process that opens the file sees
// them. After that, pages may be missing, and nothing in the file shows it.
//
//     clean                              synced after the last write
//     same start, same unique mount      in memory, unless on disk
//     same start, open in a process      likewise: an open file keeps its file system mounted
//     anything else                      folded again from the newest checkpoint
//
// The system reuses a mount's number for the next one, so only ids that are unique count. Linux has
// them since 6.8. On other systems a process that was killed costs a recovery, unless another
// process has the database open.

import LMDB

/// Decides whether a state is used as it is.
struct StateTrust: Sendable {
  /// The database's directory.
  let path: String
  let boot: String
  let mount: String
  /// The generation in use when this process opened the log. Later ones were made on the same
  /// mount, which the open log keeps mounted.
  let firstGeneration: UInt64

  /// True if the state that a mark names can be used as it is.
  func covers(_ mark: StateMark) -> Bool {
    if mark.isTrusted(boot: boot, mount: mount) { return true }
    guard mark.boot == boot else { return false }
    // A process that has it open keeps the file system mounted, and unwritten pages in memory.
    return mark.generation > firstGeneration || isInUse(mark)
  }

  /// True if another process has the state of a mark open.
  private func isInUse(_ mark: StateMark) -> Bool { Files.isInUse(stateFile(mark)) }

  private func stateFile(_ mark: StateMark) -> String {
    "\(path)/\(State.directory(mark.generation))/data.mdb"
  }

  /// Syncs a state that this process is the first to use. If the system could not write some of it
  /// in the background, it reports that only to a sync, and may then have discarded the pages.
  ///
  /// - Throws: ``StorageError``: the state is of no use.
  func syncUnlessInUse(_ mark: StateMark) throws {
    if mark.isClean || mark.generation > firstGeneration || isInUse(mark) { return }
    try Files.sync(stateFile(mark))
  }
}
