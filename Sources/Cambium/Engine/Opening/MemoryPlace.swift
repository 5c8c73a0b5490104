// Where databases live that go with their process, whether it closes them or is killed.
//
//     /dev/shm/cambium-<random>.memory/    mode 0700, locked by the process that uses it
//       data/                              the database
//
// The files of log and state lose their names as soon as they are open, so the system frees them
// with the process. The directory stays behind a process that was killed, without data in it but
// that of a compaction or a verification that was under way. Whoever makes the next such database
// removes it: a lock that nobody holds any more shows that it was abandoned.

import FoundationEssentials
import LMDB

/// Makes and removes the directories of databases in memory.
enum MemoryPlace {
  private static let (prefix, suffix) = ("cambium-", ".memory")

  /// Makes a directory, and holds it as long as the result lives.
  static func create() throws -> ClaimedDirectory {
    let parent = parent
    sweep(parent)
    let name = "\(prefix)\(UUID().uuidString)\(suffix)"
    return try translating { try ClaimedDirectory(creating: "\(parent)/\(name)", .ownerOnly) }
  }

  /// Memory where the system has a place for files in it, else the temporary directory.
  private static var parent: String {
    let memory = "/dev/shm"
    if Files.isDirectory(memory) && Files.isWritable(memory) { return memory }
    let temporary = FileManager.default.temporaryDirectory.path
    return Files.resolved(temporary.hasSuffix("/") ? String(temporary.dropLast()) : temporary)
  }

  /// Removes what processes have left that were killed.
  private static func sweep(_ parent: String) {
    for name in Files.names(in: parent, startingWith: prefix) where name.hasSuffix(suffix) {
      try? ClaimedDirectory.removeIfAbandoned("\(parent)/\(name)")
    }
  }
}
