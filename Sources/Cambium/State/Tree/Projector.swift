import LMDB

/// Folds operations into the state: the one `apply` that live commits, recovery and rebuild share.
///
/// It owns the state's write transaction. Each operation checks before it writes, so one that
/// throws a ``DatabaseError`` for bad input has changed nothing.
///
/// Invariants:
/// 1. The state after a record depends only on the state before and the record. Proved by `verify`,
///    which rebuilds and compares every table.
/// 2. A node has at most one version per transaction: a second change replaces the first.
/// 3. Node ids are given in order and never used again.
struct Projector: ~Copyable {
  let tables: StateTables
  private var transaction: WriteTransaction?
  private let environment: Environment
  /// The transaction's view, as of the last savepoint.
  private var access: Access?
  /// True unless the storage has failed in this transaction.
  var isUsable = true
  /// True if records that were already in the log have been folded in.
  var hasCaughtUp = false

  /// The values that go back when a savepoint is undone.
  struct Memory {
    var head: StateHead
    var catalog: Catalog
    /// The record that is being folded in.
    var sequence: UInt64 = 0
    /// The first node id that this record may give: nodes from there on were made by it.
    var firstNode = UInt64.max
    /// The places that this record has restored.
    var restored = RestoredPlaces()
    /// How many versions this record has put into history.
    var superseded: UInt32 = 0
    /// Changes of child counts that are not in the table yet.
    var counts = ChildCounts()
    /// The greatest integer keys that are not in the table yet.
    var keys = KeyCounters()
    /// The parent that was resolved last: its path's bytes, its node id, its children's plan.
    var parent: (path: [UInt8], node: UInt64, plan: CollectionPlan?)?
  }

  var memory: Memory
  private var savepoints: [Memory] = []

  // Buffers that are used again for each operation.
  var treeKey: [UInt8] = []
  /// The node id that `treeKey` begins with.
  private var treeParent = StateHead.root
  var value = ByteBuffer()
  var old: [UInt8] = []
  var oldEntry = ByteBuffer()
  var newEntry = ByteBuffer()
  /// True if declared rules are checked against what is written: not when a record that was already
  /// in the log is folded in.
  var enforcesRules = false
  /// True if indexes and views that are declared now are filled later, in steps.
  var fillsLater = false
  /// The keys of the records not yet checked against a declaration's rules; nil for all.
  var unchecked: Set<[UInt8]>?
  /// The number of entries of dropped indexes and views that are removed in the transaction that
  /// drops them. A fold for which nobody waits removes all of them.
  var emptiedAtOnce = Int.max
  /// True if entries of dropped indexes or views are left.
  var hasGivenUp = false

  /// Begins; the catalog may be older than the state.
  init(_ state: State, catalog: Catalog) throws {
    tables = state.tables
    environment = state.environment
    let transaction = try WriteTransaction(state.environment)
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let head = try reader.head()
    var catalog = catalog
    try reader.complete(&catalog, to: head)
    memory = Memory(head: head, catalog: catalog)
    access = transaction.access
    self.transaction = consume transaction
  }

  /// The position: the newest record that is folded in.
  var applied: SequenceNumber { memory.head.applied }

  /// The view that sees what was written.
  var reader: StateReader {
    get throws {
      guard let access else {
        throw DatabaseError.misuse(reason: "the transaction has ended")
      }
      return StateReader(access: access, tables: tables)
    }
  }

  /// Starts folding in a record.
  mutating func begin(_ sequence: SequenceNumber) {
    memory.sequence = sequence.rawValue
    memory.firstNode = memory.head.nextNode
    memory.superseded = 0
    memory.restored = RestoredPlaces()
  }

  /// Ends folding in a record.
  mutating func finish() { memory.head.applied = SequenceNumber(memory.sequence) }

  /// Folds in a whole record.
  mutating func apply(_ record: TransactionRecord) throws {
    begin(record.sequence)
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() { try apply(operation) }
    finish()
  }

  /// Begins a savepoint.
  mutating func savepoint() throws {
    access = try transaction?.savepoint()
    savepoints.append(memory)
  }

  /// Keeps what was done since the last savepoint.
  mutating func release() throws {
    savepoints.removeLast()
    access = try transaction?.release()
  }

  /// Undoes what was done since the last savepoint.
  mutating func rollBack() {
    memory = savepoints.removeLast()
    access = transaction?.rollBack()
  }

  /// Writes counts and position, and makes all visible.
  mutating func commit() throws {
    try flushCounts()
    try flushKeys()
    if environment.plantedBugs.contains(.positionApart) {
      try transaction.take()?.commit()
      transaction = try WriteTransaction(environment)
    }
    memory.head.names = UInt32(memory.catalog.count)
    try put(tables.meta, StateHead.name, MetaEntry.seal(memory.head.stored(), name: StateHead.name))
    access = nil
    try transaction.take()?.commit()
  }

