import Dispatch
import Synchronization

/// The body of an answer that is written while it is sent, by one thread or task at a time.
///
///     writer ──write, offer──▶ [pieces, at most `capacity` bytes] ──read──▶ the connection
///
/// A list waits in ``write(_:)`` until the client has taken what is before it, so that it needs no
/// memory that grows with it. A stream of events must not wait: ``offer(_:)`` refuses what a slow
/// client has no room for, and the stream ends; the client comes back and resumes.
///
/// Pieces are kept as they are given, so that one piece that goes to many clients is held once.
final class BodyPipe: Sendable {
  /// The client has gone, or took nothing for too long; what is written goes nowhere.
  struct Abandoned: Error {}

  /// A step of the connection.
  enum Reading: Equatable {
    /// So many bytes were copied.
    case bytes(Int)
    /// Nothing is there; the connection was suspended, and is woken by what comes.
    case nothing
    case end
    /// The rest will not come: the client must not take what it has for the whole.
    case broken
  }

  fileprivate struct State {
    var pieces: [ArraySlice<UInt8>] = []
    /// The first of `pieces` that is not yet sent.
    var first = 0
    var byteCount = 0
    /// The bytes that the client has taken.
    var takenCount = 0
    var isFinished = false
    /// True if what was written is not all that there should be.
    var isBroken = false
    var isAbandoned = false
    /// True while a writer waits for room.
    var isWaiting = false
    /// Wakes the connection that found nothing.
    var wake: (@Sendable () -> Void)?
    var endings: [@Sendable () -> Void] = []
  }

  /// The most bytes that are sent together.
  let blockBytes: Int
  private let capacity: Int
  private let patience: Duration
  private let begun = ContinuousClock.now
  private let state = Mutex(State())
  private let room = DispatchSemaphore(value: 0)

  /// A pipe that holds at most `capacity` bytes, or one longer piece; `write` waits for at most
  /// `patience` for a client that takes nothing.
  init(
    capacity: Int = 256 << 10, patience: Duration = .seconds(30), blockBytes: Int = 32 << 10
  ) {
    self.blockBytes = blockBytes
    self.capacity = capacity
    self.patience = patience
  }

  /// Appends a piece, and waits while there is no room for it.
  ///
  /// After a minute, a client that takes less than 4 KiB a second is dropped: it would hold a
  /// thread.
  ///
  /// - Throws: ``Abandoned``.
  func write(_ piece: [UInt8]) throws(Abandoned) { try append(piece, capacity) }

  /// Waits, as ``write(_:)`` does, until the client has taken all that was written.
  ///
  /// - Throws: ``Abandoned``.
  func drain() throws(Abandoned) { try append([], 0) }

  /// Appends a piece once it is alone, or there are no more than `most` bytes with it.
  private func append(_ piece: [UInt8], _ most: Int) throws(Abandoned) {
    while true {
      let (isTaken, wake) = try state.withLock { state throws(Abandoned) in
        if state.isAbandoned || state.isFinished { throw Abandoned() }
        guard state.byteCount == 0 || state.byteCount + piece.count <= most else {
          state.isWaiting = true
          return (false, nil as (@Sendable () -> Void)?)
        }
        return (true, state.append(piece))
      }
      wake?()
      if isTaken { return }
      if room.wait(timeout: .now() + patience.seconds) == .timedOut || isTooSlow {
        abandon()
        throw Abandoned()
      }
    }
  }

  private var isTooSlow: Bool {
    let seconds = (ContinuousClock.now - begun).seconds
    return seconds > 60 && Double(state.withLock { $0.takenCount }) < 4096 * seconds
  }

  /// Appends a piece if there is room for it.
  ///
  /// - Returns: False where there is none, and the pipe is abandoned; also where the body has
  ///   ended, and what was written before is still sent.
  @discardableResult
  func offer(_ piece: [UInt8]) -> Bool {
    let (isTaken, isFull, wake) = state.withLock { state in
      let isFull = state.byteCount > 0 && state.byteCount + piece.count > capacity
      if state.isAbandoned || state.isFinished || isFull {
        return (false, isFull && !state.isFinished, nil as (@Sendable () -> Void)?)
      }
      return (true, false, state.append(piece))
    }
    wake?()
    if isFull { abandon() }
    return isTaken
  }

  /// Ends the body after what was written; `isBroken` says that something is missing, so that the
  /// client does not take it for the whole.
  func finish(isBroken: Bool = false) {
    let wake = state.withLock { state in
      state.isFinished = true
      state.isBroken = isBroken
      return state.takeWake()
    }
    wake?()
  }

  /// The number of bytes that wait for the client.
  var waitingBytes: Int { state.withLock { $0.byteCount } }

  /// True once nobody reads any more.
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// Calls `action` once the exchange is over, be the body sent or not: at once, if it is.
  func onEnd(_ action: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.isAbandoned { return true }
      state.endings.append(action)
      return false
    }
    if isOver { action() }
  }

  /// Gives up the body: what is left is not sent, and writers throw.
  func abandon() {
    let (wake, endings) = state.withLock { state in
      state.isAbandoned = true
      (state.pieces, state.first, state.byteCount) = ([], 0, 0)
      defer { state.endings = [] }
      return (state.takeWake(), state.endings)
    }
    room.signal()
    wake?()
    for action in endings { action() }
  }

  /// Copies the next bytes to the connection.
  ///
  /// - Parameters:
  ///   - buffer: Gets the bytes.
  ///   - suspend: Suspends the connection. It is called before anything can call `wake`.
  ///   - wake: Wakes the connection, once.
  /// - Returns: The bytes' count, or why there are none.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, suspend: () -> Void,
    wake: @escaping @Sendable () -> Void
  ) -> Reading {
    // A C pointer cannot go through `withLock`, which sends what it is given.
    nonisolated(unsafe) let target = unsafe buffer
    nonisolated(unsafe) let suspend = suspend
    let (reading, hasRoom) = state.withLock { state -> (Reading, Bool) in
      let count = unsafe state.copy(into: target)
      if count > 0 {
        let isWaiting = state.isWaiting
        state.isWaiting = false
        return (.bytes(count), isWaiting)
      }
      if state.isAbandoned { return (.broken, false) }
      if state.isFinished { return (state.isBroken ? .broken : .end, false) }
      unsafe suspend()
      state.wake = wake
      return (.nothing, false)
    }
    if hasRoom { room.signal() }
    return reading
  }
}

extension BodyPipe.State {
  /// Appends a piece, and returns what wakes the connection.
  fileprivate mutating func append(_ piece: [UInt8]) -> (@Sendable () -> Void)? {
    if piece.isEmpty { return nil }
    pieces.append(piece[...])
    byteCount += piece.count
    return takeWake()
  }

  fileprivate mutating func takeWake() -> (@Sendable () -> Void)? {
    defer { wake = nil }
    return wake
  }

  fileprivate mutating func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var count = 0
    while first < pieces.count, count < buffer.count {
      let part = pieces[first].prefix(buffer.count - count)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: part)
      count += part.count
      pieces[first] = pieces[first].dropFirst(part.count)
      if pieces[first].isEmpty { first += 1 }
    }
    byteCount -= count
    takenCount += count
    if first == pieces.count { (pieces, first) = ([], 0) }
    return count
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
