// The hooks and rules of a model as the guard of its collection; see RecordGuard.swift.

import Synchronization

extension SchemaCore {
  /// The hooks and rules in code that records of the model's collection obey; nil where there are
  /// none.
  var guardian: RecordGuard? {
    let core = declaring
    if core.sharing.cases.isEmpty { return core.ownGuardian }
    let all = core.sharing.cases.compactMap { $0().ownGuardian }
    guard !all.isEmpty, let own = core.ownGuardian else { return nil }
    return RecordGuard(
      owner: own.owner, isAskedOfDeletions: all.contains(where: \.isAskedOfDeletions), ask: own.ask)
  }
}

extension RunningTransaction {
  /// Lets a model's code be asked about its records from now on.
  func know(_ core: SchemaCore) {
    guard core.ownGuardian != nil || core.sharing.owner != nil, let guardian = core.guardian else {
      return
    }
    hooks.guards.add(guardian, of: core.path)
    directory.guards.withLock { $0.add(guardian, of: core.path) }
  }
}

extension ModelSchema {
  /// The guard that asks the schema's code about changes; nil where there is nothing to ask.
  static func guardian(
    _ items: [SchemaItem<M>], _ hooks: ModelHooks<M>?, isUnion: Bool
  ) -> RecordGuard? {
    let hasRules = items.contains { !$0.rules.isEmpty || !$0.conditions.isEmpty }
    guard hasRules || hooks != nil || isUnion else { return nil }
    return RecordGuard(
      owner: ObjectIdentifier(M.self), isAskedOfDeletions: hooks != nil,
      ask: { try M.schema.ask($0, $1) })
  }

  private func ask(
    _ change: GuardedChange, _ transaction: borrowing Database.Transaction
  ) throws -> [Operation.PropertyUpdate] {
    let binding = try transaction.running.binding(core)
    let key = change.path.last?.stored ?? []
    // A record that is no such model, as a tool may have left it, can be repaired and deleted.
    let old = change.old.flatMap { try? decode($0, change.oldKey ?? key, binding) }
    guard let new = change.new else {
      guard let hooks, let old else { return [] }
      try hooks.willDelete(old, transaction)
      try transaction.afterCommit { hooks.did(nil, old) }
      return []
    }
    let found: M
    do {
      found = try new.lend { new in try key.lend { try decodeWhole(new, key: $0, binding) } }
    } catch { throw UnreadableRecord(cause: error) }
    var model = found
    if let hooks {
      try hooks.willStore(&model, from: old, transaction)
      if model.id != found.id {
        throw DatabaseError.misuse(
          reason: "a hook has changed the id of \(change.path), whose place is given already")
      }
    }
    let updates = try check(&model, found, change, transaction)
    if let hooks { try transaction.afterCommit { [model] in hooks.did(model, old) } }
    return updates
  }

  /// Holds a model against the rules in code.
  ///
  /// - Returns: The updates that hooks and conditions have made to the properties.
  private func check(
    _ model: inout M, _ found: M, _ change: GuardedChange,
    _ transaction: borrowing Database.Transaction
  ) throws -> [Operation.PropertyUpdate] {
    let running = transaction.running
    func updates() throws -> [Operation.PropertyUpdate] {
      // Others may have bound names meanwhile.
      let binding = try running.binding(core)
      return try transaction.naming(change.path) {
        try running.modelBuffers.encoder.difference(from: found, to: model, binding)
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
        problems += rule.problems(of: model)
      }
    }
    if !problems.isEmpty { throw ValidationError(path: change.path, causes: problems) }
    return try updates()
  }

  private func decode(_ record: [UInt8], _ key: [UInt8], _ binding: Binding) throws -> M {
    try record.lend { record in try key.lend { try decode(record, key: $0, binding) } }
  }
}
