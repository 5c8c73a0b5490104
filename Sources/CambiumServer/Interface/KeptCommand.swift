import Cambium
import CambiumCommands
import Synchronization

/// Keeps the answer of a request for a command, which is made once however often it comes.
///
///     request ──▶ answered? ── yes ──▶ the kept answer
///                    │ no
///                 the command: its transactions, and with them what is done or the answer
///                    │
///     nothing kept by then ──▶ the answer, by itself: a refusal, or nothing was found
///
/// Two copies of a request that come at the same time both get here. Before each transaction is
/// committed its copy looks at what is kept; if another copy has gone on meanwhile it stores
/// nothing, and is answered as that one was.
final class KeptCommand: CommandKeeping {
  /// Another copy of the request has gone on.
  private struct Overtaken: Error {}

  private struct State {
    var headers: [(name: String, value: String)] = []
    var done: Value?
    var isOvertaken = false
  }

  private let database: Database
  private let answered: AnsweredRequests
  private let entry: AnsweredRequests.Entry
  private let state = Mutex(State())

  /// Prepares for a request; nil for one without a key.
  ///
  /// - Throws: ``AnsweredRequests/KeyError``, ``DatabaseError``.
  init?(_ request: Request, _ answered: AnsweredRequests, _ database: Database) throws {
    guard let entry = try answered.entry(of: request) else { return nil }
    (self.database, self.answered, self.entry) = (database, answered, entry)
  }

  /// The answer to an earlier copy of the request; nil if it is to be made.
  ///
  /// - Throws: As `init`.
  func answer() throws -> Response? {
    let kept = try answered.kept(try database.note(entry.note), entry)
    state.withLock { $0.done = kept?.done }
    if kept == nil { try answered.checkRoom(for: entry) }
    return kept?.response
  }

  /// Takes the headers that the answer gets, before the command runs.
  func begin(_ headers: [(name: String, value: String)]) {
    state.withLock { $0.headers = headers }
  }

  /// Ends the request: keeps its answer, if that was not done with a transaction.
  ///
  /// - Parameter response: The command's answer.
  /// - Returns: The answer to send; another one if another copy of the request was faster.
  /// - Throws: ``DatabaseError``; the request is then best sent again.
  func end(_ response: Response) async throws -> Response {
    let kept = try answered.kept(try database.note(entry.note), entry)?.response
    if let kept { return response.status == 200 ? response : kept }
    if state.withLock({ $0.isOvertaken }) { return KeptCommand.inProgress }
    // One that may be answered otherwise later is not kept, nor one that is still being written.
    guard response.status < 500, case .bytes = response.body else { return response }
    return try await database.write { [self] tx in
      let kept = try answered.kept(try tx.note(entry.note), entry)
      if let other = kept?.response { return other }
      if kept?.done != done { return KeptCommand.inProgress }
      try answered.keep(KeptAnswer(entry.request, response), of: entry, tx)
      return response
    }
  }

  private static let inProgress = Response(
    409, error: "in_progress", "the request with this Idempotency-Key is being made",
    hint: "send it again in a moment")

  // MARK: The command's side

  var done: Value? { state.withLock { $0.done } }

  func save(done: Value, _ tx: borrowing Database.Transaction) throws {
    try checkNotOvertaken(tx)
    try answered.keep(KeptAnswer(entry.request, done: done), of: entry, tx)
    state.withLock { $0.done = done }
  }

  func save(answer: [UInt8], _ tx: borrowing Database.Transaction) throws {
    try checkNotOvertaken(tx)
    let response = Response(200, headers: state.withLock { $0.headers }, body: .bytes(answer))
    try answered.keep(KeptAnswer(entry.request, response), of: entry, tx)
  }

  private func checkNotOvertaken(_ tx: borrowing Database.Transaction) throws {
    let kept = try answered.kept(try tx.note(entry.note), entry)
    if kept?.response == nil && kept?.done == done { return }
    state.withLock { $0.isOvertaken = true }
    throw Overtaken()
  }
}
