import Synchronization

/// The changes that concern one live query and that it has not taken yet.
///
/// The thread that commits adds them; the query waits for them, and takes those up to the moment
/// that it reads. It holds little: where there would be more, it only knows that the
/// query must be run again.
///
/// Invariants:
/// 1. Changes come in the order of commits. ``LiveRouter`` adds them under its lock.
/// 2. It holds at most ``countMax`` changes and ``bytesMax`` bytes of them.
final class LiveMailbox: Sendable {
  /// The outcome of taking changes.
  enum Pending: Sendable {
    /// One net change for each record.
    case changes([NetChange])
    /// More than the mailbox holds, or unknown: run the query again.
    case all
  }

  typealias Waiter = WaitingTasks.Waiter

  /// The most changes that are held.
  static let countMax = 1024
  /// The most bytes of keys and records that are held. Mailboxes share them.
  static let bytesMax = 4 << 20

  fileprivate struct State: Awaited {
    var changes: [(sequence: SequenceNumber, change: NetChange)] = []
    var byteCount = 0
    /// The moment up to which changes were given up; those held are later.
    var lost: SequenceNumber?
    /// The newest moment whose changes were folded into those of later ones.
    var folded = SequenceNumber.zero
    /// The moment up to which the query has taken what there was.
    var taken: SequenceNumber
    /// The number of times that the query has taken what there was.
    var takes: UInt64 = 0
    var isNudged = false
    var isClosed = false
    /// True while what comes is kept from the query, unless it takes a step by itself.
    var isHeld = false
    var waiting = WaitingTasks()

    var isReady: Bool { isNudged || isClosed || !isHeld && (!changes.isEmpty || lost != nil) }

    /// The tasks to resume after something has come.
    mutating func takeWoken() -> [Waiter] { isHeld ? [] : waiting.takeAll() }
  }

  /// The place among the router's mailboxes.
  let slot: Int32
  private let state: Mutex<State>

  /// - Parameters:
  ///   - start: The moment after which the mailbox gets every commit.
  ///   - slot: The place among the router's mailboxes.
  init(after start: SequenceNumber, slot: Int32) {
    self.slot = slot
    state = Mutex(State(taken: start))
  }

  // MARK: The query's side

  /// The number of times that the query has taken what there was.
  var takes: UInt64 { state.withLock { $0.takes } }

  /// Waits until there is something for the query, it is nudged, the task is cancelled, or the
  /// database closed; returns at once if that is so already.
  ///
  /// - Parameter takes: The number of takes that the caller knows of, if others take as well. One
  ///   since then ends the wait: it may have come, and have used a nudge up, between the caller's
  ///   look and the beginning of the wait.
  func wait(after takes: UInt64? = nil) async {
    await state.wait { $0.isReady || takes ?? $0.takes != $0.takes }
    state.withLock { $0.isNudged = false }
  }

  /// Ends the wait, or the next one if nobody waits: the question was changed, for example.
  func nudge() {
    for waiter in stir() { waiter.resume() }
  }

  /// Has the query run again at its next step, which the last one did not finish.
  func invalidate() { for waiter in lose(upTo: taken) { waiter.resume() } }

  /// True if no further change will come.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes what concerns the query up to a moment, which the router must have reached.
  ///
  /// - Complexity: O(*n*) for *n* changes that are held.
  func take(upTo sequence: SequenceNumber) -> Pending {
    let taken = state.withLock { $0.take(upTo: sequence) }
    return taken.map { .changes(NetChange.folded($0)) } ?? .all
  }
}

// MARK: - The router's side

extension LiveMailbox {
  /// The moment up to which the query has taken what there was.
  var taken: SequenceNumber { state.withLock { $0.taken } }

  /// The number of changes that are held.
  var count: Int { state.withLock { $0.changes.count } }

  /// Adds a change.
  ///
  /// - Returns: The tasks to resume, without a lock.
  func add(_ change: NetChange, of sequence: SequenceNumber) -> [Waiter] {
    state.withLock { state in
      state.add(change, of: sequence)
      return state.takeWoken()
    }
  }

  /// Gives up the changes that are held, and everything up to a moment.
  func lose(upTo sequence: SequenceNumber) -> [Waiter] {
    state.withLock { state in
      state.lose(upTo: sequence)
      return state.takeWoken()
    }
  }

  /// Lets the query wait, though something comes, until ``release()``.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Ends ``hold()``.
  ///
  /// - Returns: The tasks to resume, without a lock: those for which something has come.
  func release() -> [Waiter] {
    state.withLock { state in
      state.isHeld = false
      return state.isReady ? state.waiting.takeAll() : []
    }
  }

  /// Forgets the changes that are held, since those after the moment up to which the query has
  /// taken them will be added again.
  ///
  /// - Returns: That moment; nil if changes were lost since.
  func restart() -> SequenceNumber? {
    state.withLock { state in
      if state.lost != nil { return nil }
      state.drop()
      return state.taken
    }
  }

  /// Ends the wait, or the next one.
  ///
  /// - Parameter isClosing: True if no further change will come.
  /// - Returns: The tasks to resume, without a lock.
  func stir(isClosing: Bool = false) -> [Waiter] {
    state.withLock { state in
      state.isNudged = true
      if isClosing { state.isClosed = true }
      return state.waiting.takeAll()
    }
  }
}

extension LiveMailbox.State {
  fileprivate mutating func add(_ change: NetChange, of sequence: SequenceNumber) {
    changes.append((sequence, change))
    byteCount += change.byteCount
    if !isFull(LiveMailbox.countMax, LiveMailbox.bytesMax) { return }
    fold()
    // Folded again soon, it would cost more than it saves.
    if isFull(LiveMailbox.countMax / 2, LiveMailbox.bytesMax / 2) { lose(upTo: sequence) }
  }

  private func isFull(_ countMax: Int, _ bytesMax: Int) -> Bool {
    changes.count > countMax || byteCount > bytesMax
  }

  /// Makes net changes of what is held, as of the newest commit.
  private mutating func fold() {
    guard let newest = changes.last?.sequence else { return }
    let net = NetChange.folded(changes.map(\.change))
    changes = net.map { (newest, $0) }
    byteCount = net.reduce(0) { $0 + $1.byteCount }
    folded = newest
  }

  fileprivate mutating func lose(upTo sequence: SequenceNumber) {
    drop()
    lost = max(lost ?? sequence, sequence)
  }

  fileprivate mutating func drop() {
    changes = []
    byteCount = 0
    folded = .zero
  }

  /// Takes the changes up to a moment; nil if they are not known.
  fileprivate mutating func take(upTo sequence: SequenceNumber) -> [NetChange]? {
    taken = max(taken, sequence)
    takes += 1
    // Folded changes cannot be taken apart: the query has read a moment in the middle of them.
    if folded > sequence { lose(upTo: changes.last?.sequence ?? folded) }
    let found = takeChanges(upTo: sequence)
    guard let lost else { return found }
    if lost <= sequence { self.lost = nil }
    return nil
  }

  private mutating func takeChanges(upTo sequence: SequenceNumber) -> [NetChange] {
    var left: [(sequence: SequenceNumber, change: NetChange)] = []
    if let last = changes.last, last.sequence > sequence {
      let end = changes.firstIndex { $0.sequence > sequence } ?? changes.count
      left = Array(changes[end...])
      changes.removeLast(left.count)
    }
    defer {
      changes = left
      byteCount = left.reduce(0) { $0 + $1.change.byteCount }
    }
    return changes.map { $0.change }
  }
}
