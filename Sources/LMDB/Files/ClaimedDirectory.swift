/// A directory that its maker holds a lock on while it is at work in it, so that others can tell
/// for certain what a crash has left.
///
/// The lock is a `flock` on the directory itself. It ends with the process that holds it, whatever
/// its number and wherever that number counts, and it stays when the directory is renamed. A file
/// system that cannot lock directories (NFS) goes without: nothing is certain there, and all stays.
package final class ClaimedDirectory: Sendable {
  /// Where it was made.
  package let path: String
  private let descriptor: Int32

  /// Makes a directory; its parent must be there, and what a crash has left at its place goes.
  ///
  /// - Throws: ``StorageError``: `.busy` where another one is at work at the same place.
  package init(
    creating path: String, _ permissions: Files.Permissions = .asParent
  ) throws(StorageError) {
    self.path = path
    for _ in 0..<8 {
      try ClaimedDirectory.removeIfAbandoned(path)
      if Files.exists(path) { break }
      try Files.createDirectory(path, permissions)
      // Between the two calls somebody may have taken it for abandoned.
      guard let claim = ClaimedDirectory.claim(path) else { continue }
      descriptor = claim.descriptor
      return
    }
    throw StorageError(.busy, "another process is at work in \(path)")
  }

  /// Locks a directory that is there.
  ///
  /// - Throws: ``StorageError``: `.busy` where another one is at work in it.
  package init(locking path: String) throws(StorageError) {
    self.path = path
    guard let claim = ClaimedDirectory.claim(path) else {
      throw StorageError(.busy, "another process is at work in \(path)")
    }
    descriptor = claim.descriptor
  }

  deinit { close(descriptor) }

  /// Removes a directory that nobody is at work in, with all in it.
  package static func removeIfAbandoned(_ path: String) throws(StorageError) {
    guard let (descriptor, isLocked) = claim(path) else { return }
    defer { close(descriptor) }
    if isLocked { try Files.removeDirectory(path) }
  }

  /// Locks the directory at a path; nil where there is none, or somebody has locked it.
  private static func claim(_ path: String) -> (descriptor: Int32, isLocked: Bool)? {
    guard let entry = try? DirectoryEntry(path), entry.kind == .directory,
      let descriptor = try? entry.open(O_RDONLY, acceptsDirectory: true)
    else { return nil }
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    // Who held the lock may have renamed the directory before letting go of it.
    guard isLocked || errno != EWOULDBLOCK,
      Files.identity(of: descriptor) == Files.identity(of: path)
    else {
      close(descriptor)
      return nil
    }
    return (descriptor, isLocked)
  }
}
