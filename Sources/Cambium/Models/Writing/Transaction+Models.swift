// Writing models. Every call checks first and logs then, so one that throws has logged nothing.

extension Database.Transaction {
  // MARK: Upserting

  /// Inserts a model, or changes the one that has its id to be the same; only what differs is
  /// logged.
  ///
  /// - Returns: The outcome: inserted, updated, or unchanged.
  /// - Throws: As `insert(_:)`.
  @discardableResult
  public func upsert<M: Model>(_ model: M) throws -> Upsert {
    guard model.id.isAssigned, let old = try find(model.id) else {
      try insert(model)
      return .inserted
    }
    return try change(old, to: model).properties.isEmpty ? .unchanged : .updated
  }

  /// Inserts or changes several models.
  ///
  /// - Returns: The ids by what happened.
  /// - Throws: As `insert(_:)`, for the first model that is refused; use ``attempt(_:)`` to take
  ///   back those before.
  @discardableResult
  public func upsert<M: Model>(contentsOf models: some Sequence<M>) throws -> Upserts<M> {
    var result = Upserts<M>()
    for var model in models {
      let outcome: Upsert
      if model.id.isAssigned {
        outcome = try upsert(model)
      } else {
        model.id = try insert(model)
        outcome = .inserted
      }
      switch outcome {
      case .inserted: result.inserted.append(model.id)
      case .updated: result.updated.append(model.id)
      case .unchanged: result.unchanged.append(model.id)
      }
    }
    return result
  }

  // MARK: Updating

  /// Changes a model; only the properties that differ afterwards are logged.
  ///
  ///     try tx.update(id) { $0.departureDelay = 12; $0.crew.append("Ada") }
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - body: Changes it. Its id must stay.
  /// - Returns: The model before and after, and what differs.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is none, what `body` throws;
  ///   otherwise as `insert(_:)`. Nothing is logged then.
  /// - Complexity: O(log n), 2 to 4 µs.
  @discardableResult
  public func update<M: Model>(
    _ id: ModelID<M>, _ body: (inout M) throws -> Void
  ) throws -> Update<M> {
    let old = try get(id)
    var new = old
    try body(&new)
    guard new.id == id else {
      throw DatabaseError.misuse(reason: "an update of \(id) has changed its id to \(new.id)")
    }
    return try change(old, to: new)
  }

  private func change<M: Model>(_ old: M, to changed: M) throws -> Update<M> {
    var new = changed
    let schema = M.schema
    let path = try schema.core.path(of: old.id)
    if let hooks = schema.hooks {
      try running.asking(about: path) { try hooks.willStore(&new, from: old, self) }
    }
    try schema.validate(&new)
    let binding = try running.binding(schema.core)
    var updates = try naming(path) {
      try running.modelBuffers.encoder.difference(from: old, to: new, binding)
    }
    let own = binding.ofCase(new)
    if let former = binding.ofCase(old), let own, former !== own {
      updates = try becoming(new, from: former, to: own, path, binding)
    }
    let properties = updates.compactMap { binding.property(named: $0.name) }
    if updates.isEmpty { return Update(before: old, after: new, properties: []) }
    updates += try replacingUnread(updates, new, path, own ?? binding, as: binding)
    updates += try leavingFormerNames(updates, path, own ?? binding)
    try checkReferences(updates, path, own ?? binding)
    try running.issue(.update(path, updates), isAsked: true)
    if let hooks = schema.hooks { try afterCommit { [new] in hooks.did(new, old) } }
    return Update(before: old, after: new, properties: properties)
  }

  /// Replaces what the record holds of properties that are read under a condition, and that was not
  /// read of the model before.
  ///
  /// - Parameters:
  ///   - updates: The updates that are logged anyway.
  ///   - new: The model as it is written.
  ///   - path: The place of its record.
  ///   - own: The binding of the model, or of its case.
  ///   - binding: The binding of the model's type.
  /// - Returns: The updates to log besides.
  /// - Throws: As `insert(_:)`.
  private func replacingUnread<M: Model>(
    _ updates: [Operation.PropertyUpdate], _ new: M, _ path: NodePath, _ own: Binding,
    as binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    let conditional = own.core.layout.conditional
    if conditional.isEmpty { return [] }
    let wanted = try encoded(new, path, binding)
    let (changed, node) = (Set(updates.map(\.name)), self[path])
    return try conditional.map { own.names[$0] }.filter {
      try !changed.contains($0) && node.property($0)?.stored() != wanted[$0]
    }.map { .init(name: $0, value: wanted[$0]) }
  }

