import FoundationEssentials
import LMDB
import Synchronization

/// The writer's open transaction: a group of one or more, committed together.
///
/// Each body of the group becomes a transaction record of its own. Bodies run one after the other
/// on the state's one open transaction. Where one throws, what it did is undone by starting over:
/// the state's transaction is dropped and the recorded *operations* of the earlier bodies are
/// applied again, never their closures. The same happens when the map must grow. From the first
/// throw on, the rest of the group runs in savepoints, so that a group with many failures stays
/// linear.
///
/// Invariants:
/// 1. Every operation in `operations` and `records` has been applied to the projector, in order.
/// 2. It is used on one thread, between `WriteGroup.run`'s start and its commit; checked by `use`.
final class Writing: @unchecked Sendable {
  // It is Sendable because of invariant 2. It is not shared; `Snapshot` holds one, and asks
  // `reader(for:)`, which refuses any other thread and any other time.

  let directory: OpenDirectory
  let state: State
  var projector: StateWriter
  private(set) var head: LogHead
  /// Nothing that was removed up to here can be restored.
  let horizon: SequenceNumber
  private let thread = Platform.threadIdentity()

  /// The sealed records of this group.
  private(set) var records: [TransactionRecord] = []
  /// Positions and cursors to store with the group's commit.
  private(set) var numbers: [String: UInt64] = [:]
  /// Chunks of blobs to store with the group's commit.
  private(set) var chunks = BlobChunks()

  // The transaction that is running.
  private(set) var sequence = SequenceNumber.zero
  var metadata: [String: String] = [:]
  /// True if the transaction gets a record even if it has no operation.
  var isAlwaysRecorded = false
  private var operations = OperationWriter()
  private var marks: [Mark] = []

  /// A savepoint: what to go back to.
  private struct Mark {
    let operations: OperationWriter.Mark
    let numbers: [String: UInt64]
    let metadata: [String: String]
    let chunks: BlobChunks
    let afterCommitCount: Int
    let arrivals: BroughtBack
  }
  private var failure: DatabaseError?
  /// Why the whole group can only be given up, if it must be.
  private(set) var groupFailure: (any Error)?
  /// True if something new can be seen: the state's commit succeeded, too.
  private(set) var isApplied = false
  /// Why the state could not be committed after the log was, if it could not.
  private(set) var stateFailure: (any Error)?
  private var isRunning = false
  private var usesSavepoints = false
  var encoder = RecordEncoder()
  /// The objects of the layers above that serve the whole group.
  let slots = Slots()
  /// The closures that run once the running transaction is durable.
  private(set) var afterCommit: [@Sendable () -> Void] = []
  /// True if indexes and views that this group declares are filled later.
  var fillsLater: Bool
  /// How many entries of an index that is given up others wait for.
  private let emptiedAtOnce: Int
  /// The app's hooks and rules about changes of records.
  var guards: RecordGuards
  /// Whose code is being asked, and about which changes it is.
  var asking = Asking()
  /// The nodes that the transaction has brought back, whose references are looked at in the end.
  var arrivals = BroughtBack()
  /// True if changes of records are kept for observers of this process.
  private let isObserved: Bool
  /// How many queries are lending records of the running transaction.
  var openRuns = 0

  init(
    _ directory: OpenDirectory, _ state: State, head: LogHead, horizon: SequenceNumber,
    catalog: Catalog
  ) throws {
    self.directory = directory
    self.state = state
    self.head = head
    self.horizon = horizon
    isObserved = directory.feed.observers.isObserved
    guards = directory.guards.withLock { $0 }
    fillsLater = directory.options.buildsIndexesLater
    emptiedAtOnce = fillsLater ? 0 : 2000
    projector = try StateWriter(state, catalog: catalog)
    putOff()
  }

  // MARK: One transaction of the group

  /// Runs a body as the next transaction.
  ///
  /// - Throws: Any error that the body throws; nothing of the transaction is left then.
  func run(_ metadata: [String: String], _ body: (Writing) throws -> Void) throws {
    self.metadata = metadata
    isAlwaysRecorded = false
    sequence = head.sequence.next
    operations = OperationWriter(expecting: directory.recentBytes.load(ordering: .relaxed))
    afterCommit = []
    (asking, arrivals) = (Asking(), BroughtBack())
    failure = nil
    let before = (numbers, chunks)
    projector.begin(sequence, isObserved: isObserved)
    if usesSavepoints { try begin() }
    isRunning = true
    do {
      try body(self)
      try settleArrivals()
      isRunning = false
      if let failure { throw failure }
      if usesSavepoints { try end() }
    } catch {
      isRunning = false
      (numbers, chunks) = before
      undo()
      throw error
    }
    if operations.count > 0 || isAlwaysRecorded { seal() }
  }