  /// Drops all that was not committed.
  mutating func abort() {
    access = nil
    _ = transaction.take()
  }

  private mutating func flushCounts() throws {
    let skipsRemoved = environment.plantedBugs.contains(.countSkipped)
    for (node, change) in memory.counts.take() where change != 0 {
      if skipsRemoved && change < 0 { continue }
      var key: [UInt8] = []
      key.append(bigEndian: node)
      let count = Int64(try reader.childCount(node)) + change
      var bytes: [UInt8] = []
      bytes.append(littleEndian: UInt64(max(count, 0)))
      if count > 0 { try put(tables.counts, key, bytes) } else { try delete(tables.counts, key) }
    }
  }

  /// How many children a node has, with the changes that are not in the table yet.
  func childCount(_ node: UInt64) throws -> Int {
    try reader.childCount(node) + Int(memory.counts[node])
  }

  @inline(__always)
  mutating func put(_ table: Table, _ key: [UInt8], _ value: [UInt8], _ mode: PutMode = .replace)
    throws
  {
    try key.lend { key in try value.lend { try transaction?.put(table, key, $0, mode) } }
  }

  @inline(__always)
  mutating func putValue(_ table: Table, _ key: [UInt8]) throws {
    try key.lend { key in try value.lend { try transaction?.put(table, key, $0) } }
  }

  @inline(__always)
  func put(_ table: Table, _ key: RawSpan, _ value: RawSpan) throws {
    try transaction?.put(table, key, value)
  }

  mutating func delete(_ table: Table, _ key: [UInt8]) throws {
    try key.lend { _ = try transaction?.delete(table, $0) }
  }

  func remove(_ table: Table, _ key: RawSpan) throws { _ = try transaction?.delete(table, key) }
}

// MARK: Places in the tree

extension Projector {
  /// Aims `treeKey` at a path.
  ///
  /// - Parameters:
  ///   - path: The path of a node, there or not; not the root.
  ///   - creating: True to make missing ancestors.
  /// - Returns: The parent's node id, or nil where an ancestor is missing.
  /// - Throws: ``DatabaseError/exists(_:reason:)`` where the path leads through a property.
  @discardableResult
  mutating func locate(_ path: Path, creating: Bool) throws -> UInt64? {
    let bytes = path.bytes
    guard !bytes.isEmpty else {
      throw DatabaseError.badValue(
        .root, reason: "the root holds no value of its own; choose a child")
    }
    var start = 0
    var end = Key.end(terminatedIn: bytes, at: 0)
    var parent = StateHead.root
    if let known = memory.parent, known.path.isPrefix(of: bytes) {
      start = known.path.count
      end = Key.end(terminatedIn: bytes, at: start)
      parent = known.node
    }
    // The deepest of those that were passed is kept, once, however many there are.
    var plain: (count: Int, node: UInt64)?
    while end < bytes.count {
      aim(parent, bytes, start, end)
      let next = Key.end(terminatedIn: bytes, at: end)
      guard
        let node = try descend(
          bytes, next: end..<next, parentCount: start, creating: creating)
      else {
        know(plain, bytes)
        return nil
      }
      (start, end, parent) = (end, next, node.id)
      if node.isPlain { plain = (start, parent) }
    }
    know(plain, bytes)
    aim(parent, bytes, start, end)
    return parent
  }

  private mutating func know(_ plain: (count: Int, node: UInt64)?, _ bytes: [UInt8]) {
    guard let plain else { return }
    let plan = memory.catalog.collections[bytes[..<plain.count]]
    memory.parent = (Array(bytes[..<plain.count]), plain.node, plan)
  }

  /// Sets `treeKey` to a parent and one part of a path.
  private mutating func aim(_ parent: UInt64, _ path: [UInt8], _ start: Int, _ end: Int) {
    treeParent = parent
    treeKey.removeAll(keepingCapacity: true)
    treeKey.append(bigEndian: parent)
    treeKey.append(contentsOf: path[start..<(path[start] == KeyTag.text ? end - 1 : end)])
  }

  /// Sets `treeKey` to a node's first child.
  ///
  /// - Returns: True if there is one.
  mutating func aimAtFirstChild(of parent: UInt64) throws -> Bool {
    treeParent = parent
    treeKey.removeAll(keepingCapacity: true)
    treeKey.append(bigEndian: parent)
    var cursor = try Cursor(try reader.access, tables.tree)
    guard try treeKey.lend({ try cursor.seek($0) }) else { return false }
    let found = cursor.withEntry { key, _ in key.array() }
    guard found.starts(with: treeKey) else { return false }
    treeKey = found
    return true
  }

