import Cambium
import Synchronization

/// The open streams of events of a server: it limits how many there are, keeps them alive, and ends
/// them when the server stops.
///
/// A client that has gone is not noticed until something is sent to it, so that an event that says
/// nothing is sent to each stream every `keepAlive`.
final class EventStreams: Sendable {
  private struct State {
    var streams: [UInt64: EventStream] = [:]
    var counts: [String: Int] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }

  /// The most streams in all, and for one client's address.
  let countMax: Int
  let countMaxPerClient: Int
  private let keepAlive: Duration
  private let state = Mutex(State())

  init(
    countMax: Int = 20_000, countMaxPerClient: Int = 20_000, keepAlive: Duration = .seconds(30)
  ) {
    self.countMax = countMax
    self.countMaxPerClient = countMaxPerClient
    self.keepAlive = keepAlive
  }

  var count: Int { state.withLock { $0.streams.count } }

  /// A stream for the answer to a request.
  ///
  /// - Parameters:
  ///   - request: The request, whose caller's withdrawal ends the stream.
  ///   - phrases: The events that are not data.
  ///   - path: The node that the stream shows with all below it, if this is all that it shows.
  /// - Returns: The stream, or nil where there are too many, or the server stops: answer 503.
  func open(
    for request: Request, _ phrases: EventStream.Phrases = .standard, of path: NodePath? = nil
  ) -> EventStream? {
    let client = request.clientAddress
    let stream: EventStream? = state.withLock { state in
      let count = state.counts[client, default: 0]
      if state.isClosed || state.streams.count >= countMax || count >= countMaxPerClient {
        return nil
      }
      state.last += 1
      state.counts[client] = count + 1
      let stream = EventStream(number: state.last, phrases)
      state.streams[stream.number] = stream
      return stream
    }
    guard let stream else { return nil }
    let withdrawal = request.caller.withdrawal
    let notice = withdrawal.onDone { [weak stream] successor in
      stream?.end(EventStreams.ending(path, successor))
    }
    stream.onEnd { [weak self] in
      withdrawal.remove(notice)
      self?.close(stream.number, client)
    }
    return stream
  }

  /// The way in which a stream ends whose token is of another caller now. Where the new one may
  /// read the same, the client comes back, and goes on as that caller.
  private static func ending(_ path: NodePath?, _ successor: Caller?) -> EventStream.Ending {
    guard let successor, let path else { return .withdrawn }
    return successor.covers(path) ? .finished : .refused
  }

  private func close(_ number: UInt64, _ client: String) {
    state.withLock { state in
      guard state.streams.removeValue(forKey: number) != nil else { return }
      let count = state.counts[client, default: 1] - 1
      state.counts[client] = count == 0 ? nil : count
    }
  }

  /// Keeps the streams alive until the task is cancelled.
  func run() async throws {
    while true {
      try await Task.sleep(for: keepAlive)
      for stream in state.withLock({ Array($0.streams.values) }) { stream.keepAlive() }
    }
  }

  /// Ends all streams; clients may open them again.
  func endAll() { for stream in state.withLock({ Array($0.streams.values) }) { stream.end() } }

  /// Tells all streams that the server stops, and ends them; no new one is opened.
  func stop() {
    let streams = state.withLock { state in
      state.isClosed = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.end(.stopped) }
  }
}