  /// Removes the values under former names of properties that are now stored under their own.
  func leavingFormerNames(
    _ updates: [Operation.PropertyUpdate], _ path: NodePath, _ binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    if binding.former.isEmpty { return [] }
    let changed = Set(updates.map(\.name))
    let node = self[path]
    return try binding.former.filter { former in
      guard changed.contains(binding.names[former.property]), !changed.contains(former.name)
      else { return false }
      return try node.property(former.name) != nil
    }.map { .init(name: $0.name, value: nil) }
  }

  // MARK: Deleting

  /// Deletes a model.
  ///
  /// - Returns: True if there was one.
  /// - Throws: ``DatabaseError/stillReferred(_:by:property:)`` where a delete rule denies it,
  ///   ``DatabaseError/notFound(_:reason:)`` for an id of one case whose record is of another, or
  ///   what ``LifecycleModel/willDelete(in:)`` throws. Nothing is logged then.
  /// - Complexity: O(log n), and what the delete rules take along.
  @discardableResult
  public func delete<M: Model>(_ id: ModelID<M>) throws -> Bool {
    guard try exists(id) else {
      try checkCase(id)
      return false
    }
    _ = try running.binding(M.schema.core)
    running.know(M.schema.core)
    try running.issue(.remove(try id.path))
    return true
  }

  /// Deletes several models.
  ///
  /// - Returns: The number of them that existed.
  /// - Throws: As `delete(_:)`; use ``attempt(_:)`` to undo the deletions before the error.
  @discardableResult
  public func delete<M: Model>(contentsOf ids: some Sequence<ModelID<M>>) throws -> Int {
    try ids.reduce(0) { try $0 + (delete($1) ? 1 : 0) }
  }

  /// Deletes all models of a type.
  ///
  /// - Returns: The number of models that were deleted.
  /// - Throws: As `delete(_:)`.
  /// - Complexity: one operation, besides what delete rules and indexes take along; the hooks of a
  ///   model that has some are asked about each.
  @discardableResult
  public func deleteAll<M: Model>(_ type: M.Type) throws -> Int {
    let count = try count(type)
    if count == 0 { return 0 }
    running.know(M.schema.core)
    if M.schema.core.sharing.caseName != nil {
      return try delete(contentsOf: try query(type).ids())
    }
    try running.issue(.remove(M.schema.core.path))
    return count
  }

  /// The model with an id; where there is none, the one that `make` returns is inserted.
  ///
  /// - Parameters:
  ///   - id: The id to look up; it becomes the new model's id.
  ///   - make: Makes the model where there is none.
  /// - Returns: The model that is there now.
  /// - Throws: As `insert(_:)`.
  @discardableResult
  public func findOrCreate<M: Model>(
    _ id: ModelID<M>, _ make: () throws -> M = { M() }
  ) throws -> M {
    if let model = try find(id) { return model }
    var model = try make()
    model.id = id
    return try get(try insert(model))
  }

  // MARK: Expecting

  /// Continues only if nobody has written a model since the caller read it; see
  /// `expect(unchanged:since:)` for paths.
  ///
  /// - Throws: As that, or ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  public func expect<M: Model>(
    unchanged id: ModelID<M>, since sequence: SequenceNumber
  ) throws {
    try expect(unchanged: try id.path, since: sequence)
  }

  /// Continues only if no model of a type was inserted, changed or deleted since the caller queried
  /// them, so that the results of its queries still hold.
  ///
  /// - Throws: As `expect(unchanged:since:)` for paths.
  public func expect<M: Model>(unchanged type: M.Type, since sequence: SequenceNumber) throws {
    try expect(unchanged: M.schema.core.path, since: sequence)
  }

  // MARK: After the commit

  /// Runs something once this transaction is committed, on the thread that wrote, or never.
  ///
  /// An ``attempt(_:)`` that fails takes it back. A crash right after the commit can lose it.
  ///
  /// - Parameter body: It may write again.
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  public func afterCommit(_ body: @escaping @Sendable () -> Void) throws {
    try running.keep(afterCommit: body)
  }
}

/// The outcome of an `upsert(_:)`.
public enum Upsert: Hashable, Sendable {
  /// There was no such model.
  case inserted
  /// There was one, and it differed.
  case updated
  /// There was one, and it was the same; nothing is logged.
  case unchanged
}

/// The outcome of an ``Database/Transaction/upsert(contentsOf:)``, as the ids of the models.
public struct Upserts<M: Model>: Hashable, Sendable {
  /// The ids of the models that were not there.
  public var inserted: [ModelID<M>] = []
  /// The ids of the models that differed.
  public var updated: [ModelID<M>] = []
  /// The ids of the models that were the same.
  public var unchanged: [ModelID<M>] = []
}

/// The outcome of an `update(_:_:)`.
public struct Update<M: Model>: Sendable {
  /// The model before.
  public let before: M
  /// The model after.
  public let after: M
  /// The names of the properties that differ.
  public let properties: [String]
}
