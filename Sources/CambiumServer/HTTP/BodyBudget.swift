import Synchronization

/// The bytes of all bodies that have come and are not yet answered.
///
/// Each body has a limit of its own; together, many connections could fill the memory all the same.
final class BodyBudget: Sendable {
  private let bytesMax: Int
  private let bytes = Mutex(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Takes so many bytes; false where there is no room for them.
  func take(_ count: Int) -> Bool {
    bytes.withLock { bytes in
      if bytes + count > bytesMax { return false }
      bytes += count
      return true
    }
  }

  func giveBack(_ count: Int) { bytes.withLock { $0 -= count } }
}
