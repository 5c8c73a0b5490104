import Dispatch

/// Eight bytes in a file that inform other processes of the state's position.
package final class WakeFile: Sendable {
  private let descriptor: Int32

  /// Opens the file, creating it if it is missing.
  package init(path: String) throws(StorageError) {
    descriptor = try DirectoryEntry(path).openOrCreate()
  }

  deinit { close(descriptor) }

  /// Writes a number. A failure does no harm: observers look again at the next one.
  package func write(_ number: UInt64) {
    var bytes = number.littleEndian
    _ = unsafe pwrite(descriptor, &bytes, 8, 0)
  }

  /// The number that was written last, or nil before the first.
  package func read() -> UInt64? {
    var bytes: UInt64 = 0
    return unsafe pread(descriptor, &bytes, 8, 0) == 8 ? UInt64(littleEndian: bytes) : nil
  }
}

/// Calls back after a file was written, by any process; ends when it is released.
package final class FileWatch: @unchecked Sendable {
  // It is Sendable because the source is set once, and Dispatch lets any thread cancel it.
  private let source: any DispatchSourceProtocol

  package init(_ path: String, _ changed: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "cambium.watch")
    if let source = Platform.watch(path, on: queue, changed) {
      self.source = source
    } else {
      // The system cannot watch: poll every 50 ms.
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.setEventHandler(handler: changed)
      timer.schedule(deadline: .now(), repeating: .milliseconds(50))
      timer.resume()
      source = timer
    }
  }

  deinit { source.cancel() }
}
