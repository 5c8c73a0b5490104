// Groups of the models that answer, and the figures that can be made of each.

import Synchronization

/// A figure over the models of a group.
public struct Aggregate<V: Sendable>: Sendable {
  let measure: QueryMeasure
  fileprivate let read: @Sendable (Value) throws -> V

  /// The figure as groups are tested and ordered by it.
  fileprivate var path: PropertyPath { PropertyPath(measure.name) }
}

extension Aggregate where V: PropertyValue {
  fileprivate init(_ measure: QueryMeasure) {
    self.init(measure: measure) { try V(storedValue: $0) }
  }

  fileprivate func compare(_ comparison: Condition.Comparison, _ value: V) -> Condition {
    Condition(.compare(path, comparison, value.storedValue))
  }

  // Less favoured than a property's, which the compiler would otherwise not name in its errors.

  /// Tests whether the aggregate equals a value.
  @_disfavoredOverload
  public static func == (a: Aggregate, b: V) -> Condition { a.compare(.equal, b) }
  /// Tests whether the aggregate is less than a value.
  public static func < (a: Aggregate, b: V) -> Condition { a.compare(.less, b) }
  /// Tests whether the aggregate is less than or equal to a value.
  public static func <= (a: Aggregate, b: V) -> Condition { a.compare(.lessOrEqual, b) }
  /// Tests whether the aggregate is greater than a value.
  public static func > (a: Aggregate, b: V) -> Condition { a.compare(.greater, b) }
  /// Tests whether the aggregate is greater than or equal to a value.
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
  fileprivate let own: Fields<M>
  fileprivate let named: NamedFigures

  /// A property, to be made a figure of.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    own[dynamicMember: keyPath]
  }

  private func figure<V: PropertyValue>(
    _ kind: QueryMeasure.Kind, _ path: PropertyPath? = nil
  ) -> Aggregate<V> { Aggregate(named.adding(QueryMeasure(kind, path))) }

  /// How many models there are.
  public var count: Aggregate<Int> { figure(.count) }

  /// The sum of a property; nil where none has a value.
  public func sum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?>
  where V.Base: Numeric { figure(.sum, property.path) }

  /// The mean of a property over those that have one.
  public func average<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<Double?>
  where V.Base: Numeric { figure(.average, property.path) }

  /// The least value of a property.
  public func minimum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    figure(.minimum, property.path)
  }

  /// The greatest value of a property.
  public func maximum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    figure(.maximum, property.path)
  }
}

/// The figures that a closure has named: conditions and orderings know only how they are called.
private final class NamedFigures: Sendable {
  private let measures = Mutex<[QueryMeasure]>([])

  var all: [QueryMeasure] { measures.withLock { $0 } }

  func adding(_ measure: QueryMeasure) -> QueryMeasure {
    measures.withLock { if !$0.contains(measure) { $0.append(measure) } }
    return measure
  }
}

/// The groups that the models which answer a query make, or the results of a join.
///
///     let report = try query.group(by: \.carrier.name)
///       .having { $0.count > 10 }
///       .select { ($0.count, $0.average($0.departureDelay)) }
///
/// The figures of a join may be of any of its models: closures take one value for each.
public struct Groups<M: Model, K: Sendable, each S: JoinedSide>: Sendable {
  private let query: Query<M>
  private let paths: [PropertyPath]
  private let key: @Sendable ([Value]) throws -> K
  private var conditions: [Condition] = []
  private var orderings: [Ordering] = []
  /// The figures that are tested or ordered by.
  private var needed: [QueryMeasure] = []
  private var limit: Int?
  private var offset = 0

  init(
    _ query: Query<M>, _ paths: [PropertyPath], _ key: @escaping @Sendable ([Value]) throws -> K
  ) {
    self.query = query
    self.paths = paths
    self.key = key
  }

