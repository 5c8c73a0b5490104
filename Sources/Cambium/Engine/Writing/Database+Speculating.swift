// Running a transaction to see what it would do.
//
//     now      the writer's turn, the open transaction of the state ─┐
//     past     a state of that moment, folded in a scratch folder ───┴─▶ body ─▶ reading ─▶ abort
//
// The body runs as a write's does, by the same code, so it is refused for the same reasons and has
// the same consequences. The log is not written to, so the transaction gets no record, no time and
// no salt. All else that a body consumes is as for a write whose body throws.

import LMDB

extension Database {
  /// Runs a transaction, lends its outcome for reading, and drops it.
  ///
  ///     let (removed, left) = try database.speculate { tx in
  ///       try tx.remove("users/ada")
  ///     } reading: { after in
  ///       (try after.changes.fetch().count, try after["users"].childCount)
  ///     }
  ///
  /// Everything is as a commit would leave it: the tree, indexes, views, text search, what delete
  /// rules and hooks add, and declarations. Nothing is left of it: log, files and observers see
  /// nothing, blobs that `body` stores are dropped, and what it wants to run after the commit does
  /// not run. Integer ids are given again to the next write; random ones are new each time. What
  /// hooks do outside the database is their own affair.
  ///
  /// About a moment of the past, the database is as it was then, with the rules, indexes and views
  /// that were declared then; the rules and hooks in code are those of this process. Other
  /// writers do not wait for that, and it may be called inside a write.
  ///
  /// - Parameters:
  ///   - moment: The moment at which the transaction would be committed; now by default.
  ///   - metadata: As for `write`.
  ///   - actor: As for `write`.
  ///   - expecting: The head that the caller saw, as for `write`.
  ///   - body: Makes the changes, on the calling thread. It must not call `write`.
  ///   - reading: Reads the outcome, on the same thread. It must not call `write` either.
  /// - Returns: The value that `reading` returns. A snapshot or node of the speculation cannot be
  ///   read any more.
  /// - Throws: Any error that `body` throws, or with which the write would be refused, or that
  ///   `reading` throws; ``DatabaseError/busy(reason:)``; for a moment of the past, as
  ///   ``snapshot(at:)``. Nothing is changed in any case.
  /// - Complexity: now, as `write` without its flush; other writers wait until `reading` returns.
  ///   For a moment of the past, 1 to 5 µs for each operation between the newest checkpoint before
  ///   it, or the ``horizon``, and the moment, and disk space for a second state. A database that
  ///   is open for reading only has its state copied.
  @discardableResult
  public func speculate<T, R>(
    at moment: Moment = .now, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil,
    _ body: (borrowing Database.Transaction) throws -> T,
    reading: (Speculation<T>) throws -> R
  ) throws -> R {
    try speculate(
      at: moment, metadata.signed(by: actor), expecting, ProgressReporter(), body, reading: reading)
  }

  /// Runs a transaction and drops it: to see if it would be refused, or for what `body` reads of
  /// its own changes.
  ///
  ///     #expect(throws: DatabaseError.self) { try database.speculate { try $0.delete(airport) } }
  ///
  /// - Parameters:
  ///   - moment: The moment at which the transaction would be committed; now by default.
  ///   - metadata: As for `write`.
  ///   - actor: As for `write`.
  ///   - expecting: The head that the caller saw, as for `write`.
  ///   - body: Makes the changes, on the calling thread. It must not call `write`.
  /// - Returns: The value that `body` returns.
  /// - Throws: As `speculate(at:metadata:actor:expecting:_:reading:)`. Nothing is changed in any
  ///   case.
  /// - Complexity: as for that call.
  @discardableResult
  public func speculate<R>(
    at moment: Moment = .now, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil, _ body: (borrowing Database.Transaction) throws -> R
  ) throws -> R {
    try speculate(
      at: moment, metadata: metadata, actor: actor, expecting: expecting, body,
      reading: { $0.result })
  }

  /// Runs a transaction, lends its outcome for reading, and drops it, without blocking the caller's
  /// thread; cancelling the task ends the folding of a moment of the past.
  ///
  /// - Parameters:
  ///   - moment: The moment at which the transaction would be committed; now by default.
  ///   - metadata: As for `write`.
  ///   - actor: As for `write`.
  ///   - expecting: The head that the caller saw, as for `write`.
  ///   - body: Makes the changes, on another thread. It is not async: other writers wait for it.
  ///   - reading: Reads the outcome, on the same thread as `body`.
  /// - Returns: The value that `reading` returns.
  /// - Throws: As the synchronous `speculate`; `CancellationError`.
  @discardableResult
  public func speculate<T, R: Sendable>(
    at moment: Moment = .now, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil,
    _ body: @escaping @Sendable (borrowing Database.Transaction) throws -> T,
    reading: @escaping @Sendable (Speculation<T>) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    return try await inBackground(nil) { progress in
      try self.speculate(
        at: moment, metadata.signed(by: actor), expecting, ProgressReporter(progress), body,
        reading: reading)
    }
  }

