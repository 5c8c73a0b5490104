// The hooks and rules of a model as the guard of its collection; see RecordGuard.swift.

import Synchronization

extension SchemaCore {
  /// The hooks and rules in code that records of the model's collection obey; nil where there are
  /// none.
  var guardian: RecordGuard? {
    let core = declaring
    let ofReferences = CaseReference.isAny(in: core) ? core.guards.ofReferences : nil
    if core.sharing.cases.isEmpty { return core.guards.ofCode ?? ofReferences }
    let all = core.sharing.cases.compactMap { $0().guards.ofCode }
    guard !all.isEmpty, let own = core.guards.ofCode else { return ofReferences }
    return RecordGuard(
      owner: own.owner, isAskedOfDeletions: all.contains(where: \.isAskedOfDeletions), ask: own.ask)
  }
}

/// The guards of the records of one schema, which are asked about changes by whoever makes them.
struct SchemaGuards: Sendable {
  /// The hooks and rules in code; nil where there are none.
  var ofCode: RecordGuard?
  /// The check that references to a case of an enum of models lead to that case, for a schema that
  /// has such references and no code.
  var ofReferences: RecordGuard?
}

extension RunningTransaction {
  /// Lets a model's code be asked about its records from now on.
  func know(_ core: SchemaCore) {
    guard core.guards.ofCode != nil || core.sharing.owner != nil || CaseReference.isAny(in: core),
      let guardian = core.guardian
    else { return }
    hooks.guards.add(guardian, of: core.path)
    directory.guards.withLock { $0.add(guardian, of: core.path) }
  }
}

extension ModelSchema {
  /// The guards that ask the schema about changes.
  static func guards(
    _ items: [SchemaItem<M>], _ hooks: ModelHooks<M>?, isUnion: Bool
  ) -> SchemaGuards {
    let hasRules = items.contains { !$0.rules.isEmpty || !$0.conditions.isEmpty }
    var guards = SchemaGuards()
    guards.ofReferences = RecordGuard(owner: ObjectIdentifier(M.self), isAskedOfDeletions: false) {
      try M.schema.checkCases($0, $1)
      return []
    }
    if hasRules || hooks != nil || isUnion {
      guards.ofCode = RecordGuard(
        owner: ObjectIdentifier(M.self), isAskedOfDeletions: hooks != nil,
        ask: { try M.schema.ask($0, $1) })
    }
    return guards
  }

  /// Refuses references to one case of an enum of models that name a record of another.
  private func checkCases(
    _ change: GuardedChange, _ transaction: borrowing Database.Transaction
  ) throws {
    guard let new = change.new, CaseReference.isAny(in: core) else { return }
    try transaction.checkReferences(
      in: new, unlike: change.old, change.path, try transaction.running.binding(core))
  }

  private func ask(
    _ change: GuardedChange, _ transaction: borrowing Database.Transaction
  ) throws -> [Operation.PropertyUpdate] {
    try checkCases(change, transaction)
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
    if hasReadConditions { hideUnread(&model) }
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
