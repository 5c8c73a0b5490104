// Groups of the models that answer, and the aggregates that can be computed of each.

import Synchronization

/// An aggregate over the models of a group.
public struct Aggregate<V: Sendable>: Sendable {
  /// The aggregate without its type.
  let plain: QueryAggregate
  fileprivate let read: @Sendable (Value) throws -> V

  /// The aggregate in the form in which groups are tested and ordered by it.
  fileprivate var path: PropertyPath { PropertyPath(plain.name) }
}

extension Aggregate where V: PropertyValue {
  fileprivate init(_ plain: QueryAggregate) {
    self.init(plain: plain) { try V(storedValue: $0) }
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
  /// Large aggregates first.
  public var descending: Ordering { ordering.descending }
}

/// Represents a group: the aggregates that can be computed of its models.
@dynamicMemberLookup public struct GroupFields<M: Model>: Sendable {
  fileprivate let own: Fields<M>
  fileprivate let named: NamedAggregates

  /// A property to aggregate.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    own[dynamicMember: keyPath]
  }

  private func aggregate<V: PropertyValue>(
    _ kind: QueryAggregate.Kind, _ path: PropertyPath? = nil
  ) -> Aggregate<V> { Aggregate(named.adding(QueryAggregate(kind, path))) }

  /// The number of models.
  public var count: Aggregate<Int> { aggregate(.count) }

  /// The sum of a property; nil where none has a value.
  public func sum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?>
  where V.Base: Numeric { aggregate(.sum, property.path) }

  /// The mean of a property over those that have one.
  public func average<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<Double?>
  where V.Base: Numeric { aggregate(.average, property.path) }

  /// The least value of a property.
  public func minimum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    aggregate(.minimum, property.path)
  }

  /// The greatest value of a property.
  public func maximum<V: PropertyValue>(_ property: Operand<V>) -> Aggregate<V.Base?> {
    aggregate(.maximum, property.path)
  }
}

/// The aggregates that a closure has named: conditions and orderings know only their names.
private final class NamedAggregates: Sendable {
  private let aggregates = Mutex<[QueryAggregate]>([])

  var all: [QueryAggregate] { aggregates.withLock { $0 } }

  func adding(_ aggregate: QueryAggregate) -> QueryAggregate {
    aggregates.withLock { if !$0.contains(aggregate) { $0.append(aggregate) } }
    return aggregate
  }
}

/// The groups that the models which answer a query make, or the results of a join.
///
///     let report = try query.group(by: \.carrier.name)
///       .having { $0.count > 10 }
///       .select { ($0.count, $0.average($0.departureDelay)) }
///
/// The aggregates of a join may be of any of its models: closures take one value for each.
public struct Groups<M: Model, K: Sendable, each S: JoinedSide>: Sendable, Refinable {
  let request: QueryRequest
  let paths: [PropertyPath]
  let key: @Sendable ([Value]) throws -> K
  private(set) var conditions: [Condition] = []
  private(set) var orderings: [Ordering] = []
  /// The aggregates that are tested or ordered by.
  private(set) var needed: [QueryAggregate] = []
  private(set) var limit: Int?
  private(set) var offset = 0

