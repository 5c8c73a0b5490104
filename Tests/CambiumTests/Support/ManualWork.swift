import Dispatch
import LMDB
import Synchronization

@testable import Cambium

/// Background work that runs when a test says so, on the test's thread.
final class ManualWork: BackgroundWork {
  fileprivate struct Piece {
    let queue: Int
    let delay: Duration
    let work: @Sendable () -> Void
  }

  private let state = Mutex((pieces: [Piece](), queues: 0))

  var now: ContinuousClock.Instant { .now }

  func makeQueue(_ label: String, _ quality: DispatchQoS) -> any WorkQueue {
    state.withLock { state in
      state.queues += 1
      return Queue(work: self, number: state.queues)
    }
  }

  func watch(
    _ file: WakeFile, _ changed: @escaping @Sendable () -> Void
  ) -> any AnyObject & Sendable { ManualWork() }

  func pass(_ step: WriteStep) {}

  fileprivate func add(_ piece: Piece) { state.withLock { $0.pieces.append(piece) } }

  /// The number of pieces of work that wait, without those that wait for a time to pass.
  var count: Int { state.withLock { $0.pieces.count { $0.delay == .zero } } }

  /// The times that pieces wait for.
  var delays: [Duration] { state.withLock { $0.pieces.map(\.delay).filter { $0 > .zero } } }

  /// Runs all that waits, also what is added meanwhile; the delayed pieces only where that is said.
  func runAll(delayed: Bool = false) {
    while runOne(where: { $0.delay == .zero || delayed }) {}
  }

  /// Runs the waiting piece at a place among those that have no delay.
  func runOne(_ index: Int) {
    let piece = state.withLock { state in
      let ready = state.pieces.indices.filter { state.pieces[$0].delay == .zero }
      return state.pieces.remove(at: ready[index])
    }
    piece.work()
  }

  /// Runs a piece that waits for a time, and what follows from it at once.
  func runOne(after isMeant: (Duration) -> Bool) {
    runOne(where: { isMeant($0.delay) })
    runAll()
  }

  @discardableResult
  fileprivate func runOne(where isMeant: (Piece) -> Bool) -> Bool {
    let piece = state.withLock { state in
      state.pieces.firstIndex(where: isMeant).map { state.pieces.remove(at: $0) }
    }
    piece?.work()
    return piece != nil
  }

  private struct Queue: WorkQueue {
    let work: ManualWork
    let number: Int

    func run(_ body: @escaping @Sendable () -> Void) { run(after: .zero, body) }

    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
      work.add(Piece(queue: number, delay: delay, work: body))
    }

    func finish() {
      while work.runOne(where: { $0.queue == number && $0.delay == .zero }) {}
    }
  }
}