  private func seal() {
    projector.finish()
    let time = directory.recordTime(after: head.time)
    let record = TransactionRecord(
      sequence: sequence, clock: head.clock.next(microseconds: time), time: time,
      origin: directory.format.origin, metadata: metadata, operations: operations,
      previous: head.link,
      salt: directory.options.random.map { _ in directory.options.randomBytes(16) })
    directory.recentBytes.store(min(operations.bytes.count, 1 << 20), ordering: .relaxed)
    head.advance(to: record)
    records.append(record)
  }

  /// Takes back what the running body did.
  private func undo() {
    encoder.forget()
    if usesSavepoints && projector.isUsable {
      while !marks.isEmpty { rollBack() }
      return
    }
    let isUntouched = operations.count == 0 && projector.isUsable
    operations = OperationWriter()
    marks = []
    if isUntouched { return }
    usesSavepoints = true
    do { try translating { try startOver() } } catch {
      groupFailure = groupFailure ?? error
    }
  }

  /// Applies one operation and logs it, without what rules make of it.
  func log(_ operation: Operation) throws {
    try checkBlobs(operation)
    do {
      try projector.apply(operation, enforcing: true)
    } catch let error as StorageError where error.kind == .mapFull {
      try failing { try grow() }
      try failing { try projector.apply(operation, enforcing: true) }
    } catch let error as StorageError {
      projector.isUsable = false
      throw fail(DatabaseError(error))
    }
    operations.write(operation)
    if operations.bytes.count > Limits.transactionBytesMax {
      throw fail(
        .transactionTooLarge(
          bytes: operations.bytes.count, limit: Limits.transactionBytesMax))
    }
  }

  private func failing(_ body: () throws -> Void) throws {
    do { try translating(body) } catch let error as DatabaseError {
      projector.isUsable = false
      throw fail(error)
    }
  }

  private func fail(_ error: DatabaseError) -> DatabaseError {
    failure = error
    return error
  }

  /// Checks that the transaction is running, on this thread.
  func use() throws {
    guard isRunning, thread == Platform.threadIdentity() else {
      throw DatabaseError.misuse(reason: "the transaction has ended; read from a snapshot instead")
    }
    if let failure { throw failure }
  }

  /// The view for reading what transaction `sequence` sees, while it runs.
  func reader(for sequence: SequenceNumber) throws -> StateReader {
    try use()
    guard sequence == self.sequence else {
      throw DatabaseError.misuse(reason: "the transaction has ended; read from a snapshot instead")
    }
    return try projector.reader
  }

  func childCount(_ node: UInt64, for sequence: SequenceNumber) throws -> Int {
    _ = try reader(for: sequence)
    return try projector.childCount(node)
  }

  func catalog(for sequence: SequenceNumber) throws -> Catalog {
    _ = try reader(for: sequence)
    return projector.catalog
  }

  /// How many bytes they take.
  var operationBytes: Int { operations.bytes.count }

  /// The changes that the running transaction has made so far, in path order.
  func changes() throws -> [Change] {
    try use()
    let old = try directory.snapshot(at: .now)
    let new = Snapshot(self, state, directory, sequence: sequence)
    return try Touched.changes(of: operations.bytes, from: old, to: new)
  }

  func setNumber(_ name: String, to number: UInt64) throws {
    try use()
    numbers[name] = number
  }

  func store(_ data: Data) throws -> Blob {
    try use()
    return try directory.log.read { try chunks.add(data, $0) }
  }

  /// Keeps what is to run once the running transaction is durable.
  func keep(afterCommit body: @escaping @Sendable () -> Void) throws {
    try use()
    afterCommit.append(body)
  }

  // MARK: Savepoints

  /// Begins a savepoint.
  func begin() throws {
    try projector.savepoint()
    marks.append(
      Mark(
        operations: operations.mark, numbers: numbers, metadata: metadata, chunks: chunks,
        afterCommitCount: afterCommit.count, arrivals: arrivals))
  }

  /// Keeps what was done since the last savepoint.
  func end() throws {
    marks.removeLast()
    try projector.release()
  }

