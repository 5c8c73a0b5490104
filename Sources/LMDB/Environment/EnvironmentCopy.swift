import CLMDB
import Synchronization

/// Copies an environment's newest moment into a file, compacted and synced, while others read and
/// write; the copy can be canceled at any time.
package final class EnvironmentCopy: Sendable {
  private let environment: Environment
  private let path: String
  private let descriptor: Int32

  /// Prepares a copy; the file must not exist.
  package init(of environment: Environment, to path: String) throws(StorageError) {
    descriptor = try DirectoryEntry(path).create(O_WRONLY)
    self.environment = environment
    self.path = path
  }

  deinit { close(descriptor) }

  /// Copies, and makes the copy durable; its name becomes durable with the directory's sync.
  ///
  /// LMDB reads through a transaction of its own, so no page that it needs is reused in the
  /// meantime, and the file grows by the amount written.
  ///
  /// - Throws: ``StorageError``; also after `cancel`. The file is of no use then.
  /// - Complexity: writes each page in use once.
  package func run() throws(StorageError) {
    try environment.whileOpen { () throws(StorageError) in
      try check(
        unsafe mdb_env_copyfd2(environment.handle, descriptor, UInt32(MDB_CP_COMPACT)),
        "copying \(environment.path)")
    }
    if Platform.flush(descriptor) != 0 { throw Files.failure("syncing \(path)") }
  }

  /// Makes `run` fail at its next write, since LMDB offers no other way to stop.
  package func cancel() {
    let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    if null < 0 { return }
    _ = dup2(null, descriptor)
    close(null)
  }
}
