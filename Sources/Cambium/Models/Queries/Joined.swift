// Models put beside each other by the values of any two properties. ModelQuery+Loading.swift loads
// the models that references lead to.

/// One side of a join's result: a model, or an optional one where the join keeps results that have
/// none.
public protocol JoinedSide: Sendable {
  /// The model.
  associatedtype JoinedModel: Model
  /// Makes it of the model that was found, if there is one.
  static func _joined(_ model: JoinedModel?) throws -> Self
}

extension Model {
  /// The model, which an inner join always has.
  public static func _joined(_ model: Self?) throws -> Self {
    if let model { return model }
    throw DatabaseError.corrupt(reason: "an inner join has no \(Self.self)")
  }
}

extension Optional: JoinedSide where Wrapped: Model {
  /// The wrapped model.
  public typealias JoinedModel = Wrapped
  /// The model, or nil.
  public static func _joined(_ model: Wrapped?) -> Wrapped? { model }
}

/// Models that are joined, by the types of the models: `Joined<Flight, Airport, Airport?>`.
public typealias Joined<M: Model, each S: JoinedSide> = JoinedModels<
  M, (M, repeat each S), repeat each S
>

/// Models of several types, side by side where they have the same value of a property.
///
///     let flights = database.query(Flight.self)
///       .join(Airport.self, on: \.origin, \.id)
///       .leftJoin(Airport.self, on: \.destination, \.id)      // the same model again
///       .leftJoin(Country.self, on: { _, from, _ in from.country }, \.id)
///     let abroad = flights.where { flight, from, to, _ in from.country != to.country }
///     for (flight, from, to, country) in try abroad.fetch() { … }    // to and country: optional
///
/// A call after such a closure in `on:` begins a statement of its own, since the compiler of Swift
/// 6.3 does not find out the types otherwise.
///
/// Results come in the order of the first model; those of one model in the order of the keys of the
/// others.
/// An element is the tuple of all, with nil where a left join has found none.
public struct JoinedModels<M: Model, Element, each S: JoinedSide>: Results {
  private var query: ModelQuery<M>
  /// Makes the decoder of a run. It is kept, and `Element` is a parameter, since Swift 6.3
  /// miscompiles closures that take `(M, repeat each S)`.
  private let open: @Sendable (QueryRun) throws -> (M) throws -> Element

  /// The query with its joins, and where it is asked.
  public var request: QueryRequest {
    get { query.request }
    set { query.request = newValue }
  }

  fileprivate init(_ query: ModelQuery<M>, _ join: QueryDescription.Join)
  where Element == (M, repeat each S) {
    self.query = query
    self.query.request.description.joins.append(join)
    open = { run in
      let sides = try JoinedSides<repeat each S>(run)
      return { try sides.beside($0) }
    }
  }

  /// Calls a closure with the properties of all models.
  private func named<R>(
    _ body: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> R
  ) -> R {
    var index = -1
    func next<T: JoinedSide>(_ side: T.Type) -> Fields<T.JoinedModel> {
      index += 1
      return Fields(hops: [request.description.joins[index].name])
    }
    return body(Fields<M>(), repeat next((each S).self))
  }

  // MARK: More models