  /// Undoes what was done since the last savepoint.
  func rollBack() {
    encoder.forget()
    let mark = marks.removeLast()
    operations.rewind(to: mark.operations)
    (numbers, metadata, chunks) = (mark.numbers, mark.metadata, mark.chunks)
    afterCommit.removeLast(afterCommit.count - mark.afterCommitCount)
    arrivals = mark.arrivals
    projector.rollBack()
  }

  // MARK: The group's commit

  /// Commits the group: the log durably, then the state. Nothing is stored when the log's commit
  /// throws, except for `outcomeUnknown`. A failure of the state after it is no error, since the
  /// group is stored: `stateFailure` says it.
  func commit() throws {
    if let groupFailure { throw groupFailure }
    let kept = directory.takePositions()
    do {
      numbers.merge(kept) { own, _ in own }
      try commitAll()
    } catch {
      directory.putBack()
      throw error
    }
  }

  private func commitAll() throws {
    if records.isEmpty && numbers.isEmpty && chunks.isEmpty {
      isApplied = projector.hasCaughtUp
      return isApplied ? try projector.commit() : projector.abort()
    }
    try commitLog()
    directory.forgetTaken()
    directory.feed.observers.add(projector.observed)
    directory.options.background.pass(.logged)
    if directory.options.plantedBugs.contains(.toldEarly) {
      directory.feed.publish(head.sequence)
      usleep(1000)
    }
    do {
      try projector.commit()
      isApplied = projector.hasCaughtUp || !records.isEmpty
    } catch {
      projector.abort()
      if OpenDirectory.isFull(error) { state.releaseReserve() }
      do { isApplied = try heal() } catch { stateFailure = error }
    }
    // Names of a record that the state has not seen are defined when it is folded in.
    if isApplied { directory.remember(projector.catalog) }
  }

  private func commitLog() throws {
    for _ in 0..<4 {
      do {
        if directory.options.plantedBugs.contains(.consumerApart) { try commitNumbers() }
        let writer = try LogWriter(directory.log)
        try chunks.write(to: writer)
        for record in records { try writer.append(record) }
        for (name, number) in numbers { try writer.setNumber(name, to: number) }
        return try commit(writer)
      } catch let error as StorageError where error.kind == .mapFull {
        let bytes = records.reduce(chunks.byteCount) { $0 + $1.operations.count }
        try directory.log.environment.growMap(headroom: 2 * bytes + (64 << 20))
      }
    }
    throw DatabaseError.full(reason: "the log's map could not grow enough")
  }

  /// Commits positions ahead of their transactions, as a bug would that the harness must find.
  private func commitNumbers() throws {
    let writer = try LogWriter(directory.log)
    let head = try writer.reader.head()
    for (name, number) in numbers { try writer.setNumber(name, to: number) }
    try writer.commit(head: head)
  }

  private func commit(_ writer: consuming LogWriter) throws {
    do {
      try writer.commit(head: head)
    } catch let error as StorageError where error.kind == .uncertain {
      throw DatabaseError.outcomeUnknown(head.sequence)
    }
  }

  /// Configures which index work is deferred, so that others need not wait for it.
  private func putOff() {
    projector.folds.fillsLater = fillsLater
    projector.folds.emptiedAtOnce = emptiedAtOnce
  }

  // MARK: Starting over

  /// Drops the state's transaction, gives the map room, and applies again what was recorded.
  private func grow() throws {
    projector.abort()
    let (mapBytes, _, _) = try state.environment.usage()
    try state.environment.growMap(headroom: mapBytes)
    try startOver()
  }

  /// Applies again what was recorded: the finished bodies, and the running one with its savepoints.
  private func startOver() throws {
    let catalog = directory.catalog
    projector.abort()
    projector = try StateWriter(state, catalog: catalog)
    putOff()
    try directory.catchUp(
      &projector, to: SequenceNumber(head.sequence.rawValue - UInt64(records.count)))
    for record in records { try projector.apply(record, isObserved: isObserved) }
    projector.begin(sequence, isObserved: isObserved)
    var reader = OperationReader(operations.bytes)
    var applied: UInt32 = 0
    for mark in marks {
      while applied < mark.operations.count, let operation = try reader.next() {
        try projector.apply(operation)
        applied += 1
      }
      try projector.savepoint()
    }
    while let operation = try reader.next() { try projector.apply(operation) }
  }
}
