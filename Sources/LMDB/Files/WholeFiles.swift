// Files that are written once and read from their start to their end.

/// A file that is being written, from its start to its end.
package final class FileWriter: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Creates a file; nothing may exist at the path.
  package init(creating path: String) throws(StorageError) {
    self.path = path
    descriptor = try DirectoryEntry(path).create(O_WRONLY)
  }

  deinit { close(descriptor) }

  /// Adds bytes at the end.
  package func append(_ bytes: [UInt8]) throws(StorageError) {
    try Files.writeAll(bytes[...], to: descriptor, path)
  }

  /// Makes the content durable; the name becomes durable with the directory's sync.
  package func sync() throws(StorageError) {
    if Platform.flush(descriptor) != 0 { throw Files.failure("syncing \(path)") }
  }
}

/// A file that is being read, from a place in it to its end.
package final class FileReader: Sendable {
  private let descriptor: Int32
  private let path: String
  /// The most bytes that one read requests, so that a damaged length costs no memory.
  static let pieceBytes = 1 << 20

  /// Opens a file.
  package init(_ path: String, from offset: UInt64 = 0) throws(StorageError) {
    self.path = path
    descriptor = try DirectoryEntry(path).open(O_RDONLY)
    if offset > 0, lseek(descriptor, off_t(clamping: offset), SEEK_SET) < 0 {
      throw Files.failure("reading \(path)")
    }
  }

  deinit { close(descriptor) }

  /// Reads the next bytes: fewer than requested only at the end of the file.
  package func read(_ count: Int) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let (piece, error) = readPiece(min(count - bytes.count, FileReader.pieceBytes))
      if error == EINTR { continue }
      if error != 0 { throw StorageError(code: error, while: "reading \(path)") }
      if piece.isEmpty { break }
      bytes += piece
    }
    return bytes
  }

  /// Calls `read(2)` once. The bytes are not zeroed first, since most files are much shorter than
  /// the count requested.
  private func readPiece(_ count: Int) -> (bytes: [UInt8], error: Int32) {
    var error: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      let length = unsafe Platform.readFile(descriptor, start, count)
      if length < 0 { error = errno }
      filled = max(0, length)
    }
    return (bytes, error)
  }
}

extension Platform {
  /// Reads at an offset with `pread`, which moves no position; fewer bytes only at the file's end.
  ///
  /// - Returns: The bytes, and the system's error if there was one.
  static func readBytes(
    _ descriptor: Int32, at offset: off_t, count: Int
  ) -> (bytes: [UInt8], error: Int32) {
    var error: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { space, filled in
      let buffer = UnsafeMutableRawBufferPointer(space)
      while filled < count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let read = unsafe pread(descriptor, rest.baseAddress, rest.count, offset &+ off_t(filled))
        if read < 0 && errno == EINTR { continue }
        if read < 0 { error = errno }
        if read <= 0 { return }
        filled += read
      }
    }
    return (bytes, error)
  }

  /// `read(2)`, under a name that does not collide with ours.
  static func readFile(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int
  ) -> Int {
    unsafe read(descriptor, buffer, count)
  }
}
