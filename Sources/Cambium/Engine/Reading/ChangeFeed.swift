import LMDB
import Synchronization

/// Notifies observers of the state's position.
///
/// It carries positions, never changes: an observer pulls the transactions that it has not seen
/// from the log. Nothing is queued for a slow observer, so it delays neither a writer nor another
/// observer. ``observers`` are of another kind: within this process, they are called with the
/// changes themselves.
///
/// Commits of other processes arrive through the `wake` file: eight bytes, the newest applied
/// sequence number, watched by every process that observes, and written after each state commit
/// while another process watches.
final class ChangeFeed: Sendable {
  private struct State: Awaited {
    var applied: SequenceNumber
    var waiting = WaitingTasks()
    var isClosed = false
    var watch: (any AnyObject & Sendable)?
    /// Reads the state's actual position; the wake file is only a signal.
    var look: (@Sendable () -> SequenceNumber?)?
    /// The number of bulk writes under way, during which other processes are not woken.
    var holdCount = 0
    /// The newest transaction of which other processes are still to be told.
    var untold: SequenceNumber?
    /// The transaction that this process has stored and cannot read yet.
    var lag: StateLag?
    /// Tries to make that transaction readable.
    var remedy: (@Sendable () throws -> Void)?
    /// Reports that the state's file cannot be written, and has that tried again.
    var failure: (@Sendable (any Error) -> Void)?
  }

  private let state: Mutex<State>
  /// The observers of this process's own changes as they are committed.
  let observers = ChangeObservers()
  /// Set while there is a lag, for callers that only check that there is none.
  private let lags = Atomic<Bool>(false)
  private let wake: WakeFile
  private let isReadOnly: Bool
  private let background: any BackgroundWork

  init(
    applied: SequenceNumber, path: String, _ options: Database.Options, isReadOnly: Bool
  ) throws {
    state = Mutex(State(applied: applied))
    self.isReadOnly = isReadOnly
    background = options.background
    wake = isReadOnly ? WakeFile(watching: path) : try WakeFile(path: path)
  }

  /// The newest transaction known to be applied.
  var applied: SequenceNumber { state.withLock { $0.applied } }

  /// Notifies observers that a commit of this process is visible.
  func publish(_ sequence: SequenceNumber) {
    // In this order, so that the watch of this process finds nothing new.
    advance(to: sequence)
    let isHeld = state.withLock { state in
      if state.holdCount > 0 { state.untold = sequence }
      return state.holdCount > 0
    }
    if !isHeld { tellOthers(sequence) }
  }

  private func tellOthers(_ sequence: SequenceNumber) {
    if !isReadOnly, wake.isWatched { wake.write(sequence.rawValue) }
  }

  /// Keeps commits of this process from observers in other processes, until as many calls of
  /// ``release()`` follow.
  func hold() { state.withLock { $0.holdCount += 1 } }

  /// Ends one ``hold()``, and notifies the observers in other processes.
  func release() {
    let untold = state.withLock { state in
      state.holdCount -= 1
      return state.holdCount > 0 ? nil : state.untold.take()
    }
    if let untold { tellOthers(untold) }
  }

  /// Takes over what another process has applied.
  func advance(to sequence: SequenceNumber) {
    let woken = state.withLock { state -> [WaitingTasks.Waiter] in
      if let lag = state.lag, sequence >= lag.head {
        state.lag = nil
        lags.store(false, ordering: .relaxed)
      }
      guard sequence > state.applied else { return [] }
      state.applied = sequence
      return state.waiting.takeAll()
    }
    for continuation in woken { continuation.resume() }
    observers.deliver(upTo: sequence)
  }

  /// The transaction that this process has stored and cannot read yet.
  var lag: StateLag? {
    lags.load(ordering: .relaxed) ? state.withLock { $0.lag } : nil
  }

  /// Records that a commit of this process is stored and cannot be read yet. Waiting observers are
  /// woken, to be notified of it.
  ///
  /// - Returns: True unless this commit or a later one was already known to lag.
  func fallBehind(_ lag: StateLag) -> Bool {
    let (isNew, woken) = state.withLock { state in
      let isNew = state.lag.map { $0.head < lag.head } ?? true
      if isNew { state.lag = lag }
      lags.store(true, ordering: .relaxed)
      return (isNew, state.waiting.takeAll())
    }
    for continuation in woken { continuation.resume() }
    observers.stir()
    return isNew
  }

  /// Tries to make stored transactions readable.
  func remedy() throws { try state.withLock { $0.remedy }?() }

  /// Sets the closure that makes stored transactions readable.
  func setRemedy(_ remedy: @escaping @Sendable () throws -> Void) {
    state.withLock { $0.remedy = remedy }
  }

  /// Notes that what is visible could not be written to the state's file.
  func failToSettle(_ error: any Error) { state.withLock { $0.failure }?(error) }

  /// Sets the closure that is called when what is visible could not be written.
  func setFailure(_ failure: @escaping @Sendable (any Error) -> Void) {
    state.withLock { $0.failure = failure }
  }

  /// Waits until a transaction after `sequence` is applied or cannot be, the task is cancelled or
  /// the database closed.
  func wait(past sequence: SequenceNumber) async {
    watch()
    await state.wait { state in
      let isStuck = state.lag.map { $0.head > sequence } ?? false
      return state.applied > sequence || isStuck || state.isClosed
    }
  }

  /// True if no further commit will come.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends all waits.
  func close() {
    let woken = state.withLock { state in
      state.isClosed = true
      state.watch = nil
      state.look = nil
      state.remedy = nil
      state.failure = nil
      return state.waiting.takeAll()
    }
    for continuation in woken { continuation.resume() }
    observers.stir()
  }

  /// Starts watching the wake file, once, and looks for commits of other processes.
  func watch() {
    state.withLock { state in
      if state.watch != nil || state.isClosed { return }
      state.watch = background.watch(wake) { [weak self] in self?.lookAgain() }
    }
    lookAgain()
  }

  private func lookAgain() {
    if let newest = state.withLock({ $0.look })?() { advance(to: newest) }
  }

  /// Sets the closure that reads the state's actual position.
  func setLook(_ look: @escaping @Sendable () -> SequenceNumber?) {
    state.withLock { $0.look = look }
  }
}
