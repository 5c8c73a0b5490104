import FoundationEssentials
import LMDB
import Synchronization

/// A group of one or more transactions that are committed together.
///
///     body ──▶ RunningTransaction ──▶ sealed record ┐
///     body ──▶ RunningTransaction ──▶ sealed record ┴──▶ log, one flush ──▶ state
///
/// Each body of the group becomes a transaction record of its own. Bodies run one after the other
/// on the state's one open transaction. If one throws, its changes are undone by starting over: the
/// state's transaction is dropped and the recorded *operations* of the earlier bodies are applied
/// again, never their closures. The same happens when the map must grow. From the first throw on,
/// the rest of the group runs in savepoints, so that a group with many failures stays linear.
///
/// Invariants:
/// 1. Every operation of `records` and of the running transaction has been applied to the state, in
///    order. One function applies and logs them.
/// 2. The sealed records end with `head`, and follow each other without a gap. Asserted after each
///    body.
/// 3. It is used on one thread, between its start and its commit. The running transaction checks
///    that on each call of an app.
final class WriteGroup: @unchecked Sendable {
  // It is Sendable because of invariant 3. It is not shared; the snapshots of a running transaction
  // hold that transaction, which refuses any other thread and any later use.

  /// The result of a commit.
  enum Outcome {
    /// There was nothing to commit.
    case nothing
    /// Readers see the group, or the records that it has caught up with.
    case visible
    /// The group is stored, and the state could not be committed after it.
    case behind(any Error)
  }

  let directory: OpenDirectory
  let state: State
  private let stateWriterCell: Cell<StateWriter>
  private(set) var head: LogHead
  /// The horizon: nodes that were removed up to it cannot be restored.
  let horizon: SequenceNumber
  /// The sealed records.
  private(set) var records: [TransactionRecord] = []
  /// Entries that the log stores beside the records.
  private(set) var additions = LogAdditions()
  /// The reason why the whole group must be rolled back, if there is one.
  private(set) var failure: (any Error)?
  private var usesSavepoints = false
  /// True if changes of records are kept for observers of this process.
  private let isObserved: Bool
  /// The encoders of the group, with their memory.
  let buffers: WritingBuffers

  init(
    _ directory: OpenDirectory, _ state: State, head: LogHead, horizon: SequenceNumber,
    catalog: consuming Catalog
  ) throws {
    self.directory = directory
    self.state = state
    self.head = head
    self.horizon = horizon
    isObserved = directory.feed.observers.isObserved
    stateWriterCell = Cell(
      try StateWriter(state, catalog: catalog, isDeferred: state.isDeferred))
    buffers = directory.stateInUse.buffers.take(names: stateWriterCell.value.catalog.count)
    configure(defersBuilds: directory.options.buildsIndexesLater)
  }

  var stateWriter: StateWriter {
    @inline(__always) _read { yield stateWriterCell.value }
    @inline(__always) _modify { yield &stateWriterCell.value }
  }

  /// The newest record that was committed before this group.
  var committed: SequenceNumber { SequenceNumber(head.sequence.rawValue - UInt64(records.count)) }

  // MARK: Transactions

  /// Runs a body as the next transaction.
  ///
  /// - Throws: Any error that the body throws; nothing of the transaction is left then.
  func run(_ metadata: [String: String], _ body: (RunningTransaction) throws -> Void) throws {
    let transaction = RunningTransaction(self, metadata)
    stateWriter.begin(transaction.sequence, isObserved: isObserved)
    do {
      if usesSavepoints { try transaction.begin() }
      try body(transaction)
      try RestoredReferences.settle(in: transaction)
      try transaction.end()
      if usesSavepoints { try transaction.keep() }
    } catch {
      transaction.cancel()
      undo(transaction)
      throw error
    }
    additions = transaction.draft.additions
    if transaction.isRecorded { seal(transaction) }
    checkInvariants()
  }

