// Models with what is related to them, loaded for a batch of models at once, so that a list does
// not take one query per model.

/// A path from a model to others: a reference, several in one property, or ``Many`` that refer.
///
/// Naming properties gives it; it is what `with(_:)` of ``Query`` takes.
public protocol RelationTerm<Loaded>: Sendable {
  /// The type of the value beside each model: `Airline?`, or `[Flight]`.
  associatedtype Loaded: Sendable
  /// The relation.
  var relation: Relation<Loaded> { get }
}

/// A relation to be loaded; see ``RelationTerm``.
public struct Relation<Loaded: Sendable>: Sendable {
  /// The path to the keys of the others, or to the keys that they refer to.
  let path: PropertyPath
  /// A description of what is loaded, for `explain()`.
  let words: String
  fileprivate let open: @Sendable (RelatedKeys) throws -> RelationReader<Loaded>
}

extension Operand: RelationTerm where V.Base: ReferringProperty {
  /// The models that the property refers to.
  public var relation: Relation<V.Base.Loaded> {
    let collection = ConditionText.collection(V.Base.Referred.schema.core.path)
    return Relation(path: path, words: "load \(collection) by \(path)") { keys in
      let models = try RelatedModels<V.Base.Referred>(keys)
      return RelationReader(keys, walks: models.walks, find: models.find) {
        V.Base.loaded(models.models(of: $0))
      }
    }
  }
}

extension ManyOperand: RelationTerm {
  /// The models that refer.
  public var relation: Relation<[Other]> {
    guard case .inverse(let collection, let property) = many else {
      return Relation(path: owner, words: "") { keys in
        let models = try RelatedModels<Other>(keys)
        return RelationReader(keys, walks: false, find: models.find, make: models.models)
      }
    }
    let words = "load \(ConditionText.collection(collection)) that refer by \(property)"
    return Relation(path: owner, words: words) { keys in
      let models = try RelatedModels<Other>(keys, by: property)
      return RelationReader(keys, walks: models.walks, find: models.find, make: models.models)
    }
  }
}

/// Loads what some relation leads to, batch by batch.
private class RelationBatch {
  let keys: RelatedKeys
  let walks: Bool
  private let find: ([[UInt8]]) throws -> Void

  init(_ keys: RelatedKeys, _ walks: Bool, _ find: @escaping ([[UInt8]]) throws -> Void) {
    self.keys = keys
    self.walks = walks
    self.find = find
  }

  /// Finds what belongs to the records that were added.
  func load() throws {
    try keys.follow()
    try find(keys.different)
  }
}

/// The same, with what is made of it.
private final class RelationReader<Loaded: Sendable>: RelationBatch {
  private let make: ([[UInt8]]) -> Loaded

  init(
    _ keys: RelatedKeys, walks: Bool, find: @escaping ([[UInt8]]) throws -> Void,
    make: @escaping ([[UInt8]]) -> Loaded
  ) {
    self.make = make
    super.init(keys, walks, find)
  }

  /// The value beside a model of the batch.
  func loaded(_ index: Int) -> Loaded { make(keys[index]) }
}

/// A relation whose type is known by its place among others.
private struct LoadedRelation: Sendable {
  let path: PropertyPath
  let words: String
  let open: @Sendable (RelatedKeys) throws -> RelationBatch

  init<Loaded>(_ relation: Relation<Loaded>) {
    (path, words) = (relation.path, relation.words)
    open = { try relation.open($0) }
  }
}

/// The models that answer a query, each with what is related to it.
///
///     let flights = database.query(Flight.self).where { $0.number > 100 }
///     for (flight, airline, crew) in try flights.with(\.carrier, \.crew).fetch() { … }
///     try database.query(Airline.self).with(\.flights).forEach { airline, flights in … }
///
/// Models are taken in batches. For each batch every different key is looked up once, or the index
/// of the reference is read once for it; so the number of lookups does not grow with the number of
/// models that refer to the same. All of it is read at one moment.
public struct Loading<M: Model, each R: Sendable>: Sendable {
  private var query: Query<M>
  /// In the order of `R`, and without their types. A tuple, `(repeat Relation<each R>)`, ends
  /// programs that are built for release with Swift 6.3 by a segmentation fault, where `R` is one
  /// type and the first such list of the process.
  fileprivate let relations: [LoadedRelation]

