// The steps by which an operation of a body comes into the log, with what it entails:
//
//     operation ──▶ hooks and rules in code ──▶ delete rules ──▶ declared rules ──▶ log
//
// Every call that changes records issues operations, and delete rules, undo and references that
// follow a key make some of their own, so this is the one place where an app's code is asked. Its
// hooks may write: that is done at once, before the operation that they were asked about.

import Synchronization

/// Whose code is being asked.
struct Asking {
  /// Which changes it is asked about.
  enum Scope: Equatable {
    case all
    case none
    /// Of a property that lies there in its model.
    case part(Range<Int>)
  }

  var scope = Scope.all
  /// The records whose hooks are running: what these write to them is not asked about again.
  var paths: Set<Path> = []
  var depth = 0

  /// Hooks that write records whose hooks write may come so deep.
  static let depthMax = 32
}

extension Writing {
  /// Applies one operation and logs it.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - isAsked: True if the app's code has been asked about it already.
  /// - Throws: ``DatabaseError``, and what hooks throw; where the storage failed the transaction
  ///   can only be given up.
  func issue(_ operation: Operation, isAsked: Bool = false) throws {
    try use()
    // A write may move the pages that a query's records are lent from.
    if openRuns > 0 {
      throw DatabaseError.misuse(
        reason: "a query's records are being read; take their keys first, then write")
    }
    try operation.checkPaths()
    let isGuarded = !isAsked && asks && guards.concern(operation)
    if !isGuarded && !projector.isCompound(operation) {
      try log(try obeying(operation))
      if case .restore(let path, _) = operation { arrivals.note(path) }
      return
    }
    try translating { try begin() }
    do {
      try perform(operation, isGuarded)
      try translating { try end() }
    } catch {
      if projector.isUsable { rollBack() }
      throw error
    }
  }

  private func perform(_ operation: Operation, _ isGuarded: Bool) throws {
    switch operation {
    case .remove(let path):
      let wasThere = try exists(path)
      try letGo(path, movingTo: nil)
      // A hook may have removed it.
      if isGuarded, wasThere, try !exists(path) { return }
      try log(operation)
    case .move(let source, let destination):
      try letGo(source, movingTo: destination)
      try log(operation)
      if source.parent != destination.parent { arrivals.note(destination) }
      try askAboutArrivals(destination, from: source)
    case .restore(let path, _):
      try log(operation)
      arrivals.note(path)
      try askAboutArrivals(path, from: nil)
    case .define, .event, .declare: try log(operation)
    default: try isGuarded ? change(operation) : log(try obeying(operation))
    }
  }

  // MARK: Asking

  /// True if the app's code is asked about changes.
  var asks: Bool { !guards.isEmpty && asking.scope != .none }

  /// True if it is asked about records that go.
  var asksAboutDeletions: Bool { asks && guards.haveDeletions }

  /// Runs what changes only a part of a model, or what nobody is asked about.
  func asking<R>(_ scope: Asking.Scope, _ body: () throws -> R) throws -> R {
    let outer = asking.scope
    asking.scope = scope
    defer { asking.scope = outer }
    return try body()
  }

  /// Runs the hooks that are asked about a record.
  func asking<R>(about path: Path?, _ body: () throws -> R) throws -> R {
    let outer = asking
    guard outer.depth < Asking.depthMax else {
      throw DatabaseError.misuse(
        reason: "hooks that write have called each other \(Asking.depthMax) deep")
    }
    asking.depth += 1
    asking.scope = .all
    if let path { asking.paths.insert(path) }
    defer { asking = outer }
    return try body()
  }

  /// Asks about a change of a record's properties, and logs it with what the code makes of it.
  ///
  /// Where `isObeyed`, declared rules have nothing to say about it.
  func change(_ operation: Operation, isObeyed: Bool = false) throws {
    func log(_ operation: Operation) throws {
      try self.log(isObeyed ? operation : try obeying(operation))
    }
    guard asks, let path = operation.changedPath, let guardian = guards[of: path],
      !asking.paths.contains(path),
      let change = try guardedChange(by: isObeyed ? operation : obeying(operation), at: path),
      change.new != nil || guardian.isAskedOfDeletions
    else { return try log(operation) }
    let updates: [Operation.PropertyUpdate]
    do { updates = try ask(guardian, change) } catch let error as UnreadableRecord {
      // Declared rules may have more to say.
      try log(operation)
      throw error.cause
    }
    try log(operation)
    if !updates.isEmpty { try self.log(try obeying(.update(path, updates))) }
  }

  /// The change that an operation makes to a record; nil where there is none before and after, or
  /// it stays as it was.
  private func guardedChange(by operation: Operation, at path: Path) throws -> GuardedChange? {
    let old = try record(at: path)
    if old == nil, !operation.createsNodes { return nil }
    let new = try Content.applying(operation, to: old)
    if old == new { return nil }
    var change = GuardedChange(path: path)
    change.old = old?.kind == .record ? old?.bytes : nil
    change.new = new?.kind == .record ? new?.bytes : nil
    if case .part(let place) = asking.scope { change.place = place }
    return change.old == nil && change.new == nil ? nil : change
  }

  private func ask(
    _ guardian: RecordGuard, _ change: GuardedChange
  ) throws -> [Operation.PropertyUpdate] {
    try asking(about: change.path) { try guardian.ask(change, Transaction(self)) }
  }

  /// Asks about a record that goes.
  func askAboutDeletion(of path: Path) throws {
    guard let guardian = guards[of: path], guardian.isAskedOfDeletions,
      !asking.paths.contains(path), let record = try record(at: path), record.kind == .record
    else { return }
    _ = try ask(guardian, GuardedChange(path: path, old: record.bytes))
  }

  /// Asks about the records that have come to a place with all below it.
  private func askAboutArrivals(_ path: Path, from source: Path?) throws {
    if !asks { return }
    try askAboutArrival(path, from: source.flatMap { $0.parent == path.parent ? $0 : nil })
    for (collection, _) in guards.collections(within: path) {
      var last: Key?
      while let key = try nextKey(below: collection, after: last) {
        try askAboutArrival(collection.appending(key), from: nil)
        last = key
      }
    }
  }

  /// Asks about one of them; `former` is where it was, if it has only got another key.
  private func askAboutArrival(_ path: Path, from former: Path?) throws {
    guard let guardian = guards[of: path], let record = try record(at: path),
      record.kind == .record
    else { return }
    var change = GuardedChange(path: path, new: record.bytes)
    if let former { (change.oldKey, change.old) = (former.last?.stored, record.bytes) }
    do {
      let updates = try ask(guardian, change)
      if !updates.isEmpty { try log(try obeying(.update(path, updates))) }
    } catch let error as UnreadableRecord { throw error.cause }
  }
}

extension Operation {
  /// True if it makes the node where there is none.
  fileprivate var createsNodes: Bool { if case .set = self { true } else { false } }
}
