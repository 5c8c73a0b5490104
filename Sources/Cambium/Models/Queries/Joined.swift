// Models put beside each other by the values of any two properties. Query+Loading.swift loads the
// models that references lead to.

/// One side of a join's result: a model, or an optional one where the join keeps results that have
/// none.
public protocol JoinedSide: Sendable {
  /// The model.
  associatedtype JoinedModel: Model
  /// Makes it of the model that was found, if there is one.
  static func joined(_ model: JoinedModel?) throws -> Self
}

extension Model {
  /// The model, which an inner join always has.
  public static func joined(_ model: Self?) throws -> Self {
    if let model { return model }
    throw DatabaseError.corrupt(reason: "an inner join has no \(Self.self)")
  }
}

extension Optional: JoinedSide where Wrapped: Model {
  /// The wrapped model.
  public typealias JoinedModel = Wrapped
  /// The model, or nil.
  public static func joined(_ model: Wrapped?) -> Wrapped? { model }
}

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
public struct Joined<M: Model, each S: JoinedSide>: Sendable {
  private var query: Query<M>

  fileprivate init(_ query: Query<M>, _ join: QueryDescription.Join) {
    self.query = query
    self.query.description.joins.append(join)
  }

  private func changed(_ change: (inout Query<M>) -> Void) -> Joined {
    var copy = self
    change(&copy.query)
    return copy
  }

  /// Calls a closure with the properties of all models.
  private func named<R>(
    _ body: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> R
  ) -> R {
    var index = -1
    func next<T: JoinedSide>(_ side: T.Type) -> Fields<T.JoinedModel> {
      index += 1
      return Fields(hops: [query.description.joins[index].name])
    }
    return body(Fields<M>(), repeat next((each S).self))
  }

  // MARK: More models

  /// Puts one more model beside the others.
  ///
  /// - Parameters:
  ///   - other: Its type, which may be one that is there already.
  ///   - outer: The property of the first model; as a closure that takes all, of any.
  ///   - inner: The property of the other, or its id.
  /// - Returns: The wider results.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, repeat each S, Other> where V.Base == W.Base {
    Joined<M, repeat each S, Other>(
      query, query.joining(outer(Fields<M>()), inner(Fields<Other>()), Other.self, isLeft: false))
  }

  /// As above, by a property of any of the models.
  public func join<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, repeat each S, Other> where V.Base == W.Base {
    Joined<M, repeat each S, Other>(
      query, query.joining(named(outer), inner(Fields<Other>()), Other.self, isLeft: false))
  }

  /// As `join(_:on:_:)`, but results without such a model stay, with nil for it.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, repeat each S, Other?> where V.Base == W.Base {
    Joined<M, repeat each S, Other?>(
      query, query.joining(outer(Fields<M>()), inner(Fields<Other>()), Other.self, isLeft: true))
  }

  /// As above, by a property of any of the models.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, repeat each S, Other?> where V.Base == W.Base {
    Joined<M, repeat each S, Other?>(
      query, query.joining(named(outer), inner(Fields<Other>()), Other.self, isLeft: true))
  }

  // MARK: Narrowing

  /// Narrows to results that pass.
  ///
  /// - Parameter condition: Names properties of all models.
  /// - Returns: The narrower results.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> Condition
  ) -> Joined {
    let condition = named(condition)
    return changed { $0 = $0.matching(condition) }
  }

  /// Sorts; a second call sorts among equals. Ties come as those of ``Query/order(by:)``.
  ///
  ///     joined.order { flight, airline in (airline.name.descending, flight.number) }
  ///
  /// - Parameter terms: Properties of any model, each ascending unless it says `.descending`.
  /// - Returns: The sorted results.
  public func order<each T: OrderTerm>(
    by terms: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> (repeat each T)
  ) -> Joined {
    let terms = named(terms)
    var copy = self
    for term in repeat each terms { copy.query.description.orderings.append(term.ordering) }
    return copy
  }

  /// Ends after so many results, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Joined {
    changed { $0 = $0.limit(count, offset: offset) }
  }

  /// Goes on where an earlier page of the same results ended.
  public func after(_ cursor: QueryCursor?) -> Joined { changed { $0 = $0.after(cursor) } }

  // MARK: Results

  /// All results, in order; nil stands where a left join has found no model.
  ///
  /// - Throws: As ``Query/fetch()``.
  /// - Complexity: as ``explain()`` says: for each model of the left side one lookup by key or
  ///   index, or one in a table of the other side's keys, which is made in memory.
  public func fetch() throws -> [(M, repeat each S)] { try run().results }

  /// The first result, or nil.
  ///
  /// - Throws: As ``fetch()``.
  public func first() throws -> (M, repeat each S)? {
    let (skipped, left) = query.bounds
    return try limit(min(1, left), offset: skipped).fetch().first
  }

  /// Visits the results, in order, with memory that does not depend on how many there are, unless
  /// they must be sorted.
  ///
  /// - Parameter body: Takes the models. It must not write to the transaction that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  public func forEach(_ body: (M, repeat each S) throws -> Void) throws {
    let results = try JoinedRun<M, repeat each S>(try query.recordRun())
    try query.forEach(results.run) { model, _, _ in
      try results.hand(model, to: body)
      return true
    }
  }

  /// Some results, and where the next ones begin, also among those of one model.
  ///
  /// - Returns: As many results as ``limit(_:offset:)`` says; `next` is nil behind the last.
  /// - Throws: As ``fetch()``; ``DatabaseError/misuse(reason:)`` for a query with a
  ///   ``Query/filter(_:)``, which has no place to go on from.
  public func page() throws -> (results: [(M, repeat each S)], next: QueryCursor?) {
    try query.checkPages()
    return try run()
  }

  private func run() throws -> (results: [(M, repeat each S)], next: QueryCursor?) {
    let joined = try JoinedRun<M, repeat each S>(try query.recordRun())
    var results: [(M, repeat each S)] = []
    try query.forEach(joined.run) { model, _, _ in
      results.append(try joined.result(model))
      return true
    }
    return (results, joined.run.cursor)
  }

  /// Visits the results in batches, each read from a moment of its own; see
  /// ``Query/batches(of:_:)``.
  ///
  /// - Parameters:
  ///   - count: How many results a batch has.
  ///   - body: Takes a batch; it may write.
  /// - Throws: Any error that `body` throws; otherwise as ``page()``.
  public func batches(of count: Int, _ body: ([(M, repeat each S)]) throws -> Void) throws {
    var pages = Pages(query.bounds, of: count)
    while let bounds = pages.next() {
      let page = try limit(bounds.count, offset: bounds.offset).after(pages.cursor(query)).page()
      if !page.results.isEmpty { try body(page.results) }
      pages.took(page.results.count, page.next)
    }
  }

  /// How many results there are.
  ///
  /// - Throws: As ``Query/fetch()``.
  public func count() throws -> Int {
    if query.filters.isEmpty { return try query.run { $0.outcome = .count }.count() }
    var count = 0
    try query.forEach(try query.recordRun()) { _, _, _ in
      count += 1
      return true
    }
    return count
  }

  /// True if there is a result.
  ///
  /// - Throws: As ``Query/fetch()``.
  public func exists() throws -> Bool {
    if query.filters.isEmpty { return try query.run { $0.outcome = .exists }.count() > 0 }
    let (skipped, left) = query.bounds
    return try limit(min(1, left), offset: skipped).count() > 0
  }

  /// How it is answered, in words; see ``Query/explain()``.
  ///
  /// - Throws: As ``Query/fetch()``, since it is run.
  public func explain() throws -> String { try query.explain() }

  // MARK: Properties and figures

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
  ) -> Selection<M, repeat (each T).V> {
    let terms = named(properties)
    return Selection(query, (repeat (each terms).operand))
  }

  /// Groups the results by properties of any model.
  ///
  ///     let report = try joined.group { flight, airline in (airline.name, flight.status) }
  ///       .having { flight, _ in flight.count > 10 }
  ///       .select { flight, _ in (flight.count, flight.average(flight.departureDelay)) }
  ///
  /// - Parameter properties: The property that makes a group, or a tuple of several.
  /// - Returns: The groups, whose figures may be of any model.
  public func group<each K: PropertyTerm>(
    by properties: (Fields<M>, repeat Fields<(each S).JoinedModel>) -> (repeat each K)
  ) -> Groups<M, (repeat (each K).V), repeat each S> {
    let terms = named(properties)
    let key = SelectedValues<repeat (each K).V>(at: 0, (repeat (each terms).operand))
    return Groups(query, key.paths) { try key.read($0) }
  }
}

