/// The content of a ``MemoryStore``: records as a database has them, by collection and key, so that
/// the codec, the rules and the conditions are the same.
///
/// Invariants:
/// 1. `owners` has the terms of each record in a unique index, and no others. ``put(_:_:_:)`` alone
///    changes records, and keeps it.
/// 2. `changes` has what was there before, for each change since ``publish()`` or ``revert()``.
struct MemoryState {
  /// A record before and after a change; nil where there was or is none.
  struct Change: Sendable {
    let collection: Path
    let key: Key
    let old: [UInt8]?
    let new: [UInt8]?
  }

  /// Who waits for changes.
  struct Observer {
    let collection: Path
    let key: Key?
    let to: AsyncStream<[Change]>.Continuation

    func wants(_ change: Change) -> Bool {
      change.collection == collection && (key == nil || change.key == key)
    }
  }

  private(set) var catalog = Catalog()
  private(set) var records: [Path: [Key: [UInt8]]] = [:]
  /// The greatest integer key that each collection ever had.
  private(set) var greatestKeys: [Path: Int64] = [:]
  /// Who has given terms, by the number of a unique index.
  private var owners: [UInt32: [[UInt8]: Key]] = [:]
  private var bindings: [ObjectIdentifier: Binding] = [:]
  private var nextIndex: UInt32 = 1
  private var changes: [Change] = []
  private var observers: [Int: Observer] = [:]
  private var nextObserver = 0

  // MARK: Types

  /// Makes a type known.
  mutating func register<M: Model>(_ type: M.Type) throws {
    let core = M.schema.core
    if bindings[ObjectIdentifier(core)] != nil { return }
    try core.check()
    try core.checkDefinition()
    if M.schema.hooks != nil {
      throw DatabaseError.misuse(
        reason: "a MemoryStore has no transaction for the hooks of \(M.self)")
    }
    if core.union != nil || core.caseName != nil {
      throw DatabaseError.misuse(
        reason: "a MemoryStore keeps one kind of models in a collection; \(M.self) shares its own")
    }
    for property in core.properties where catalog.id(of: property.name) == nil {
      try catalog.define(property.name, as: Catalog.NameID(catalog.count))
    }
    var definition = core.definition
    definition.views = []
    // A collection that is born with a schema has nothing behind it that has to be migrated.
    definition.steps = core.evolution.names.map { AppliedStep($0, version: core.version) }
    let indexes = UInt32(CollectionPlan.indexes(of: definition).count)
    let numbers = Array(nextIndex..<(nextIndex + indexes))
    nextIndex += indexes
    catalog.collections.declare(
      try CollectionPlan(core.path, definition, numbers: numbers, catalog))
    bindings[ObjectIdentifier(core)] = try Binding(core, catalog)
  }

  /// The binding of a type that is known.
  func binding(_ core: SchemaCore) throws -> Binding {
    if let binding = bindings[ObjectIdentifier(core)] { return binding }
    throw DatabaseError.misuse(reason: "\(core.typeName) is not registered")
  }

  func plan(_ collection: Path) throws -> CollectionPlan {
    if let plan = catalog.collections[collection] { return plan }
    throw DatabaseError.misuse(reason: "\(collection) is not registered")
  }

  // MARK: Records

  /// The record of a model.
  func record(_ collection: Path, _ key: Key) -> [UInt8]? { records[collection]?[key] }

  /// The keys of a collection, in order.
  func keys(_ collection: Path) -> [Key] { (records[collection] ?? [:]).keys.sorted() }

  /// Puts a record, which keeps the rules, in its place, or takes it out.
  mutating func put(_ collection: Path, _ key: Key, _ new: [UInt8]?) throws {
    let plan = try plan(collection)
    let old = record(collection, key)
    if let new { try check(new, key, plan, old) }
    try place(new, key, plan, insteadOf: old)
    changes.append(Change(collection: collection, key: key, old: old, new: new))
  }

  private mutating func place(
    _ new: [UInt8]?, _ key: Key, _ plan: CollectionPlan, insteadOf old: [UInt8]?
  ) throws {
    for index in plan.indexes where index.isUnique {
      for terms in try index.uniqueTerms(old, key) { owners[index.number]?[terms] = nil }
      for terms in try index.uniqueTerms(new, key) {
        owners[index.number, default: [:]][terms] = key
      }
    }
    records[plan.path, default: [:]][key] = new
    if new != nil, case .integer(let key) = key {
      greatestKeys[plan.path] = max(key, greatestKeys[plan.path] ?? 0)
    }
  }

  private func check(
    _ new: [UInt8], _ key: Key, _ plan: CollectionPlan, _ old: [UInt8]?
  ) throws {
    try new.lend { record in
      try key.stored.lend { try plan.check(record, key: $0, catalog) }
    }
    for index in plan.indexes where index.isUnique {
      for terms in try index.uniqueTerms(new, key) {
        guard let owner = owners[index.number]?[terms], owner != key else { continue }
        throw DatabaseError.notUnique(
          plan.path.appending(key), index: index.definition.terms.map(\.property),
          takenBy: plan.path.appending(owner))
      }
    }
  }

  // MARK: Ends of a call

  /// Undoes what was done since the last call.
  mutating func revert() {
    for change in changes.reversed() {
      guard let plan = catalog.collections[change.collection] else { continue }
      // It was in its place before.
      try? place(change.old, change.key, plan, insteadOf: change.new)
    }
    changes = []
  }

  /// Tells observers what was done, each record once, in the order of their places.
  mutating func publish() {
    var net: [Path: Change] = [:]
    for change in changes {
      let path = change.collection.appending(change.key)
      net[path] = Change(
        collection: change.collection, key: change.key,
        old: net[path] == nil ? change.old : net[path]?.old, new: change.new)
    }
    changes = []
    if observers.isEmpty { return }
    let sorted = net.sorted { $0.key < $1.key }.map(\.value).filter { $0.old != $0.new }
    for observer in observers.values {
      let wanted = sorted.filter { observer.wants($0) }
      if !wanted.isEmpty { observer.to.yield(wanted) }
    }
  }

  /// Adds an observer.
  ///
  /// - Returns: Its number.
  mutating func add(_ observer: Observer) -> Int {
    nextObserver += 1
    observers[nextObserver] = observer
    return nextObserver
  }

  /// How many observers there are.
  var observerCount: Int { observers.count }

  mutating func removeObserver(_ number: Int) { observers[number] = nil }
}

extension IndexPlan {
  /// The terms that no other record may have; none where the record is not there or not indexed.
  fileprivate func uniqueTerms(_ record: [UInt8]?, _ key: Key) throws -> [[UInt8]] {
    guard let record else { return [] }
    return try record.lend { record in
      let isIndexed = try key.stored.lend { try has(record, key: $0) }
      return try isIndexed && !hasNull(record) ? termKeys(record) : []
    }
  }
}
