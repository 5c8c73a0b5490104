import LMDB

/// Applies operations to a state: the one `apply` that live commits, recovery and rebuild share.
///
///     operation ──▶ Tree ──▶ RecordChange ──▶ Folds: index · groups · top · text · preview
///                    │                          │
///                    └─────── StateTransaction ─┘  commit · savepoints
///
/// Invariant: the state after a record depends only on the state before and the record. Proved by
/// `verify`, which rebuilds and compares every table.
struct StateWriter: ~Copyable {
  /// The position: the newest record that is folded in.
  private(set) var applied: SequenceNumber
  private(set) var tree: Tree<Folds>
  var folds: Folds
  /// The values that are restored when a savepoint is rolled back.
  private var savepoints:
    [(applied: SequenceNumber, tree: Tree<Folds>.Memory, folds: Folds.Memory, changes: Int)] = []
  /// True unless the storage has failed in this transaction.
  var isUsable = true
  /// True if records that were already in the log have been folded in.
  var hasCaughtUp = false
  /// The changes of the records that were folded in and that are observed.
  private(set) var observed: [CommittedChanges] = []
  /// The number of declarations before the running record.
  private var declarationsBefore: UInt32 = 0

  /// Begins a transaction; the catalog may be older than the state.
  init(_ state: State, catalog: consuming Catalog, isDeferred: Bool = false) throws {
    let storage = try StateTransaction(state, isDeferred: isDeferred)
    let head = try storage.reader.head()
    // The names of a process that has not stored them for good may be others' by now.
    if catalog.count > Int(head.names) { catalog = Catalog() }
    try storage.reader.complete(&catalog, to: head)
    applied = head.applied
    tree = Tree(nextNode: head.nextNode)
    folds = Folds(storage, catalog, nextNumber: head.nextProjection)
  }

  /// The names and collections, including this transaction's changes.
  var catalog: Catalog {
    @inline(__always) _read { yield folds.memory.catalog }
  }

  /// The view that includes this transaction's writes.
  var reader: StateReader { get throws { try folds.reader } }

  // MARK: Operations

  /// Starts folding in a record, whose changes are kept if they are observed.
  mutating func begin(_ sequence: SequenceNumber, isObserved: Bool = false) {
    tree.begin(sequence)
    folds.changes = isObserved ? [] : nil
    declarationsBefore = catalog.collections.version
  }

  /// Ends folding in a record.
  mutating func finish() {
    applied = SequenceNumber(tree.memory.sequence)
    if let changes = folds.changes.take() {
      observed.append(
        CommittedChanges(
          sequence: applied, changes: changes,
          declares: catalog.collections.version != declarationsBefore, names: catalog.count))
    }
  }

  /// Folds in a whole record.
  mutating func apply(_ record: TransactionRecord, isObserved: Bool = false) throws {
    begin(record.sequence, isObserved: isObserved)
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() { try apply(operation) }
    finish()
  }

  /// Folds one operation in.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - enforcing: True to check declared rules; false for an operation that is in the log
  ///     already.
  ///   - isNew: True to refuse a `set` of a node that exists.
  /// - Throws: ``DatabaseError`` if the operation is impossible, with nothing changed; a storage
  ///   error with the transaction unusable.
  mutating func apply(
    _ operation: Operation, enforcing: Bool = false, isNew: Bool = false
  ) throws {
    folds.isEnforcing = enforcing
    switch operation {
    case .define(let id, let name): try folds.define(id, name)
    case .declare(let path, let definition):
      try folds.declare(path, definition, in: SequenceNumber(tree.memory.sequence))
    default: try tree.apply(operation, enforcing: enforcing, isNew: isNew, in: &folds)
    }
  }

  /// Writes what the tables of text views lack.
  ///
  /// - Throws: As ``PendingTexts/write(to:)``.
  mutating func writeTexts() throws { try folds.texts.write(to: folds.storage) }

  /// Writes to the file with this commit, from now on.
  func writeDirectly() throws { try folds.storage.writeDirectly() }

  // MARK: What is there

  /// True if there is a node at a path that may be written next: found at the place of the write.
  mutating func hasNode(at path: NodePath) throws -> Bool {
    do {
      if try tree.locate(path, creating: false, &folds) == nil { return false }
      let collection = folds.collection(of: path)
      if folds.isUnused(tree.place.key, in: collection) { return false }
      return try tree.place.hasVersion(folds)
    } catch DatabaseError.exists {
      // The path leads through a property, below which there are no nodes.
      return false
    }
  }

  /// True if removing a node may remove declared collections, or records that others refer to. It
  /// is here because a caller that reads the collections from the catalog copies them.
  func mayCascade(removing path: NodePath) -> Bool {
    folds.memory.catalog.collections.mayCascade(removing: path)
  }

  /// The number of children of a node, including changes that are not in the table yet.
  func childCount(_ node: UInt64) throws -> Int { try tree.childCount(node, folds) }

  // MARK: Savepoints and the end

  /// Begins a savepoint.
  mutating func savepoint() throws {
    try writeTexts()
    try folds.storage.savepoint()
    savepoints.append((applied, tree.memory, folds.memory, folds.changes?.count ?? 0))
  }

  /// Keeps what was done since the last savepoint.
  mutating func release() throws {
    savepoints.removeLast()
    try folds.storage.release()
  }

  /// Undoes what was done since the last savepoint.
  mutating func rollBack() {
    let savepoint = savepoints.removeLast()
    (applied, tree.memory, folds.memory) = (savepoint.applied, savepoint.tree, savepoint.folds)
    // All came after the savepoint, which has had those before it written.
    folds.texts = PendingTexts()
    if let count = folds.changes?.count {
      folds.changes?.removeLast(count - savepoint.changes)
    }
    folds.storage.rollBack()
  }

  /// Writes counts and position, and makes all changes visible.
  mutating func commit() throws {
    try writeTexts()
    try tree.flushCounts(&folds)
    try folds.memory.keys.flush(in: folds.storage)
    let tables = folds.storage.tables
    try folds.storage.put(
      tables.meta, StateHead.name, MetaEntry.seal(head.stored(), name: StateHead.name))
    try folds.storage.commit()
  }

  /// The state's position and counters.
  private var head: StateHead {
    var head = StateHead()
    head.applied = applied
    head.nextNode = tree.memory.nextNode
    head.names = UInt32(folds.memory.catalog.count)
    head.declarations = folds.memory.catalog.collections.version
    head.nextProjection = folds.memory.nextNumber
    head.unfinished = UInt32(folds.memory.catalog.collections.unfinished.count)
    return head
  }

  /// Discards all uncommitted changes.
  mutating func abort() { folds.storage.abort() }
}
