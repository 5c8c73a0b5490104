import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transport over HTTP, by `URLSession`.
///
/// A redirection is not followed, since it would take the token elsewhere. There are no cookies and
/// no cache.
final class HTTPTransport: Transport {
  struct Limits: Sendable {
    /// The time for which a request may go without any byte.
    var requestTimeout = Duration.seconds(30)
    /// The same for a stream; the server writes to idle ones every 30 seconds.
    var streamTimeout = Duration.seconds(75)
    /// The largest answer.
    var answerBytesMax = 256 << 20
  }

  private let base: String
  private let token: String?
  private let limits: Limits
  private let session: URLSession
  private let exchanges: Exchanges
  private let isClosed = Mutex(false)

  init(_ url: URL, token: String?, limits: Limits = Limits()) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    // Each stream has a connection of its own.
    configuration.httpMaximumConnectionsPerHost = 256
    exchanges = Exchanges()
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    let text = url.absoluteString
    base = text.hasSuffix("/") ? String(text.dropLast()) : text
    (self.token, self.limits) = (token, limits)
  }

  deinit { session.invalidateAndCancel() }

  func close() {
    isClosed.withLock { isClosed in
      isClosed = true
      session.invalidateAndCancel()
    }
  }

  func send(_ request: TransportRequest) async throws -> TransportAnswer {
    let exchange = try await start(request, limits.requestTimeout)
    return try await withTaskCancellationHandler {
      let head = try await exchange.head()
      var body = head.body
      for try await piece in exchange.pieces {
        body += piece
        if body.count > limits.answerBytesMax {
          exchange.close()
          throw RemoteStoreError.tooLarge(bytesMax: limits.answerBytesMax)
        }
      }
      try Task.checkCancellation()
      return TransportAnswer(status: head.status, body: body)
    } onCancel: {
      exchange.close()
    }
  }

  func stream(_ request: TransportRequest) async throws -> TransportStream {
    let exchange = try await start(request, limits.streamTimeout)
    return try await withTaskCancellationHandler {
      var head = try await exchange.head()
      if head.status != 200 {
        for try await piece in exchange.pieces { head.body += piece }
      }
      return TransportStream(head: head, pieces: exchange.pieces, close: exchange.close)
    } onCancel: {
      exchange.close()
    }
  }

  private func start(
    _ request: TransportRequest, _ timeout: Duration
  ) async throws -> Exchange {
    try Task.checkCancellation()
    guard let url = URL(string: base + request.path) else {
      throw RemoteStoreError.badURL(base + request.path)
    }
    var own = URLRequest(url: url)
    own.httpMethod = request.method
    own.timeoutInterval = timeout / .seconds(1)
    for (name, value) in request.headers { own.setValue(value, forHTTPHeaderField: name) }
    if let token { own.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    if request.method != "GET" { own.httpBody = Data(request.body) }
    let sent = own
    return try isClosed.withLock { isClosed in
      // A session that is closed ends the process that asks it for a task.
      if isClosed { throw RemoteStoreError.stopped }
      return exchanges.start(session.dataTask(with: sent))
    }
  }
}

/// One request and its answer.
private final class Exchange: Sendable {
  private struct State {
    var head: Result<TransportAnswer, any Error>?
    var waiting: CheckedContinuation<TransportAnswer, any Error>?
  }

  let pieces: AsyncThrowingStream<[UInt8], any Error>
  let close: @Sendable () -> Void
  private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
  private let state = Mutex(State())

  init(_ close: @escaping @Sendable () -> Void) {
    (pieces, continuation) = AsyncThrowingStream.makeStream()
    self.close = close
  }

  func head() async throws -> TransportAnswer {
    try await withCheckedThrowingContinuation { waiting in
      let known = state.withLock { state in
        if state.head == nil { state.waiting = waiting }
        return state.head
      }
      if let known { waiting.resume(with: known) }
    }
  }

  func begin(_ status: Int) { take(.success(TransportAnswer(status: status))) }

  func receive(_ data: Data) { continuation.yield(Array(data)) }

  func end(_ error: (any Error)?) {
    let failure = error.map { error -> any Error in
      let isCancelled = (error as? URLError)?.code == .cancelled
      return isCancelled
        ? CancellationError() : TransportFailure((error as NSError).localizedDescription)
    }
    take(.failure(failure ?? TransportFailure("the server ended the connection")))
    continuation.finish(throwing: failure)
  }

  private func take(_ head: Result<TransportAnswer, any Error>) {
    let waiting = state.withLock { state in
      if state.head != nil { return nil as CheckedContinuation<TransportAnswer, any Error>? }
      state.head = head
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: head)
  }
}

/// The exchanges of a session, by the numbers of their tasks.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
  private let running = Mutex<[Int: Exchange]>([:])

  func start(_ task: URLSessionDataTask) -> Exchange {
    let exchange = Exchange { task.cancel() }
    running.withLock { $0[task.taskIdentifier] = exchange }
    task.resume()
    return exchange
  }

  private subscript(task: URLSessionTask) -> Exchange? {
    running.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    self[dataTask]?.begin((response as? HTTPURLResponse)?.statusCode ?? 0)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    self[dataTask]?.receive(data)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    running.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
