// Calls of an app's hooks and rules about changes of records.

/// The app's code that reviews changes of records, and the part of it that runs.
struct RecordHooks {
  /// The changes about which it is called.
  enum Scope: Equatable {
    case all
    case none
    /// Changes of a property at that place in its model.
    case part(Range<Int>)
  }

  var guards: RecordGuards
  var scope = Scope.all
  /// The records whose hooks are running: their own writes to these records call no hooks again.
  var paths: Set<NodePath> = []
  var depth = 0

  /// The maximum depth of hooks that write records with hooks.
  static let depthMax = 32

  /// True if the app's code is called about changes.
  var areAsked: Bool { !guards.isEmpty && scope != .none }

  /// True if it is called about removed records.
  var areAskedOfDeletions: Bool { areAsked && guards.haveDeletions }

  /// True if they are called about an operation.
  func concern(_ operation: Operation) -> Bool { areAsked && guards.concern(operation) }
}

extension RunningTransaction {
  /// Runs a body that changes only a part of a model, or about which no code is called.
  func asking<R>(_ scope: RecordHooks.Scope, _ body: () throws -> R) throws -> R {
    let outer = hooks.scope
    hooks.scope = scope
    defer { hooks.scope = outer }
    return try body()
  }

  /// Runs the hooks that are called about a record.
  func asking<R>(about path: NodePath?, _ body: () throws -> R) throws -> R {
    let (scope, paths, depth) = (hooks.scope, hooks.paths, hooks.depth)
    guard depth < RecordHooks.depthMax else {
      throw DatabaseError.misuse(
        reason: "hooks that write have called each other \(RecordHooks.depthMax) deep")
    }
    hooks.depth += 1
    hooks.scope = .all
    if let path { hooks.paths.insert(path) }
    // Guards that hooks have added stay.
    defer { (hooks.scope, hooks.paths, hooks.depth) = (scope, paths, depth) }
    return try body()
  }
}

/// Calls hooks and rules in code about the changes of a transaction, and logs these with the
/// changes that the code makes.
struct HookCalls {
  private let transaction: RunningTransaction

  init(_ transaction: RunningTransaction) { self.transaction = transaction }

  private var hooks: RecordHooks {
    @inline(__always) _read { yield transaction.hooks }
  }

  /// Calls the code about a change of a record's properties, and logs it with the code's own
  /// changes.
  ///
  /// If `isObeyed`, the declared rules have been applied already.
  func change(_ operation: Operation, isObeyed: Bool = false) throws {
    func log(_ operation: Operation) throws {
      try transaction.log(isObeyed ? operation : try DeclaredRules(transaction).obeying(operation))
    }
    guard hooks.areAsked, let path = operation.changedPath, let guardian = hooks.guards[of: path],
      !hooks.paths.contains(path),
      let change = try guardedChange(
        by: isObeyed ? operation : DeclaredRules(transaction).obeying(operation), at: path),
      change.new != nil || guardian.isAskedOfDeletions
    else { return try log(operation) }
    let updates: [Operation.PropertyUpdate]
    do { updates = try ask(guardian, change) } catch let error as UnreadableRecord {
      // Declared rules may apply again.
      try log(operation)
      throw error.cause
    }
    try log(operation)
    if !updates.isEmpty {
      try transaction.log(try DeclaredRules(transaction).obeying(.update(path, updates)))
    }
  }

  /// The change that an operation makes to a record; nil if there is no record before and after, or
  /// it stays the same.
  private func guardedChange(by operation: Operation, at path: NodePath) throws -> GuardedChange? {
    let old = try transaction.record(at: path)
    if old == nil, !operation.createsNodes { return nil }
    let new = try Content.applying(operation, to: old)
    if old == new { return nil }
    var change = GuardedChange(path: path)
    change.old = old?.kind == .record ? old?.bytes : nil
    change.new = new?.kind == .record ? new?.bytes : nil
    if case .part(let place) = hooks.scope { change.place = place }
    return change.old == nil && change.new == nil ? nil : change
  }

  private func ask(
    _ guardian: RecordGuard, _ change: GuardedChange
  ) throws -> [Operation.PropertyUpdate] {
    try transaction.asking(about: change.path) {
      try guardian.ask(change, Database.Transaction(transaction))
    }
  }

  /// Calls the code about a record that is removed.
  func askAboutDeletion(of path: NodePath) throws {
    guard let guardian = hooks.guards[of: path], guardian.isAskedOfDeletions,
      !hooks.paths.contains(path), let record = try transaction.record(at: path),
      record.kind == .record
    else { return }
    _ = try ask(guardian, GuardedChange(path: path, old: record.bytes))
  }

  /// Calls the code about the records that have arrived at a place with everything below it.
  func askAboutRestored(_ path: NodePath, from source: NodePath?) throws {
    if !hooks.areAsked { return }
    try askAboutRestored(one: path, from: source.flatMap { $0.parent == path.parent ? $0 : nil })
    for (collection, _) in hooks.guards.collections(within: path) {
      try transaction.forEachMember(of: collection) { try askAboutRestored(one: $0, from: nil) }
    }
  }

  /// Calls the code about one of them; `former` is its old path, if it has only got another key.
  private func askAboutRestored(one path: NodePath, from former: NodePath?) throws {
    guard let guardian = hooks.guards[of: path], let record = try transaction.record(at: path),
      record.kind == .record
    else { return }
    var change = GuardedChange(path: path, new: record.bytes)
    if let former { (change.oldKey, change.old) = (former.last?.stored, record.bytes) }
    do {
      let updates = try ask(guardian, change)
      if !updates.isEmpty {
        try transaction.log(try DeclaredRules(transaction).obeying(.update(path, updates)))
      }
    } catch let error as UnreadableRecord { throw error.cause }
  }
}

extension Operation {
  /// True if it creates a missing node.
  fileprivate var createsNodes: Bool { if case .set = self { true } else { false } }
}
