import Synchronization

/// A file of a fixed size, all of whose blocks were written when it was made.
///
/// Writing over them changes nothing but the content: no block is allocated and no size grows. So
/// making it durable is one flush of the device, where a file that grows needs its file system's
/// journal as well.
package final class PrewrittenFile: Sendable {
  private let descriptor: Int32
  private let path: String
  private let files: OpenFiles
  /// The size of the file in bytes.
  package let size: Int
  /// The failure of a flush, of which the system tells only once.
  private let failure = Mutex<StorageError?>(nil)

  /// Opens the file; nil if there is none.
  ///
  /// - Throws: ``StorageError``: `.notRegular`.
  package init?(_ path: String, isReadOnly: Bool) throws(StorageError) {
    let entry = try DirectoryEntry(path)
    files = OpenFiles([entry.name], in: entry.directory)
    do { descriptor = try entry.open(isReadOnly ? O_RDONLY : O_RDWR) } catch
      where error.kind
      == .missing
    { return nil }
    self.path = path
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else {
      let error = Files.failure("opening \(path)")
      close(descriptor)
      throw error
    }
    size = Int(info.st_size)
  }

  deinit { close(descriptor) }

  /// Makes a file durably: it has its name once all of its blocks are written.
  ///
  /// It is written page by page: what Linux is given in large pieces lies in memory in pieces as
  /// large, and ext4 looks at each block of such a piece whenever a part of it is written.
  ///
  /// - Parameters:
  ///   - path: Its path. What a crash has left of an earlier attempt is removed.
  ///   - size: Its size in bytes, which are zero.
  /// - Throws: ``StorageError``: `.diskFull`. Nothing is left then.
  package static func make(_ path: String, size: Int) throws {
    let temporary = path + ".tmp"
    if Files.exists(temporary) { try Files.remove(temporary) }
    do {
      let writer = try FileWriter(creating: temporary)
      let page = [UInt8](repeating: 0, count: 4096)
      for start in stride(from: 0, to: size, by: page.count) {
        try writer.append(page.count <= size - start ? page : Array(page[..<(size - start)]))
      }
      try writer.sync()
      try Files.replace(path, with: temporary)
      try Files.sync(Files.parent(of: path))
    } catch {
      try? Files.remove(temporary)
      throw error
    }
  }

  /// False if another file has taken its place, or none.
  ///
  /// - Complexity: one system call while nothing in its directory changes.
  package var isInPlace: Bool { files.replaced() == nil }

  /// Reads up to `count` bytes; fewer only at the end of the file.
  package func read(at offset: Int, count: Int) throws(StorageError) -> [UInt8] {
    let (bytes, error) = Platform.readBytes(descriptor, at: off_t(offset), count: count)
    if error != 0 { throw StorageError(code: error, while: "reading \(path)") }
    return bytes
  }

  /// Writes bytes over others.
  ///
  /// - Throws: ``StorageError``; some of the bytes may have been written then.
  package func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
    precondition(offset >= 0 && offset + bytes.count <= size, "a write past the end")
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: $0[done...])
        return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
      }
      if count < 0 && errno == EINTR { continue }
      if count <= 0 {
        throw StorageError(code: count == 0 ? ENOSPC : errno, while: "writing \(path)")
      }
      done += count
    }
  }

  /// Makes what was written durable; any thread may call it.
  ///
  /// - Throws: ``StorageError``. It is unknown then which of the bytes are durable, and every later
  ///   call throws that error as well: the system would let it succeed without them.
  /// - Complexity: one flush of the device.
  package func sync() throws(StorageError) {
    let failure = failure.withLock { failure in
      if failure == nil, Platform.flushContent(descriptor) != 0 {
        failure = Files.failure("syncing \(path)")
      }
      return failure
    }
    if let failure { throw failure }
  }
}