  /// The node id of the node at `treeKey`, which is given one, or made, where that is wanted.
  private mutating func descend(
    _ path: [UInt8], next: Range<Int>, parentCount: Int, creating: Bool
  ) throws -> (id: UInt64, isPlain: Bool)? {
    guard let header = try loadOld() else {
      guard creating else { return nil }
      if let plan = memory.catalog.collections[path[..<parentCount]] { try countKey(plan) }
      return (try makeContainer(), true)
    }
    if header.kind == .record { try checkNoProperty(header, path, next) }
    if header.node != 0 { return (header.node, header.kind != .record) }
    guard creating else { return nil }
    var changed = header
    changed.node = takeNode()
    try write(changed, content: oldContent(header), try oldLinks(header))
    return (changed.node, header.kind != .record)
  }

  private mutating func takeNode() -> UInt64 {
    defer { memory.head.nextNode += 1 }
    return memory.head.nextNode
  }

  private mutating func makeContainer() throws -> UInt64 {
    let node = takeNode()
    count(+1)
    try write(NodeHeader(kind: .none, modified: memory.sequence, node: node), content: [])
    return node
  }

  /// Refuses a child whose name is a property of the record in `old`.
  private func checkNoProperty(_ header: NodeHeader, _ path: [UInt8], _ next: Range<Int>) throws {
    var offset = next.lowerBound
    let name = Key(terminatedIn: path, at: &offset).description
    guard let id = memory.catalog.id(of: name) else { return }
    let isTaken = try old.lend { old in
      let record = old.extracting(droppingFirst: header.contentOffset)
      return try RecordTable(record).find(record, id) != nil
    }
    if isTaken {
      throw DatabaseError.exists(
        Path(bytes: Array(path[..<next.upperBound])),
        reason: "it is a property of a record, so it cannot be a child or have children")
    }
  }

  /// Counts a child of the parent in `treeKey`.
  mutating func count(_ change: Int64) {
    memory.counts.add(change, to: treeParent)
  }
}

// MARK: Versions

extension Projector {
  /// Copies the present version at `treeKey` into `old`.
  ///
  /// - Returns: Its header, or nil where there is no node.
  @inline(__always)
  mutating func loadOld() throws -> NodeHeader? {
    let (table, key) = (tables.tree, treeKey)
    var version: [UInt8] = []
    swap(&version, &old)
    defer { swap(&version, &old) }
    return try key.lend { key in
      try transaction?.get(table, key) { bytes in
        version.removeAll(keepingCapacity: true)
        version.append(bytes)
        return try NodeHeader(bytes, key: key)
      }
    } ?? nil
  }

  /// The content of the version in `old`.
  func oldContent(_ header: NodeHeader) -> [UInt8] { Array(old[header.contentOffset...]) }

  /// The links of the version in `old`.
  func oldLinks(_ header: NodeHeader) throws -> VersionLinks {
    header.hasLinks ? try old.lend { try header.links($0) } : VersionLinks()
  }

  /// Writes a version at `treeKey`.
  @inline(__always)
  mutating func write(
    _ header: NodeHeader, content: [UInt8], _ links: VersionLinks? = nil
  ) throws {
    let key = treeKey
    content.lend { content in
      key.lend { header.store(content, links, key: $0, into: &value) }
    }
    try putValue(tables.tree, key)
  }

  /// Writes new content at `treeKey`, which is the place of a path, over the version in `old` if
  /// there is one.
  mutating func replace(_ header: NodeHeader?, with content: Content, at path: Path) throws {
    try fold(path, header, content)
    var links: VersionLinks?
    if let header {
      if content.kind == .record { memory.parent = nil }
      var taken = try oldLinks(header)
      if header.modified != memory.sequence { try supersede(header, &taken) }
      links = taken
    } else {
      count(+1)
    }
    let made = NodeHeader(
      kind: content.kind, modified: memory.sequence, node: header?.node ?? 0)
    try write(made, content: content.bytes, links)
    try foldIntoPreviews(path, header, content)
  }

  /// Puts the version in `old` into history, and its link into the directory.
  private mutating func supersede(_ header: NodeHeader, _ links: inout VersionLinks) throws {
    let taken = links.add(HistoryLink(sequence: memory.sequence, index: memory.superseded))
    try putIntoHistory(header, taken)
  }

  /// Puts the version in `old` into history, with the links that it takes along.
  @discardableResult
  mutating func putIntoHistory(_ header: NodeHeader, _ taken: VersionLinks) throws -> HistoryLink {
    let link = HistoryLink(sequence: memory.sequence, index: memory.superseded)
    let (version, key) = (old, treeKey)
    version.lend { version in
      let content = version.extracting(droppingFirst: header.contentOffset)
      key.lend { header.store(content, taken, key: $0, into: &value) }
    }
    let entry = value.lend { HistoryEntry.stored(key, $0) }
    try put(tables.history, HistoryEntry.key(link), entry, .append)
    memory.superseded += 1
    return link
  }
}
