import Synchronization

/// Delivers this process's own committed changes to observers within the process, without reading
/// anything again: the seam for live queries.
///
///     Folds ──changes──▶ (log committed) ──▶ pending ──▶ (state visible) ──▶ observers
///
/// Each transaction comes once, in commit order, as soon as readers can see it; changes that were
/// rolled back are not delivered. If a sequence number is missing, the transaction was another
/// process's or of a group that had begun before anything was observed: it is in the log. If a
/// change's `isSubtree` is true, everything below the node arrived or left with it. Without
/// observers, nothing is kept.
///
/// Invariants:
/// 1. A transaction is pending only once the log has it. Only ``add(_:)`` adds one.
/// 2. Observers are called by one thread at a time, so that commits come in order: a thread that
///    finds `isDelivering` set leaves the rest to the thread that set it.
final class ChangeObservers: Sendable {
  typealias Observer = @Sendable (CommittedChanges) -> Void

  private struct State {
    var observers: [Int: Observer] = [:]
    var pending: [CommittedChanges] = []
    var nextID = 0
    /// The newest transaction that readers can see.
    var visible = SequenceNumber.zero
    var isDelivering = false

    /// Takes the next visible transaction, with the observers to call.
    mutating func next() -> (CommittedChanges, [Observer])? {
      isDelivering = pending.first.map { $0.sequence <= visible } ?? false
      if !isDelivering { return nil }
      return (pending.removeFirst(), observers.sorted { $0.key < $1.key }.map(\.value))
    }
  }

  private let state = Mutex(State())
  private let isObserving = Atomic<Bool>(false)

  /// True if there are observers.
  var isObserved: Bool { isObserving.load(ordering: .relaxed) }

  /// Calls an observer from the next group of writes on. The thread is most often the one that
  /// commits, which holds the writer's turn, and sometimes one that looks for commits of other
  /// processes: the observer must return soon, and not write.
  ///
  /// - Returns: A number with which to stop it.
  func observe(_ observer: @escaping Observer) -> Int {
    state.withLock { state in
      defer { state.nextID += 1 }
      state.observers[state.nextID] = observer
      isObserving.store(true, ordering: .relaxed)
      return state.nextID
    }
  }

  /// Stops calling an observer.
  func stop(_ id: Int) {
    state.withLock { state in
      state.observers[id] = nil
      if state.observers.isEmpty {
        state.pending = []
        isObserving.store(false, ordering: .relaxed)
      }
    }
  }

  /// Takes the changes of transactions that are in the log, unless the last observer has stopped
  /// since their group began.
  func add(_ committed: [CommittedChanges]) {
    if committed.isEmpty { return }
    state.withLock { if !$0.observers.isEmpty { $0.pending += committed } }
  }

  /// Delivers the changes that readers can see.
  func deliver(upTo visible: SequenceNumber) {
    if !isObserved { return }
    let isNeeded = state.withLock { state in
      state.visible = max(state.visible, visible)
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isNeeded else { return }
    while let (changes, observers) = state.withLock({ $0.next() }) {
      for observer in observers { observer(changes) }
    }
  }
}
