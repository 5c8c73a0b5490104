// Undo, redo and revert: the inverse of what was done, as a new transaction.

extension Database {
  /// Undoes a transaction: appends its inverse as a new one, whose metadata says so under `undoes`.
  ///
  ///     let change = try database.write { tx in
  ///       try tx.update("users/ada", ["name": "Ada"])
  ///       return tx.sequence
  ///     }
  ///     try database.undo(change)
  ///
  /// It is done property by property, so that a later change of another property stays, and is no
  /// conflict. A number that was incremented is decremented, an element that was added to an array
  /// is taken out again, wherever it is now, a subtree that was removed is restored with all below
  /// it, a node that was moved is moved back, and one that was made is removed. Names that were
  /// defined stay, and so do events. Anything that is already as it was before is skipped.
  ///
  /// Transactions that have added to one value can be undone in any order: it holds what those that
  /// are left have made of it, and once none is left, what was there before the first.
  ///
  /// An undo can be undone as well, which makes the change again.
  ///
  /// - Parameters:
  ///   - sequence: The transaction to undo.
  ///   - wholeGroup: True to undo the other transactions of a group along with its newest, in one
  ///     transaction. A group consists of the transactions of one origin whose metadata has the
  ///     same text under `group`, with at most 1,000 others between two of them.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction: why, from where.
  ///   - actor: Who undoes it; stored in the metadata as `actor`.
  /// - Returns: The new transaction, and what it undoes.
  /// - Throws: ``DatabaseError/undoConflict(_:)`` with each place that is not any more as the
  ///   transaction left it; ``DatabaseError/noSuchMoment(reason:)``; otherwise as
  ///   `write`. Nothing is stored then.
  /// - Complexity: O(*k* log *n*) time and O(*k*) memory for *k* operations to undo, and one
  ///   durable flush. Restoring takes one entry; undoing a restoration compares the whole subtree.
  ///   Where others have added to a value since, an array, a sum of doubles, and one that comes to
  ///   zero take a read of each transaction that has changed the node since, up to 10,000.
  @discardableResult
  public func undo(
    _ sequence: SequenceNumber, wholeGroup: Bool = true, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Undone {
    let request = UndoRequest.transaction(sequence, wholeGroup: wholeGroup)
    return try Undone.checked(try perform(request, onConflict, metadata.signed(by: actor)))
  }

  /// Undoes a transaction without blocking the caller's thread; otherwise as the synchronous
  /// `undo`, and waiting as the async `write` does.
  ///
  /// - Parameters:
  ///   - sequence: The transaction to undo.
  ///   - wholeGroup: True to undo the other transactions of a group along with its newest.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: Who undoes it; stored in the metadata as `actor`.
  /// - Returns: The new transaction, and what it undoes.
  /// - Throws: As the synchronous `undo`, and as the async `write`.
  @discardableResult
  public func undo(
    _ sequence: SequenceNumber, wholeGroup: Bool = true, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Undone {
    let request = UndoRequest.transaction(sequence, wholeGroup: wholeGroup)
    return try Undone.checked(try await perform(request, onConflict, metadata.signed(by: actor)))
  }

  /// Undoes the newest change that is somebody's own and not undone yet.
  ///
  ///     try database.undoLast(of: .init(actor: "ada"))
  ///
  /// The log records which transactions are undone, so the answer is the same after a restart and
  /// in every process.
  ///
  /// - Parameters:
  ///   - author: Whose; the texts of its metadata are stored with the new transaction, too.
  ///   - wholeGroup: True to undo the whole group, as in `undo`.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: Who undoes it; stored in the metadata as `actor`.
  /// - Returns: The new transaction, and what it undoes; nil where there is nothing to undo.
  /// - Throws: As `undo`.
  /// - Complexity: reads the records back to the one that is undone, besides what undoing takes.
  @discardableResult
  public func undoLast(
    of author: Authorship = .anyone, wholeGroup: Bool = true,
    onConflict: ConflictResolution = .refuse, metadata: [String: String] = [:],
    actor: String? = nil
  ) throws -> Undone? {
    try perform(
      .newest(author, wholeGroup: wholeGroup), onConflict,
      author.signing(metadata.signed(by: actor)))
  }

  /// Undoes the newest own change without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - author: The author whose newest change is undone.
  ///   - wholeGroup: True to undo the whole group.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: Who undoes it; stored in the metadata as `actor`.
  /// - Returns: As the synchronous `undoLast`.
  /// - Throws: As the synchronous `undoLast`, and as the async `write`.
  @discardableResult
  public func undoLast(
    of author: Authorship = .anyone, wholeGroup: Bool = true,
    onConflict: ConflictResolution = .refuse, metadata: [String: String] = [:],
    actor: String? = nil
  ) async throws -> Undone? {
    try await perform(
      .newest(author, wholeGroup: wholeGroup), onConflict,
      author.signing(metadata.signed(by: actor)))
  }

  /// Makes the change again that was undone last, unless somebody's own change came after that.
  ///
  /// - Parameters:
  ///   - author: Whose undo and whose changes count; the texts of its metadata are stored with the
  ///     new transaction, too.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: The one who redoes it; stored in the metadata as `actor`.
  /// - Returns: The new transaction, which undoes the undo; nil where there is nothing to redo.
  /// - Throws: As `undo`.
  /// - Complexity: as `undoLast`.
  @discardableResult
  public func redo(
    of author: Authorship = .anyone, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Undone? {
    try perform(.redo(author), onConflict, author.signing(metadata.signed(by: actor)))
  }

  /// Makes the change again that was undone last, without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - author: Whose undo and whose changes count.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: The one who redoes it; stored in the metadata as `actor`.
  /// - Returns: As the synchronous `redo`.
  /// - Throws: As the synchronous `redo`, and as the async `write`.
  @discardableResult
  public func redo(
    of author: Authorship = .anyone, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Undone? {
    try await perform(.redo(author), onConflict, author.signing(metadata.signed(by: actor)))
  }

  /// Takes back all that came after one transaction, up to another: the inverse of the whole range
  /// in one new transaction, in which a value that was changed often is set once.
  ///
  ///     try database.revert(after: 41, upTo: 57)
  ///
  /// - Parameters:
  ///   - after: The last transaction that stays.
  ///   - upTo: The last that is taken back.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: The one who redoes it; stored in the metadata as `actor`.
  /// - Returns: The new transaction, and what it undoes; nil for an empty range.
  /// - Throws: As `undo`.
  /// - Complexity: as `undo`, with *k* operations in the range.
  @discardableResult
  public func revert(
    after: SequenceNumber, upTo: SequenceNumber, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) throws -> Undone? {
    try perform(.stretch(after: after, upTo: upTo), onConflict, metadata.signed(by: actor))
  }

  /// Takes back a range of transactions without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - after: The last transaction that stays.
  ///   - upTo: The last that is taken back.
  ///   - onConflict: The resolution of conflicts with changes made since.
  ///   - metadata: Stored with the new transaction.
  ///   - actor: The one who redoes it; stored in the metadata as `actor`.
  /// - Returns: As the synchronous `revert`.
  /// - Throws: As the synchronous `revert`, and as the async `write`.
  @discardableResult
  public func revert(
    after: SequenceNumber, upTo: SequenceNumber, onConflict: ConflictResolution = .refuse,
    metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> Undone? {
    try await perform(.stretch(after: after, upTo: upTo), onConflict, metadata.signed(by: actor))
  }

  // MARK: Performing a request

  /// Undoes what a request names; nil where there is nothing.
  private func perform(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ metadata: [String: String]
  ) throws -> Undone? {
    try write(metadata: metadata) { try $0.undo(request, resolution) }
  }

  private func perform(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ metadata: [String: String]
  ) async throws -> Undone? {
    try await write(metadata: metadata) { try $0.undo(request, resolution) }
  }

  /// Previews an undo, which is done and then dropped.
  ///
  /// - Returns: Nil where there is nothing to undo; conflicts are reported and not thrown.
  package func preview(
    _ request: UndoRequest, _ resolution: ConflictResolution
  ) throws -> UndoPreview? {
    try speculate { tx in
      try Undoing(tx.running).run(request, resolution, isPreview: true)
    } reading: { speculation in
      try speculation.result.map {
        UndoPreview(undone: $0, changes: try speculation.changes.fetch())
      }
    }
  }
}

extension Database.Transaction {
  /// Undoes what a request names with this transaction, which has done nothing before.
  ///
  /// - Returns: Nil where there is nothing to undo.
  /// - Throws: As the synchronous ``Database/undo(_:wholeGroup:onConflict:metadata:actor:)``.
  package func undo(
    _ request: UndoRequest, _ resolution: ConflictResolution
  ) throws -> Undone? {
    try Undoing(running).run(request, resolution)
  }
}

extension Undone {
  fileprivate static func checked(_ undone: Undone?) throws -> Undone {
    guard let undone else { throw DatabaseError.misuse(reason: "nothing was named to undo") }
    return undone
  }
}

extension Authorship {
  /// Metadata with which a transaction is this author's as well.
  fileprivate func signing(_ metadata: [String: String]) -> [String: String] {
    metadata.merging(self.metadata) { own, _ in own }
  }
}
