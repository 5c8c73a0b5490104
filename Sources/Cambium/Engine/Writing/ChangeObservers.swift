import Dispatch
import LMDB
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
///    finds another one delivering leaves the rest to it, and waits for it only in
///    ``finish(upTo:)``.
/// 3. Observers are called without a lock of this object.
final class ChangeObservers: Sendable {
  /// Something that is called with changes. The thread is most often the one that commits, which
  /// holds the writer's turn, and sometimes one that looks for commits of other processes: the
  /// closures must return soon, and neither write nor deliver.
  struct Observer: Sendable {
    /// Takes a transaction of this process.
    var take: @Sendable (CommittedChanges) -> Void
    /// Called once readers can see everything up to a moment, if transactions up to it have not
    /// been taken: they are in the log.
    var reach: @Sendable (SequenceNumber) -> Void = { _ in }
    /// Called once the database is closed, or has stored a transaction that cannot be read yet.
    var stir: @Sendable () -> Void = {}
  }

  /// A step of the delivery.
  private enum Step {
    case changes(CommittedChanges)
    case reached(SequenceNumber)

    var sequence: SequenceNumber {
      switch self {
      case .changes(let changes): changes.sequence
      case .reached(let sequence): sequence
      }
    }
  }

  private struct State {
    /// The observers by the numbers that they were given, in the order of their arrival.
    var observers: [(id: Int, observer: Observer)] = []
    var pending: [CommittedChanges] = []
    var nextID = 0
    /// The newest transaction that readers can see.
    var visible = SequenceNumber.zero
    /// The transaction up to which observers have been called.
    var delivered = SequenceNumber.zero
    /// The transaction that a thread calls observers for, or zero before its first.
    var delivering: SequenceNumber?
    /// The threads that wait until a transaction is delivered.
    var gates: [(sequence: SequenceNumber, gate: DispatchSemaphore)] = []

    /// Takes the next step, with the observers to call; nil once all is delivered.
    mutating func next() -> (step: Step, observers: [(id: Int, observer: Observer)])? {
      delivered = max(delivered, delivering ?? .zero)
      let step = nextStep()
      delivering = step?.sequence
      openGates()
      return step.map { ($0, observers) }
    }

    private mutating func nextStep() -> Step? {
      if let first = pending.first, first.sequence <= visible {
        return .changes(pending.removeFirst())
      }
      return delivered < visible && !observers.isEmpty ? .reached(visible) : nil
    }

    private mutating func openGates() {
      gates.removeAll { waiting in
        if delivering != nil && delivered < waiting.sequence { return false }
        waiting.gate.signal()
        return true
      }
    }
  }

  private let state = Mutex(State())
  private let isObserving = Atomic<Bool>(false)
  /// The observers of higher layers, which are made on first use.
  let slots = Slots()

  /// True if there are observers.
  var isObserved: Bool { isObserving.load(ordering: .relaxed) }

  /// Calls a closure with the changes from the next group of writes on.
  ///
  /// - Returns: A number with which to stop it.
  func observe(_ take: @escaping @Sendable (CommittedChanges) -> Void) -> Int {
    observe(Observer(take: take))
  }

  /// Calls an observer from the next group of writes on.
  ///
  /// - Returns: A number with which to stop it.
  func observe(_ observer: Observer) -> Int {
    state.withLock { state in
      defer { state.nextID += 1 }
      state.observers.append((state.nextID, observer))
      isObserving.store(true, ordering: .relaxed)
      return state.nextID
    }
  }

  /// Stops calling an observer.
  func stop(_ id: Int) {
    state.withLock { state in
      state.observers.removeAll { $0.id == id }
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

  /// Delivers the changes that readers can see, unless another thread does.
  func deliver(upTo visible: SequenceNumber) {
    if !isObserved { return }
    let isNeeded = state.withLock { state in
      state.visible = max(state.visible, visible)
      if state.delivering != nil { return false }
      state.delivering = .zero
      return true
    }
    guard isNeeded else { return }
    while let (step, observers) = state.withLock({ $0.next() }) {
      for (_, observer) in observers {
        switch step {
        case .changes(let changes): observer.take(changes)
        case .reached(let sequence): observer.reach(sequence)
        }
      }
    }
  }

  /// Delivers the changes up to a transaction that readers can see; waits for a thread that does.
  func finish(upTo visible: SequenceNumber) {
    deliver(upTo: visible)
    let gate = state.withLock { state -> DispatchSemaphore? in
      if state.delivering == nil || state.delivered >= visible { return nil }
      let gate = DispatchSemaphore(value: 0)
      state.gates.append((visible, gate))
      return gate
    }
    gate?.wait()
  }

  /// Notifies observers that the database is closed, or lags behind what it has stored.
  func stir() {
    if !isObserved { return }
    for (_, observer) in state.withLock({ $0.observers }) { observer.stir() }
  }
}
