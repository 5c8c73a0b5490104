// The path of a record's change to the tables derived from it.
//
//     RecordChange ──▶ rules, uniqueness ──▶ index · groups · top · text ──▶ (written) ──▶ preview
//                      (a new write only)
//
// All checks that can refuse the change run before anything is written.

import LMDB

/// Keeps the folds of a state up to date: it takes each change that the tree yields, and lends the
/// tree the state's tables.
///
/// Invariant: an index and a view have exactly the entries that result from building them from the
/// records, except while they are unfinished (see Unfinished.swift). Proved by `verify`, which
/// folds the log again and compares.
struct Folds: ~Copyable {
  /// The values that are restored when a savepoint is rolled back.
  struct Memory {
    var catalog: Catalog
    /// The number of the next index or view.
    var nextNumber: UInt32
    /// The greatest integer keys that are not in the table yet.
    var keys = KeyCounters()
    /// The collection that was looked up last: its path's bytes, and its plan, if it is declared.
    var collection: (path: [UInt8], plan: CollectionPlan?)?
  }

  var storage: StateTransaction
  var memory: Memory
  /// True if written values are checked against declared rules: not when a record that was already
  /// in the log is folded in.
  var isEnforcing = false
  /// True if newly declared indexes and views are built later, in steps.
  var fillsLater = false
  /// The keys of the records not yet checked against a declaration's rules; nil for all.
  var unchecked: Set<[UInt8]>?
  /// The number of entries of dropped indexes and views that are removed in the transaction that
  /// drops them. A fold that delays no writer removes all of them.
  var emptiedAtOnce = Int.max
  /// True if entries of dropped indexes or views are left.
  var hasGivenUp = false
  /// The changes of the running transaction; nil unless they are observed.
  var changes: [RecordChange]?
  var indexes = IndexFold()
  /// The changes of text views that the tables do not have yet.
  var texts = PendingTexts()

  init(
    _ storage: consuming StateTransaction, _ catalog: consuming Catalog, nextNumber: UInt32
  ) {
    self.storage = storage
    memory = Memory(catalog: catalog, nextNumber: nextNumber)
  }

  var tables: StateTables { storage.tables }

  /// The view that includes this transaction's writes.
  var reader: StateReader { get throws { try storage.reader } }
}

// MARK: Changes of records

extension Folds: ChangeTaker {
  var takesAll: Bool { changes != nil || memory.catalog.collections.hasPreviews }

  @inline(__always)
  mutating func collection(of path: NodePath) -> CollectionPlan? {
    if memory.catalog.collections.isEmpty { return nil }
    let count = path.parentCount
    if let known = memory.collection, known.path.count == count,
      known.path.isProperPrefix(of: path.bytes)
    {
      return known.plan
    }
    let plan = memory.catalog.collections[path.bytes[..<count]]
    memory.collection = (Array(path.bytes[..<count]), plan)
    return plan
  }

  @inline(__always)
  func isUnused(_ treeKey: [UInt8], in collection: CollectionPlan?) -> Bool {
    guard let collection else { return false }
    return memory.keys.isGreatest(treeKey, collection)
  }

  /// Checks a change, and updates the tables derived from the record.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` or ``DatabaseError/notUnique(_:index:takenBy:)``, with
  ///   nothing changed; a storage error with the transaction unusable.
  mutating func willMake(_ change: RecordChange) throws {
    guard let plan = change.collection else { return }
    if isEnforcing, change.content?.kind == .scalar, !plan.properties.isEmpty {
      throw DatabaseError.invalid([Violation(change.path, nil, "must be a record in \(plan.path)")])
    }
    try change.lend { try keep(plan, key: $0, old: $1, new: $2) }
    if change.old == nil { try memory.keys.count(change.treeKey, plan, storage.reader) }
  }

  private mutating func keep(
    _ plan: CollectionPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    if isEnforcing, let new {
      try plan.check(new, key: key, memory.catalog)
      if plan.hasUniqueIndex { try plan.checkUnique(reader, key: key, old: old, new: new) }
    }
    for fold in plan.folds { try keep(fold, key: key, old: old, new: new) }
  }

  /// Updates the previews of the record in other records' indexes: their entries are made from the
  /// tree's content.
  mutating func didMake(_ change: RecordChange) throws {
    if changes != nil, change.concernsRecords { changes?.append(change) }
    try checkInvariants(change)
    if !memory.catalog.collections.hasPreviews { return }
    let parent = change.path.bytes[..<change.path.parentCount]
    for previewer in memory.catalog.collections.previewers(of: parent) {
      try change.lend { try keep(.preview(previewer), key: $0, old: $1, new: $2) }
    }
  }

  mutating func willMakeParent(_ treeKey: [UInt8], of collection: ArraySlice<UInt8>) throws {
    if let plan = memory.catalog.collections[collection] {
      try memory.keys.count(treeKey, plan, storage.reader)
    }
  }

  /// Empties the folds of the collections that are removed with a subtree.
  mutating func willLeave(_ path: NodePath) throws {
    for fold in memory.catalog.collections.all(within: path).flatMap(\.folds) { try clear(fold) }
  }

  mutating func didLeave(_ path: NodePath) throws { try renewPreviews(within: path) }

  /// Builds the folds of the collections that arrived with a subtree.
  mutating func didArrive(_ path: NodePath) throws {
    for plan in memory.catalog.collections.all(within: path) {
      if isEnforcing { try checkRecords(plan, since: nil) }
      // An unfinished fold is complete from now on.
      try renew(plan)
    }
    try renewPreviews(within: path)
  }

