import Dispatch
import Synchronization

/// Writes long bodies while they are sent, beside the threads that answer requests.
///
/// Each takes a thread, for as long as its client takes what it has asked for, so that there are at
/// most `countMax` at a time.
final class PipeWriters: Sendable {
  static let countMax = 16
  static let busy = FirebaseError(
    503, "Too many large answers are being sent; try again, or ask for less")

  private let queue = DispatchQueue(label: "cambium.server.bodies", attributes: .concurrent)
  private let count = Mutex(0)

  /// Runs a body on a thread of its own; false if there are too many.
  func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isTaken = count.withLock { count in
      if count >= PipeWriters.countMax { return false }
      count += 1
      return true
    }
    guard isTaken else { return false }
    queue.async {
      body()
      self.count.withLock { $0 -= 1 }
    }
    return true
  }
}
