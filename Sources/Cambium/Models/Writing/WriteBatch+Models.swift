// Changes of models in a batch.

extension WriteBatch {
  /// Inserts a model, or changes the one that has its id, as `upsert(_:)` of
  /// ``Database/Transaction`` does. One without an id gets one whenever the batch is applied.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for an id that no key can be.
  public mutating func upsert<M: Model>(_ model: M) throws {
    add(.sets, model.id.isAssigned ? try model.id.path : nil) { tx in _ = try tx.upsert(model) }
  }

  /// Sets a property of a model, as `set(_:_:to:)` of ``Database/Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func set<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, to value: V
  ) throws {
    add(.sets, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.set(id, property, to: value)
    }
  }

  /// Adds to a number of a model, as `increment(_:_:by:)` of ``Database/Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func increment<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, by step: V.Base
  ) throws where V.Base: Numeric {
    add(.adds, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.increment(id, property, by: step)
    }
  }

  /// Puts an element into a set of a model, as `insert(_:into:_:)` of ``Database/Transaction``
  /// does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func insert<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, into id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == Set<Element> {
    add(.adds, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.insert(element, into: id, property)
    }
  }

  /// Deletes a model, if there is one, as `delete(_:)` of ``Database/Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  public mutating func delete<M: Model>(_ id: ModelID<M>) throws {
    add(.removes, try id.path) { tx in _ = try tx.delete(id) }
  }

  /// The property as it is stored; nil for a nested value, of which the parts are.
  private static func name<M: Model, V>(of property: KeyPath<M, V>) throws -> String? {
    let core = M.schema.core
    try core.check()
    guard let offset = MemoryLayout<M>.offset(of: property) else {
      throw DatabaseError.misuse(reason: "\(property) is no stored `var`; only such can be set")
    }
    if V.self is any Nested.Type { return nil }
    return core.layout.index(at: offset).map { core.properties[$0].name }
  }
}
