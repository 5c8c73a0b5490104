// The place of databases that end with their process, whether it closes them or is killed.
//
//     /dev/shm/cambium-<random>.memory/    mode 0700, locked by the process that uses it
//       data/                              the database
//
// The files of log and state are unlinked as soon as they are open, so the system frees them with
// the process. A process that was killed leaves the directory, with no data in it except that of a
// compaction or a verification under way. The next process that creates such a database removes it:
// a lock without a holder shows that it was abandoned.

import FoundationEssentials
import LMDB

/// Makes and removes the directories of databases in memory.
enum MemoryPlace {
  private static let (prefix, suffix) = ("cambium-", ".memory")

  /// Creates a directory, and keeps it as long as the result lives.
  static func create() throws -> ClaimedDirectory {
    let parent = parent
    sweep(parent)
    let name = "\(prefix)\(UUID().uuidString)\(suffix)"
    return try translating { try ClaimedDirectory(creating: "\(parent)/\(name)", .ownerOnly) }
  }

  /// Shared memory if the system has a place for files in it, else the temporary directory.
  private static var parent: String {
    let memory = "/dev/shm"
    if Files.isDirectory(memory) && Files.isWritable(memory) { return memory }
    let temporary = FileManager.default.temporaryDirectory.path
    return Files.resolved(temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary)
  }

  /// Removes the directories of killed processes.
  private static func sweep(_ parent: String) {
    for name in Files.names(in: parent, startingWith: prefix) where name.hasSuffix(suffix) {
      try? ClaimedDirectory.removeIfAbandoned("\(parent)/\(name)")
    }
  }
}