  /// Rebuilds all entries that preview records of the collections within a path, which have arrived
  /// or left as a whole.
  private mutating func renewPreviews(within path: NodePath) throws {
    let collections = memory.catalog.collections
    if !collections.hasPreviews { return }
    for previewer in collections.previewers(within: path)
    where !previewer.collection.path.isWithin(path) {
      try clear(.preview(previewer))
      try build(.preview(previewer), of: previewer.collection)
    }
  }
}

// MARK: Each fold

extension Folds {
  /// Updates one fold for a change of a record.
  ///
  /// - Parameters:
  ///   - fold: The fold.
  ///   - key: The record's key, in its stored form.
  ///   - old: The stored record before, or nil if there was none.
  ///   - new: The stored record after, or nil if there is none.
  /// - Throws: A storage error with the transaction unusable.
  mutating func keep(_ fold: Fold, key: RawSpan, old: RawSpan?, new: RawSpan?) throws {
    switch fold {
    case .index(let index):
      let unfinished = memory.catalog.collections.remainingWork(on: index.number)
      try indexes.keep(index, key: key, old: old, new: new, unfinished, in: storage)
    case .groups(_, let view), .top(_, let view), .text(_, let view):
      // While the view is being built, the backfill adds the records beyond the fence.
      if memory.catalog.collections.isAhead(view.number, of: key) { return }
      try take(fold, view, key: key, old: old, new: new)
    case .preview(let previewer): try keep(previewer, key: key, old: old, new: new)
    }
  }

  /// Updates a view, wherever its fence is.
  mutating func take(
    _ fold: Fold, _ view: ViewPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    let old = try view.has(old, key: key) ? old : nil
    let new = try view.has(new, key: key) ? new : nil
    if old == nil && new == nil { return }
    switch fold {
    case .groups(let plan, _): try plan.keep(view.number, key: key, old: old, new: new, in: storage)
    case .top(let plan, _): try plan.keep(view.number, key: key, old: old, new: new, in: storage)
    case .text(let plan, _):
      try plan.keep(view.number, key: key, old: old, new: new, &texts, in: storage)
    case .index, .preview: break
    }
  }

  /// Removes all entries of a fold that stays declared.
  mutating func clear(_ fold: Fold) throws {
    try texts.write(to: storage)
    _ = try storage.removeEntries(of: fold.number, atMost: .max)
    try set(fold.number, nil)
  }

  /// Builds a fold from the existing records: sorted first, so that entries are written in order.
  /// A text view sorts what it takes itself.
  mutating func build(_ fold: Fold, of plan: CollectionPlan) throws {
    if case .text(_, let view) = fold {
      var last: [UInt8]? = []
      while let fence = last { last = try view.take(of: plan, behind: fence, in: &self) }
      return
    }
    let reader = try reader
    var entries = try reader.entries(of: fold, plan)
    var uniqueness: UniquenessCheck?
    if case .index(let index) = fold, index.isUnique, isEnforcing {
      uniqueness = UniquenessCheck(index, plan, reader)
    }
    let table = fold.isIndex ? tables.index : tables.views
    while let entry = try entries.next() {
      try uniqueness?.check(entry.key, entry.value)
      try storage.put(table, entry.key, entry.value)
    }
  }

  /// Builds all folds of a collection again.
  mutating func renew(_ plan: CollectionPlan) throws {
    try memory.keys.countAll(plan, reader)
    for fold in plan.folds { try clear(fold) }
    try build(plan, except: [])
  }

  /// Rebuilds everything that is derived from declarations and records: they were changed without
  /// it, or an earlier fold has derived it.
  mutating func renewAll() throws {
    for plan in memory.catalog.collections.all {
      try storage.put(
        tables.meta, plan.metaKey, MetaEntry.seal(plan.stored(), name: plan.metaKey))
      try renew(plan)
    }
  }
}

// MARK: The tree's storage

extension Folds: TreeStorage {
  @inline(__always)
  func version<R>(at key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    try storage.getNear(tables.tree, key, body)
  }

  @inline(__always)
  func putVersion(_ version: RawSpan, at key: [UInt8]) throws {
    try key.lend { try storage.put(tables.tree, $0, version) }
  }

  func removeVersion(at key: [UInt8]) throws { try storage.delete(tables.tree, known: key) }

  func firstChild(of node: UInt64) throws -> [UInt8]? {
    try reader.access.firstKey(tables.tree, [UInt8](bigEndian: node))
  }

  func superseded<R>(
    _ link: HistoryLink, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    try reader.historyVersion(link, key, body)
  }

  func putSuperseded(_ entry: RawSpan, at link: HistoryLink) throws {
    try HistoryEntry.lendKey(link) { try storage.put(tables.history, $0, entry, .append) }
  }

  func removal(
    _ key: RawSpan, from place: HistoryLink
  ) throws -> (link: HistoryLink, fate: RemovalFate)? {
    try reader.removal(key, from: place)
  }

  func putRemoval(_ removalKey: RawSpan, _ fate: RemovalFate) throws {
    try fate.stored().lend { try storage.put(tables.removals, removalKey, $0) }
  }

  func childCount(_ node: UInt64) throws -> Int { try reader.childCount(node) }

  func putChildCount(_ count: Int64, of node: UInt64) throws {
    let key: InlineArray<1, _> = [node.bigEndian]
    let value: InlineArray<1, _> = [UInt64(max(count, 0)).littleEndian]
    try key.lend { key in
      if count <= 0 { return try storage.delete(tables.counts, key) }
      try value.lend { try storage.put(tables.counts, key, $0) }
    }
  }

  func name(of id: NameID) throws -> String { try memory.catalog.name(of: id) }

  func nameID(of name: String) -> NameID? { memory.catalog.id(of: name) }
}