  fileprivate init(_ query: Query<M>, _ relations: repeat Relation<each R>) {
    self.query = query
    var all: [LoadedRelation] = []
    for relation in repeat each relations { all.append(LoadedRelation(relation)) }
    self.relations = all
  }

  /// All models that answer, in order. A model that is not there is nil, or left out.
  ///
  /// - Throws: As ``Query/fetch()``; ``QueryError`` for a path that leads to no reference.
  /// - Complexity: as ``Query/fetch()``, with 1 µs for each different key in a batch of 256 models.
  ///   Models that refer by a property without an index, as at a past moment, are found by one walk
  ///   over their collection for each 4,096 models.
  public func fetch() throws -> [(M, repeat each R)] { try run().results }

  /// The first model that answers, or nil.
  ///
  /// - Throws: As ``fetch()``.
  public func first() throws -> (M, repeat each R)? {
    var copy = self
    copy.query = query.limit(min(1, query.bounds.left), offset: query.bounds.skipped)
    return try copy.fetch().first
  }

  /// Visits the models that answer, in order, with memory for one batch of models and what belongs
  /// to them, unless they must be sorted.
  ///
  /// - Parameter body: Takes the model and what is related. It must not write to the transaction
  ///   that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  public func forEach(_ body: (M, repeat each R) throws -> Void) throws {
    let run = try LoadingRun(self, query)
    try run.forEachBatch { try run.hand($0, to: body) }
  }

  /// Some of the models that answer, and where the next ones begin.
  ///
  ///     var page = try query.limit(50).with(\.carrier).page()
  ///     while let next = page.next {
  ///       page = try query.limit(50).after(next).with(\.carrier).page()
  ///     }
  ///
  /// - Returns: As many results as the query's limit says; `next` is nil behind the last.
  /// - Throws: As ``fetch()``; ``DatabaseError/misuse(reason:)`` for a query with a
  ///   ``Query/filter(_:)``, which has no place to go on from.
  public func page() throws -> (results: [(M, repeat each R)], next: QueryCursor?) {
    try query.checkPages()
    return try run()
  }

  private func run() throws -> (results: [(M, repeat each R)], next: QueryCursor?) {
    let run = try LoadingRun(self, query)
    var results: [(M, repeat each R)] = []
    try run.forEachBatch { models in
      for index in models.indices { results.append(try run.result(models[index], index)) }
    }
    return (results, run.cursor)
  }

  /// Visits the models that answer in batches, each read from a moment of its own; see
  /// ``Query/batches(of:_:)``.
  ///
  /// - Parameters:
  ///   - count: How many models a batch has.
  ///   - body: Takes a batch; it may write.
  /// - Throws: Any error that `body` throws; ``DatabaseError/misuse(reason:)`` for a query with a
  ///   filter in Swift; otherwise as ``fetch()``.
  public func batches(of count: Int, _ body: ([(M, repeat each R)]) throws -> Void) throws {
    var pages = Pages(query.bounds, of: count)
    var copy = self
    while let bounds = pages.next() {
      copy.query = query.limit(bounds.count, offset: bounds.offset).after(pages.cursor(query))
      let page = try copy.page()
      if !page.results.isEmpty { try body(page.results) }
      pages.took(page.results.count, page.next)
    }
  }

  /// How it is answered, in words; see ``Query/explain()``. A line for each relation tells what
  /// loading it took.
  ///
  /// - Throws: As ``fetch()``, since it is run.
  public func explain() throws -> String {
    let run = try LoadingRun(self, query)
    try run.forEachBatch { _ in }
    var lines = [run.explained]
    if !query.filters.isEmpty { lines.append("then filter in Swift") }
    lines += zip(relations, run.counts).map { "\($0.words): \($1.words)" }
    return lines.joined(separator: "\n")
  }

  /// The lookups and walks that loading takes, by relation.
  func counts() throws -> [RelationCounts] {
    let run = try LoadingRun(self, query)
    try run.forEachBatch { _ in }
    return run.counts
  }
}

