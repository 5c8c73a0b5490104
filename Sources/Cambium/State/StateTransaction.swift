import LMDB

/// The state's write transaction: its tables, savepoints, and the view that includes its writes.
///
/// It handles entries, and does not interpret them. LMDB has one writer, so only one of these is
/// open at a time, and it stays on the thread that began it.
struct StateTransaction: ~Copyable {
  let tables: StateTables
  private var transaction: WriteTransaction?
  /// The transaction's view, as of the last savepoint.
  private var access: Access?

  /// Begins it; one that may be deferred is written to the file later, if that is worth while.
  init(_ state: State, isDeferred: Bool = false) throws {
    tables = state.tables
    let transaction = try WriteTransaction(
      state.environment, behind: state.behind, isDirect: !isDeferred)
    access = transaction.access
    self.transaction = consume transaction
  }

  /// The view that includes this transaction's writes.
  var reader: StateReader {
    get throws {
      guard let access else {
        throw DatabaseError.misuse(reason: "the transaction has ended")
      }
      return StateReader(access: access, tables: tables)
    }
  }

  /// True if it writes to the file, so that every entry can be looked up.
  var isDirect: Bool { transaction?.isDirect() ?? true }

  // MARK: Entries

  /// Looks up a key that may be written next, or is near the previous one.
  @inline(__always)
  func getNear<R>(_ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    try transaction?.get(table, key, body) ?? nil
  }

  /// The keys on both sides of a key; see `WriteTransaction.neighbors(of:in:_:)`.
  func neighbors(of key: RawSpan, in table: Table, _ prefix: Int) throws -> KeyNeighbors {
    guard let found = try transaction?.neighbors(of: key, in: table, prefix) else {
      throw DatabaseError.misuse(reason: "the transaction has ended")
    }
    return found
  }

  @inline(__always)
  func put(_ table: Table, _ key: [UInt8], _ value: [UInt8], _ mode: PutMode = .replace) throws {
    try key.lend { key in try value.lend { try transaction?.put(table, key, $0, mode) } }
  }

  @inline(__always)
  func put(
    _ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode = .replace
  ) throws {
    try transaction?.put(table, key, value, mode)
  }

  /// Writes an entry; nil removes it.
  func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]?) throws {
    if let value { try put(table, key, value, .replace) } else { try delete(table, key) }
  }

  func delete(_ table: Table, _ key: [UInt8]) throws { try key.lend { try delete(table, $0) } }

  func delete(_ table: Table, _ key: RawSpan) throws { _ = try transaction?.delete(table, key) }

  /// Deletes an entry that has just been found.
  func delete(_ table: Table, known key: [UInt8]) throws {
    try key.lend { _ = try transaction?.delete(table, $0, isKnown: true) }
  }

  // MARK: Savepoints and the end

  /// Begins a savepoint.
  mutating func savepoint() throws { access = try transaction?.savepoint() }

  /// Keeps what was written since the last savepoint.
  mutating func release() throws { access = try transaction?.release() }

  /// Undoes what was written since the last savepoint.
  mutating func rollBack() { access = transaction?.rollBack() }

  /// Writes to the file with this commit, from now on.
  func writeDirectly() throws { try transaction?.writeDirectly() }

  /// Makes all changes visible.
  mutating func commit() throws {
    access = nil
    try transaction.take()?.commit()
  }

  /// Discards all uncommitted changes.
  mutating func abort() {
    access = nil
    _ = transaction.take()
  }
}
