// Requests that write are made once, however often they come.
//
//     request ──▶ its key is known? ── yes ──▶ the same request? ── yes ──▶ the kept receipt
//                    │ no                          │ no
//                    ▼                             ▼
//     one transaction: changes, receipt        refused: 422
//
// A client that got no answer cannot know if its request was made; it sends it again with the same
// `Idempotency-Key`. (Draft RFC "The Idempotency-Key HTTP Header Field", httpapi working group.)
//
// A receipt is a note of the log (LogNotes.swift), stored with the transaction that it is of: there
// is never one without the other. It has the answer, or what the answer is made of again: the
// transaction's number and a small value of the service's own. A refusal gets a receipt as well,
// without a transaction: else a copy of the request that was delayed on its way could be made after
// its sender was told that it was refused.
//
//     answer/<digest of caller and key>    see KeptAnswer.swift
//
// Commands write by themselves; KeptCommand.swift, above, keeps their answers.

import Cambium
import FoundationEssentials
import Synchronization

/// Makes requests that write, and keeps their receipts by their keys.
///
/// Invariants:
/// 1. A receipt and its transaction are stored together; ``write(_:metadata:_:)`` does both.
/// 2. There are at most `Limits.countMax` receipts, and those that writers who came at the same
///    time added to them: counted at each sweep.
final class AnsweredRequests: Sendable {
  struct Limits: Sendable {
    /// The time for which a receipt is kept at least.
    var keep = Duration.seconds(86_400)
    /// The most receipts; with more, requests with a new key are refused until some are old.
    var countMax = 100_000
    /// The longest key.
    var keyBytesMax = 255
    /// The largest receipt, as JSON, of a request that is not longer itself.
    var valueBytesMax = 16 << 10
    /// The time between two looks for old receipts, each by a request that writes.
    var sweepEvery = Duration.seconds(60)
    /// The most old receipts that one transaction takes out.
    var sweptMax = 2_000
  }

  /// The facts that the answer to a request is made of, the first time and each further one.
  struct Receipt: Equatable, Sendable {
    /// The transaction; where nothing was changed, the newest one at that time.
    var sequence: SequenceNumber
    /// False where nothing was changed.
    var isRecorded: Bool
    /// The service's own value, such as an id that was made.
    var value = Value.null
    /// True if it was kept from an earlier request.
    var isRepeated = false
  }

  /// A key that cannot be used.
  enum KeyError: Error, Equatable, CustomStringConvertible {
    case malformed(bytesMax: Int)
    /// The key is that of another request.
    case reused
    case tooMany(Int)

    /// The status of the answer.
    var status: Int {
      switch self {
      case .malformed: 400
      case .reused: 422
      case .tooMany: 503
      }
    }

    var description: String {
      switch self {
      case .malformed(let bytesMax):
        "an Idempotency-Key has 1 to \(bytesMax) visible ASCII characters; a UUID is a good one"
      case .reused:
        "this Idempotency-Key was used for another request; make a new key for each request"
      case .tooMany(let count):
        "\(count) answers are kept for requests with a key, which is the most; try again later"
      }
    }
  }

  /// A request with a key, while it is made.
  struct Entry: Sendable {
    /// The name of its receipt's note.
    let note: String
    /// All that says what the request does.
    let request: String
    let time: Date
    /// The notes of old receipts, which its transaction takes out.
    fileprivate let old: [String]
    fileprivate let isFull: Bool
  }

  private struct Sweep {
    /// The names of the receipts that are old.
    var old: [String] = []
    /// The receipts that there are, as of the last sweep, and those that were added since.
    var count = 0
    var last: ContinuousClock.Instant?
  }

  private let database: Database
  private let limits: Limits
  private let now: @Sendable () -> Date
  private let sweep = Mutex(Sweep())

