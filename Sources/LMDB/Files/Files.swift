import Dispatch
import Synchronization

/// The few calls on files that durability needs, with errors that include the path.
package enum Files {
  /// A file's place on its device, which stays the same while the file does.
  package struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ info: stat) {
      (device, inode) = (UInt64(info.st_dev), UInt64(info.st_ino))
    }
  }

  /// The users who may access a created file or directory.
  package enum Permissions: Sendable {
    /// The permissions of the parent directory.
    case asParent
    /// The process's umask: for the first directory of a database or a backup.
    case byUmask
    /// The owner alone.
    case ownerOnly
  }

  /// The target of a path that a user gave, with all links followed. They are followed here, once;
  /// from then on none is.
  package static func resolved(_ path: String) -> String {
    if let entry = try? DirectoryEntry(path), entry.kind != .link { return path }
    if let real = Platform.realPath(path) { return real }
    // There is nothing yet, or a link without a target, which is not followed.
    return Platform.realPath(parent(of: path)).map { "\($0 == "/" ? "" : $0)/\(name(of: path))" }
      ?? path
  }

  /// The kind of what is at a path, of a link itself; nil if there is nothing.
  private static func kind(of path: String) -> DirectoryEntry.Kind? {
    (try? DirectoryEntry(path))?.kind
  }

  /// The status that the system reports for a path, of a link itself; nil if there is nothing.
  private static func status(of path: String) -> stat? { (try? DirectoryEntry(path))?.status }

  /// The identity of the file at a path, or nil if there is none.
  package static func identity(of path: String) -> Identity? { status(of: path).map(Identity.init) }

  /// The identity of the file that a descriptor refers to.
  static func identity(of descriptor: Int32) -> Identity? {
    var info = stat()
    return unsafe fstat(descriptor, &info) == 0 ? Identity(info) : nil
  }

  /// True if there is anything at a path, even a link without a target.
  package static func exists(_ path: String) -> Bool { status(of: path) != nil }

  /// True if there is a regular file at a path.
  package static func isFile(_ path: String) -> Bool { kind(of: path) == .file }

  /// True if there is a directory at a path.
  package static func isDirectory(_ path: String) -> Bool { kind(of: path) == .directory }

  /// True if there is a symbolic link at a path.
  package static func isLink(_ path: String) -> Bool { kind(of: path) == .link }

  /// True if only its owner can access a directory.
  package static func isPrivate(_ path: String) -> Bool {
    status(of: path).map { $0.st_mode & 0o077 == 0 } ?? false
  }

  /// True if this process may create files in a directory.
  package static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

  /// A file's length in bytes, or 0 if there is none.
  package static func size(of path: String) -> UInt64 {
    status(of: path).map { UInt64($0.st_size) } ?? 0
  }

  /// The disk blocks that a file takes, in bytes; sparse files take less than their size.
  package static func allocated(_ path: String) -> UInt64 {
    status(of: path).map { UInt64($0.st_blocks) * 512 } ?? 0
  }

  /// Free bytes on the file system of a path.
  package static func freeBytes(at path: String) -> UInt64? {
    var info = statvfs()
    guard unsafe statvfs(path, &info) == 0 else { return nil }
    return UInt64(info.f_bavail) * UInt64(info.f_frsize)
  }

  /// The size of the file system of a path, in bytes.
  static func totalBytes(at path: String) -> UInt64? {
    var info = statvfs()
    guard unsafe statvfs(parent(of: path), &info) == 0 else { return nil }
    return UInt64(info.f_blocks) * UInt64(info.f_frsize)
  }

  /// True if a file cannot grow: its file system is full, or it has reached the file-size limit.
  static func isFull(_ path: String) -> Bool {
    // The name of an anonymous file is gone, and maybe that of its directory.
    var place = path
    while !exists(place), let slash = place.lastIndex(of: "/"), slash > place.startIndex {
      place = String(place[..<slash])
    }
    if let free = freeBytes(at: place), free < 1 << 16 { return true }
    let limit = Platform.fileBytesMax
    return limit < .max - (1 << 20) && size(of: path) + (1 << 20) > limit
  }

  /// The names in a directory, without `.` and `..`, sorted.
  package static func names(in path: String) throws(StorageError) -> [String] {
    try Directory.open(path).names().sorted()
  }

  /// The names in a directory that start with a prefix; none if it cannot be listed.
  package static func names(in path: String, startingWith prefix: String) -> [String] {
    ((try? Directory.open(path).names()) ?? []).filter { $0.utf8.starts(with: prefix.utf8) }
  }

  /// Creates a directory; its parent must exist.
  package static func createDirectory(
    _ path: String, _ permissions: Permissions = .asParent
  ) throws(StorageError) {
    try DirectoryEntry(path).createDirectory(permissions)
  }

  /// Removes a directory and everything in it; a link is removed without its target.
  package static func removeDirectory(_ path: String) throws(StorageError) {
    try DirectoryEntry(path).removeAll()
  }

  /// Renames within one file system; nothing may exist at `target`.
  package static func rename(_ source: String, to target: String) throws(StorageError) {
    if exists(target) { throw StorageError(code: EEXIST, while: "renaming \(source) to \(target)") }
    try DirectoryEntry(source).rename(to: DirectoryEntry(target))
  }

  /// Renames a file over another.
  package static func replace(_ old: String, with new: String) throws(StorageError) {
    try DirectoryEntry(new).rename(to: DirectoryEntry(old))
  }

  /// True if no process has an environment's data file open (see ``NamespaceClaim``); true also
  /// where that cannot be determined.
  package static func isUnused(_ path: String) -> Bool {
    guard let descriptor = try? DirectoryEntry(path).open(O_RDWR) else { return true }
    defer { close(descriptor) }
    return Platform.lockAlone(descriptor)
  }

  /// True if another process has an environment's data file open (see ``NamespaceClaim``); false
  /// also if that cannot be determined. This process must not have it open.
  package static func isInUse(_ path: String) -> Bool {
    guard let descriptor = try? DirectoryEntry(path).open(O_RDONLY) else { return false }
    defer { close(descriptor) }
    return Platform.isLocked(descriptor)
  }

  /// Copies a file's bytes; `target` must not exist.
  package static func copy(_ source: String, to target: String) throws {
    let writer = try FileWriter(creating: target)
    try forEachPiece(of: source) { try writer.append($0) }
  }

  /// Copies a file by sharing its blocks, where the file system does that; `target` must not exist.
  ///
  /// - Returns: False if it cannot, and nothing is left then.
  package static func clone(_ source: String, to target: String) throws(StorageError) -> Bool {
    let from = try DirectoryEntry(source).open(O_RDONLY)
    defer { close(from) }
    let entry = try DirectoryEntry(target)
    let into = try entry.create(O_WRONLY)
    defer { close(into) }
    let code = Platform.clone(from, into: into)
    if code == 0 { return true }
    try entry.remove()
    if code == ENOSPC || code == EDQUOT || code == EIO {
      throw StorageError(code: code, while: "sharing the blocks of \(source)")
    }
    return false
  }

  /// Gives a file that never changes a second name, or copies it where the file system cannot;
  /// `target` must not exist.
  package static func share(_ source: String, as target: String) throws {
    if try DirectoryEntry(source).link(to: DirectoryEntry(target)) { return }
    if try clone(source, to: target) { return }
    try copy(source, to: target)
  }

  /// Reads a file from its start to its end, in pieces of 1 MiB at most.
  package static func forEachPiece(
    of path: String, _ body: ([UInt8]) throws -> Void
  ) throws {
    let reader = try FileReader(path)
    while true {
      let piece = try reader.read(FileReader.pieceBytes)
      if piece.isEmpty { return }
      try body(piece)
    }
  }

  /// Writes all bytes to an open file; `path` is for the error.
  static func writeAll(
    _ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String
  ) throws(StorageError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw failure("writing \(path)") }
      rest = rest.dropFirst(count)
    }
  }

  /// A directory for temporary files that may become large: `TMPDIR` if it is set, else on disk.
  package static var temporaryDirectory: String {
    let wish = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
    let choices = [wish, "/var/tmp", "/tmp"].compactMap { $0 }.map(resolved)
    return choices.first { isDirectory($0) && isWritable($0) } ?? "."
  }

  /// Makes a file's content, or a directory's entries, durable.
  package static func sync(_ path: String) throws(StorageError) {
    let descriptor = try DirectoryEntry(path).open(O_RDONLY, acceptsDirectory: true)
    defer { close(descriptor) }
    guard Platform.flush(descriptor) == 0 else { throw failure("syncing \(path)") }
  }

  /// The byte between the parts of a path. If a combining character follows it, Swift sees a
  /// character other than a slash; the system does not.
  static let slash = UInt8(ascii: "/")

  /// The directory that holds a path.
  package static func parent(of path: String) -> String {
    let bytes = withoutLastSlashes(path)
    guard let end = bytes.lastIndex(of: slash) else { return "." }
    return end == bytes.startIndex ? "/" : String(Substring(bytes[..<end]))
  }

  /// The last part of a path.
  package static func name(of path: String) -> String {
    let bytes = withoutLastSlashes(path)
    guard let slash = bytes.lastIndex(of: slash) else { return String(Substring(bytes)) }
    return bytes.count == 1 ? "/" : String(Substring(bytes[bytes.index(after: slash)...]))
  }

  private static func withoutLastSlashes(_ path: String) -> Substring.UTF8View {
    var bytes = path.utf8[...]
    while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
    return bytes
  }

  /// Removes a file.
  package static func remove(_ path: String) throws(StorageError) {
    try DirectoryEntry(path).remove()
  }

  static func failure(_ doing: String) -> StorageError { StorageError(code: errno, while: doing) }
}

