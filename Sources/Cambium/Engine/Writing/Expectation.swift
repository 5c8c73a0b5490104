// Reading outside, computing, and writing only if the data read is unchanged: no writer waits for
// the computation, and a caller that was overtaken tries again. (Kung and Robinson, "On optimistic
// methods for concurrency control", 1981.)
//
//     snapshot ──▶ read, compute, call others ──▶ write: expect(unchanged:since:) ──▶ commit
//        ▲                                                │
//        └──────────────── conflict: it was written ──────┘

import FoundationEssentials
import LMDB

/// A fact that a writer has read, and that must still hold when its transaction runs. Every
/// condition of a write is one: `write(expecting:)`, the `expect` calls of
/// ``Database/Transaction``, and those of undo and of scripts, which use them.
enum Expectation {
  /// The newest transaction is this one.
  case head(SequenceNumber)
  /// A node's own value was last changed by this transaction; zero for no node.
  case modified(NodePath, at: SequenceNumber)
  /// No transaction has written to a node or below it since this one.
  case unchanged(NodePath, since: SequenceNumber)
}

extension RunningTransaction {
  /// Refuses an expectation that does not hold.
  ///
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)``.
  func check(_ expectation: Expectation) throws {
    func hold(_ path: NodePath, _ expected: SequenceNumber, _ found: SequenceNumber) throws {
      if found == expected { return }
      throw DatabaseError.conflict(path, expected: expected, found: found)
    }
    switch expectation {
    case .head(let sequence): try hold(.root, sequence, group.head.sequence)
    case .modified(let path, let sequence):
      let node = Snapshot(self)[path]
      try hold(path, sequence, try node.modified ?? .zero)
    case .unchanged(let path, let sequence):
      try path.checkKeys()
      try use()
      try group.forEachRecord(after: sequence) { record in
        if try record.touches(path, catalog) {
          try hold(path, sequence, record.sequence)
        }
      }
    }
  }
}

extension Database.Transaction {
  /// Continues only if a node's own value was last changed by a given transaction.
  ///
  /// - Parameters:
  ///   - path: The node; for a property, its record.
  ///   - sequence: The number that the caller saw in ``Node/modified``; zero for no node.
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)``; unless the body catches it, nothing
  ///   is stored.
  public func expect(_ path: NodePath, at sequence: SequenceNumber) throws {
    try running.check(.modified(path, at: sequence))
  }

  /// Continues only if a node and everything below it is unchanged since the caller read it.
  ///
  ///     let cart = try database.snapshot()
  ///     let total = try price(cart["carts/7"])
  ///     try database.write { tx in
  ///       try tx.expect(unchanged: "carts/7", since: cart.sequence)
  ///       try tx.set("orders/9", to: .integer(total))
  ///     }
  ///
  /// Writing the same value again counts as a change; this transaction's own writes do not. A path
  /// may also name a property: then a write of that property counts, and one of the whole record.
  ///
  /// - Parameters:
  ///   - path: The node; the root for the whole database.
  ///   - sequence: The moment of the caller's snapshot.
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)`` with the first transaction that came
  ///   between; unless the body catches it, nothing is stored.
  ///   ``DatabaseError/compacted(oldest:)`` for a moment before the horizon.
  /// - Complexity: reads the transactions that were written since, usually none.
  public func expect(unchanged path: NodePath, since sequence: SequenceNumber) throws {
    try translating { try running.check(.unchanged(path, since: sequence)) }
  }

}

