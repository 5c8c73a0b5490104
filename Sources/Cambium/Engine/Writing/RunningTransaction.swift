import FoundationEssentials
import LMDB
import Synchronization

/// A transaction while its body runs: the operations that it has applied, and its savepoints.
///
/// It belongs to one body of a ``WriteGroup``; later uses of it are refused.
///
/// Invariants:
/// 1. Each operation of `operations` has been applied to the group's state, in order. Only
///    ``log(_:isNew:)`` does both.
/// 2. Savepoints nest: each has as many operations as the one before it, or more. Asserted when one
///    begins.
/// 3. It is used on the thread that began it, while its body runs; checked by ``use()``.
final class RunningTransaction: @unchecked Sendable {
  // It is Sendable because of invariant 3.

  private enum Phase {
    case running
    /// The storage has failed, or the transaction has grown too large.
    case failed(DatabaseError)
    case ended
  }

  /// The part of the transaction that is restored when a savepoint is rolled back.
  struct Draft {
    var metadata: [String: String]
    var additions: LogAdditions
    /// The closures that run once the transaction is durable.
    var afterCommit: [@Sendable () -> Void] = []
    /// The restored nodes, whose references are checked at the end.
    var restored = RestoredReferences()
    /// True in a preview, for which the blobs that it would need are not stored.
    var assumesBlobs = false
    /// The records that are about to be written, so that others may refer to them already.
    var expected: Set<NodePath> = []
  }

  private struct Savepoint {
    let operations: OperationWriter.Mark
    let draft: Draft
  }

  let group: WriteGroup
  /// The sequence number of the transaction's record.
  let sequence: SequenceNumber
  var draft: Draft
  private var savepoints: [Savepoint] = []
  private var phase = Phase.running
  private let thread = Platform.threadIdentity()
  /// The app's hooks and rules about changes of records, and the part of them that runs.
  var hooks: RecordHooks
  /// True if the transaction gets a record even if it has no operation.
  var isAlwaysRecorded = false
  /// The number of queries that are lending records of the transaction.
  var openRuns = 0

  init(_ group: WriteGroup, _ metadata: [String: String]) {
    self.group = group
    sequence = group.head.sequence.next
    group.buffers.operations.clear()
    draft = Draft(metadata: metadata, additions: group.additions)
    hooks = RecordHooks(guards: group.directory.guards.withLock { $0 })
  }

  var directory: OpenDirectory { group.directory }

  /// The operations, in memory that the group's transactions use one after the other.
  var operations: OperationWriter { _read { yield group.buffers.operations } }

  var isRecorded: Bool { operations.count > 0 || isAlwaysRecorded }

  // MARK: Reading

  /// Checks that the transaction is running, on this thread.
  @inline(__always)
  func use() throws {
    if case .running = phase, thread == Platform.threadIdentity() { return }
    try refuse()
  }

  private func refuse() throws {
    if case .failed(let error) = phase, thread == Platform.threadIdentity() { throw error }
    throw DatabaseError.misuse(reason: "the transaction has ended; read from a snapshot instead")
  }

  /// The view that includes the transaction's writes.
  var reader: StateReader { get throws { try group.stateWriter.reader } }

  /// The names and collections, including the transaction's definitions.
  var catalog: Catalog {
    @inline(__always) _read { yield group.stateWriter.catalog }
  }

  // MARK: Writing

  /// Applies one operation and logs it, without applying rules.
  func log(_ operation: Operation, isNew: Bool = false) throws {
    try checkBlobs(operation)
    do {
      try group.stateWriter.apply(operation, enforcing: true, isNew: isNew)
    } catch let error as StorageError where error.kind == .mapFull {
      try failing { try group.grow(with: self, applying: operation, isNew: isNew) }
    } catch let error as StorageError {
      throw fail(DatabaseError(error))
    } catch let error as DatabaseError where group.stateWriter.folds.texts.failure != nil {
      throw fail(error)
    }
    group.buffers.operations.write(operation)
    if operations.bytesCount > Limits.transactionBytesMax {
      phase = .failed(
        .transactionTooLarge(bytes: operations.bytesCount, limit: Limits.transactionBytesMax))
      try refuse()
    }
  }

  /// Writes what the tables of text views lack: for a query, a search, a savepoint, and the end.
  func writeTexts() throws { try failing { try group.writeTexts(of: self) } }

  private func failing(_ body: () throws -> Void) throws {
    do { try translating(body) } catch let error as DatabaseError { throw fail(error) }
  }

  private func fail(_ error: DatabaseError) -> DatabaseError {
    group.stateWriter.isUsable = false
    phase = .failed(error)
    return error
  }

  func setNumber(_ name: String, to number: UInt64) throws {
    try use()
    draft.additions.numbers[name] = number
  }

  func store(_ data: Data) throws -> Blob {
    try use()
    return try directory.log.read { try draft.additions.chunks.add(data, $0) }
  }

  /// Adds a closure that runs once the transaction is durable.
  func keep(afterCommit body: @escaping @Sendable () -> Void) throws {
    try use()
    draft.afterCommit.append(body)
  }

  // MARK: Savepoints

  /// Begins a savepoint.
  func begin() throws {
    assert(savepoints.last.map { $0.operations.count <= operations.count } ?? true)
    try writeTexts()
    try group.stateWriter.savepoint()
    savepoints.append(Savepoint(operations: operations.mark, draft: draft))
  }

  /// Keeps the changes since the last savepoint.
  func keep() throws {
    savepoints.removeLast()
    try group.stateWriter.release()
  }

  /// Undoes the changes since the last savepoint, unless the storage has failed: then the whole
  /// transaction is rolled back.
  func rollBack() {
    guard group.stateWriter.isUsable else { return }
    group.buffers.encoder.forget()
    let savepoint = savepoints.removeLast()
    group.buffers.operations.rewind(to: savepoint.operations)
    draft = savepoint.draft
    group.stateWriter.rollBack()
  }

  func rollBackAll() { for _ in savepoints { rollBack() } }

  // MARK: The end

  /// Ends the transaction.
  ///
  /// - Throws: The failure that occurred, if any.
  func end() throws {
    if case .failed(let error) = phase { throw error }
    try writeTexts()
    phase = .ended
  }

  /// Ends the transaction, whose changes are to be undone.
  func cancel() { phase = .ended }

  /// Applies the operations again to a new writer of the state.
  func applyAgain(to stateWriter: inout StateWriter) throws {
    var reader = OperationReader(operations.bytes)
    var applied: UInt32 = 0
    for savepoint in savepoints {
      while applied < savepoint.operations.count, let operation = try reader.next() {
        try stateWriter.apply(operation)
        applied += 1
      }
      try stateWriter.savepoint()
    }
    while let operation = try reader.next() { try stateWriter.apply(operation) }
  }
}
