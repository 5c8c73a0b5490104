// Groups of the models that answer, and the figures that can be made of each.

/// A figure over the models of a group.
public struct Aggregate<V: Sendable>: Sendable {
  let measure: QueryMeasure
  fileprivate let read: @Sendable (Value) throws -> V

  /// The figure as groups are tested and ordered by it.
  fileprivate var path: PropertyPath { PropertyPath(measure.name) }
}

extension Aggregate where V: PropertyValue {
  fileprivate init(_ kind: QueryMeasure.Kind, _ path: PropertyPath? = nil) {
    self.init(measure: QueryMeasure(kind, path)) { try V(storedValue: $0) }
  }

  fileprivate func compare(_ comparison: Condition.Comparison, _ value: V) -> Condition {
    Condition(.compare(path, comparison, value.storedValue))
  }

  // Less favoured than a property's, which the compiler would otherwise not name in its errors.

  /// Whether the figure is a value.
  @_disfavoredOverload
  public static func == (a: Aggregate, b: V) -> Condition { a.compare(.equal, b) }
  /// Whether the figure is less than a value.
  public static func < (a: Aggregate, b: V) -> Condition { a.compare(.less, b) }
  /// Whether the figure is a value or less.
  public static func <= (a: Aggregate, b: V) -> Condition { a.compare(.lessOrEqual, b) }
  /// Whether the figure is greater than a value.
  public static func > (a: Aggregate, b: V) -> Condition { a.compare(.greater, b) }
  /// Whether the figure is a value or greater.
  public static func >= (a: Aggregate, b: V) -> Condition { a.compare(.greaterOrEqual, b) }
}

extension Aggregate: OrderTerm {
  /// Ascending.
  public var ordering: Ordering { Ordering(path) }
  /// Large figures first.
  public var descending: Ordering { ordering.descending }
}

/// Stands for a group: the figures that can be made of its models.
@dynamicMemberLookup public struct GroupFields<M: Model>: Sendable {
  /// A property, to be made a figure of.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    Fields<M>()[dynamicMember: keyPath]
  }

  /// How many models there are.
  public var count: Aggregate<Int> { Aggregate(.count) }

  /// The sum of a property; nil where none has a value.
  public func sum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?>
  where V.Base: Numeric {
    Aggregate(.sum, property.path)
  }

  /// The mean of a property over those that have one.
  public func average<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<Double?>
  where V.Base: Numeric {
    Aggregate(.average, property.path)
  }

  /// The least value of a property.
  public func minimum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    Aggregate(.minimum, property.path)
  }

  /// The greatest value of a property.
  public func maximum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    Aggregate(.maximum, property.path)
  }
}

/// The groups that the models which answer a query make.
///
///     let report = try query.group(by: \.carrier.name)
///       .having { $0.count > 10 }
///       .select { ($0.count, $0.average($0.departureDelay)) }
public struct Groups<M: Model, K: Sendable>: Sendable {
  fileprivate let query: Query<M>
  fileprivate let paths: [PropertyPath]
  fileprivate let key: @Sendable ([Value]) throws -> K
  private var conditions: [Condition] = []
  private var orderings: [Ordering] = []
  private var limit: Int?
  private var offset = 0

  fileprivate init(
    _ query: Query<M>, _ paths: [PropertyPath], _ key: @escaping @Sendable ([Value]) throws -> K
  ) {
    self.query = query
    self.paths = paths
    self.key = key
  }

  /// Only groups that pass.
  public func having(@ConditionBuilder _ condition: (GroupFields<M>) -> Condition) -> Groups {
    var copy = self
    copy.conditions.append(condition(GroupFields<M>()))
    return copy
  }

  /// Sorts the groups by figures; by their values where it is not called.
  public func order<each T: OrderTerm>(by terms: repeat (GroupFields<M>) -> each T) -> Groups {
    var copy = self
    for term in repeat each terms { copy.orderings.append(term(GroupFields<M>()).ordering) }
    return copy
  }

