import Cambium

/// Keeps the answer of a request that writes, so that the request is made once, however often it
/// comes.
///
///     one transaction:   answer = put(…), kept          a request that comes again gets that
///     several:           1, done ── 2, done ── 3, answer        … or goes on after what is done
///
/// A command stores both with the transactions that they tell of: a crash leaves neither without
/// the other. The server has a place for them for each request with an `Idempotency-Key`.
package protocol CommandKeeping: Sendable {
  /// The part of the work that earlier copies of the request have done, as it was stored; nil where
  /// there were none.
  var done: Value? { get }

  /// Stores with a transaction which part of the work is done.
  ///
  /// - Throws: If another copy of the request has gone on meanwhile.
  func save(done: Value, _ tx: borrowing Database.Transaction) throws

  /// Stores with a transaction, the last of the work, what the command prints.
  ///
  /// - Throws: If another copy of the request has gone on meanwhile.
  func save(answer: [UInt8], _ tx: borrowing Database.Transaction) throws
}

extension Call {
  /// Keeps the answer of a request with the transaction that makes it. On a command line it does
  /// nothing.
  ///
  /// - Parameters:
  ///   - tx: The transaction, after all of its changes.
  ///   - tell: Prints, in a call that prints to the place where answers are kept, what this one
  ///     prints once the transaction is committed.
  /// - Throws: Any error that `tell` throws; if another copy of the request has gone on meanwhile.
  func keepAnswer(
    _ tx: borrowing Database.Transaction, _ tell: (Call) throws -> Void
  ) throws {
    guard let keeping = served?.keeping else { return }
    let answer = AnswerBytes()
    let output = Output(format: output.format) { answer.bytes += $0 }
    try tell(Call(invocation, output))
    try output.finish()
    try keeping.save(answer: answer.bytes, tx)
  }
}

private final class AnswerBytes {
  var bytes: [UInt8] = []
}
