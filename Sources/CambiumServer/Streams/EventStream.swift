import Synchronization

/// A stream of events to one client.
///
/// A client that takes its events too slowly is dropped: it comes back and names the last one that
/// it has seen. So a stream holds at most `bytesMax`, and no writer waits for it.
final class EventStream: Sendable {
  /// The events of a dialect that are not data.
  struct Phrases: Sendable {
    var keepAlive: [UInt8]
    /// The last event where the caller's token is withdrawn.
    var withdrawn: [UInt8]
    /// The last event where the token is known, and may no longer read what the stream shows.
    var refused: [UInt8] = []
    /// The last event where the server stops.
    var stopped: [UInt8]

    static let standard = Phrases(
      keepAlive: Array(": keep-alive\n\n".utf8),
      withdrawn: ServerEvent(name: "end", data: Array(#"{"reason":"token_withdrawn"}"#.utf8)).bytes,
      stopped: ServerEvent(name: "end", data: Array(#"{"reason":"server_stopped"}"#.utf8)).bytes)
  }

  /// The reasons for which the server ends a stream.
  enum Ending: Sendable {
    case withdrawn, refused, stopped, finished
  }

  static let bytesMax = 1 << 20

  let number: UInt64
  private let phrases: Phrases
  private let pipe: BodyPipe
  /// True while an event is sent in pieces, into which nothing else may be put.
  private let isInPieces = Mutex(false)

  init(number: UInt64, _ phrases: Phrases) {
    self.number = number
    self.phrases = phrases
    pipe = BodyPipe(capacity: EventStream.bytesMax, blockBytes: 1 << 10)
  }

  /// The answer that carries the stream.
  var response: Response {
    Response(
      200,
      headers: [
        ("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-store"),
        ("X-Accel-Buffering", "no"),
      ], body: .pipe(pipe))
  }

  /// Sends an event. False if the client has gone, or was dropped since it is too slow.
  @discardableResult
  func offer(_ event: ServerEvent) -> Bool { pipe.offer(event.bytes) }

  /// Sends events as they are written, of which many streams may share the bytes. False as above.
  @discardableResult
  func offer(_ bytes: [UInt8]) -> Bool { pipe.offer(bytes) }

  /// Sends bytes of a long beginning, and waits while the client has no room for them.
  ///
  /// - Throws: ``BodyPipe/Abandoned``.
  func write(_ bytes: [UInt8]) throws { try pipe.write(bytes) }

  /// Waits until the client has taken all that was sent.
  ///
  /// - Throws: ``BodyPipe/Abandoned``.
  func drain() throws { try pipe.drain() }

  /// Gives the stream up: nothing more is sent.
  func abandon() { pipe.abandon() }

  /// Sends a long beginning by `body`, which calls ``write(_:)`` with its pieces.
  func inPieces<E: Error>(_ body: () throws(E) -> Void) throws(E) {
    isInPieces.withLock { $0 = true }
    defer { isInPieces.withLock { $0 = false } }
    try body()
  }

  func keepAlive() { isInPieces.withLock { if !$0 { pipe.offer(phrases.keepAlive) } } }

  /// Ends the stream after what was sent.
  func end(_ ending: Ending = .finished) {
    // Half an event is followed by none.
    if ending != .finished, isInPieces.withLock({ $0 }) { return pipe.abandon() }
    switch ending {
    case .withdrawn: pipe.offer(phrases.withdrawn)
    case .refused: pipe.offer(phrases.refused)
    case .stopped: pipe.offer(phrases.stopped)
    case .finished: break
    }
    pipe.finish()
  }

  /// The number of bytes that wait for the client.
  var waitingBytes: Int { pipe.waitingBytes }

  /// True once nothing can be sent any more.
  var isOver: Bool { pipe.isAbandoned }

  /// Calls `action` once the client has gone or all is sent.
  func onEnd(_ action: @escaping @Sendable () -> Void) { pipe.onEnd(action) }
}
