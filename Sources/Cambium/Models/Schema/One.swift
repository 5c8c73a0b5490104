// The other side of a reference that no two records share: one to one.

extension Model {
  /// The record that refers to this one by a property that is unique, which is there or not: the
  /// other side of a one-to-one reference.
  ///
  ///     struct Traveller: Model {
  ///       var id = ID()
  ///       var passport: One<Passport> { one(\.holder) }
  ///       static let schema = ModelSchema<Traveller>("travellers")
  ///     }
  ///
  ///     struct Passport: Model {
  ///       var id = ID()
  ///       var holder: Traveller.ID?
  ///       static let schema = ModelSchema<Passport>("passports") { Unique(\.holder) }
  ///     }
  ///     …
  ///     let passport = try database.find(traveller.passport)           // Passport?
  ///
  /// Only the reference is stored, in the one index that also keeps it unique, so the two sides
  /// cannot disagree. It is changed where it is stored: in the passport.
  ///
  /// - Parameter reference: The other model's property that refers to this one. Its schema declares
  ///   `Unique` of just this property; where it does not, whatever uses the relation throws
  ///   ``DatabaseError/misuse(reason:)`` or ``QueryError``.
  /// - Returns: The model that refers to this one, to be found, loaded and named in conditions.
  public func one<Other: Model, V: PropertyValue>(
    _ reference: KeyPath<Other, V> & Sendable
  ) -> One<Other> where V.Base: ReferenceProperty, V.Base.Referred == Self {
    One(many: many(reference))
  }
}

/// The model that refers to one by a unique reference: a description that reads nothing. See
/// ``Model/one(_:)``.
public struct One<Other: Model>: Sendable {
  /// All that refer, of which there is one at most.
  let many: Many<Other>

  /// The reason why there could be more than one; nil if there cannot.
  var problem: String? {
    let path = many.path
    if let problem = path.problem { return problem }
    let name = path.property ?? "id"
    if Other.schema.core.definition.isUnique(name) { return nil }
    return """
      \(Other.self).\(name) is not unique, so that more than one could refer: declare \
      Unique(\\.\(name)) in the schema of \(Other.self), or use Many
      """
  }

  /// The condition for the model that refers.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where there could be more than one.
  fileprivate func condition() throws -> Condition {
    if let problem { throw DatabaseError.misuse(reason: problem) }
    return many.condition
  }
}

extension CollectionDefinition {
  /// True if no two records can have the same value of a property.
  fileprivate func isUnique(_ property: String) -> Bool {
    indexes.contains { index in
      index.isUnique && index.condition == nil && index.terms.map(\.property) == [property]
    }
  }
}

// MARK: Reading

extension ModelReader where Self: ~Copyable {
  /// The model that refers to one, or nil where there is none: the other side of a one-to-one
  /// reference.
  ///
  ///     let passport = try database.find(traveller.passport)
  ///
  /// At a moment before the reference was declared unique, it is the first by its key.
  ///
  /// - Throws: As `find(_:)`; ``DatabaseError/misuse(reason:)`` where the reference is not unique.
  /// - Complexity: one descent of the index and one of the tree, 5 to 10 µs with the planning; O(n)
  ///   in the past, where the models are walked.
  public func find<Other: Model>(_ one: One<Other>) throws -> Other? {
    try readingSnapshot().query(Other.self).matching(try one.condition()).first()
  }
}

extension Database {
  /// Asks about the model that refers to one, which there is or not; for results that follow.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the reference is not unique.
  public func related<Other: Model>(_ one: One<Other>) throws -> ModelQuery<Other> {
    query(Other.self).matching(try one.condition())
  }
}

extension Snapshot {
  /// Asks about the model that refers to one at this moment.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the reference is not unique.
  public func related<Other: Model>(_ one: One<Other>) throws -> ModelQuery<Other> {
    query(Other.self).matching(try one.condition())
  }
}
