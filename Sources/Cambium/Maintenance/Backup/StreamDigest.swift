import Synchronization

/// The BLAKE2b-256 of bytes that somebody writes, computed meanwhile: that takes about as long as
/// all else that a backup does.
final class StreamDigest: Sendable {
  private let queue: any WorkQueue
  private let digest = Mutex(Digest())
  private let waiting = Mutex(0)
  /// The bytes that may wait, so that they stay few where the queue is slow.
  static let waitingMax = 16 << 20

  /// Begins with no bytes.
  ///
  /// - Parameter queue: The queue on which it is computed, and that nothing else uses.
  init(on queue: any WorkQueue) { self.queue = queue }

  /// Adds bytes at the end; from one thread.
  func update(_ bytes: [UInt8]) {
    let isFull = waiting.withLock { waiting in
      waiting += bytes.count
      return waiting > StreamDigest.waitingMax
    }
    queue.run { [self] in
      digest.withLock { $0.update(bytes) }
      waiting.withLock { $0 -= bytes.count }
    }
    if isFull { queue.finish() }
  }

  /// The digest of all bytes that were added.
  func current() -> [UInt8] {
    queue.finish()
    return digest.withLock { $0.current() }
  }
}