/// One run of a join, and how its records become models.
private struct JoinedRun<M: Model, each S: JoinedSide> {
  let run: QueryRun
  private let bindings: [Binding]

  init(_ run: QueryRun) throws {
    self.run = run
    var bindings: [Binding] = []
    for side in repeat (each S).self {
      bindings.append(try run.records.snapshot.binding(side.JoinedModel.schema.core))
    }
    self.bindings = bindings
  }

  private func other<T: JoinedSide>(_ side: T.Type, _ index: inout Int) throws -> T {
    defer { index += 1 }
    let binding = bindings[index]
    return try T.joined(
      try run.records.lendJoined(index) { key, record in
        try T.JoinedModel.schema.decode(record, key: key, binding)
      })
  }

  /// The first model with those that are joined to it at the moment.
  func result(_ model: M) throws -> (M, repeat each S) {
    var index = 0
    return (model, repeat try other((each S).self, &index))
  }

  func hand(_ model: M, to body: (M, repeat each S) throws -> Void) throws {
    var index = 0
    try body(model, repeat try other((each S).self, &index))
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
    Joined<M, Other>(
      self, joining(outer(Fields<M>()), inner(Fields<Other>()), Other.self, isLeft: false))
  }

  /// As ``join(_:on:_:)``, but models without another stay, with nil beside them.
  public func leftJoin<Other: Model, V: PropertyValue, W: PropertyValue>(
    _ other: Other.Type, on outer: (Fields<M>) -> Operand<V>,
    _ inner: (Fields<Other>) -> Operand<W>
  ) -> Joined<M, Other?> where V.Base == W.Base {
    Joined<M, Other?>(
      self, joining(outer(Fields<M>()), inner(Fields<Other>()), Other.self, isLeft: true))
  }

  /// The next join, by a property of the other model's own.
  fileprivate func joining<V, W, Other: Model>(
    _ outer: Operand<V>, _ inner: Operand<W>, _ type: Other.Type, isLeft: Bool
  ) -> QueryDescription.Join {
    let (own, other) = (inner.path, Other.schema.core)
    var path = outer.path
    if let problem = own.problem { path.problem = problem }
    if !own.hops.isEmpty || own.function != nil {
      path.problem = """
        \(own): a join names a property of the other record itself; join what lies between as well
        """
    }
    // A name that no property of a model has.
    return .init(
      "joined_\(description.joins.count + 1)", other.path, path, inner: own.property,
      isLeft: isLeft, where: other.caseCondition)
  }
}
