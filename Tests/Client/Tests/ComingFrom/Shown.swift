import Synchronization
import Testing

/// The lines of text that an example shows to its user.
final class Shown: Sendable {
  private let shown = Mutex<[String]>([])

  var lines: [String] { shown.withLock { $0 } }

  func callAsFunction(_ items: Any?...) {
    let line = items.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ")
    shown.withLock { $0.append(line) }
  }

  /// Waits until there are so many lines, which an observer writes.
  func waits(for count: Int) async throws {
    for _ in 0..<3000 where lines.count < count { try await Task.sleep(for: .milliseconds(10)) }
    #expect(lines.count >= count)
  }
}
