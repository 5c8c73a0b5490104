import CLMDB

/// The two files of an environment, prepared before LMDB opens them and checked afterwards.
///
/// LMDB opens by path and follows links, creates files with the given mode less the umask, and maps
/// a sparse lock file: if the disk is full, the first use of one of its pages ends the process with
/// SIGBUS (H24). So both files are created here, and the lock file gets its disk blocks before it
/// is mapped.
///
/// One race is left. Anyone with write access to the directory can put a link there after
/// ``init(in:isReadOnly:)`` has checked and before LMDB opens, and LMDB then opens the link's
/// target; it writes to it only if it is empty or an LMDB file. ``check(_:)`` refuses the
/// environment then, unless the link is gone again.
struct EnvironmentFiles {
  let directory: Directory
  private let lockIdentity: Files.Identity?

  static let data = "data.mdb"
  static let lock = "lock.mdb"

  /// The maximum number of readers.
  static let readersMax = 1024

  /// More than the size of LMDB's lock file: a header of under 4 KiB, and 64 bytes for each reader.
  static let lockBytes = 4096 + 64 * readersMax

  /// Opens the directory, checks the existing files, and creates missing ones.
  ///
  /// Closing a descriptor of the lock file would drop LMDB's own locks, so this is for an
  /// environment that this process does not have open (H9).
  ///
  /// - Throws: ``StorageError``: `.notRegular`, `.diskFull`, `.missing`.
  init(in path: String, isReadOnly: Bool) throws(StorageError) {
    directory = try Directory.open(path)
    let data = DirectoryEntry(directory, EnvironmentFiles.data)
    let lock = DirectoryEntry(directory, EnvironmentFiles.lock)
    try EnvironmentFiles.prepareLock(lock, isReadOnly)
    lockIdentity = lock.identity
    close(isReadOnly ? try data.open(O_RDONLY) : try data.openOrCreate())
  }

  private static func prepareLock(
    _ lock: DirectoryEntry, _ isReadOnly: Bool
  ) throws(StorageError) {
    let descriptor: Int32
    do { descriptor = try lock.openOrCreate() } catch {
      // LMDB reads without a lock file where the file system cannot be written.
      if isReadOnly && error.kind == .readOnly { return }
      throw error
    }
    defer { close(descriptor) }
    let bytes = max(lockBytes, Int(clamping: lock.status?.st_size ?? 0))
    let code = Platform.allocate(descriptor, bytes: bytes)
    if code == EOPNOTSUPP || code == ENOSYS { return }
    if code != 0 { throw StorageError(code: code, while: "reserving room for \(lock.path)") }
  }

  /// Checks that LMDB has opened the files that were prepared.
  ///
  /// - Throws: ``StorageError``: `.notRegular`.
  func check(_ handle: OpaquePointer) throws(StorageError) {
    var descriptor: Int32 = -1
    try LMDB.check(unsafe mdb_env_get_fd(handle, &descriptor), "opening \(directory.path)")
    let data = DirectoryEntry(directory, EnvironmentFiles.data)
    let lock = DirectoryEntry(directory, EnvironmentFiles.lock)
    guard data.identity == Files.identity(of: descriptor), data.kind == .file,
      lock.identity == lockIdentity || lockIdentity == nil
    else {
      throw StorageError(
        .notRegular, "the files of \(directory.path) were replaced while they were opened")
    }
  }
}