  /// Puts one more model beside the others.
  ///
  /// - Parameters:
  ///   - other: Its type, which may be one that is there already.
  ///   - outer: The property of the first model; as a closure that takes all, of any.
  ///   - inner: The property of the other model, or its id.
  /// - Returns: The wider results.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, repeat each S, Other), repeat each S, Other> where V.Base == W.Base {
    .init(query, query.joining(outer(Fields<M>()), inner, isLeft: false))
  }

  /// As above, by a property of any of the models.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, repeat each S, Other), repeat each S, Other> where V.Base == W.Base {
    .init(query, query.joining(named(outer), inner, isLeft: false))
  }

  /// As `join(_:on:_:)`, but results without such a model stay, with nil for it.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, repeat each S, Other?), repeat each S, Other?> where V.Base == W.Base {
    .init(query, query.joining(outer(Fields<M>()), inner, isLeft: true))
  }

  /// As above, by a property of any of the models.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, repeat each S, Other?), repeat each S, Other?> where V.Base == W.Base {
    .init(query, query.joining(named(outer), inner, isLeft: true))
  }

  // MARK: Narrowing

  /// Narrows to results that pass.
  ///
  /// - Parameter condition: Names properties of all models.
  /// - Returns: The narrower results.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Condition
  ) -> JoinedModels {
    let condition = named(condition)
    return changed { $0.query = $0.query.matching(condition) }
  }

  /// Sorts; a second call sorts among equals. Ties come as those of ``ModelQuery/order(by:)``.
  ///
  ///     joined.order { flight, airline in (airline.name.descending, flight.number) }
  ///
  /// - Parameter terms: Properties of any model, each ascending unless it says `.descending`.
  /// - Returns: The sorted results.
  public func order<each T: OrderTerm>(
    by terms: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> (repeat each T)
  ) -> JoinedModels {
    let terms = named(terms)
    var copy = self
    for term in repeat each terms { copy.request.description.orderings.append(term.ordering) }
    return copy
  }

  // MARK: Results

  /// Decodes the models of a run: for each of the left side one lookup by key or index, or one in a
  /// table of the other side's keys, which is made in memory.
  public func read(_ run: QueryRun, _ body: (Element) throws -> Bool) throws {
    let beside = try open(run)
    try query.read(run) { try body(try beside($0)) }
  }

  // MARK: Properties and aggregates

  /// Only some properties of the models; the rest is never decoded.
  ///
  ///     let pairs = try joined.select { flight, airline in (flight.number, airline.name.orNil) }
  ///       .fetch()
  ///
  /// - Parameter properties: Properties of any model; add `.orNil` to those of a model that may be
  ///   missing.
  /// - Returns: A selection, which fetches tuples of the properties' types.
  public func select<each T: PropertyTerm>(
    _ properties: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> (repeat each T)
  ) -> Selection<(repeat (each T).V)> {
    let terms = named(properties)
    return Selection(request, of: (repeat (each terms).operand))
  }

  /// Groups the results by properties of any model.
  ///
  ///     let report = try joined.group { flight, airline in (airline.name, flight.status) }
  ///       .having { flight, _ in flight.count > 10 }
  ///       .select { flight, _ in (flight.count, flight.average(flight.departureDelay)) }
  ///
  /// - Parameter properties: The property that makes a group, or a tuple of several.
  /// - Returns: The groups, whose aggregates may be of any model.
  public func group<each K: PropertyTerm>(
    by properties: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> (repeat each K)
  ) -> Groups<M, (repeat (each K).V), repeat each S> {
    let terms = named(properties)
    let key = SelectedValues<repeat (each K).V>(at: 0, (repeat (each terms).operand))
    return Groups(request: request, paths: key.paths) { try key.read($0) }
  }
}

/// The decoders of the models that are joined to the first.
private struct JoinedSides<each S: JoinedSide> {
  private let run: QueryRun
  private let bindings: [Binding]

  init(_ run: QueryRun) throws {
    self.run = run
    var bindings: [Binding] = []
    for side in repeat (each S).self {
      bindings.append(try run.binding(side.JoinedModel.schema.core))
    }
    self.bindings = bindings
  }

  private func other<T: JoinedSide>(_ side: T.Type, _ index: inout Int) throws -> T {
    defer { index += 1 }
    let binding = bindings[index]
    return try T._joined(
      try run.records.lendJoined(index) { key, record in
        try T.JoinedModel.schema.decode(record, key: key, binding)
      })
  }

  /// A model with those that are joined to it at the moment.
  func beside<M>(_ model: M) throws -> (M, repeat each S) {
    var index = 0
    return (model, repeat try other((each S).self, &index))
  }
}

extension ModelQuery {
  /// Joins models of two types that have the same value.
  ///
  /// - Parameters:
  ///   - other: The type to join with.
  ///   - outer: The property of this model.
  ///   - inner: The property of the other model, or its id.
  /// - Returns: The pairs.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, Other), Other> where V.Base == W.Base {
    .init(self, joining(outer(Fields<M>()), inner, isLeft: false))
  }

  /// As ``join(_:on:_:)``, but models without another stay, with nil beside them.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> JoinedModels<M, (M, Other?), Other?> where V.Base == W.Base {
    .init(self, joining(outer(Fields<M>()), inner, isLeft: true))
  }

  /// The next join, by a property of the other model's own.
  fileprivate func joining<V, W, Other: Model>(
    _ outer: Operand<V>, _ inner: (Fields<Other>) -> Operand<W>, isLeft: Bool
  ) -> QueryDescription.Join {
    let (own, other) = (inner(Fields<Other>()).path, Other.schema.core)
    var path = outer.path
    if let problem = own.problem { path.problem = problem }
    if !own.hops.isEmpty || own.function != nil {
      path.problem = """
        \(own): a join names a property of the other record itself; join what lies between as well
        """
    }
    // A name that no property of a model has.
    return .init(
      "joined_\(request.description.joins.count + 1)", other.path, path, inner: own.property,
      isLeft: isLeft, where: other.caseCondition)
  }
}