  /// Calls a closure with the aggregates of all models, and notes those that it names.
  private func named<R>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> R
  ) -> (result: R, aggregates: [QueryAggregate]) {
    let aggregates = NamedAggregates()
    var index = -1
    func next<T: JoinedSide>(_ side: T.Type) -> GroupFields<T.JoinedModel> {
      index += 1
      return GroupFields(
        own: Fields(hops: [request.description.joins[index].name]), named: aggregates)
    }
    let own = GroupFields(own: Fields<M>(), named: aggregates)
    return (body(own, repeat next((each S).self)), aggregates.all)
  }

  /// Only groups that pass.
  public func having(
    @ConditionBuilder _ condition: (
      GroupFields<M>, repeat GroupFields<(each S).JoinedModel>
    ) -> Condition
  ) -> Groups {
    let (condition, aggregates) = named(condition)
    return changed {
      $0.conditions.append(condition)
      $0.needed += aggregates
    }
  }

  /// Sorts the groups by aggregates, one or a tuple of several; without it they come in the order
  /// of their values.
  ///
  ///     query.group(by: \.carrier).order { ($0.count.descending, $0.sum($0.distance)) }
  public func order<each T: OrderTerm>(
    by terms: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (repeat each T)
  ) -> Groups {
    let (terms, aggregates) = named(terms)
    var copy = self
    copy.needed += aggregates
    for term in repeat each terms { copy.orderings.append(term.ordering) }
    return copy
  }

  /// Ends after so many groups, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Groups {
    changed { ($0.limit, $0.offset) = (max(count, 0), max(offset, 0)) }
  }

  /// The aggregates of each group, to be fetched, visited, paged or explained.
  ///
  /// - Parameter body: Names the aggregates: one, or a tuple of several.
  /// - Returns: The values that make each group, and its aggregates.
  public func aggregates<each V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (
      repeat Aggregate<each V>
    )
  ) -> Selection<(K, repeat each V)> {
    let aggregates = named(body).result
    let reader = GroupValues<K, repeat each V>(paths.count, key, (repeat each aggregates))
    return Selection(described(reader.plain)) { try reader.read($0) }
  }

  /// As above, for one aggregate. The compiler of Swift 6.3 does not find out the types of a pack
  /// of one where a closure follows.
  public func aggregates<V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> Aggregate<V>
  ) -> Selection<(K, V)> {
    let aggregate = named(body).result
    let reader = GroupValues<K, V>(paths.count, key, (aggregate))
    return Selection(described(reader.plain)) { try reader.read($0) }
  }

  /// Fetches the aggregates of each group.
  ///
  /// - Parameter body: Names the aggregates: one, or a tuple of several.
  /// - Returns: The values that make each group, and its aggregates.
  /// - Throws: As ``Walk/fetch()``; ``DatabaseError/misuse(reason:)`` where the query has a limit,
  ///   since groups are made of all models that answer.
  public func select<each V: Sendable>(
    _ body: (GroupFields<M>, repeat GroupFields<(each S).JoinedModel>) -> (
      repeat Aggregate<each V>
    )
  ) throws -> [(K, repeat each V)] { try aggregates(body).fetch() }

  private func described(_ aggregates: [QueryAggregate]) -> QueryRequest {
    let others = needed.enumerated().filter { index, aggregate in
      !aggregates.contains(aggregate) && needed.firstIndex(of: aggregate) == index
    }
    var request = request
    if request.description.isLimited { request.prepare = { _, _ in throw Self.limited } }
    request.description.grouping = .init(
      paths, aggregates + others.map(\.element),
      having: conditions.isEmpty ? nil : Condition(.all(conditions.map(\.test))))
    request.description.orderings = orderings
    (request.description.limit, request.description.offset) = (limit, offset)
    return request
  }

  private static var limited: DatabaseError {
    .misuse(
      reason: "groups are made of all models that answer; limit the groups: group(…).limit(…)")
  }
}

/// Makes a tuple of a group's key and its aggregates; see ``SelectedValues`` for why.
private struct GroupValues<K: Sendable, each V: Sendable>: Sendable {
  /// The aggregates without their types.
  let plain: [QueryAggregate]
  /// The number of values in a group's key; the aggregates follow them.
  private let count: Int
  private let key: @Sendable ([Value]) throws -> K
  private let aggregates: (repeat Aggregate<each V>)

  init(
    _ count: Int, _ key: @escaping @Sendable ([Value]) throws -> K,
    _ aggregates: (repeat Aggregate<each V>)
  ) {
    var plain: [QueryAggregate] = []
    for aggregate in repeat each aggregates { plain.append(aggregate.plain) }
    self.plain = plain
    self.count = count
    self.key = key
    self.aggregates = aggregates
  }

  private func value<A>(
    _ aggregate: Aggregate<A>, _ values: [Value], _ index: inout Int
  ) throws -> A {
    defer { index += 1 }
    guard index < values.count else {
      throw DatabaseError.corrupt(reason: "a group has too few values")
    }
    return try aggregate.read(values[index])
  }

  func read(_ values: [Value]) throws -> (K, repeat each V) {
    var index = count
    return (try key(values), repeat try value(each aggregates, values, &index))
  }
}

extension ModelQuery {
  /// Groups the models that answer by a property, also through references.
  public func group<K: PropertyValue>(
    by property: @escaping (Fields<M>) -> Operand<K>
  ) -> Groups<M, K> {
    let path = property(Fields<M>()).path
    return Groups(request: request, paths: [path]) { try K(selected: $0[0], path) }
  }

  /// Groups the models that answer by several properties.
  public func group<each K: PropertyTerm>(
    by properties: repeat @escaping (Fields<M>) -> each K
  ) -> Groups<M, (repeat (each K).V)> {
    let fields = Fields<M>()
    let key = SelectedValues<repeat (each K).V>(at: 0, (repeat (each properties)(fields).operand))
    return Groups(request: request, paths: key.paths) { try key.read($0) }
  }
}
