/// A file that is written from its start to its end over several runs of a program, and is read in
/// between. One process has it open at a time.
package final class PartFile: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Opens the file, or creates it.
  ///
  /// - Throws: ``StorageError``: `.busy` if somebody else has it open, `.notRegular`.
  package init(_ path: String) throws(StorageError) {
    self.path = path
    while true {
      let opened = try DirectoryEntry(path).openOrCreate()
      let isLocked = flock(opened, LOCK_EX | LOCK_NB) == 0
      if !isLocked, errno == EWOULDBLOCK {
        close(opened)
        throw StorageError(.busy, "\(path) is being written by another")
      }
      // Who held the lock may have renamed the file before it was released.
      if Files.identity(of: opened) == Files.identity(of: path) {
        descriptor = opened
        return
      }
      close(opened)
    }
  }

  deinit { close(descriptor) }

  /// Writes bytes at a place, over what is there.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: $0[done...])
        return unsafe pwrite(
          descriptor, rest.baseAddress, rest.count, off_t(clamping: offset) &+ off_t(done))
      }
      if count < 0 && errno == EINTR { continue }
      if count < 0 { throw Files.failure("writing \(path)") }
      done += count
    }
  }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  package func read(at offset: UInt64, count: Int) throws(StorageError) -> [UInt8] {
    let (bytes, error) = Platform.readBytes(descriptor, at: off_t(clamping: offset), count: count)
    if error != 0 { throw StorageError(code: error, while: "reading \(path)") }
    return bytes
  }

  /// Makes what was written durable.
  package func sync() throws(StorageError) {
    if Platform.flush(descriptor) != 0 { throw Files.failure("syncing \(path)") }
  }
}
