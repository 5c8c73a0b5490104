import Foundation
import Synchronization

/// The open connections: it counts them, and closes those whose request does not come whole in
/// time, however slowly it trickles.
///
/// A connection is closed by shutting its socket down under the lock. libmicrohttpd tells that it
/// closes a connection before its socket's number can be another's, so that none is hit by mistake.
final class Connections: Sendable {
  private struct Connection {
    let socket: Int32
    let client: String
    /// When it began to wait for a request, or for the rest of one; nil while one is answered.
    var waitsSince: ContinuousClock.Instant?
    /// The exchange that has begun and is not completed.
    var exchange: Exchange?
  }

  private struct State {
    /// By the address of libmicrohttpd's connection.
    var connections: [Int: Connection] = [:]
    var counts: [String: Int] = [:]
    var exchanges: [ObjectIdentifier: Exchange] = [:]
    var isWatched = false
  }

  private let limits: ServerLimits
  private let state = Mutex(State())

  init(_ limits: ServerLimits) { self.limits = limits }

  var exchangeCount: Int { state.withLock { $0.exchanges.count } }

  func open(_ connection: Int, _ socket: Int32, _ client: String) {
    state.withLock { state in
      state.connections[connection] = Connection(
        socket: socket, client: client, waitsSince: .now)
      state.counts[client, default: 0] += 1
    }
  }

  /// Forgets a connection.
  ///
  /// - Returns: An exchange of it that was not completed, and is forgotten as well.
  func close(_ connection: Int) -> Exchange? {
    state.withLock { state in
      guard let closed = state.connections.removeValue(forKey: connection) else { return nil }
      let count = state.counts[closed.client, default: 1] - 1
      state.counts[closed.client] = count == 0 ? nil : count
      if let exchange = closed.exchange { state.exchanges[ObjectIdentifier(exchange)] = nil }
      return closed.exchange
    }
  }

  func begin(_ exchange: Exchange) {
    state.withLock { state in
      state.exchanges[ObjectIdentifier(exchange)] = exchange
      state.connections[exchange.number]?.waitsSince = .now
      state.connections[exchange.number]?.exchange = exchange
    }
  }

  /// The request has come whole.
  func answering(_ exchange: Exchange) {
    state.withLock { $0.connections[exchange.number]?.waitsSince = nil }
  }

  func complete(_ exchange: Exchange) {
    state.withLock { state in
      state.exchanges[ObjectIdentifier(exchange)] = nil
      state.connections[exchange.number]?.waitsSince = .now
      state.connections[exchange.number]?.exchange = nil
    }
  }

  /// The answer where there are too many connections.
  func refusal(of exchange: Exchange) -> Response? {
    let (count, ofClient) = state.withLock { state in
      let client = state.connections[exchange.number]?.client ?? ""
      return (state.connections.count, state.counts[client, default: 0])
    }
    if count > limits.connectionsMax {
      return Response(
        503, error: "busy", "there are \(limits.connectionsMax) connections, the most there may be",
        headers: [("Retry-After", "5"), ("Connection", "close")])
    }
    if ofClient > limits.connectionsMaxPerClient {
      return Response(
        429, error: "too_many", "an address may have \(limits.connectionsMaxPerClient) connections",
        headers: [("Retry-After", "5"), ("Connection", "close")])
    }
    return nil
  }

  /// Answers what is not answered, and breaks off what is being sent.
  ///
  /// - Returns: The number of exchanges that there still are.
  func abandonExchanges() -> Int {
    let exchanges = state.withLock { Array($0.exchanges.values) }
    for exchange in exchanges {
      exchange.respond(.stopping)
      exchange.breakOff()
    }
    return exchanges.count
  }

  /// Begins to look for slow requests, in a thread of its own.
  func watch() {
    state.withLock { $0.isWatched = true }
    Thread.detachNewThread { [weak self] in
      while let connections = self, connections.closeSlow() {
        usleep(500_000)
      }
    }
  }

  func unwatch() { state.withLock { $0.isWatched = false } }

  /// Closes the connections whose request has not come whole.
  func closeWaiting() {
    state.withLock { state in
      for connection in state.connections.values where connection.waitsSince != nil {
        shutdown(connection.socket, Int32(SHUT_RDWR))
      }
    }
  }

  /// Closes the connections that have waited for too long; false once nobody is watched any more.
  private func closeSlow() -> Bool {
    let oldest = ContinuousClock.now - .seconds(limits.requestSeconds)
    return state.withLock { state in
      for connection in state.connections.values {
        if let since = connection.waitsSince, since < oldest {
          shutdown(connection.socket, Int32(SHUT_RDWR))
        }
      }
      return state.isWatched
    }
  }
}
