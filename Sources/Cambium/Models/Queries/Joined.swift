// Models put beside each other by the values of any two properties. What a reference leads to is
// loaded along by Loading.swift.

/// Pairs of models with the same value of a property.
///
///     let pairs = try database.query(Flight.self).join(Airport.self, on: \.origin, \.id)
///       .where { flight, airport in flight.number > 100; airport.name != "" }
///       .fetch()
public struct Joined<M: Model, Other: Model>: Sendable {
  /// What conditions and plans call the other model.
  private static var name: String { "joined" }

  private var query: Query<M>

  fileprivate init(
    _ query: Query<M>, _ outer: PropertyPath, inner: String?, isLeft: Bool
  ) {
    self.query = query
    self.query.description.joins = [
      .init(Self.name, Other.schema.core.path, outer, inner: inner, isLeft: isLeft)
    ]
  }

  /// Narrows to pairs that pass.
  ///
  /// - Parameter condition: Names properties of both.
  /// - Returns: The narrower pairs.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<M>, Fields<Other>) -> Condition
  ) -> Joined {
    var copy = self
    copy.query = query.matching(condition(Fields<M>(), Fields<Other>(hops: [Self.name])))
    return copy
  }

  /// Sorts; a second call sorts among equals. Ties are broken by the key of the first model.
  ///
  /// - Parameter terms: Properties of either, each ascending unless it says `.descending`.
  /// - Returns: The sorted pairs.
  public func order<each T: OrderTerm>(
    by terms: repeat (Fields<M>, Fields<Other>) -> each T
  ) -> Joined {
    var copy = self
    for term in repeat each terms {
      copy.query.description.orderings.append(
        term(Fields<M>(), Fields<Other>(hops: [Self.name])).ordering)
    }
    return copy
  }

  /// Ends after so many pairs, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Joined {
    var copy = self
    copy.query = query.limit(count, offset: offset)
    return copy
  }

  /// All pairs; nil stands beside a model without another, which only a left join has.
  ///
  /// - Throws: As ``Query/fetch()``.
  public func fetch() throws -> [(M, Other?)] {
    let snapshot = try query.snapshot()
    let binding = try snapshot.binding(M.schema.core)
    let other = try snapshot.binding(Other.schema.core)
    let filters = query.filters
    var (skipped, left) = filters.isEmpty ? (0, .max) : query.bounds
    let run = try (filters.isEmpty ? query : query.unlimited).run(on: snapshot)
    var pairs: [(M, Other?)] = []
    if left == 0 { return pairs }
    try run.forEach { key, record in
      let model = try M.schema.decode(record, key: key, binding)
      for filter in filters where try !filter(model) { return true }
      if skipped > 0 {
        skipped -= 1
        return true
      }
      left -= 1
      let joined = try run.records.lendJoined(0) { key, record in
        try Other.schema.decode(record, key: key, other)
      }
      pairs.append((model, joined))
      return left > 0
    }
    return pairs
  }

  /// Only some properties of the pairs; the rest is never decoded.
  ///
  ///     let rows = try pairs.select({ flight, _ in flight.number }, { $1.name.orNil }).fetch()
  ///
  /// - Parameter properties: Properties of either. Those of the other model take `.orNil` in a left
  ///   join, which has none beside some.
  /// - Returns: What can be fetched: tuples of the properties' types.
  public func select<each T: PropertyTerm>(
    _ properties: repeat (Fields<M>, Fields<Other>) -> each T
  ) -> Selection<M, repeat (each T).V> {
    let (own, other) = (Fields<M>(), Fields<Other>(hops: [Self.name]))
    return Selection(query, (repeat (each properties)(own, other).operand))
  }

  /// How many pairs there are.
  ///
  /// - Throws: As ``Query/fetch()``.
  public func count() throws -> Int {
    try query.filters.isEmpty ? query.run { $0.outcome = .count }.count() : fetch().count
  }
}

extension Query {
  /// Puts models beside each other that have the same value.
  ///
  /// - Parameters:
  ///   - other: The other type.
  ///   - outer: The property of this model.
  ///   - inner: The property of the other, or its id.
  /// - Returns: The pairs.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, Other> where V.Base == W.Base {
    joined(outer(Fields<M>()), inner(Fields<Other>()), isLeft: false)
  }

  /// As ``join(_:on:_:)``, but models without another stay, with nil beside them.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, Other> where V.Base == W.Base {
    joined(outer(Fields<M>()), inner(Fields<Other>()), isLeft: true)
  }

  private func joined<Other: Model, V, W>(
    _ outer: Operand<V>, _ inner: Operand<W>, isLeft: Bool
  ) -> Joined<M, Other> {
    precondition(
      inner.path.hops.isEmpty && inner.path.function == nil,
      "\(Other.self): a join names a property of the other record itself")
    precondition(
      Other.schema.core.caseName == nil, "\(Other.self) shares its collection: join the union")
    return Joined(self, outer.path, inner: inner.path.property, isLeft: isLeft)
  }
}
