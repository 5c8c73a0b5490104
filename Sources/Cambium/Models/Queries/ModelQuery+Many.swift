// The other side of a relation as a query: who refers to one model.

extension Many {
  /// The condition for the models that refer: nothing refers to a model without an id.
  var condition: Condition {
    if case .null = key { return Condition(.any([])) }
    let (core, path) = (Other.schema.core, path)
    let isPlural = offset.flatMap { core.layout.index(at: $0) }
      .map { core.properties[$0].shape.propertyType().isPlural }
    return isPlural ?? false
      ? Condition(.contains(path, key)) : Condition(.compare(path, .equal, key))
  }
}

extension Database {
  /// Asks about the models that refer to one: the other side of its relation.
  ///
  ///     let team = try database.related(department.people).order(by: \.name).fetch()
  public func related<Other: Model>(_ many: Many<Other>) -> ModelQuery<Other> {
    query(Other.self).matching(many.condition)
  }
}

extension Snapshot {
  /// Asks about the models that refer to one at this moment.
  public func related<Other: Model>(_ many: Many<Other>) -> ModelQuery<Other> {
    query(Other.self).matching(many.condition)
  }
}

extension Database.Transaction {
  /// Asks about the models that refer to one, as the transaction has left them when a result is
  /// asked for.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  public func related<Other: Model>(_ many: Many<Other>) throws -> ModelQuery<Other> {
    try query(Other.self).matching(many.condition)
  }
}
