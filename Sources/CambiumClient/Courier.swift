// Writes go to the server one after another, in the order in which they were called.
//
//     create, delete ──▶ kept in the file ──▶ ┌───────────────┐
//                                             │ write   write │──▶ sent until answered ──▶ caller
//     update ─────────▶ a turn ─────────────▶ │ turn          │
//                                             └───────────────┘
//
// An update must read first, so it gets a place in the queue, its turn. When that comes, it reads,
// runs its body, and gives the write that this makes to the courier, which sends it in the same
// place; after a conflict it does so again, and nobody overtakes it. From the moment at which the
// write is made it is kept in the file like the others.

import Foundation
import Synchronization

/// Sends writes.
///
/// Invariants:
/// 1. One write is on its way at a time: only ``run()`` sends.
/// 2. A write is in the file before it is sent, and leaves it once it is answered or withdrawn; one
///    that was answered and is still there is sent again with its key, which changes nothing.
/// 3. A write that may have been sent longer ago than the server keeps keys is not sent again.
final class Courier: Sendable {
  struct Limits: Sendable {
    /// The most writes that wait, and their bytes.
    var countMax = 1_000
    var bytesMax = 64 << 20
    /// The time for which the server knows a key at least.
    var keyLifetime = Duration.seconds(23 * 3600)
  }

  /// A write in the queue.
  final class Parcel: Sendable {
    enum Phase { case waiting, sent, withdrawn }

    let number: UInt64
    let answer = Promise<TransportAnswer>()
    /// False for a write that an earlier process has left.
    let isAwaited: Bool
    fileprivate let write: Mutex<WaitingWrite>
    fileprivate let phase = Mutex(Phase.waiting)

    fileprivate init(_ write: WaitingWrite, isAwaited: Bool) {
      number = write.number
      self.isAwaited = isAwaited
      self.write = Mutex(write)
    }

    /// Begins to send, unless the caller has withdrawn it.
    fileprivate func begin() -> Bool {
      phase.withLock { phase in
        if phase == .waiting { phase = .sent }
        return phase == .sent
      }
    }

    /// Withdraws it; false if it was sent.
    fileprivate func withdraw() -> Bool {
      phase.withLock { phase in
        if phase == .waiting { phase = .withdrawn }
        return phase == .withdrawn
      }
    }
  }

  /// A place in the queue for a caller that has more to do than to send.
  final class Turn: Sendable {
    let number: UInt64
    fileprivate let begun = Promise<Void>()
    fileprivate let parcels: AsyncStream<Parcel>
    private let continuation: AsyncStream<Parcel>.Continuation
    private let courier: Courier

    fileprivate init(_ number: UInt64, _ courier: Courier) {
      self.number = number
      self.courier = courier
      (parcels, continuation) = AsyncStream.makeStream()
    }

    /// Sends a write in this place.
    ///
    /// - Throws: As ``Courier/send(_:)``.
    func send(_ body: [UInt8]) async throws -> TransportAnswer {
      let parcel = try courier.pack(body, number)
      continuation.yield(parcel)
      if courier.state.withLock({ $0.isStopped }) {
        parcel.answer.resolve(.failure(RemoteStoreError.stopped))
      }
      return try await courier.answer(to: parcel)
    }

    fileprivate func finish() { continuation.finish() }
  }

  private enum Entry {
    case parcel(Parcel)
    case turn(Turn)

    var number: UInt64 {
      switch self {
      case .parcel(let parcel): parcel.number
      case .turn(let turn): turn.number
      }
    }
  }

  private struct State {
    var entries: [Entry] = []
    var last: UInt64 = 0
    var bytes = 0
    var isStopped = false
  }

  private let file: WaitingFile
  private let limits: Limits
  private let connection: Connection
  private let transport: @Sendable (WaitingWrite) async throws -> TransportAnswer
  private let leftover: @Sendable (Result<TransportAnswer, any Error>) -> Void
  private let state: Mutex<State>
  private let wakes: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation

