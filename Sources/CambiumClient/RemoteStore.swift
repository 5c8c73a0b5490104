import Cambium
import Foundation

/// Models that are kept by a server, `cambium serve`, as a `ModelStore`.
///
///     let store = try RemoteStore(URL(string: "https://db.example.org")!, token: token)
///     let booked = try await store.create(Flight(carrier: "UA", number: 1545))
///     try await store.update(booked.id) { $0.departureDelay = 12 }
///     for try await change in try store.observe(Flight.self) { show(change.model) }
///
/// It keeps the promises of every store. The server checks what is declared: domains, what is
/// required, unique properties, references and delete rules. Rules in code are checked here, before
/// anything is sent, and so are values put into their domains. The server's database must be
/// declared for the models, by a program that opens it with them, or by `cambium declare`.
///
/// **While the server is away**, reads fail after ``Options/patience``. Writes wait, in the order
/// in which they were called, and each is made once, however often the network loses a request or
/// an answer: every write has a key by which the server knows it again, for a day. A caller that
/// awaits gets its answer when it is there.
///
/// - A create or delete waits in the file of ``Options/waitingWrites`` from the call on, and
///   survives the process. The next store that is opened with that file sends it first, and calls
///   ``Options/leftover`` with the outcome.
/// - An update reads first, so it waits in memory until the server is there; then it runs its body,
///   and waits in the file for the answer. Nothing that was called later overtakes it.
/// - **Cancelling** a caller's task takes its write out of the queue if it was not sent yet:
///   `CancellationError`, and it is never made. Otherwise ``RemoteStoreError/stillWaiting`` is
///   thrown, and the write is made once.
/// - The queue is bounded: ``RemoteStoreError/tooManyWaiting(_:)``.
/// - A write that was sent without an answer for so long that the server may have forgotten its key
///   is not sent again: ``RemoteStoreError/outcomeUnknown``.
///
/// An observer gets each change once, also over broken connections and restarts of the server, as
/// long as the server's database keeps its past.
///
/// Each call is one request and one answer, but where a comment says otherwise; writes go out one
/// after the other, so that there are as many in a second as answers come back. Each observer has a
/// connection of its own that stays open. A model's declaration is asked for once, before the first
/// read of one.
///
/// Threads: any.
public final class RemoteStore: ModelStore {
  /// The options of a store.
  public struct Options: Sendable {
    /// The directory of the writes that wait; nil keeps them in memory only. One store at a time
    /// may use it.
    public var waitingWrites: String?
    /// The most writes that wait.
    public var waitingMax = 1_000
    /// The time for which a read waits for a server that is away.
    public var patience = Duration.seconds(10)
    /// The longest pause between two attempts to reach the server. The first is 0.1 seconds, and
    /// each is up to twice as long as the one before.
    public var pauseMax = Duration.seconds(30)
    /// Called with the outcome of each write that an earlier process has left: nil where it was
    /// made, otherwise the error with which it was refused.
    public var leftover: (@Sendable ((any Error)?) -> Void)?
    /// The time for which a write without an answer is sent again, from when it was sent first. The
    /// server's time for keeping answers, a day by default, must be longer.
    public var keyLifetime = Duration.seconds(23 * 3600)
    /// The first pause.
    package var pauseFirst = Duration.milliseconds(100)

    /// Makes the default options.
    public init() {}

    var pauses: Connection.Pauses { .init(first: min(pauseFirst, pauseMax), most: pauseMax) }

    var limits: Courier.Limits { .init(countMax: waitingMax, keyLifetime: keyLifetime) }
  }

  private let client: Client

  /// Opens a store; nothing is asked of the server yet.
  ///
  /// - Parameters:
  ///   - url: The address of the server.
  ///   - token: The token that the server knows; nil for a server that wants none.
  ///   - options: The options of the store.
  /// - Throws: `DatabaseError` for the directory of waiting writes.
  public convenience init(
    _ url: URL, token: String? = nil, options: Options = Options()
  ) throws {
    try self.init(HTTPTransport(url, token: token), options)
  }

  package init(_ transport: any Transport, _ options: Options) throws {
    client = try Client(transport, options)
  }

  /// Ends all connections, observers and waiting calls. Writes that wait stay in the file.
  public func stop() { client.stop() }

  /// The state of the connection, as of the last exchange with the server.
  public var status: RemoteStatus { client.connection.status }

  /// The state of the connection now, and each time that it changes; it ends when the store is
  /// stopped. A reader that falls behind misses the oldest.
  public var statuses: AsyncStream<RemoteStatus> { client.connection.statuses }

  /// The number of writes that wait for the server's answer.
  public var waitingCount: Int { client.courier.count }

  // MARK: Writing

  /// Keeps a new model; see `ModelStore/create(_:)`.
  @discardableResult
  public func create<M: Model>(_ model: M) async throws -> M {
    var model = model
    let collection = try M.recordCollection
    let hasID = try model.takeFreshID()
    let path = hasID ? try model.id.path : collection
    do { try model.checkRules() } catch let error as ValidationError {
      throw try await placing(error, path, hasID)
    }
    var record = DynamicRecord(path)
    try model.write(into: &record)
    let body: ValueMap = [
      "op": "create", hasID ? "path" : "collection": .string(path.description),
      "values": .map(record.values),
    ]
    do {
      return try await kept(try await client.courier.send(ServerAnswer.bytes(body)))
    } catch DatabaseError.exists(path, _) {
      throw DatabaseError.exists(
        path, reason: "there is such a \(M.self) already; use upsert or update")
    }
  }