extension Database {
  /// Runs a body that reads a snapshot and writes, and repeats it with a new snapshot as long as
  /// others have changed the data that it read.
  ///
  ///     try await database.retrying { snapshot in
  ///       let order = try snapshot.get(id)
  ///       let price = try await shop.price(of: order)      // no writer waits meanwhile
  ///       try await database.write { tx in
  ///         try tx.expect(unchanged: id, since: snapshot.sequence)
  ///         try tx.set(id, \.price, to: price)
  ///       }
  ///     }
  ///
  /// Each conflict means that another writer has succeeded. Before the next attempt the call waits,
  /// 0.1 ms at first and up to 50 ms, each time for about twice as long as before, so that
  /// conflicting writers separate.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts.
  ///   - isolation: The actor that `body` runs on, the caller's.
  ///   - body: Reads the snapshot, whose pages stay alive until it returns, and writes.
  /// - Returns: The value that `body` returns.
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)`` after the last attempt; at once any
  ///   other error that `body` throws, and `CancellationError`.
  public func retrying<R>(
    attempts: Int = 10, isolation: isolated (any Actor)? = #isolation,
    _ body: (Snapshot) async throws -> R
  ) async throws -> R {
    var backoff = Backoff(attempts: attempts)
    while true {
      try Task.checkCancellation()
      do { return try await body(try snapshot()) } catch let error as DatabaseError {
        guard case .conflict = error, let pause = backoff.next() else { throw error }
        try await Task.sleep(for: pause)
      }
    }
  }

  /// Retries on the caller's thread; see the async form.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts.
  ///   - body: Reads the snapshot and writes.
  /// - Returns: The value that `body` returns.
  /// - Throws: As the async form.
  public func retrying<R>(attempts: Int = 10, _ body: (Snapshot) throws -> R) throws -> R {
    var backoff = Backoff(attempts: attempts)
    while true {
      do { return try body(try snapshot()) } catch let error as DatabaseError {
        guard case .conflict = error, backoff.pause() else { throw error }
      }
    }
  }
}

/// The pauses between attempts that may conflict with others: half of each is random, so that two
/// callers in conflict do not conflict again.
package struct Backoff {
  /// The number of attempts left.
  private var left: Int
  /// The longest pause before the next attempt.
  private var bound = Duration.microseconds(100)
  private static let boundMax = Duration.milliseconds(50)

  package init(attempts: Int) { left = max(attempts, 1) - 1 }

  /// The pause before the next attempt; nil if there is none.
  package mutating func next() -> Duration? {
    if left == 0 { return nil }
    left -= 1
    defer { bound = min(bound * 2, Backoff.boundMax) }
    return bound * Double.random(in: 0.5...1)
  }

  /// Waits on the calling thread; false if there is no other attempt.
  mutating func pause() -> Bool {
    guard let pause = next() else { return false }
    usleep(UInt32(pause / .microseconds(1)))
    return true
  }
}

extension WriteGroup {
  /// Visits the transactions after a moment, up to the one that is running.
  fileprivate func forEachRecord(
    after sequence: SequenceNumber, _ body: (TransactionRecord) throws -> Void
  ) throws {
    guard sequence <= head.sequence else {
      throw DatabaseError.noSuchMoment(
        reason: "transaction \(sequence) is not there; the newest is \(head.sequence)")
    }
    if sequence == head.sequence { return }
    try directory.log.read { try $0.checkReachable(sequence) }
    var next = sequence.next
    while next <= committed {
      try body(try directory.log.read { try $0.record(next) })
      next = next.next
    }
    for record in records where record.sequence > sequence { try body(record) }
  }
}

extension TransactionRecord {
  /// True if the transaction has written to a node or below it, or to the property of that path.
  fileprivate func touches(_ path: NodePath, _ catalog: Catalog) throws -> Bool {
    // A name without a number is no record's.
    let property = path.last.flatMap { catalog.id(of: $0.description) }
    var reader = OperationReader(operations)
    while let operation = try reader.next() {
      var isTouched = false
      Touched.forEach(in: operation, under: path) { touched in
        if !touched.isUncertain || property.map(operation.mayChange) ?? false { isTouched = true }
      }
      if isTouched { return true }
    }
    return false
  }
}

extension Operation {
  /// True if it may change a property of the record that it names.
  fileprivate func mayChange(_ property: NameID) -> Bool {
    switch self {
    case .update(_, let updates): updates.contains { $0.name == property }
    case .change(_, let target, _): target == property
    case .set, .remove, .restore, .move, .define, .event, .declare: true
    }
  }
}
