/// The reason why a file was refused, sorted by the remedy.
package enum FileDamage: Error, Equatable, Sendable {
  /// The operating system did not let us read; `code` is its errno. Recovery: see `reason`.
  case unreadable(code: Int32, reason: String)

  /// This is no LMDB data file at all. Recovery: check the path.
  case notEnvironment(reason: String)

  /// LMDB wrote it, but in a version, on a machine or in a mode that we do not support. Recovery:
  /// open it there.
  case unsupported(reason: String)

  /// The bytes differ from those that LMDB wrote. Recovery: restore a backup.
  case damaged(page: UInt64?, reason: String)

  /// The meta page of the transaction has been overwritten since.
  ///
  /// Recovery: begin a new read transaction, and use its number.
  case transactionGone(UInt64)

  init(_ fault: PageFault) {
    self =
      fault.code == 0
      ? .damaged(page: fault.page, reason: fault.reason)
      : .unreadable(code: fault.code, reason: "page \(fault.page): \(fault.reason)")
  }

  /// Reads pages, and throws a fault of one as damage of the file.
  static func ofPages<R>(_ body: () throws(PageFault) -> R) throws(FileDamage) -> R {
    do { return try body() } catch { throw FileDamage(error) }
  }
}

extension FileDamage: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreadable(_, let reason): "the data file cannot be read: \(reason)"
    case .notEnvironment(let reason): "this is not a data file of LMDB: \(reason)"
    case .unsupported(let reason): "the data file is of an unsupported kind: \(reason)"
    case .damaged(let page?, let reason): "the data file is damaged: page \(page): \(reason)"
    case .damaged(nil, let reason): "the data file is damaged: \(reason)"
    case .transactionGone(let id): "no meta page of transaction \(id) is left"
    }
  }

  /// The same, as the reason in a sentence that says already that something is damaged.
  package var reason: String {
    switch self {
    case .damaged(let page?, let reason): "page \(page) of the data file: \(reason)"
    case .damaged(nil, let reason): "the data file: \(reason)"
    default: description
    }
  }
}

/// Reads pages of a data file with `pread`.
///
/// Nothing is mapped and nothing is trusted: a short or damaged file gives an error, where LMDB's
/// memory map would give a signal. The descriptor's own position does not move.
///
/// Opening and closing `data.mdb` in a process that has the environment open is safe: closing a
/// descriptor drops the process's POSIX locks on the file it belongs to, and LMDB locks only
/// `lock.mdb`. For that reason nothing here ever opens `lock.mdb`.
struct PageFile {
  let descriptor: CInt

  /// A directory, fifo or device is refused.
  init(descriptor: CInt) throws(FileDamage) {
    self.descriptor = descriptor
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable("fstat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .notEnvironment(reason: "it is not a regular file")
    }
  }

  /// Opens so that a fifo or device at the path cannot block; ``close()`` it after use.
  init(path: String) throws(FileDamage) {
    do { descriptor = try DirectoryEntry(path).open(O_RDONLY) } catch {
      throw error.kind == .notRegular
        ? .notEnvironment(reason: "it is not a regular file")
        : .unreadable(path, code: error.code)
    }
  }

  func close() { Platform.closeFile(descriptor) }

  /// The number of whole pages in the file at present.
  func pageCount() throws(FileDamage) -> UInt64 {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable("fstat") }
    return UInt64(clamping: status.st_size) / UInt64(PageFormat.pageSize)
  }

  /// Reads a page, or its first `count` bytes.
  func page(_ number: UInt64, count: Int = PageFormat.pageSize) throws(PageFault) -> RawPage {
    let (place, overflow) = number.multipliedReportingOverflow(by: UInt64(PageFormat.pageSize))
    guard !overflow, let offset = off_t(exactly: place) else {
      throw PageFault(page: number, reason: "no file has so many pages")
    }
    let (bytes, error) = Platform.readBytes(descriptor, at: offset, count: count)
    if error != 0 { throw PageFault(page: number, reason: systemMessage(error), code: error) }
    guard bytes.count == count else {
      throw PageFault(page: number, reason: "the file ends inside or before it")
    }
    return RawPage(number: number, bytes: bytes)
  }

  /// Checks the header of the pages of its own that a leaf's value takes.
  ///
  /// - Parameters:
  ///   - start: The first of them.
  ///   - node: The leaf's node.
  ///   - limit: The number of pages that there are.
  /// - Returns: The number of pages that the value needs.
  /// - Throws: ``PageFault`` if they do not hold it.
  func checkOverflow(
    at start: UInt64, of node: PageNode, limit: UInt64 = .max
  ) throws(PageFault) -> UInt64 {
    let header = try page(start, count: PageFormat.headerSize)
    try header.checkHeader(flags: PageFormat.PageFlags.overflow)
    let needed = PageFormat.overflowPages(for: node.valueSize)
    guard try UInt64(header.overflowPages) >= needed, start < limit, needed <= limit - start else {
      throw header.fault("its pages do not hold the value of \(node.valueSize) bytes")
    }
    return needed
  }
}

extension FileDamage {
  /// The operating system's last error on this thread.
  fileprivate static func unreadable(_ subject: String, code: Int32 = errno) -> FileDamage {
    .unreadable(code: code, reason: "\(subject): \(systemMessage(code))")
  }

  /// The same, as the error type of the rest of this module.
  package var storageError: StorageError {
    switch self {
    case .unreadable(let code, _):
      StorageError(StorageError(code: code, while: "").kind, description)
    case .notEnvironment: StorageError(.missing, description)
    case .unsupported: StorageError(.unsupported, description)
    case .damaged: StorageError(.corrupt, reason)
    case .transactionGone: StorageError(.busy, description)
    }
  }
}

extension Platform {
  /// `close(2)`, under a name that does not collide with ours.
  fileprivate static func closeFile(_ descriptor: CInt) { _ = close(descriptor) }
}

private func systemMessage(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