  /// A model that breaks a rule is refused; where its place is taken, for that reason. The server
  /// knows, if it answers within the patience of a read.
  private func placing(
    _ error: ValidationError, _ path: NodePath, _ hasID: Bool
  ) async throws -> any Error {
    do {
      if hasID {
        let members = try await client.get(("path", path.description))
        if try ServerAnswer.record(members["record"]) == nil { return error }
        return DatabaseError.exists(path, reason: "there is such a record already")
      }
      let members = try await client.get(("place", path.description))
      var error = error
      error.path = members.path("path")
      return error
    } catch is RemoteStoreError { return error }
  }

  /// Changes a model; see `ModelStore/update(_:_:)`. The body runs again where somebody else has
  /// changed the model meanwhile, up to ten times.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M {
    let path = try id.path
    return try await client.courier.inTurn { [client] turn in
      var backoff = Backoff(attempts: 10)
      while true {
        let change = try await Update(id, path, client, body)
        guard let request = change.request else { return change.model }
        do {
          return try await self.kept(try await turn.send(ServerAnswer.bytes(request)))
        } catch let error as DatabaseError {
          guard case .conflict = error, let pause = backoff.next() else { throw error }
          try await Task.sleep(for: pause)
        }
      }
    }
  }

  /// Deletes a model; see `ModelStore/delete(_:)`.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) async throws -> Bool {
    _ = try M.recordCollection
    if !id.isAssigned { return false }
    let path = try id.path
    let request: ValueMap = ["op": "delete", "path": .string(path.description)]
    if !M.isOneCase {
      let answer = try await client.courier.send(ServerAnswer.bytes(request))
      return try ServerAnswer.object(answer)["path"] != nil
    }
    return try await client.courier.inTurn { [client] turn in
      var (backoff, request) = (Backoff(attempts: 10), request)
      while true {
        guard let found = try await client.find(M.self, path, isPatient: true) else { return false }
        request["sequence"] = .integer(Int64(clamping: found.modified.rawValue))
        do {
          _ = try ServerAnswer.object(try await turn.send(ServerAnswer.bytes(request)))
          return true
        } catch let error as DatabaseError {
          guard case .conflict = error, let pause = backoff.next() else { throw error }
          try await Task.sleep(for: pause)
        }
      }
    }
  }

  /// The model of the answer to a write.
  private func kept<M: Model>(_ answer: TransportAnswer) async throws -> M {
    let members = try ServerAnswer.object(answer)
    var found = try ServerAnswer.record(members["record"])
    if found == nil, members["isGone"] == true, let path = members.path("path") {
      // The write was made, and its past is gone already.
      let present = try await client.get(("path", path.description))
      found = try ServerAnswer.record(present["record"])
    }
    if let found, let model = try M.reading(found.record) { return model }
    throw RemoteStoreError.unexpectedAnswer(reason: "there is no record in it")
  }

  // MARK: Reading

  /// Reads a model; see `ModelStore/lookup(_:)`.
  public func lookup<M: Model>(_ id: ModelID<M>) async throws -> M? {
    _ = try M.recordCollection
    if !id.isAssigned { return nil }
    try await client.check(M.self)
    let members = try await client.get(("path", try id.path.description))
    return try ServerAnswer.record(members["record"]).flatMap { try M.reading($0.record) }
  }

  /// Asks for models; see `ModelStore/list(_:)`. All of them come in one answer, as of one
  /// moment; ask for many with a limit.
  public func list<M: Model>(_ listing: Listing<M>) async throws -> [M] {
    let question = try listing.question
    try await client.check(M.self)
    return try await client.list(question).compactMap { try M.reading($0) }
  }

  /// Follows changes; see `ModelStore/observe(_:_:)`. What this store reads and writes after the
  /// call waits until the server follows, so that the observer misses nothing that comes after it.
  ///
  /// Up to 256 transactions are kept for a slow observer; then its stream is ended, and continued
  /// when it is wanted.
  public func observe<M: Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M> {
    let collection = try M.recordCollection
    let stream =
      try id.map { client.follow("path", try $0.path) }
      ?? client.follow("collection", collection)
    let following = Following(stream, client)
    return ModelChanges { try await following.next() }
  }
}

/// Follows a stream while somebody may walk over it.
private final class Following: Sendable {
  private let stream: RecordStream
  private let client: Client

  init(_ stream: RecordStream, _ client: Client) { (self.stream, self.client) = (stream, client) }

  deinit { stream.stop() }

  func next<M: Model>() async throws -> [ModelChange<M>]? {
    try await stream.next()?.compactMap { change in
      func model(_ values: ValueMap?) throws -> M? {
        try values.flatMap { try M.reading(DynamicRecord(change.path, $0)) }
      }
      switch (try model(change.old), try model(change.new)) {
      case (nil, let new?): return .created(new)
      case (let old?, let new?): return .updated(new, from: old)
      case (let old?, nil): return .deleted(old)
      case (nil, nil): return nil
      }
    }
  }
}
