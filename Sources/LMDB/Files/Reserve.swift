import Synchronization

/// Disk space that is reserved in a file, to be released for a write that must succeed even if the
/// disk is full.
///
/// The file's size shows whether the space is reserved: all of it or nothing. Its content is never
/// read.
package final class Reserve: Sendable {
  private let descriptor: Int32
  private let path: String
  private let bytes: Int
  /// True if this process has seen all of the space reserved, and has not released it since. It is
  /// locked while the space is reserved or released.
  private let isSeenWhole = Mutex(false)

  /// Opens the file, creating an empty one if it is missing.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - bytesMax: The space to reserve; on a small disk at most a sixty-fourth of its size.
  /// - Throws: ``StorageError``: `.notRegular` if something else is at the path, `.diskFull`.
  package init(path: String, bytesMax: Int) throws(StorageError) {
    self.path = path
    bytes = min(bytesMax, Int(clamping: (Files.totalBytes(at: path) ?? 0) / 64)) & ~4095
    descriptor = try DirectoryEntry(path).openOrCreate()
  }

  deinit { close(descriptor) }

  /// True if the space is reserved.
  private var isWhole: Bool { size >= bytes }

  private var size: Int {
    var info = stat()
    return unsafe fstat(descriptor, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Reserves the space, unless it is reserved already.
  ///
  /// - Parameter isAlone: True if no other process uses the file, so that it need not be looked at
  ///   again.
  /// - Throws: ``StorageError``: `.diskFull`. Nothing is reserved then.
  package func fill(isAlone: Bool = false) throws(StorageError) {
    try isSeenWhole.withLock { isSeenWhole throws(StorageError) in
      if isAlone && isSeenWhole { return }
      try reserve()
      isSeenWhole = isWhole
    }
  }

  private func reserve() throws(StorageError) {
    if isWhole || Platform.fileBytesMax < UInt64(bytes) { return }
    do throws(StorageError) {
      let code = Platform.allocate(descriptor, bytes: bytes)
      if code == EOPNOTSUPP || code == ENOSYS {
        try Files.writeAll([UInt8](repeating: 0, count: bytes)[...], to: descriptor, path)
      } else if code != 0 || ftruncate(descriptor, off_t(bytes)) != 0 {
        throw StorageError(code: code != 0 ? code : errno, while: "setting space aside in \(path)")
      }
    } catch {
      truncate()
      throw error
    }
  }

  /// Releases the space.
  ///
  /// - Returns: True if there was any, and it is free now.
  @discardableResult
  package func release() -> Bool {
    isSeenWhole.withLock { isSeenWhole in
      isSeenWhole = false
      return truncate()
    }
  }

  @discardableResult
  private func truncate() -> Bool {
    let isThere = size > 0
    return ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, SEEK_SET) == 0 && isThere
  }
}
