// Inserting models: a part that is the same code for every model, and a thin generic one that is
// inlined into the app, where the model's type is known; see Loading.swift. Everything is checked
// first and logged then, so a call that throws has logged nothing.

import LMDB

extension Database.Transaction {
  /// Inserts a model.
  ///
  ///     let id = try tx.insert(Flight(carrier: "UA", number: 1545))
  ///
  /// - Parameter model: A model without an id gets one: a time-ordered UUID, or the integer behind
  ///   the greatest that there ever was; a `String` must be given.
  /// - Returns: Its id.
  /// - Throws: ``ValidationError`` with everything that is wrong,
  ///   ``DatabaseError/exists(_:reason:)`` where the id is taken, what a rule of the database
  ///   refuses, or what ``LifecycleModel/willInsert(in:)`` throws. Nothing is logged then.
  /// - Complexity: O(log n), 2 to 4 µs.
  @inlinable
  @discardableResult
  public func insert<M: Model>(_ model: M) throws -> ModelID<M> {
    let schema = M.schema
    if model.id.isAssigned, !schema.hasHooks, !schema.hasChecks,
      let binding = claimedBinding(schema.core)
    {
      // Nothing comes before the write, which refuses an id that is taken.
      do { try put(model, isNew: true, binding) } catch {
        // Of several reasons that one is named first.
        try checkFree(schema.core, try model.id.key._treeKey())
        throw error
      }
      return model.id
    }
    var model = model
    try prepare(&model)
    if schema.hasChecks { try schema.validate(&model) }
    try put(model)
    return model.id
  }

  /// Inserts several models; all of them are checked before the first is logged.
  ///
  /// - Returns: Their ids, in order.
  /// - Throws: As `insert(_:)`, with the messages of all models. The database itself refuses models
  ///   one by one, so use ``attempt(_:)`` to take back those before.
  @discardableResult
  public func insert<M: Model>(contentsOf models: some Sequence<M>) throws -> [ModelID<M>] {
    var models = Array(models)
    var errors: [ValidationError] = []
    var taken: Set<ModelID<M>> = []
    var last = Int64.min
    for index in models.indices {
      let isFresh = !models[index].id.isAssigned
      try prepare(&models[index])
      try keepApart(&models[index], isFresh, &last, &taken)
      let problems = M.schema.problems(in: &models[index])
      if problems.isEmpty { continue }
      errors.append(
        ValidationError(path: try? M.schema.core.path(of: models[index].id), causes: problems))
    }
    if !errors.isEmpty { throw ValidationError(causes: errors) }
    let schema = M.schema
    for index in models.indices {
      // A hook may have taken the place meanwhile.
      if schema.hasHooks { try checkFree(schema.core, try models[index].id.key._treeKey()) }
      try put(models[index])
    }
    return models.map(\.id)
  }

  /// Makes sure that no two of a batch, of which none is there yet, get one id.
  private func keepApart<M: Model>(
    _ model: inout M, _ isFresh: Bool, _ last: inout Int64, _ taken: inout Set<ModelID<M>>
  ) throws {
    if isFresh, M.Key._keyType == .uuid { return }
    if M.Key._keyType == .integer, case .integer(var key) = try model.id.key._treeKey() {
      if isFresh, key <= last {
        guard last < .max, let next = M.Key(_treeKey: .integer(last + 1)) else {
          throw DatabaseError.misuse(reason: "no integer is left for the id of a \(M.self)")
        }
        (key, model.id) = (last + 1, ModelID(next))
      }
      last = max(last, key)
    }
    if taken.insert(model.id).inserted { return }
    throw DatabaseError.exists(
      try M.schema.core.path(of: model.id), reason: "two of the batch have this id")
  }

  /// Gives a new model its id, after asking its hook, and makes sure that the place is free.
  @inlinable
  func prepare<M: Model>(_ model: inout M) throws {
    let schema = M.schema
    try schema.core.check()
    if schema.hasHooks { try willInsert(&model) }
    if model.id.isAssigned {
      try checkFree(schema.core, try model.id.key._treeKey())
    } else {
      model.id = try freshID()
    }
  }

  /// Logs a whole model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - isNew: True to refuse it if its id is taken.
  ///   - binding: The schema's binding for writing, if the caller has it.
  /// - Throws: ``DatabaseError/exists(_:reason:)`` then, or what a rule of the database refuses.
  @inlinable
  func put<M: Model>(_ model: M, isNew: Bool = false, _ binding: Binding? = nil) throws {
    let schema = M.schema
    let key = try model.id.key._treeKey()
    try unsafe withUnsafePointer(to: model) {
      try unsafe put(schema.core, key, UnsafeRawPointer($0), isNew: isNew, binding)
    }
    if schema.hasHooks { try didInsert(model) }
  }

  // MARK: The same for every model

  /// The binding of a model whose writing declares nothing, since that was done; nil for others.
  @usableFromInline
  func claimedBinding(_ core: SchemaCore) -> Binding? { running.claimedBinding(core) }

  /// Throws where there is a node with a model's key.
  @usableFromInline
  func checkFree(_ core: SchemaCore, _ key: Key) throws {
    let path = core.path.appending(key)
    if try !running.hasNode(at: path) { return }
    if let other = try readingSnapshot().otherCase(core, key) {
      throw DatabaseError.exists(
        path, reason: "\(other); write it as \(core.declaring.typeName) to make it another case")
    }
    throw DatabaseError.exists(
      path, reason: "there is such a \(core.typeName) already; use upsert or update")
  }

  /// Logs the model at `base` under a key.
  @usableFromInline
  func put(
    _ core: SchemaCore, _ key: Key, _ base: UnsafeRawPointer, isNew: Bool, _ known: Binding?
  ) throws {
    let binding = try known ?? running.binding(core)
    let operation: Operation
    do {
      operation = try unsafe running.modelBuffers.encoder.set(core, key, base, binding)
    } catch {
      throw naming(core.path.appending(key), error)
    }
    if binding.refersToCases, case .set(let path, let content) = operation {
      try checkReferences(in: content.bytes, path, binding)
    }
    try running.issue(operation, isAsked: true, isNew: isNew)
  }

  /// Adds the path to errors that a value's own code throws.
  func naming<R>(_ path: NodePath, _ body: () throws -> R) throws -> R {
    do { return try body() } catch { throw naming(path, error) }
  }

  private func naming(_ path: NodePath, _ error: any Error) -> any Error {
    switch error {
    case let error as ValueMismatch: DatabaseError.badValue(path, reason: error.reason)
    case DatabaseError.badValue(let place, let reason) where place.isRoot:
      DatabaseError.badValue(path, reason: reason)
    default: error
    }
  }

  // MARK: Hooks and new ids

  @usableFromInline
  func willInsert<M: Model>(_ model: inout M) throws {
    guard let hooks = M.schema.hooks else { return }
    let path = model.id.isAssigned ? try model.id.path : nil
    try running.asking(about: path) { try hooks.willStore(&model, from: nil, self) }
  }

  @usableFromInline
  func didInsert<M: Model>(_ model: M) throws {
    guard let hooks = M.schema.hooks else { return }
    try afterCommit { hooks.did(model, nil) }
  }

  /// An id that is free.
  @usableFromInline
  func freshID<M: Model>(_ type: M.Type = M.self) throws -> ModelID<M> {
    try ModelID.fresh(running.directory.generators.identifiers) {
      try running.greatestKey(M.schema.core.path)
    }
  }
}
