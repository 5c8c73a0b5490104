import Dispatch

/// Eight bytes in a file that inform other processes of the state's position.
///
/// Who watches the file holds a shared lock of it, so that a writer beside which nobody watches
/// writes nothing, and wakes no watch of its own process. The lock is one of the open file: the
/// writer does not see the one that is held through its own descriptor.
package final class WakeFile: Sendable {
  fileprivate let path: String
  private let descriptor: Int32

  /// Opens the file, creating it if it is missing.
  package init(path: String) throws(StorageError) {
    self.path = path
    descriptor = try DirectoryEntry(path).openOrCreate()
  }

  /// Opens the file to watch it. One that cannot be opened is looked at every 50 ms.
  package init(watching path: String) {
    self.path = path
    descriptor = (try? DirectoryEntry(path).open(O_RDONLY)) ?? -1
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// True if the file is watched through another descriptor, or that is unknown. A watch that
  /// begins after this call sees all that was done before it.
  ///
  /// - Complexity: one system call, about 0.2 µs.
  package var isWatched: Bool { Platform.mayBeLocked(descriptor) }

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

  /// Has writers of other processes write the file, until it is released.
  ///
  /// - Returns: False if they cannot be told.
  fileprivate func mark() -> Bool { descriptor >= 0 && Platform.lockShared(descriptor) }
}

/// Calls back after a file was written, by any process; ends when it is released.
package final class FileWatch: @unchecked Sendable {
  // It is Sendable because the source is set once, and Dispatch lets any thread cancel it.
  private let source: any DispatchSourceProtocol

  /// Begins to watch. The file stays marked as watched until the object that stands for it is
  /// released.
  package init(_ file: WakeFile, _ changed: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "cambium.watch")
    if file.mark(), let source = Platform.watch(file.path, on: queue, changed) {
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