extension Platform {
  /// `realpath(3)`; nil if there is nothing at the path.
  fileprivate static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}

/// An advisory lock on a file of its own, held by one process (and one holder in it) at a time.
///
/// LMDB's own writer lock cannot time out; this one can, so writers queue here first. It is a
/// `flock`, which belongs to the open file: closing other descriptors does not drop it. Since
/// `flock` cannot wait with a timeout, waiters poll. They announce themselves by a shared lock on a
/// second file, and a holder that wants the lock again lets them go first: it looks for them when
/// it locks, at most once a millisecond.
package final class FileLock: Sendable {
  private let descriptor: Int32
  private let waiting: Int32
  /// The time of the last look for waiting processes, in nanoseconds.
  private let lastLook = Atomic<UInt64>(0)
  private static let lookInterval: UInt64 = 1_000_000

  /// Opens the lock's files, creating any that are missing.
  package init(path: String) throws(StorageError) {
    descriptor = try DirectoryEntry(path).openOrCreate()
    do { waiting = try DirectoryEntry(path + ".wait").openOrCreate() } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    close(descriptor)
    close(waiting)
  }

  /// Takes the lock, or gives up after `timeout`.
  ///
  /// - Returns: True if the lock was taken.
  package func lock(timeout: Duration) throws(StorageError) -> Bool {
    stepBack()
    if try attempt() { return true }
    _ = flock(waiting, LOCK_SH)
    defer { _ = flock(waiting, LOCK_UN) }
    let end = ContinuousClock.now + timeout
    while ContinuousClock.now < end {
      usleep(100)
      if try attempt() { return true }
    }
    return false
  }

  /// Lets waiting processes go first.
  private func stepBack() {
    let now = DispatchTime.now().uptimeNanoseconds
    if now &- lastLook.load(ordering: .relaxed) < FileLock.lookInterval { return }
    lastLook.store(now, ordering: .relaxed)
    if flock(waiting, LOCK_EX | LOCK_NB) == 0 {
      _ = flock(waiting, LOCK_UN)
    } else {
      usleep(400)
    }
  }

  private func attempt() throws(StorageError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { throw Files.failure("locking for writing") }
      return false
    }
    return true
  }

  /// Releases the lock.
  package func unlock() { _ = flock(descriptor, LOCK_UN) }
}

/// A file without a name, which the system removes when it is closed.
package final class TemporaryFile: Sendable {
  let descriptor: Int32

  /// Creates one in a directory.
  package init(in directory: String) throws(StorageError) {
    let path = "\(directory)/spool-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).tmp"
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw Files.failure("creating a temporary file in \(directory)") }
    // Its name is gone before anything is written, so only its owner can have it open.
    _ = unsafe unlink(path)
  }

  deinit { close(descriptor) }

  /// Adds bytes at the end.
  package func append(_ bytes: [UInt8]) throws(StorageError) {
    try Files.writeAll(bytes[...], to: descriptor, "a temporary file")
  }

  /// Reads up to `count` bytes.
  package func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
    let (bytes, error) = Platform.readBytes(descriptor, at: off_t(offset), count: count)
    if error != 0 { throw StorageError(code: error, while: "reading a temporary file") }
    return bytes
  }
}
