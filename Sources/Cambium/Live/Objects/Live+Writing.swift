// Entering values, and writing them.
//
// A property that is set is entered first and written then, so that it is shown at once, and stays
// as a local value where the write is refused.

extension Live {
  /// Enters values without storing them, until `save()`.
  ///
  ///     try flight.edit { $0.number = 7; $0.crew.append("Ada") }
  ///
  /// - Parameter body: Changes the object, which is the initial one where there is none. The id
  ///   must stay. Where another thread changes the handle meanwhile, it is run again.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws, ``DatabaseError/misuse(reason:)`` for another id;
  ///   nothing is entered then.
  @discardableResult
  public func edit<R>(_ body: (inout M) throws -> R) throws -> R {
    try change { state in
      var model = state.shown
      let result = try body(&model)
      guard model.id == id else {
        throw DatabaseError.misuse(reason: "an edit of \(id) has changed its id to \(model.id)")
      }
      state.enter(model)
      return result
    }
  }

  /// Drops all local values: what is stored is shown again.
  public func revert() { change { $0.drop(nil) } }

  /// Resolves all conflicts in favor of the local values, which the next save stores.
  public func keepLocal() { change { $0.keep(nil) } }

  /// Adds a message to what is wrong with the object, such as one from a server. It is shown in
  /// ``validation`` until a value is entered, reverted or saved.
  ///
  /// - Parameters:
  ///   - message: The end of a sentence whose subject is the property.
  ///   - property: The name of the property; nil for the object as a whole.
  public func report(_ message: String, about property: String? = nil) {
    change { $0.problems.append(ValidationError(property: property, message)) }
  }

  // MARK: Saving

  /// Stores the local values in a transaction, on top of what is stored then; inserts the object
  /// where there is none. Without local values it does nothing.
  ///
  /// - Parameters:
  ///   - overwriting: True to store values that are in conflict as well.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)`` with the first property that was
  ///   entered and that another writer has changed since; ``ValidationError`` and as `update(_:_:)`
  ///   of a transaction. Nothing is stored then, and the local values stay. As ``refresh()`` where
  ///   what was stored cannot be read.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  public func save(
    overwriting: Bool = false, metadata: [String: String] = [:], actor: String? = nil
  ) throws {
    let content = content
    guard let written = content.mine else { return }
    try noting {
      try database.write(metadata: metadata, actor: actor) {
        try content.write($0, overwrites: overwriting)
      }
    }
    try show(try database.snapshot(), storing: written)
  }

  /// Stores the local values without blocking the caller's thread; see the synchronous form.
  ///
  /// - Parameters:
  ///   - overwriting: True to store values that are in conflict as well.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  ///   - isolation: The actor on which the outcome is shown, the caller's.
  /// - Throws: As the synchronous form, and as the async `write`.
  public func save(
    overwriting: Bool = false, metadata: [String: String] = [:], actor: String? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let content = content
    guard let written = content.mine else { return }
    do {
      try await database.write(metadata: metadata, actor: actor) {
        try content.write($0, overwrites: overwriting)
      }
    } catch { throw noted(error) }
    try show(try database.snapshot(), storing: written)
  }

  // MARK: Writing through

  /// Stores one property, as setting it does, and throws where that is refused. Local values of
  /// other properties stay as they are.
  ///
  /// - Parameters:
  ///   - property: The property, or a nested value.
  ///   - value: The new value; nothing is logged where the stored one is the same.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Throws: As `set(_:_:to:)` of a transaction, ``DatabaseError/notFound(_:reason:)`` where
  ///   there is no such object among them: `save` inserts it. Nothing is stored then, and the value
  ///   stays as a local one.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  public func set<V: PropertyValue>(
    _ property: WritableKeyPath<M, V> & Sendable, to value: V, metadata: [String: String] = [:],
    actor: String? = nil
  ) throws {
    let written = enter(property, value, isFinal: false)
    defer { callObservers() }
    let id = id
    try noting {
      try database.write(metadata: metadata, actor: actor) { try $0.store(id, property, value) }
    }
    try show(try database.snapshot(), storing: written, ModelParts<M>().parts(of: property))
  }

  /// Stores one property without blocking the caller's thread; see the synchronous form.
  ///
  /// - Parameters:
  ///   - property: The property, or a nested value.
  ///   - value: The new value.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  ///   - isolation: The actor on which the value and the outcome are shown, the caller's.
  /// - Throws: As the synchronous form, and as the async `write`.
  public func set<V: PropertyValue>(
    _ property: WritableKeyPath<M, V> & Sendable, to value: V, metadata: [String: String] = [:],
    actor: String? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    let written = enter(property, value, isFinal: false)
    defer { callObservers() }
    let id = id
    do {
      try await database.write(metadata: metadata, actor: actor) {
        try $0.store(id, property, value)
      }
    } catch { throw noted(error) }
    try show(try database.snapshot(), storing: written, ModelParts<M>().parts(of: property))
  }

  /// Deletes the object; local values stay, and could be saved as a new one.
  ///
  /// - Parameters:
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: True if there was one.
  /// - Throws: As `delete(_:)` of a transaction. Nothing is deleted then.
  @discardableResult
  public func delete(metadata: [String: String] = [:], actor: String? = nil) throws -> Bool {
    let existed = try noting { try database.delete(id, metadata: metadata, actor: actor) }
    try refresh()
    return existed
  }

  // MARK: Helpers

  /// Enters a value of one property.
  ///
  /// - Returns: The object as it is shown then.
  @discardableResult
  func enter<V>(
    _ property: WritableKeyPath<M, V>, _ value: V, isFinal: Bool = true
  ) -> M {
    change(isFinal: isFinal) { state in
      var model = state.shown
      model[keyPath: property] = value
      state.enter(model)
      return model
    }
  }

  /// Runs a write, and notes why it was refused.
  private func noting<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch { throw noted(error) }
  }

  /// Notes what a refused write says about the properties, and shows what it was refused for.
  private func noted(_ error: any Error) -> any Error {
    // Where it cannot be read either, the error of the write is the one to throw.
    try? refresh()
    let problems = ValidationError.problems(in: error)
    if !problems.isEmpty { change { $0.problems = problems } }
    return error
  }
}

extension Database.Transaction {
  /// Sets a property unless it is stored already.
  fileprivate func store<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: WritableKeyPath<M, V> & Sendable, _ value: V
  ) throws {
    if let stored = try find(id, property), stored.storedValue == value.storedValue { return }
    try set(id, property, to: value)
  }
}

extension ValidationError {
  /// The problems of the values that an error of a write names.
  fileprivate static func problems(in error: any Error) -> [ValidationError] {
    if let error = error as? ValidationError { return [error] }
    switch error as? DatabaseError {
    case .invalid(let violations):
      return violations.map { ValidationError(property: $0.property, $0.reason) }
    case .notUnique(_, let index, let other):
      return index.map { ValidationError(property: $0, "is the same at \(other)") }
    default: return []
    }
  }
}
