/// A directory that its creator locks while working in it, so that others can recognize for
/// certain the remains of a crash.
///
/// The lock is a `flock` on the directory itself. It ends with the process that holds it, in any
/// namespace, and it stays when the directory is renamed. A file system that cannot lock
/// directories (NFS) goes without: nothing is certain there, so nothing is removed.
package final class ClaimedDirectory: Sendable {
  /// The path at which it was created.
  package let path: String
  private let descriptor: Int32

  /// Creates a directory, whose parent must exist; the remains of a crash at the path are removed.
  ///
  /// - Throws: ``StorageError``: `.busy` if another process is working at the same path.
  package init(
    creating path: String, _ permissions: Files.Permissions = .asParent
  ) throws(StorageError) {
    self.path = path
    for _ in 0..<8 {
      try ClaimedDirectory.removeIfAbandoned(path)
      if Files.exists(path) { break }
      try Files.createDirectory(path, permissions)
      // Between the two calls another process may have taken it for abandoned.
      guard let claim = ClaimedDirectory.claim(path) else { continue }
      descriptor = claim.descriptor
      return
    }
    throw StorageError(.busy, "another process is at work in \(path)")
  }

  /// Locks an existing directory.
  ///
  /// - Throws: ``StorageError``: `.busy` if another process is working in it.
  package init(locking path: String) throws(StorageError) {
    self.path = path
    guard let claim = ClaimedDirectory.claim(path) else {
      throw StorageError(.busy, "another process is at work in \(path)")
    }
    descriptor = claim.descriptor
  }

  deinit { close(descriptor) }

  /// Removes a directory that no process is working in, with everything in it.
  package static func removeIfAbandoned(_ path: String) throws(StorageError) {
    guard let (descriptor, isLocked) = claim(path) else { return }
    defer { close(descriptor) }
    if isLocked { try Files.removeDirectory(path) }
  }

  /// Locks the directory at a path; nil if there is none, or another process has locked it.
  private static func claim(_ path: String) -> (descriptor: Int32, isLocked: Bool)? {
    guard let entry = try? DirectoryEntry(path), entry.kind == .directory,
      let descriptor = try? entry.open(O_RDONLY, acceptsDirectory: true)
    else { return nil }
    let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
    // The former holder of the lock may have renamed the directory before it released the lock.
    guard isLocked || errno != EWOULDBLOCK,
      Files.identity(of: descriptor) == Files.identity(of: path)
    else {
      close(descriptor)
      return nil
    }
    return (descriptor, isLocked)
  }
}
