// Files that are written once and read from their start to their end.

import Synchronization

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
  private let position: Atomic<UInt64>
  /// The most bytes that one read requests, so that a damaged length costs no memory.
  static let pieceBytes = 1 << 20

  /// Opens a file.
  package init(_ path: String, from offset: UInt64 = 0) throws(StorageError) {
    self.path = path
    position = Atomic(offset)
    descriptor = try DirectoryEntry(path).open(O_RDONLY)
  }

  deinit { close(descriptor) }

  /// Reads the next bytes: fewer than requested only at the end of the file.
  package func read(_ count: Int) throws(StorageError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let (piece, error) = Platform.readBytes(
        descriptor, at: off_t(clamping: position.load(ordering: .relaxed)),
        count: min(count - bytes.count, FileReader.pieceBytes))
      if error != 0 { throw StorageError(code: error, while: "reading \(path)") }
      if piece.isEmpty { break }
      position.add(UInt64(piece.count), ordering: .relaxed)
      bytes += piece
    }
    return bytes
  }
}

extension Platform {
  /// Reads at an offset with `pread`, which moves no position; fewer bytes only at the file's end.
  /// The bytes are not zeroed first, since most files are much shorter than the count requested.
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
}