  /// Takes over what is in the file.
  ///
  /// - Parameters:
  ///   - file: Keeps what waits.
  ///   - limits: The most that may wait.
  ///   - connection: Knows when the server answers.
  ///   - leftover: Called with the answer to a write of an earlier process.
  ///   - transport: Sends one; throws ``TransportFailure`` where there is no answer.
  /// - Throws: `DatabaseError` of the file.
  init(
    _ file: WaitingFile, _ limits: Limits, _ connection: Connection,
    leftover: @escaping @Sendable (Result<TransportAnswer, any Error>) -> Void,
    transport: @escaping @Sendable (WaitingWrite) async throws -> TransportAnswer
  ) throws {
    (self.file, self.limits, self.connection) = (file, limits, connection)
    (self.leftover, self.transport) = (leftover, transport)
    (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    var start = State()
    for write in try file.all() {
      start.entries.append(.parcel(Parcel(write, isAwaited: false)))
      start.bytes += write.body.count
      start.last = max(start.last, write.number)
    }
    state = Mutex(start)
  }

  /// The number of writes that wait.
  var count: Int { state.withLock { $0.entries.count } }

  // MARK: Callers

  /// Sends a write after those before it.
  ///
  /// - Throws: ``RemoteStoreError``; `CancellationError` where the write was not sent and is not
  ///   any more.
  func send(_ body: [UInt8]) async throws -> TransportAnswer {
    let parcel = try add(body)
    return try await answer(to: parcel)
  }

  /// Runs a body in its turn.
  func inTurn<R: Sendable>(
    _ body: @Sendable (Turn) async throws -> R
  ) async throws -> R {
    let turn: Turn = try state.withLock { state in
      try check(state, 0)
      state.last += 1
      let turn = Turn(state.last, self)
      state.entries.append(.turn(turn))
      return turn
    }
    wake.yield()
    defer { turn.finish() }
    return try await withTaskCancellationHandler {
      try await turn.begun.value()
      return try await body(turn)
    } onCancel: {
      if turn.begun.resolve(.failure(CancellationError())) { drop(turn.number) }
    }
  }

  private func check(_ state: State, _ bytes: Int) throws {
    if state.isStopped { throw RemoteStoreError.stopped }
    if state.entries.count >= limits.countMax || state.bytes + bytes > limits.bytesMax {
      throw RemoteStoreError.tooManyWaiting(state.entries.count)
    }
  }

  private func add(_ body: [UInt8]) throws -> Parcel {
    let isDown = !connection.status.isLive
    // The order in the file is that of the queue.
    let parcel: Parcel = try state.withLock { state in
      try check(state, body.count)
      let goesNow = state.entries.isEmpty && !isDown
      let write = WaitingWrite(
        number: state.last + 1, key: UUID().uuidString, body: body, sent: goesNow ? Date() : nil)
      try file.save(write)
      state.last += 1
      state.bytes += body.count
      let parcel = Parcel(write, isAwaited: true)
      state.entries.append(.parcel(parcel))
      return parcel
    }
    wake.yield()
    return parcel
  }

  fileprivate func pack(_ body: [UInt8], _ number: UInt64) throws -> Parcel {
    if state.withLock({ $0.isStopped }) { throw RemoteStoreError.stopped }
    let write = WaitingWrite(
      number: number, key: UUID().uuidString, body: body,
      sent: connection.status.isLive ? Date() : nil)
    try file.save(write)
    return Parcel(write, isAwaited: true)
  }

  fileprivate func answer(to parcel: Parcel) async throws -> TransportAnswer {
    try await withTaskCancellationHandler {
      try await parcel.answer.value()
    } onCancel: {
      guard parcel.withdraw() else {
        _ = parcel.answer.resolve(.failure(RemoteStoreError.stillWaiting))
        return
      }
      drop(parcel.number)
      try? file.remove(parcel.number)
      parcel.answer.resolve(.failure(CancellationError()))
    }
  }

  /// Takes an entry out of the queue.
  private func drop(_ number: UInt64) {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.number == number }) else { return }
      if case .parcel(let parcel) = state.entries[index] {
        state.bytes -= parcel.write.withLock { $0.body.count }
      }
      state.entries.remove(at: index)
    }
  }

  // MARK: Sending

  /// Sends what waits, until the courier is stopped.
  func run() async {
    while !state.withLock({ $0.isStopped }) {
      switch state.withLock({ $0.entries.first }) {
      case .parcel(let parcel)?:
        guard await deliver(parcel, isAlone: true) else { return }
      case .turn(let turn)?:
        if turn.begun.resolve(.success(())) {
          for await parcel in turn.parcels { guard await deliver(parcel) else { return } }
        }
        drop(turn.number)
      case nil:
        var iterator = wakes.makeAsyncIterator()
        if await iterator.next() == nil { return }
      }
    }
  }

  /// Sends one until it is answered; false where the courier was stopped.
  private func deliver(_ parcel: Parcel, isAlone: Bool = false) async -> Bool {
    let result: Result<TransportAnswer, any Error>
    do {
      guard let answer = try await answered(parcel) else {
        if isAlone { drop(parcel.number) }
        return true
      }
      result = .success(answer)
    } catch {
      if error is CancellationError || error as? RemoteStoreError == .stopped {
        parcel.answer.resolve(.failure(RemoteStoreError.stopped))
        return false
      }
      result = .failure(error)
    }
    // One that is left in the file is sent again with its key, which changes nothing.
    try? file.remove(parcel.number)
    if isAlone { drop(parcel.number) }
    if parcel.isAwaited { parcel.answer.resolve(result) } else { leftover(result) }
    return true
  }

  /// The answer; nil for a write that was withdrawn.
  private func answered(_ parcel: Parcel) async throws -> TransportAnswer? {
    while true {
      try await connection.ready()
      let write = parcel.write.withLock { $0 }
      if let sent = write.sent, Date().timeIntervalSince(sent) > limits.keyLifetime / .seconds(1) {
        throw RemoteStoreError.outcomeUnknown
      }
      guard parcel.begin() else { return nil }
      if write.sent == nil {
        let now = Date()
        try file.mark(parcel.number, sent: now)
        parcel.write.withLock { $0.sent = now }
      }
      do {
        let answer = try await transport(write)
        guard TransportAnswer.letsWait(answer.status) else { return answer }
        connection.failed("the server answers with \(answer.status)")
      } catch let failure as TransportFailure { connection.failed(failure.description) }
    }
  }

  /// Ends it; what waits stays in the file.
  func stop() {
    let entries = state.withLock { state in
      state.isStopped = true
      defer { state.entries = [] }
      return state.entries
    }
    wake.finish()
    for entry in entries {
      switch entry {
      case .parcel(let parcel): parcel.answer.resolve(.failure(RemoteStoreError.stopped))
      case .turn(let turn): turn.begun.resolve(.failure(RemoteStoreError.stopped))
      }
    }
    file.close()
  }
}

extension TransportAnswer {
  /// True if the server, or what is before it, is not ready: another attempt may do.
  static func isTransient(_ status: Int) -> Bool { [408, 429, 502, 503, 504].contains(status) }

  /// True if a write waits: also where the token is refused, since it may be replaced, and what
  /// waits must not be lost.
  static func letsWait(_ status: Int) -> Bool { status == 401 || isTransient(status) }
}
