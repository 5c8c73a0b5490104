import LMDB
import Synchronization

/// The snapshots that are held, so that one held too long is reported, once.
final class SnapshotAges: Sendable {
  private struct Held {
    let sequence: SequenceNumber
    let since: ContinuousClock.Instant
    var isReported = false
  }

  private struct State {
    /// The snapshots by their numbers; nil for a number that is free.
    var held: [Held?] = []
    var free: [Int] = []
    var checked = ContinuousClock.now
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let report: (@Sendable (Diagnostic) -> Void)?

  init(limit: Duration, report: (@Sendable (Diagnostic) -> Void)?) {
    self.limit = limit
    self.report = report
  }

  /// Keeps the pages of a snapshot's moment, and removes its entry when the snapshot is released.
  final class Ticket: Sendable {
    private let ages: SnapshotAges
    private let id: Int
    private let transaction: ReadTransaction

    fileprivate init(_ ages: SnapshotAges, _ id: Int, _ transaction: consuming ReadTransaction) {
      self.ages = ages
      self.id = id
      self.transaction = consume transaction
    }

    deinit { ages.remove(id) }
  }

  /// Registers a snapshot, whose pages the ticket keeps.
  func ticket(_ sequence: SequenceNumber, _ transaction: consuming ReadTransaction) -> Ticket {
    let held = Held(sequence: sequence, since: .now)
    let id = state.withLock { state in
      guard let id = state.free.popLast() else {
        state.held.append(held)
        return state.held.count - 1
      }
      state.held[id] = held
      return id
    }
    return Ticket(self, id, consume transaction)
  }

  private func remove(_ id: Int) {
    state.withLock { state in
      state.held[id] = nil
      state.free.append(id)
    }
  }

  /// The time for which the oldest snapshot has been held.
  var oldest: Duration? {
    state.withLock { state in state.held.compactMap { $0?.since }.min().map { .now - $0 } }
  }

  /// The snapshots and the time for which each has been held, the oldest first.
  var all: [(sequence: SequenceNumber, age: Duration)] {
    let held = state.withLock { $0.held.compactMap { $0 } }
    return held.sorted { $0.since < $1.since }.map { ($0.sequence, .now - $0.since) }
  }

  /// Reports snapshots that have been held too long; checks at most ten times a second.
  func check() {
    guard let report else { return }
    let now = ContinuousClock.now
    let late = state.withLock { state -> [Diagnostic] in
      guard now - state.checked > .milliseconds(100) else { return [] }
      state.checked = now
      var late: [Diagnostic] = []
      for (id, held) in state.held.enumerated() {
        guard let held, !held.isReported, now - held.since > limit else { continue }
        state.held[id]?.isReported = true
        late.append(.snapshotHeld(held.sequence, age: now - held.since))
      }
      return late
    }
    for diagnostic in late { report(diagnostic) }
  }
}