  /// Calls a closure with the aggregates of all models, and notes those that it names.
  private func named<R>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> R
  ) -> (result: R, measures: [QueryMeasure]) {
    let figures = NamedFigures()
    var index = -1
    func next<T: JoinedSide>(_ side: T.Type) -> GroupFields<T.JoinedModel> {
      index += 1
      return GroupFields(
        own: Fields(hops: [query.description.joins[index].name]), named: figures)
    }
    let own = GroupFields(own: Fields<M>(), named: figures)
    return (body(own, repeat next((each S).self)), figures.all)
  }

  /// Only groups that pass.
  public func having(
    @ConditionBuilder _ condition: (
      GroupFields<M>, repeat GroupFields<(each S).JoinedModel>
    ) -> Condition
  ) -> Groups {
    var copy = self
    let (condition, measures) = named(condition)
    copy.conditions.append(condition)
    copy.needed += measures
    return copy
  }

  /// Sorts the groups by figures, one or a tuple of several; without it they come in the order of
  /// their values.
  ///
  ///     query.group(by: \.carrier).order { ($0.count.descending, $0.sum($0.distance)) }
  public func order<each T: OrderTerm>(
    by terms: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (repeat each T)
  ) -> Groups {
    let (terms, measures) = named(terms)
    var copy = self
    copy.needed += measures
    for term in repeat each terms { copy.orderings.append(term.ordering) }
    return copy
  }

  /// Ends after so many groups, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Groups {
    var copy = self
    (copy.limit, copy.offset) = (max(count, 0), max(offset, 0))
    return copy
  }

  /// The figures of each group, to be fetched, visited or explained.
  ///
  /// - Parameter body: Names the figures: one, or a tuple of several.
  /// - Returns: The groups with these figures.
  public func figures<each V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (
      repeat Aggregate<each V>
    )
  ) -> GroupFigures<M, K, repeat each V> {
    let aggregates = named(body).result
    var measures: [QueryMeasure] = []
    for aggregate in repeat each aggregates { measures.append(aggregate.measure) }
    var described = query
    describe(measures, in: &described.description)
    return GroupFigures(
      described, isLimited: query.hasLimit, count: paths.count, key, (repeat each aggregates))
  }

  /// As above, for one figure. The compiler of Swift 6.3 does not find out the types of a pack of
  /// one where a closure follows.
  public func figures<V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> Aggregate<V>
  ) -> GroupFigures<M, K, V> {
    let aggregate = named(body).result
    var described = query
    describe([aggregate.measure], in: &described.description)
    return GroupFigures<M, K, V>(
      described, isLimited: query.hasLimit, count: paths.count, key, (aggregate))
  }

  /// The figures of each group.
  ///
  /// - Parameter body: Names the figures: one, or a tuple of several.
  /// - Returns: The values that make the group, and its figures.
  /// - Throws: As ``GroupFigures/fetch()``.
  public func select<each V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (
      repeat Aggregate<each V>
    )
  ) throws -> [(K, repeat each V)] { try figures(body).fetch() }

  /// How ``select(_:)`` is answered with the same figures, in words; see ``Query/explain()``.
  ///
  /// - Parameter body: Names the figures.
  /// - Returns: The words.
  /// - Throws: As ``select(_:)``, since it is run.
  public func explain<each V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (
      repeat Aggregate<each V>
    )
  ) throws -> String { try figures(body).explain() }

  private func describe(_ measures: [QueryMeasure], in description: inout QueryDescription) {
    let others = needed.enumerated().filter { index, measure in
      !measures.contains(measure) && needed.firstIndex(of: measure) == index
    }
    description.grouping = .init(
      paths, measures + others.map(\.element),
      having: conditions.isEmpty ? nil : Condition(.all(conditions.map(\.test))))
    description.orderings = orderings
    (description.limit, description.offset) = (limit, offset)
  }
}

/// Groups with their figures; see `figures(_:)` of ``Groups``.
///
///     let report = query.group(by: \.carrier.name).figures { ($0.count, $0.sum($0.distance)) }
///     try report.forEach { carrier, count, distance in … }
public struct GroupFigures<M: Model, K: Sendable, each V: Sendable>: Sendable {
  private let query: Query<M>
  private let isLimited: Bool
  /// How many values make a group; the figures follow them.
  private let count: Int
  private let key: @Sendable ([Value]) throws -> K
  private let aggregates: (repeat Aggregate<each V>)

  fileprivate init(
    _ query: Query<M>, isLimited: Bool, count: Int,
    _ key: @escaping @Sendable ([Value]) throws -> K, _ aggregates: (repeat Aggregate<each V>)
  ) {
    self.query = query
    self.isLimited = isLimited
    self.count = count
    self.key = key
    self.aggregates = aggregates
  }

  private func asked() throws -> Query<M> {
    if !isLimited { return try query.withoutFilters("group") }
    throw DatabaseError.misuse(
      reason: "groups are made of all models that answer; limit the groups: group(…).limit(…)")
  }

  private func figure<A>(
    _ aggregate: Aggregate<A>, _ values: [Value], _ index: inout Int
  ) throws -> A {
    defer { index += 1 }
    guard index < values.count else {
      throw DatabaseError.corrupt(reason: "a group has too few values")
    }
    return try aggregate.read(values[index])
  }

  private func result(_ values: [Value]) throws -> (K, repeat each V) {
    var index = count
    return (try key(values), repeat try figure(each aggregates, values, &index))
  }

  private func hand(_ values: [Value], to body: (K, repeat each V) throws -> Void) throws {
    var index = count
    try body(try key(values), repeat try figure(each aggregates, values, &index))
  }

  /// The values that make each group, and its figures.
  ///
  /// - Throws: As ``Query/fetch()``; ``DatabaseError/misuse(reason:)`` where the query has a limit,
  ///   since groups are made of all models that answer.
  public func fetch() throws -> [(K, repeat each V)] {
    var results: [(K, repeat each V)] = []
    try asked().run { _ in }.forEachValues { values in
      results.append(try result(values))
      return true
    }
    return results
  }

  /// Visits the groups, in order. In memory are only those that are being made, and no more than
  /// 64 MB of them.
  ///
  /// - Parameter body: Takes the values that make the group, and its figures.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  public func forEach(_ body: (K, repeat each V) throws -> Void) throws {
    try asked().run { _ in }.forEachValues { values in
      try hand(values, to: body)
      return true
    }
  }

  /// How it is answered, in words; see ``Query/explain()``.
  ///
  /// - Throws: As ``fetch()``, since it is run.
  public func explain() throws -> String { try asked().explain { _ in } }
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
