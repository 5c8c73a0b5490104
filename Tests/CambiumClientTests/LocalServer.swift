import Cambium
import Foundation
import Synchronization

@testable import CambiumClient
@testable import CambiumServer

/// The server's answers to a store, without a network: as fast as calls, and it can be restarted.
final class LocalServer: Sendable {
  private struct Running {
    let database: Database
    let service: RecordsService
    let streams: EventStreams
    let hub: Task<Void, any Error>
  }

  private let path: String
  private let running: Mutex<Running?>
  private let limits: AnsweredRequests.Limits
  private let answers = Mutex(0)
  /// The time by which the server's clock is ahead.
  private let ahead = Mutex(Duration.zero)

  /// Opens the server's database, which is declared for models before.
  init(
    for models: any Model.Type..., limits: AnsweredRequests.Limits = AnsweredRequests.Limits()
  ) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    self.limits = limits
    running = Mutex(nil)
    let database = try Database(at: path)
    for model in models { try database.register(model) }
    try database.close()
    try start()
  }

  func start() throws {
    let database = try Database(at: path)
    let hub = try CommitHub(database)
    let streams = EventStreams()
    let answered = AnsweredRequests(database, limits: limits) { [weak self] in
      let ahead = self?.ahead.withLock { $0 } ?? .zero
      return Date().addingTimeInterval(ahead / .seconds(1))
    }
    let service = RecordsService(
      database: database, answered: answered, hub: hub, streams: streams)
    let task = Task { try await hub.run() }
    running.withLock {
      $0 = Running(database: database, service: service, streams: streams, hub: task)
    }
  }

  /// Ends it, as a process that is stopped does: what is on its way may be made or not.
  func stop() throws {
    let old = running.withLock { $0.take() }
    old?.streams.stop()
    old?.hub.cancel()
    try old?.database.close()
  }

  func remove() {
    try? stop()
    try? FileManager.default.removeItem(atPath: path)
  }

  func move(ahead: Duration) { self.ahead.withLock { $0 += ahead } }

  func withDatabase<R>(_ body: (Database) throws -> R) throws -> R {
    guard let database = running.withLock({ $0?.database }) else {
      throw TransportFailure("the server is away")
    }
    return try body(database)
  }

  func answer(_ request: TransportRequest) async throws -> Response {
    guard let service = running.withLock({ $0?.service }) else {
      throw TransportFailure("the server is away")
    }
    let response = await service.answer(try Request(request))
    // Nobody gets the answer of a process that is gone.
    guard running.withLock({ $0?.service.database === service.database }) else {
      throw TransportFailure("the server has gone away")
    }
    answers.withLock { $0 += 1 }
    return response
  }

  /// The number of requests that were answered.
  var answerCount: Int { answers.withLock { $0 } }
}

extension Request {
  fileprivate init(_ request: TransportRequest) throws {
    guard let method = Method(rawValue: request.method),
      let parts = URLComponents(string: "http://127.0.0.1" + request.path)
    else { throw TransportFailure("no request: \(request.path)") }
    self.init(
      method: method, path: parts.path,
      parameters: (parts.queryItems ?? []).map { .init(name: $0.name, value: $0.value ?? "") },
      headers: Dictionary(
        request.headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { $1 }),
      body: request.body)
  }
}

/// A transport by calls.
struct LocalTransport: Transport {
  let server: LocalServer

  func send(_ request: TransportRequest) async throws -> TransportAnswer {
    let response = try await server.answer(request)
    var body: [UInt8] = []
    for try await piece in response.pieces() { body += piece }
    return TransportAnswer(status: response.status, body: body)
  }

  func stream(_ request: TransportRequest) async throws -> TransportStream {
    let response = try await server.answer(request)
    var head = TransportAnswer(status: response.status)
    if response.status != 200 { for try await piece in response.pieces() { head.body += piece } }
    return TransportStream(
      head: head, pieces: response.pieces(),
      close: { if case .pipe(let pipe) = response.body { pipe.abandon() } })
  }

  func close() {}
}

extension Response {
  /// The body, piece by piece.
  fileprivate func pieces() -> AsyncThrowingStream<[UInt8], any Error> {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    switch body {
    case .bytes(let bytes):
      continuation.yield(bytes)
      continuation.finish()
    case .pipe(let pipe):
      continuation.onTermination = { _ in pipe.abandon() }
      Task {
        await pipe.drain { continuation.yield($0) }; continuation.finish()
      }
    }
    return stream
  }
}

extension BodyPipe {
  /// Reads all of it.
  fileprivate func drain(_ body: @Sendable ([UInt8]) -> Void) async {
    while true {
      let (wakes, wake) = AsyncStream<Void>.makeStream()
      var bytes = [UInt8](repeating: 0, count: 4096)
      let reading = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe read(into: buffer, suspend: {}, wake: { wake.finish() })
      }
      switch reading {
      case .bytes(let count): body(Array(bytes[..<count]))
      case .nothing: for await _ in wakes {}
      case .end, .broken: return
      }
    }
  }
}