  /// Ends after so many groups, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Groups {
    var copy = self
    (copy.limit, copy.offset) = (max(count, 0), max(offset, 0))
    return copy
  }

  /// The figures of each group.
  ///
  /// - Parameter body: Names the figures.
  /// - Returns: The values that make the group, and its figures.
  /// - Throws: As ``Query/fetch()``; ``DatabaseError/misuse(reason:)`` where the query has a limit,
  ///   since groups are made of all models that answer.
  public func select<each V: Sendable>(
    _ body: (GroupFields<M>) -> (repeat Aggregate<each V>)
  ) throws -> [(K, repeat each V)] {
    if query.hasLimit {
      throw DatabaseError.misuse(
        reason: "groups are made of all models that answer; limit the groups: group(…).limit(…)")
    }
    let aggregates = body(GroupFields<M>())
    var measures: [QueryMeasure] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    let chosen = paths.count + measures.count
    let found = try query.values("group") { describe(measures, in: &$0) }
    var results: [(K, repeat each V)] = []
    for values in found {
      precondition(values.count >= chosen, "a group has too few values")
      var index = paths.count - 1
      func next<A>(_ aggregate: Aggregate<A>) throws -> A {
        index += 1
        return try aggregate.read(values[index])
      }
      results.append((try key(values), repeat try next(each aggregates)))
    }
    return results
  }

  /// How ``select(_:)`` is answered with the same figures, in words; see ``Query/explain()``.
  ///
  /// - Parameter body: Names the figures.
  /// - Returns: The words.
  /// - Throws: As ``select(_:)``, since it is run.
  public func explain<each V: Sendable>(
    _ body: (GroupFields<M>) -> (repeat Aggregate<each V>)
  ) throws -> String {
    let aggregates = body(GroupFields<M>())
    var measures: [QueryMeasure] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    return try query.withoutFilters("group").explain { describe(measures, in: &$0) }
  }

  private func describe(_ measures: [QueryMeasure], in description: inout QueryDescription) {
    description.grouping = .init(
      paths, measures + needed(besides: measures),
      having: conditions.isEmpty ? nil : Condition(.all(conditions.map(\.test))))
    description.orderings = orderings
    (description.limit, description.offset) = (limit, offset)
  }

  /// The figures that are tested or ordered by, but not selected.
  private func needed(besides chosen: [QueryMeasure]) -> [QueryMeasure] {
    let fields = conditions.reduce(into: Set(orderings.compactMap(\.path.property))) {
      $0.formUnion($1.propertyNames)
    }
    let known = Set(chosen.map(\.name))
    return fields.subtracting(known).sorted().compactMap { QueryMeasure(name: $0) }
  }
}

extension QueryMeasure {
  /// Reads a figure's name, as in a condition about groups.
  fileprivate init?(name: String) {
    let parts = name.split(separator: "(", maxSplits: 1)
    guard let first = parts.first, let kind = Kind(rawValue: String(first)) else { return nil }
    guard parts.count == 2 else {
      self.init(kind)
      return
    }
    var hops = parts[1].dropLast().split(separator: ".").map(String.init)
    guard let property = hops.popLast() else { return nil }
    self.init(kind, PropertyPath(hops: hops, property))
  }
}

extension Query {
  /// Groups the models that answer by a property, also through references.
  public func group<K: PropertyValue>(
    by property: (Fields<M>) -> Operand<K>
  ) -> Groups<M, K> {
    let path = property(Fields<M>()).path
    return Groups(self, [path]) { try K(selected: $0[0], path) }
  }

  /// Groups the models that answer by two properties.
  public func group<A: PropertyValue, B: PropertyValue>(
    by a: (Fields<M>) -> Operand<A>, _ b: (Fields<M>) -> Operand<B>
  ) -> Groups<M, (A, B)> {
    let paths = [a(Fields<M>()).path, b(Fields<M>()).path]
    return Groups(self, paths) {
      (try A(selected: $0[0], paths[0]), try B(selected: $0[1], paths[1]))
    }
  }

  /// Groups the models that answer by three properties.
  public func group<A: PropertyValue, B: PropertyValue, C: PropertyValue>(
    by a: (Fields<M>) -> Operand<A>, _ b: (Fields<M>) -> Operand<B>,
    _ c: (Fields<M>) -> Operand<C>
  ) -> Groups<M, (A, B, C)> {
    let fields = Fields<M>()
    let paths = [a(fields).path, b(fields).path, c(fields).path]
    return Groups(self, paths) {
      (
        try A(selected: $0[0], paths[0]), try B(selected: $0[1], paths[1]),
        try C(selected: $0[2], paths[2])
      )
    }
  }
}
