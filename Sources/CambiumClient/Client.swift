// The parts of a store that do not know its models.

import Cambium
import Foundation
import Synchronization

/// Asks the server, and follows it.
final class Client: Sendable {
  let courier: Courier
  let connection: Connection
  private let transport: any Transport
  private let patience: Duration
  private let streams: OpenStreams
  private let sending: Task<Void, Never>
  /// The models whose collections the server has declared as they need it.
  private let checked = Mutex<Set<ObjectIdentifier>>([])

  init(_ transport: any Transport, _ options: RemoteStore.Options) throws {
    let streams = OpenStreams()
    let connection = Connection(options.pauses) {
      let answer = try await transport.send(TransportRequest("GET", Client.path))
      if TransportAnswer.isTransient(answer.status) {
        throw TransportFailure("the server answers with \(answer.status)")
      }
    }
    let leftover = options.leftover
    let courier = try Courier(
      try WaitingFile(options.waitingWrites), options.limits, connection,
      leftover: { leftover?(Client.failure($0)) },
      transport: { write in
        try await streams.started()
        let answer = try await transport.send(
          TransportRequest(
            "POST", Client.path,
            headers: ["Content-Type": "application/json", "Idempotency-Key": write.key],
            body: write.body))
        if !TransportAnswer.isTransient(answer.status) { connection.succeeded() }
        return answer
      })
    (self.transport, self.streams, self.connection) = (transport, streams, connection)
    (self.courier, patience) = (courier, options.patience)
    sending = Task { await courier.run() }
  }

  deinit { stop() }

  func stop() {
    connection.stop()
    courier.stop()
    sending.cancel()
    streams.stop()
    transport.close()
  }

  private static let path = "/v1/records"

  private static func failure(_ result: Result<TransportAnswer, any Error>) -> (any Error)? {
    do {
      _ = try ServerAnswer.object(try result.get())
      return nil
    } catch { return error }
  }

  // MARK: Reading

  /// The object that the server answers with.
  ///
  /// - Parameters:
  ///   - parameters: The names and values behind the `?`.
  ///   - isPatient: True to wait for the server however long it is away.
  /// - Returns: The object.
  /// - Throws: The error that the server tells, or ``RemoteStoreError``.
  func get(_ parameters: (String, String)..., isPatient: Bool = false) async throws -> ValueMap {
    let request = TransportRequest("GET", Client.path + Client.text(parameters))
    return try await answered(isPatient) {
      try ServerAnswer.object(try await self.transport.send(request))
    }
  }

  /// The records that answer a query.
  func list(_ query: QueryDescription) async throws -> [DynamicRecord] {
    let text = Client.text([("query", query.description)])
    // A long one does not go into the first line of a request.
    let request =
      text.utf8.count < 4096
      ? TransportRequest("GET", Client.path + text)
      : TransportRequest(
        "POST", Client.path + "/query", headers: ["Content-Type": "text/plain"],
        body: Array(query.description.utf8))
    return try await answered(false) {
      let answer = try await self.transport.send(request)
      if answer.status != 200 { throw ServerAnswer.error(of: answer) }
      return try ServerAnswer.list(answer.body)
    }
  }

  /// Asks until there is an answer.
  private func answered<R: Sendable>(
    _ isPatient: Bool, _ body: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    if isPatient { return try await untilAnswered(body) }
    return try await withThrowingTaskGroup(of: R.self) { group in
      group.addTask { try await self.untilAnswered(body) }
      group.addTask {
        try await Task.sleep(for: self.patience)
        throw RemoteStoreError.unreachable(reason: self.reason)
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw CancellationError() }
      return result
    }
  }

  private var reason: String {
    if case .retrying(_, let reason) = connection.status { return reason }
    return "there was no answer within \(patience)"
  }

  private func untilAnswered<R: Sendable>(
    _ body: @Sendable () async throws -> R
  ) async throws -> R {
    while true {
      try await connection.ready()
      try await streams.started()
      do {
        let result = try await body()
        connection.succeeded()
        return result
      } catch let failure as TransportFailure {
        try Task.checkCancellation()
        connection.failed(failure.description)
      } catch let error as RemoteStoreError {
        guard case .refused(let status, _) = error, TransportAnswer.isTransient(status) else {
          throw error
        }
        connection.failed("\(error)")
      }
    }
  }

  private static func text(_ parameters: [(String, String)]) -> String {
    var allowed = CharacterSet(charactersIn: "-._~/")
    allowed.formUnion(
      CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
    let parts = parameters.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
    }
    return "?" + parts.joined(separator: "&")
  }

  // MARK: Models

  /// Refuses a model whose collection the server has declared otherwise.
  func check<M: Model>(_ type: M.Type, isPatient: Bool = false) async throws {
    let collection = try M.recordCollection
    if checked.withLock({ $0.contains(ObjectIdentifier(type)) }) { return }
    let members = try await get(("schema", collection.description), isPatient: isPatient)
    var declared: CollectionDefinition?
    if let value = members["definition"], value != .null {
      declared = try CollectionDefinition(value)
    }
    if let refusal = M.refusal(of: declared) { throw refusal }
    checked.withLock { _ = $0.insert(ObjectIdentifier(type)) }
  }

  // MARK: Following

  /// Follows the changes of a collection's records, or of one record.
  func follow(_ parameter: String, _ path: NodePath) -> RecordStream {
    let text = Client.text([(parameter, path.description)])
    let stream = RecordStream(Client.path + "/changes" + text, transport, connection)
    streams.add(stream)
    stream.start()
    return stream
  }
}

/// The streams of a store. What is asked or written after a stream was opened waits until that has
/// begun, so that it does not miss what follows.
final class OpenStreams: Sendable {
  private struct Reference { weak var stream: RecordStream? }

  private struct State {
    var open: [Reference] = []
    var starting: [RecordStream] = []
  }

  private let state = Mutex(State())

  func add(_ stream: RecordStream) {
    state.withLock { state in
      state.open.removeAll { $0.stream == nil }
      state.open.append(Reference(stream: stream))
      state.starting.append(stream)
    }
  }

  /// Waits until all streams that were opened so far have begun.
  func started() async throws {
    for stream in state.withLock({ $0.starting }) {
      try await stream.started()
      state.withLock { state in state.starting.removeAll { $0 === stream } }
    }
  }

  func stop() {
    let streams = state.withLock { state in
      defer { state = State() }
      return state.open.compactMap(\.stream)
    }
    for stream in streams { stream.stop() }
  }
}