extension RelationCounts {
  fileprivate var words: String {
    var parts: [String] = []
    if walks > 0 { parts.append("\(walks) walks over all") }
    if indexReads > 0 { parts.append("\(indexReads) looked for in the index") }
    if lookups > 0 || parts.isEmpty { parts.append("\(lookups) looked up") }
    return parts.joined(separator: ", ")
  }
}

/// One run of a query whose models are loaded with what is related.
private struct LoadingRun<M: Model, each R: Sendable> {
  private let query: Query<M>
  private let run: QueryRun
  private let all: [RelationBatch]

  init(_ loading: Loading<M, repeat each R>, _ query: Query<M>) throws {
    self.query = query
    let core = M.schema.core
    let run = try query.recordRun()
    self.run = run
    all = try loading.relations.map { relation in
      try core.checkAsked(relation.path.ownNames, run.records.snapshot)
      return try relation.open(try RelatedKeys(relation.path, from: core.path, run))
    }
  }

  var cursor: QueryCursor? { run.cursor }
  var explained: String { run.plan.explained(run.counts) }
  var counts: [RelationCounts] { all.map(\.keys.counts) }

  /// How many models are taken at once: more where a batch takes a walk over a collection.
  private var batchCount: Int { all.contains(where: \.walks) ? 4096 : 256 }

  /// Visits batches of models, whose relations are loaded then.
  func forEachBatch(_ body: ([M]) throws -> Void) throws {
    let most = batchCount
    var models: [M] = []
    func hand() throws {
      for batch in all { try batch.load() }
      try body(models)
      for batch in all { batch.keys.clear() }
      models.removeAll(keepingCapacity: true)
    }
    try run.holding {
      try query.forEach(run) { model, key, record in
        models.append(model)
        for batch in all { try batch.keys.add(key, record) }
        if models.count == most { try hand() }
        return true
      }
      if !models.isEmpty { try hand() }
    }
  }

  /// The next of the values beside a model of the batch.
  private func loaded<T: Sendable>(_ type: T.Type, _ index: Int, _ relation: inout Int) throws -> T
  {
    defer { relation += 1 }
    guard let reader = all[relation] as? RelationReader<T> else {
      throw DatabaseError.corrupt(reason: "a relation was loaded as another")
    }
    return reader.loaded(index)
  }

  /// A model of the batch, and what stands beside it.
  func result(_ model: M, _ index: Int) throws -> (M, repeat each R) {
    var relation = 0
    return (model, repeat try loaded((each R).self, index, &relation))
  }

  func hand(_ models: [M], to body: (M, repeat each R) throws -> Void) throws {
    for (index, model) in models.enumerated() {
      var relation = 0
      try body(model, repeat try loaded((each R).self, index, &relation))
    }
  }
}

extension Query {
  /// Loads what is related along with the models, without a query for each.
  ///
  ///     let rows = try query.with(\.carrier, \.origin.country, \.crew).fetch()
  ///
  /// - Parameter relations: References, arrays or sets of them, dictionaries by them, and ``Many``
  ///   that refer, also behind references: `\.carrier.flights`. A reference gives the model or nil,
  ///   what is plural an array: that of an array in its order, those that refer in the order of
  ///   their keys.
  /// - Returns: A query that fetches tuples of the model and what is related.
  public func with<each T: RelationTerm>(
    _ relations: repeat (Fields<M>) -> each T
  ) -> Loading<M, repeat (each T).Loaded> {
    let fields = Fields<M>()
    return Loading(self, repeat (each relations)(fields).relation)
  }

  /// As above, for one relation. The compiler of Swift 6.3 does not find out the types of a pack of
  /// one where a closure follows.
  public func with<T: RelationTerm>(_ relation: (Fields<M>) -> T) -> Loading<M, T.Loaded> {
    Loading<M, T.Loaded>(self, relation(Fields<M>()).relation)
  }
}
