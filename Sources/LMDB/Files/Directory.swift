import CLMDB

/// An open directory; names in it are looked up from its descriptor and nowhere else.
///
/// Everything that the engine opens, creates, renames or removes goes through here, and no symbolic
/// link is followed: not as the last part of a path, and not on the way to it. A path that a user
/// gives may contain links; it is resolved once, by ``Files/resolved(_:)``.
final class Directory: Sendable {
  let descriptor: Int32
  let path: String

  fileprivate init(_ descriptor: Int32, _ path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  /// Opens the directory at a path.
  ///
  /// - Throws: ``StorageError``: `.missing`, and `.notRegular` where a part is a link.
  static func open(_ path: String) throws(StorageError) -> Directory {
    let descriptor = Platform.openWithoutLinks(path, searching)
    return descriptor >= 0 ? Directory(descriptor, path) : try walk(to: path)
  }

  /// Opens the directory at a path, one part after the other: used if the system cannot do it in
  /// one call, and to find the part that is in the way.
  static func walk(to path: String) throws(StorageError) -> Directory {
    let start = path.utf8.first == Files.slash ? "/" : "."
    let descriptor = Platform.openFile(AT_FDCWD, start, searching)
    guard descriptor >= 0 else { throw Files.failure("opening \(path)") }
    var directory = Directory(descriptor, start)
    for name in path.utf8.split(separator: Files.slash) {
      directory = try DirectoryEntry(directory, String(Substring(name))).directory()
    }
    return directory
  }

  /// The flags that open a directory for lookups only, which requires no permission to list it.
  fileprivate static var searching: Int32 { Platform.searchOnly | O_DIRECTORY | O_CLOEXEC }

  /// The directory's device and inode.
  var identity: Files.Identity? { Files.identity(of: descriptor) }

  /// The names in it, without `.` and `..`, unordered.
  func names() throws(StorageError) -> [String] {
    let listed = Platform.openFile(
      descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard listed >= 0, let stream = unsafe fdopendir(listed) else {
      let error = Files.failure("listing \(path)")
      if listed >= 0 { close(listed) }
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Its permission bits.
  fileprivate var mode: mode_t {
    var info = stat()
    return unsafe fstat(descriptor, &info) == 0 ? info.st_mode & 0o777 : 0o700
  }
}

/// A name in a directory, whatever kind of file it denotes.
struct DirectoryEntry {
  let directory: Directory
  let name: String

  /// The kinds of things that a name can denote.
  enum Kind { case file, directory, link, other }

  init(_ directory: Directory, _ name: String) {
    self.directory = directory
    self.name = name
  }

  /// Opens the directory that holds a path.
  init(_ path: String) throws(StorageError) {
    let name = Files.name(of: path)
    let isWhole = name == "." || name == ".." || name == "/"
    self.init(try Directory.open(isWhole ? path : Files.parent(of: path)), isWhole ? "." : name)
  }

  /// The path, for messages.
  var path: String {
    if name == "." { return directory.path }
    switch directory.path {
    case ".": return name
    case "/": return "/\(name)"
    default: return "\(directory.path)/\(name)"
    }
  }

  // MARK: Looking

  /// The status that the system reports, of a link itself; nil if there is nothing.
  var status: stat? {
    var info = stat()
    return unsafe fstatat(directory.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info : nil
  }

  var kind: Kind? { status.map(DirectoryEntry.kind) }

  /// The identity of the file, or nil if there is none.
  var identity: Files.Identity? { status.map { Files.Identity($0) } }

  fileprivate static func kind(_ status: stat) -> Kind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .directory
    case S_IFLNK: .link
    default: .other
    }
  }

  // MARK: Opening

  /// Opens an existing file. A FIFO or device is refused, and does not block.
  ///
  /// - Returns: The descriptor, for the caller to close.
  /// - Throws: ``StorageError``: `.missing`; `.notRegular` if it is not a regular file.
  func open(_ flags: Int32, acceptsDirectory: Bool = false) throws(StorageError) -> Int32 {
    let descriptor = Platform.openFile(
      directory.descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("opening") }
    var info = stat()
    let kind = unsafe fstat(descriptor, &info) == 0 ? DirectoryEntry.kind(info) : .other
    guard kind == .file || acceptsDirectory && kind == .directory else {
      close(descriptor)
      throw notRegular(kind)
    }
    return descriptor
  }

  /// Creates a file with the directory's permissions; the name must be free.
  func create(_ flags: Int32) throws(StorageError) -> Int32 {
    let descriptor = Platform.openFile(
      directory.descriptor, name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw refusal("creating") }
    // A file system without permissions refuses, which does no harm.
    _ = fchmod(descriptor, directory.mode & 0o666)
    return descriptor
  }

  /// Opens a file for reading and writing, or creates it.
  func openOrCreate() throws(StorageError) -> Int32 {
    for _ in 0..<8 {
      do { return try open(O_RDWR) } catch  where error.kind == .missing {}
      do { return try create(O_RDWR) } catch  where error.code == EEXIST {}
    }
    throw StorageError(.busy, "\(path) comes and goes")
  }

  /// Opens an existing directory.
  func directory(_ flags: Int32 = Directory.searching) throws(StorageError) -> Directory {
    let descriptor = Platform.openFile(
      directory.descriptor, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw refusal("opening") }
    return Directory(descriptor, path)
  }

  // MARK: Changing

  /// Creates a directory.
  func createDirectory(_ permissions: Files.Permissions) throws(StorageError) {
    let mode = permissions == .byUmask ? 0o755 : 0o700 as mode_t
    guard unsafe mkdirat(directory.descriptor, name, mode) == 0 else { throw refusal("creating") }
    if permissions == .asParent, let created = try? directory(O_RDONLY) {
      _ = fchmod(created.descriptor, directory.mode)
    }
  }

  /// Removes a file, a link, or anything else that is not a directory.
  func remove() throws(StorageError) {
    guard unsafe unlinkat(directory.descriptor, name, 0) == 0 else { throw refusal("removing") }
  }

  /// Removes the entry of any kind: a directory with everything in it, a link without its target.
  func removeAll() throws(StorageError) {
    guard kind == .directory else { return try remove() }
    let inside = try directory()
    for name in try inside.names() { try DirectoryEntry(inside, name).removeAll() }
    guard unsafe unlinkat(directory.descriptor, name, AT_REMOVEDIR) == 0 else {
      throw refusal("removing")
    }
  }

  /// Renames it; an existing target file is replaced.
  ///
  /// A file system in a network may report an error of a rename that has happened. It counts as
  /// done then: whoever gave up would leave the new name behind, and could not try again.
  func rename(to target: DirectoryEntry) throws(StorageError) {
    let before = status.map(Files.Identity.init)
    if unsafe renameat(directory.descriptor, name, target.directory.descriptor, target.name) == 0 {
      return
    }
    let failure = Files.failure("renaming \(path) to \(target.path)")
    let hasMoved = before != nil && status == nil
    guard hasMoved, target.status.map(Files.Identity.init) == before else { throw failure }
  }

  /// Gives a file a second name.
  ///
  /// - Returns: False if the file system cannot: the places are on two, or it has no links.
  func link(to target: DirectoryEntry) throws(StorageError) -> Bool {
    guard kind == .file else { throw notRegular(kind ?? .other) }
    if unsafe linkat(directory.descriptor, name, target.directory.descriptor, target.name, 0) == 0 {
      return true
    }
    if [EXDEV, EPERM, EMLINK, EOPNOTSUPP, ENOSYS].contains(errno) { return false }
    throw Files.failure("linking \(path) to \(target.path)")
  }

  // MARK: Refusing

  /// The error for a call that has just failed.
  private func refusal(_ doing: String) -> StorageError {
    let code = errno
    if [ELOOP, ENOTDIR, EISDIR, ENXIO].contains(code), let kind { return notRegular(kind) }
    return StorageError(code: code, while: "\(doing) \(path)")
  }

  private func notRegular(_ kind: Kind) -> StorageError {
    switch kind {
    case .link:
      StorageError(
        .notRegular,
        "\(path) is a symbolic link, and none is followed in a database or a backup; "
          + "put what it leads to in its place, or remove it")
    case .directory: StorageError(.notRegular, "\(path) is a directory, not a file")
    case .file: StorageError(.notRegular, "\(path) is a file, not a directory")
    case .other: StorageError(.notRegular, "\(path) is a pipe or a device, not a file")
    }
  }
}

extension Platform {
  /// `openat(2)`, repeated if a signal interrupts it.
  fileprivate static func openFile(
    _ directory: Int32, _ name: String, _ flags: Int32, _ mode: mode_t = 0
  ) -> Int32 {
    while true {
      let descriptor = unsafe openat(directory, name, flags, mode)
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  /// Opens a path of which no part is a symbolic link; less than zero if that fails, or if the
  /// system cannot do it in one call.
  fileprivate static func openWithoutLinks(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Glibc)
      unsafe cambium_open_without_links(path, UInt64(flags))
    #else
      openFile(AT_FDCWD, path, flags | O_NOFOLLOW_ANY)
    #endif
  }

  /// Opens a directory for lookups only (O_PATH, which Glibc's module leaves out).
  #if canImport(Glibc)
    fileprivate static let searchOnly: Int32 = 0o10_000_000
  #else
    fileprivate static let searchOnly = O_RDONLY
  #endif
}
