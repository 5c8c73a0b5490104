import Foundation
import Simulation
import Synchronization

@testable import CambiumClient

/// A network that loses requests and answers, delays them, makes them twice, and cuts streams.
final class FlakyTransport: Transport {
  /// A mistake of a client, which the tests must see.
  enum Mistake { case noKey, freshKeys, resumesTooEarly, resumesTooLate }

  private struct State {
    var dice: SeededGenerator
    var writes: [TransportRequest] = []
    var late: [Task<Void, Never>] = []
  }

  private let inner: any Transport
  private let percent: Int
  private let mistake: Mistake?
  private let state: Mutex<State>

  init(_ inner: any Transport, seed: UInt64, percent: Int = 10, mistake: Mistake? = nil) {
    (self.inner, self.percent, self.mistake) = (inner, percent, mistake)
    state = Mutex(State(dice: SeededGenerator(seed: seed)))
  }

  private func happens() -> Bool { state.withLock { $0.dice.below(100) < percent } }

  private func moment() -> Duration { .microseconds(state.withLock { $0.dice.below(3000) }) }

  func send(_ request: TransportRequest) async throws -> TransportAnswer {
    let request = mistaken(request)
    if happens() { throw TransportFailure("the request was lost") }
    if happens() { try await Task.sleep(for: moment()) }
    if request.method == "POST" { state.withLock { $0.writes.append(request) } }
    if happens() { sendLater(request) }
    let answer = try await inner.send(request)
    if happens() { throw TransportFailure("the answer was lost") }
    return answer
  }

  /// Sends a copy that was held up somewhere.
  private func sendLater(_ request: TransportRequest) {
    let pause = moment()
    let task = Task { [inner] in
      try? await Task.sleep(for: pause)
      _ = try? await inner.send(request)
    }
    state.withLock { $0.late.append(task) }
  }

  /// Sends every request that writes once more, in any order.
  func repeatAllWrites() async {
    let (writes, late) = state.withLock { ($0.writes.shuffled(using: &$0.dice), $0.late) }
    for task in late { await task.value }
    for request in writes { _ = try? await inner.send(request) }
  }

  private func mistaken(_ request: TransportRequest) -> TransportRequest {
    var request = request
    if mistake == .noKey { request.headers["Idempotency-Key"] = nil }
    if mistake == .freshKeys, request.method == "POST" {
      request.headers["Idempotency-Key"] = UUID().uuidString
    }
    if let id = request.headers["Last-Event-ID"].flatMap({ UInt64($0) }), id > 0 {
      if mistake == .resumesTooEarly { request.headers["Last-Event-ID"] = "\(id - 1)" }
      if mistake == .resumesTooLate { request.headers["Last-Event-ID"] = "\(id + 1)" }
    }
    return request
  }

  func stream(_ request: TransportRequest) async throws -> TransportStream {
    if happens() { throw TransportFailure("the request was lost") }
    var stream = try await inner.stream(mistaken(request))
    if stream.head.status != 200 { return stream }
    let (pieces, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    let (source, close) = (stream.pieces, stream.close)
    let left = state.withLock { $0.dice.below(6_000) }
    let task = Task {
      do {
        var count = 0
        for try await piece in source {
          for part in parts(of: piece) {
            continuation.yield(part)
            count += part.count
            if count >= left { throw TransportFailure("the stream was cut") }
          }
        }
        continuation.finish()
      } catch {
        close()
        continuation.finish(throwing: error)
      }
    }
    stream.pieces = pieces
    stream.close = {
      task.cancel()
      close()
    }
    return stream
  }

  /// The bytes in pieces of any length.
  private func parts(of piece: [UInt8]) -> [[UInt8]] {
    state.withLock { state in
      var (parts, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], piece[...])
      while !rest.isEmpty {
        let count = min(rest.count, 1 + state.dice.below(300))
        parts.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      return parts
    }
  }

  func close() { inner.close() }
}
