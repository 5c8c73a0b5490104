import Simulation
import Synchronization
import Testing

@testable import Cambium

/// The digest of a stream is that of its bytes, and few of them wait for it.
@Suite("A stream's digest")
struct StreamDigestTests {
  @Test("is that of all bytes in their order", arguments: 1...4 as ClosedRange<UInt64>)
  func pieces(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let stream = StreamDigest(on: DispatchWork().makeQueue("test"))
    var all: [UInt8] = []
    for _ in 0..<40 {
      let count = Int.random(in: 0...(1 << 20), using: &random)
      let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: count)
      stream.update(piece)
      all += piece
    }
    #expect(stream.current() == all.lend { Digest.of($0) })
  }

  @Test("waits for a slow queue before too many bytes wait in it")
  func slow() {
    let queue = SlowQueue()
    let stream = StreamDigest(on: queue)
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    for _ in 0..<100 { stream.update(piece) }
    #expect(queue.longest.withLock(\.self) <= StreamDigest.waitingMax / piece.count + 1)
    let all = [UInt8](repeating: 7, count: 100 << 20)
    #expect(stream.current() == all.lend { Digest.of($0) })
  }
}

/// Runs nothing before it must.
private final class SlowQueue: WorkQueue {
  private let waiting = Mutex<[@Sendable () -> Void]>([])
  /// The most pieces of work that have waited at once.
  let longest = Mutex(0)

  func run(_ work: @escaping @Sendable () -> Void) {
    let count = waiting.withLock {
      $0.append(work)
      return $0.count
    }
    longest.withLock { $0 = max($0, count) }
  }

  func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) { run(work) }

  func finish() {
    for work in waiting.withLock({ waiting in
      defer { waiting = [] }
      return waiting
    }) { work() }
  }
}