  /// Runs a transaction and drops it, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - moment: The moment at which the transaction would be committed; now by default.
  ///   - metadata: As for `write`.
  ///   - actor: As for `write`.
  ///   - expecting: The head that the caller saw, as for `write`.
  ///   - body: Makes the changes, on another thread.
  /// - Returns: The value that `body` returns.
  /// - Throws: As the synchronous `speculate`; `CancellationError`.
  @discardableResult
  public func speculate<R: Sendable>(
    at moment: Moment = .now, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil,
    _ body: @escaping @Sendable (borrowing Database.Transaction) throws -> R
  ) async throws -> R {
    try await speculate(
      at: moment, metadata: metadata, actor: actor, expecting: expecting, body,
      reading: { $0.result })
  }

  private func speculate<T, R>(
    at moment: Moment, _ metadata: [String: String], _ expecting: SequenceNumber?,
    _ progress: ProgressReporter, _ body: (borrowing Database.Transaction) throws -> T,
    reading: (Speculation<T>) throws -> R
  ) throws -> R {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
    var result: T?
    var answer: R?
    try writer.speculate(at: moment, metadata, expecting, progress) { tx in
      result = try body(tx)
    } reading: { running in
      guard let result else { return }
      answer = try reading(Speculation(running: running, result: result))
    }
    guard let answer else { throw DatabaseError.misuse(reason: "the speculation did not run") }
    return answer
  }
}

extension Database.Transaction {
  /// Runs a part of the transaction, lends its outcome for reading, and undoes it; the rest of the
  /// transaction stays.
  ///
  ///     let removed = try tx.speculate { try tx.remove("drafts") } reading: { after in
  ///       try after.changes.fetch().count
  ///     }
  ///
  /// Within `Database.speculate` it makes speculations on a speculation, each from the same start.
  ///
  /// - Parameters:
  ///   - body: Uses the transaction.
  ///   - reading: Reads the outcome, with what the transaction has changed before.
  /// - Returns: The value that `reading` returns.
  /// - Throws: Any error that `body` or `reading` throws, or with which the commit would be
  ///   refused. The transaction is as it was before, unless the storage failed.
  /// - Complexity: one nested transaction of LMDB.
  @discardableResult
  public func speculate<T, R>(
    _ body: () throws -> T, reading: (Speculation<T>) throws -> R
  ) throws -> R {
    try running.use()
    try translating { try running.begin() }
    defer { running.rollBack() }
    let result = try body()
    try RestoredReferences.settle(in: running)
    try running.use()
    return try reading(Speculation(running: running, result: result))
  }
}

// MARK: Running it

extension Writer {
  /// Runs a body as the transaction after a moment, and drops it.
  ///
  /// It is not generic, as ``WriteJob/body`` is not.
  func speculate(
    at moment: Moment, _ metadata: [String: String], _ expecting: SequenceNumber?,
    _ progress: ProgressReporter, _ body: (borrowing Database.Transaction) throws -> Void,
    reading: (RunningTransaction) throws -> Void
  ) throws {
    func run(_ group: WriteGroup) throws {
      try translating { try group.speculate(metadata, expecting, body, reading: reading) }
    }
    let wanted = try wanted(moment)
    if wanted?.isNewest ?? true, !directory.isReadOnly {
      let isDone = try exclusively {
        let group = try translating { try WriteGroup.beginSpeculation(in: directory) }
        // Somebody may have written since the moment was found to be the newest.
        let isStillNewest = wanted.map { $0.sequence == group.head.sequence } ?? true
        isStillNewest ? try run(group) : group.stateWriter.abort()
        return isStillNewest
      }
      if isDone { return }
    }
    try translating {
      let horizon = try directory.log.read { try $0.horizon() }
      let past = PastState(directory: directory, progress: progress)
      try past.withState(asOf: wanted?.sequence) { state in
        try state.makeRoom(for: directory.options.stepSizes.groupRoom)
        var head = LogHead()
        head.sequence = try state.applied()
        try run(
          try WriteGroup(directory, state, head: head, horizon: horizon, catalog: Catalog()))
      }
    }
  }

  /// The transaction after which to run; nil for the newest, whichever that is.
  private func wanted(_ moment: Moment) throws -> (sequence: SequenceNumber, isNewest: Bool)? {
    if case .now = moment { return nil }
    let snapshot = try translating { try directory.snapshot(at: moment) }
    return (snapshot.sequence, snapshot.moment == nil)
  }
}

extension WriteGroup {
  /// Runs a body as the next transaction, which is read and then aborted with the whole group.
  fileprivate func speculate(
    _ metadata: [String: String], _ expecting: SequenceNumber?,
    _ body: (borrowing Database.Transaction) throws -> Void,
    reading: (RunningTransaction) throws -> Void
  ) throws {
    let transaction = RunningTransaction(self, metadata)
    stateWriter.begin(transaction.sequence)
    defer {
      transaction.cancel()
      stateWriter.abort()
    }
    if let expecting { try transaction.check(.head(expecting)) }
    try body(Database.Transaction(transaction))
    try RestoredReferences.settle(in: transaction)
    try transaction.use()
    try reading(transaction)
  }
}