  /// Keeps receipts in a database.
  ///
  /// - Parameters:
  ///   - database: Where the requests write.
  ///   - limits: The number of receipts that are kept, and the time.
  ///   - now: The time of day.
  init(
    _ database: Database, limits: Limits = Limits(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.database = database
    self.limits = limits
    self.now = now
  }

  /// Makes a request's changes in one transaction, unless a request with its key was made before.
  ///
  ///     let receipt = try await answered.write(request, metadata: metadata) { tx in
  ///       try tx.set(path, to: value)
  ///       return .string(path.description)
  ///     }
  ///     return answer(receipt)      // from the receipt alone: a repeated one gets the same
  ///
  /// A request without a key is made each time.
  ///
  /// - Parameters:
  ///   - request: The request, with the header `Idempotency-Key`.
  ///   - metadata: Stored with the transaction.
  ///   - refusal: The service's own errors; nil if `body` throws none.
  ///   - body: Makes the changes, on another thread, and returns what the answer needs besides the
  ///     transaction's number; it must be small, or not longer than the request.
  /// - Returns: The receipt.
  /// - Throws: ``KeyError``; any error that `body` throws, and for a repeated request that was
  ///   refused the same error again. Of other errors no receipt is kept.
  func write(
    _ request: Request, metadata: [String: String] = [:],
    refusal: (any KeptRefusal.Type)? = nil,
    _ body: @escaping @Sendable (borrowing Database.Transaction) throws -> Value
  ) async throws -> Receipt {
    guard let entry = try entry(of: request) else {
      return try await database.write(metadata: metadata) { tx in
        let value = try body(tx)
        return Receipt(tx, value)
      }
    }
    let bodyBytes = request.body.count
    return try await database.write(metadata: metadata) { [self] tx in
      if let kept = try kept(try tx.note(entry.note), entry) {
        return kept.outcome(refusal: refusal)
      }
      try checkRoom(for: entry)
      let outcome = try Result { try tx.attempt { Receipt(tx, try body(tx)) } }
      let answer = KeptAnswer(entry.request, outcome)
      let (bytes, limit) = (answer.note(entry.time).count, max(limits.valueBytesMax, bodyBytes))
      if bytes > limit {
        // A refusal that is too long to be kept is still told.
        _ = try outcome.get()
        throw DatabaseError.transactionTooLarge(bytes: bytes, limit: limit)
      }
      try keep(answer, of: entry, tx)
      return outcome
    }.get()
  }

  // MARK: Receipts

  /// The entry of a request; nil for one without a key.
  func entry(of request: Request) throws -> Entry? {
    guard let key = request[header: "idempotency-key"] else { return nil }
    try check(key)
    let old = try sweepIfDue()
    return Entry(
      note: AnsweredRequests.name(of: key, request.caller),
      request: AnsweredRequests.fingerprint(of: request), time: now(), old: old,
      isFull: sweep.withLock { $0.count >= limits.countMax })
  }

  /// The answer in a request's note; nil where there is none, or an old one.
  ///
  /// - Throws: ``KeyError/reused`` for that of another request.
  func kept(_ note: [UInt8]?, _ entry: Entry) throws -> KeptAnswer? {
    guard let note, KeptAnswer.isFresh(note, entry.time, limits.keep) else { return nil }
    let answer = try KeptAnswer(note)
    if answer.request != entry.request { throw KeyError.reused }
    return answer
  }

  /// Refuses a request that has no receipt yet where there are too many.
  func checkRoom(for entry: Entry) throws {
    if entry.isFull { throw KeyError.tooMany(limits.countMax) }
  }

  /// Stores the answer of a request with a transaction.
  func keep(
    _ answer: KeptAnswer, of entry: Entry, _ tx: borrowing Database.Transaction
  ) throws {
    for name in entry.old where name != entry.note {
      guard let note = try tx.note(name) else { continue }
      if !KeptAnswer.isFresh(note, entry.time, limits.keep) { try tx.saveNote(name, nil) }
    }
    if try tx.note(entry.note) == nil { sweep.withLock { $0.count += 1 } }
    try tx.saveNote(entry.note, answer.note(entry.time))
  }

  private func check(_ key: String) throws {
    let isGood = key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isGood, !key.isEmpty, key.utf8.count <= limits.keyBytesMax else {
      throw KeyError.malformed(bytesMax: limits.keyBytesMax)
    }
  }

  /// The names of receipts that are old, to be taken out by the next write.
  private func sweepIfDue() throws -> [String] {
    let instant = ContinuousClock.now
    let isDue = sweep.withLock { sweep in
      if let last = sweep.last, instant - last < limits.sweepEvery { return false }
      sweep.last = instant
      return true
    }
    guard isDue else { return [] }
    var (old, count): ([String], Int) = ([], 0)
    let time = now()
    try database.forEachNote(startingWith: AnsweredRequests.prefix) { name, bytes in
      if old.count < limits.sweptMax, !KeptAnswer.isFresh(bytes, time, limits.keep) {
        old.append(name)
      } else {
        count += 1
      }
    }
    sweep.withLock { $0.count = count }
    return old
  }

  // MARK: Names

  static let prefix = "answer/"

  /// A key counts for its caller alone.
  private static func name(of key: String, _ caller: Caller) -> String {
    let words = [caller.name ?? "", caller.scope.description, key].joined(separator: "\u{0}")
    return prefix + Blob.digestText(of: Array(words.utf8))
  }

  /// Two requests are the same if all is the same that says what they do.
  private static func fingerprint(of request: Request) -> String {
    var words = [request.method.rawValue, request.path, request[header: "if-match"] ?? ""]
    words += request.parameters.flatMap { [$0.name, $0.value] }
    let override = "x-http-method-override"
    if let method = request[header: override] { words += [override, method] }
    return Blob.digestText(of: Array(words.joined(separator: "\u{0}").utf8) + [0] + request.body)
  }
}

extension AnsweredRequests.Receipt {
  fileprivate init(_ tx: borrowing Database.Transaction, _ value: Value) {
    let isRecorded = tx.isRecorded
    self.init(
      sequence: isRecorded ? tx.sequence : tx.sequence.previous, isRecorded: isRecorded,
      value: value)
  }
}

extension Result where Failure == any Error {
  /// The outcome of a body, where an error that is about the request is one.
  ///
  /// - Throws: Any other error.
  fileprivate init(_ body: () throws -> Success) throws {
    do { self = .success(try body()) } catch {
      guard KeptAnswer.isKept(error) else { throw error }
      self = .failure(error)
    }
  }
}
