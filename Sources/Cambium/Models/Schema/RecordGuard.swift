// The code of an app that has a say in changes of records: the hooks and the rules of models. It is
// asked where changes arise, in a transaction's body, whichever call makes them; see
// Writing+Guards.swift. Records that are folded in from the log are not asked about: that was done
// where they were written.

/// A change of one record that a model's code is asked about.
struct GuardedChange {
  let path: Path
  /// The key that it had before, where that is another.
  var oldKey: [UInt8]?
  /// The stored record before; nil where there was none.
  var old: [UInt8]?
  /// The stored record after; nil where it goes.
  var new: [UInt8]?
  /// Where in the model the change lies, where that is known.
  var place: Range<Int>?
}

/// A record that cannot be read as the model that it is to be.
struct UnreadableModel: Error { let cause: any Error }

/// A model's hooks and rules, without its type.
struct RecordGuard: Sendable {
  /// Asks about a change.
  ///
  /// - Returns: The updates that the code makes in turn, beyond the change itself.
  let ask: @Sendable (GuardedChange, borrowing Transaction) throws -> [Operation.PropertyUpdate]
  /// True if it is asked about records that go.
  let isAskedOfDeletions: Bool
}

/// The guards of a database's collections.
struct RecordGuards: Sendable {
  private var cores: [SchemaCore] = []

  var isEmpty: Bool { cores.isEmpty }

  /// True if any of them is asked about records that go.
  private(set) var haveDeletions = false

  /// Adds a model's, if it has one.
  mutating func add(_ core: SchemaCore) {
    let core = core.owner?() ?? core
    guard core.guardian != nil, !cores.contains(where: { $0 === core }) else { return }
    // Of two types for one collection, as tests and migrations have them, the later one counts.
    cores.removeAll { $0.path == core.path }
    cores.append(core)
    haveDeletions = cores.contains { $0.guardian?.isAskedOfDeletions ?? false }
  }

  /// The guard of the collection that a node belongs to.
  subscript(of path: Path) -> RecordGuard? {
    if cores.isEmpty { return nil }
    let count = path.parentCount
    for core in cores where core.path.bytes.count == count {
      if path.bytes.starts(with: core.path.bytes) { return core.guardian }
    }
    return nil
  }

  /// The guarded collections that lie at a path or below it.
  func collections(within path: Path) -> [(path: Path, guardian: RecordGuard)] {
    cores.compactMap { core in
      core.path.isWithin(path) ? core.guardian.map { (core.path, $0) } : nil
    }
  }

  /// True if any guard has to be asked about an operation.
  func concern(_ operation: Operation) -> Bool {
    switch operation {
    case .set(let path, _), .update(let path, _), .change(let path, _, _):
      self[of: path] != nil
    // Records that refer to those that go may be guarded as well.
    case .remove, .move, .restore: !isEmpty
    case .define, .event, .declare: false
    }
  }
}

extension SchemaCore {
  /// The model's hooks and rules in code; nil where it has none.
  var guardian: RecordGuard? {
    if cases.isEmpty { return ownGuardian }
    let all = cases.compactMap { $0().ownGuardian }
    guard !all.isEmpty, let ownGuardian else { return nil }
    return RecordGuard(
      ask: ownGuardian.ask, isAskedOfDeletions: all.contains(where: \.isAskedOfDeletions))
  }
}

extension Schema {
  /// The guard that asks the schema's code about changes; nil where there is nothing to ask.
  static func guardian(_ items: [SchemaItem<M>], _ hooks: ModelHooks<M>?, isUnion: Bool)
    -> RecordGuard?
  {
    let hasRules = items.contains { !$0.rules.isEmpty || !$0.conditions.isEmpty }
    guard hasRules || hooks != nil || isUnion else { return nil }
    return RecordGuard(
      ask: { try M.schema.ask($0, $1) }, isAskedOfDeletions: hooks != nil)
  }

  private func ask(
    _ change: GuardedChange, _ transaction: borrowing Transaction
  ) throws -> [Operation.PropertyUpdate] {
    let binding = try transaction.writing.binding(core)
    let key = change.path.last?.stored ?? []
    // A record that is no such model, as a tool may have left it, can be mended and deleted.
    let old = change.old.flatMap { try? decode($0, change.oldKey ?? key, binding) }
    guard let new = change.new else {
      guard let hooks, let old else { return [] }
      try hooks.willDelete(old, transaction)
      try transaction.afterCommit { hooks.didDelete(old) }
      return []
    }
    let found: M
    do { found = try decode(new, key, binding) } catch { throw UnreadableModel(cause: error) }
    var model = found
    if let hooks {
      if let old {
        try hooks.willUpdate(&model, old, transaction)
      } else {
        try hooks.willInsert(&model, transaction)
      }
      if model.id != found.id {
        throw DatabaseError.misuse(
          reason: "a hook has changed the id of \(change.path), whose place is given already")
      }
    }
    let updates = try check(&model, found, change, transaction)
    if let hooks {
      try transaction.afterCommit { [model] in
        if let old { hooks.didUpdate(model, old) } else { hooks.didInsert(model) }
      }
    }
    return updates
  }

  /// Holds a model against the rules in code.
  ///
  /// - Returns: The updates that hooks and conditions have made to the properties.
  private func check(
    _ model: inout M, _ found: M, _ change: GuardedChange, _ transaction: borrowing Transaction
  ) throws -> [Operation.PropertyUpdate] {
    let writing = transaction.writing
    func updates() throws -> [Operation.PropertyUpdate] {
      // Others may have bound names meanwhile.
      let binding = try writing.binding(core)
      return try transaction.naming(change.path) {
        try writing.modelEncoder.difference(from: found, to: model, binding)
      }
    }
    let byHook = hooks == nil ? [] : try updates()
    var problems: [ValidationError] = []
    if let problemsOfCase {
      problems = problemsOfCase(&model)
    } else {
      settle(&model)
      // Rules that are data are checked where the record is written.
      let isPart = change.place != nil && byHook.isEmpty
      for rule in rules where !(isPart && !rule.isAsked(in: change.place ?? 0..<0)) {
        if rule.holds(model) { continue }
        problems.append(ValidationError(property: rule.property?(), rule.message))
      }
    }
    if !problems.isEmpty { throw ValidationError(path: change.path, causes: problems) }
    return try updates()
  }

  private func decode(_ record: [UInt8], _ key: [UInt8], _ binding: Binding) throws -> M {
    try record.lend { record in try key.lend { try decode(record, key: $0, binding) } }
  }
}
