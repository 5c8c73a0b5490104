/// Disk space that is set aside in a file, to be given up for something that must be written where
/// the disk is full.
///
/// The file's size says whether the space is set aside: all of it or nothing. Its content is never
/// read.
package final class Reserve: Sendable {
  private let descriptor: Int32
  private let path: String
  private let bytes: Int

  /// Opens the file, creating it empty where it is missing.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - bytesMax: How much to set aside; less on a small disk, a sixty-fourth of it at most.
  /// - Throws: ``StorageError``: `.notRegular` where something else stands there, `.diskFull`.
  package init(path: String, bytesMax: Int) throws(StorageError) {
    self.path = path
    bytes = min(bytesMax, Int(clamping: (Files.totalBytes(at: path) ?? 0) / 64)) & ~4095
    descriptor = try DirectoryEntry(path).openOrCreate()
  }

  deinit { close(descriptor) }

  /// True if the space is set aside.
  private var isWhole: Bool { size >= bytes }

  private var size: Int {
    var info = stat()
    return unsafe fstat(descriptor, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Sets the space aside, unless it is.
  ///
  /// - Throws: ``StorageError``: `.diskFull`. Nothing is set aside then.
  package func fill() throws(StorageError) {
    if isWhole || Platform.fileBytesMax < UInt64(bytes) { return }
    do throws(StorageError) {
      let code = Platform.allocate(descriptor, bytes: bytes)
      if code == EOPNOTSUPP || code == ENOSYS {
        try Files.writeAll([UInt8](repeating: 0, count: bytes)[...], to: descriptor, path)
      } else if code != 0 || ftruncate(descriptor, off_t(bytes)) != 0 {
        throw StorageError(code: code != 0 ? code : errno, while: "setting space aside in \(path)")
      }
    } catch {
      release()
      throw error
    }
  }

  /// Gives the space up.
  ///
  /// - Returns: True if there was any, and it is free now.
  @discardableResult
  package func release() -> Bool {
    let isThere = size > 0
    return ftruncate(descriptor, 0) == 0 && lseek(descriptor, 0, SEEK_SET) == 0 && isThere
  }
}