  private func seal(_ transaction: RunningTransaction) {
    stateWriter.finish()
    let time = directory.recordTime(after: head.time)
    let record = TransactionRecord(
      sequence: transaction.sequence, clock: head.clock.next(microseconds: time), time: time,
      origin: directory.format.origin, metadata: transaction.draft.metadata,
      operations: transaction.operations, previous: head.link,
      salt: directory.options.random == nil
        ? directory.generators.salts.next() : directory.options.randomBytes(16))
    // The record has a copy: a large transaction is not kept twice.
    buffers.operations.clear()
    head.advance(to: record)
    records.append(record)
  }

  /// Undoes the changes of a transaction that failed.
  private func undo(_ transaction: RunningTransaction) {
    defer { buffers.operations.clear() }
    buffers.encoder.forget()
    if usesSavepoints && stateWriter.isUsable { return transaction.rollBackAll() }
    let isUntouched = transaction.operations.count == 0 && stateWriter.isUsable
    if isUntouched { return }
    usesSavepoints = true
    do { try translating { try startOver(with: nil) } } catch { failure = failure ?? error }
  }

  /// Checks the invariants between two transactions, in debug builds.
  func checkInvariants() {
    assert(records.last.map { $0.sequence == head.sequence } ?? true, "the head is another's")
    assert(
      records.suffix(2).first.map { $0.sequence.next >= head.sequence } ?? true,
      "the group's records have a gap")
    assert(failure != nil || stateWriter.applied == head.sequence, "a record was not applied")
  }

  // MARK: Starting over

  /// Drops the state's transaction, enlarges the map, and applies the recorded operations again,
  /// and then the one that found it full; nil if none did.
  func grow(
    with transaction: RunningTransaction, applying operation: Operation?, isNew: Bool = false
  ) throws {
    stateWriter.abort()
    try WriteGroup.enlarge(state)
    try startOver(with: transaction, operation, isNew: isNew)
  }

  /// Writes what the tables of text views lack.
  func writeTexts(of transaction: RunningTransaction) throws {
    do {
      try stateWriter.writeTexts()
    } catch let error as StorageError where error.kind == .mapFull {
      try grow(with: transaction, applying: nil)
    }
  }

  /// Applies the recorded operations again: the finished bodies, and the running one with its
  /// savepoints.
  private func startOver(
    with transaction: RunningTransaction?, _ operation: Operation? = nil, isNew: Bool = false
  ) throws {
    let fillsLater = stateWriter.folds.fillsLater
    try WriteGroup.growing(state) {
      stateWriter.abort()
      stateWriter = try StateWriter(
        state, catalog: directory.stateInUse.catalog(of: state), isDeferred: state.isDeferred
      )
      configure(defersBuilds: fillsLater)
      do {
        try stateWriter.catchUp(with: directory.log, to: committed)
        for record in records { try stateWriter.apply(record, isObserved: isObserved) }
        try stateWriter.writeTexts()
        guard let transaction else { return }
        stateWriter.begin(transaction.sequence, isObserved: isObserved)
        try transaction.applyAgain(to: &stateWriter)
        if let operation { try stateWriter.apply(operation, enforcing: true, isNew: isNew) }
        try stateWriter.writeTexts()
      } catch {
        stateWriter.abort()
        throw error
      }
    }
  }

  /// Does what may fill the state's map, and does it again once that is larger; its maximum ends
  /// this. The body leaves no transaction open where it throws.
  static func growing<R>(_ state: State, _ body: () throws -> R) throws -> R {
    while true {
      do { return try body() } catch let error as StorageError where error.kind == .mapFull {
        try enlarge(state)
      }
    }
  }

  /// Doubles the state's map at least.
  private static func enlarge(_ state: State) throws {
    try state.environment.enlargeMap()
  }

  /// Configures which index work is deferred, so that others need not wait for it.
  private func configure(defersBuilds: Bool) {
    stateWriter.folds.fillsLater = defersBuilds
    stateWriter.folds.emptiedAtOnce = directory.options.buildsIndexesLater ? 0 : 2000
  }
}
