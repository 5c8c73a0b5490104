// Models with what is related to them, loaded for a batch of models at once, so that a list does
// not take one query per model.

/// A path from a model to others: a reference, several in one property, or ``Many`` that refer.
///
/// Naming properties gives it; it is what `with(_:)` of ``ModelQuery`` takes.
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
  /// The same as data, for queries that follow it.
  let loaded: LoadedPath
  /// Compiles it for states with the same catalog, for each of which it then opens batches.
  let compile: @Sendable (QueryRecords) throws -> Opening

  typealias Opening = (RelatedKeys) throws -> RelationReader<Loaded>
}

extension Operand: RelationTerm where V.Base: ReferringProperty {
  /// The models that the property refers to.
  public var relation: Relation<V.Base.Loaded> {
    let referred = V.Base.Referred.schema.core.path
    let words = "load \(ConditionText.collection(referred)) by \(path)"
    let loaded = LoadedPath(path: path, collection: referred, isWhole: true)
    return Relation(path: path, words: words, loaded: loaded) { records in
      let way = try RelatedWay(V.Base.Referred.schema.core, records)
      return { keys in
        let models = ModelListOf<V.Base.Referred>(way.binding)
        let finder = RelatedFinder(keys, way, models)
        return RelationReader(keys, walks: false, find: finder.find) {
          V.Base.loaded(models.models(at: finder.places(of: $0)))
        }
      }
    }
  }
}

extension ManyOperand: RelationTerm {
  /// The models that refer.
  public var relation: Relation<[Other]> {
    guard case .inverse(let collection, let property) = many else {
      let loaded = LoadedPath(path: owner, collection: Other.schema.core.path, isWhole: true)
      return Relation(path: owner, words: "", loaded: loaded) {
        try ManyOperand.opening(by: nil, $0)
      }
    }
    let words = "load \(ConditionText.collection(collection)) that refer by \(property)"
    let loaded = LoadedPath(
      path: owner, collection: collection, inverse: property, isWhole: true)
    return Relation(path: owner, words: words, loaded: loaded) {
      try ManyOperand.opening(by: property, $0)
    }
  }

  private static func opening(
    by property: String?, _ records: QueryRecords
  ) throws -> Relation<[Other]>.Opening {
    let way = try RelatedWay(Other.schema.core, by: property, records)
    return { keys in
      let models = ModelListOf<Other>(way.binding)
      let finder = RelatedFinder(keys, way, models)
      return RelationReader(keys, walks: finder.walks, find: finder.find) {
        models.models(at: finder.places(of: $0))
      }
    }
  }
}

/// Loads what some relation leads to, batch by batch.
class RelationBatch {
  let keys: RelatedKeys
  let walks: Bool
  let find: ([[UInt8]]) throws -> Void

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
final class RelationReader<Loaded: Sendable>: RelationBatch {
  let make: ([[UInt8]]) throws -> Loaded

  init(
    _ keys: RelatedKeys, walks: Bool, find: @escaping ([[UInt8]]) throws -> Void,
    make: @escaping ([[UInt8]]) throws -> Loaded
  ) {
    self.make = make
    super.init(keys, walks, find)
  }

  /// The value beside a model of the batch.
  func loaded(_ index: Int) throws -> Loaded { try make(keys[index]) }
}

/// A relation whose type is known by its place among others.
private struct LoadedRelation: Sendable {
  let path: PropertyPath
  let words: String
  let loaded: LoadedPath
  let compile: @Sendable (QueryRecords) throws -> (RelatedKeys) throws -> RelationBatch

  init<Loaded>(_ relation: Relation<Loaded>) {
    (path, words, loaded) = (relation.path, relation.words, relation.loaded)
    compile = { records in
      let open = try relation.compile(records)
      return { try open($0) }
    }
  }
}

/// The relations of a query, compiled for states with the same catalog.
private final class CompiledRelations {
  let decoder: Binding
  private let paths: [RelatedPath]
  private let openings: [(RelatedKeys) throws -> RelationBatch]

  init(_ relations: [LoadedRelation], of core: SchemaCore, _ records: QueryRecords) throws {
    decoder = try records.snapshot.binding(core)
    paths = try relations.map { relation in
      try core.checkAsked(Condition.Test.names(in: relation.path), records.snapshot)
      return try RelatedPath(relation.path, from: core.path, records)
    }
    openings = try relations.map { try $0.compile(records) }
  }

  /// Opens batches in one state.
  func batches(_ records: QueryRecords) throws -> [RelationBatch] {
    try paths.indices.map { try openings[$0](RelatedKeys(paths[$0], records)) }
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
///
/// Each different key of a batch of 256 models takes 1 µs. Models that refer by a property without
/// an index, as at a past moment, are found by one walk over their collection for 4,096 models.
///
/// An element is the tuple of a model and what is related to it; what is not there is nil, or left
/// out.
public struct Loading<M: Model, Element>: Results {
  private var query: ModelQuery<M>

  /// The query of the models, and where it is asked.
  public var request: QueryRequest {
    get { query.request }
    set { query.request = newValue }
  }

  /// The relations without their types. A tuple, `(repeat Relation<each R>)`, ends programs that
  /// are built for release with Swift 6.3 by a segmentation fault, where `R` is one type and the
  /// first such list of the process.
  private let relations: [LoadedRelation]
  /// Makes the tuple of a model of a batch, which has a place there.
  private let beside: @Sendable (M, Int, [RelationBatch]) throws -> Element

  fileprivate init<each R: Sendable>(_ query: ModelQuery<M>, _ relations: repeat Relation<each R>)
  where Element == (M, repeat each R) {
    self.query = query
    var all: [LoadedRelation] = []
    for relation in repeat each relations { all.append(LoadedRelation(relation)) }
    self.relations = all
    self.query.request.loading = all.map(\.loaded)
    let values = RelatedValues<repeat each R>()
    beside = { try values.beside($0, $1, $2) }
  }

  /// Decodes the models of a run, and loads what is related to a batch of them at once. The lookups
  /// and walks that it takes are lines of ``Results/explain()``.
  public func read(_ run: QueryRun, _ body: (Element) throws -> Bool) throws {
    let compiled = try compiled(run)
    let all = try compiled.batches(run.records)
    run.words = { [relations] in
      zip(relations, all).map { "\($0.words)\($1.keys.words): \($1.keys.counts.words)" }
    }
    try run.holding { try read(run, compiled.decoder, all, body) }
  }

  /// The lookups and walks that loading takes, by relation.
  func counts() throws -> [RelationCounts] {
    let run = try request.run()
    let compiled = try compiled(run)
    let all = try compiled.batches(run.records)
    try read(run, compiled.decoder, all) { _ in true }
    return all.map { $0.keys.counts }
  }

  /// The relations as the run's memory has them, or compiled for the run alone. Past moments have
  /// other indexes and defaults than the present.
  private func compiled(_ run: QueryRun) throws -> CompiledRelations {
    let memory = run.records.snapshot.moment == nil ? run.given?.memory : nil
    if let known = memory?.compiled as? CompiledRelations { return known }
    let made = try CompiledRelations(relations, of: M.schema.core, run.records)
    memory?.compiled = made
    return made
  }

  /// Visits the models batch by batch; a batch has more where it takes a walk over a collection.
  private func read(
    _ run: QueryRun, _ decoder: Binding, _ all: [RelationBatch],
    _ body: (Element) throws -> Bool
  ) throws {
    let most = all.contains { $0.walks } ? 4096 : 256
    var models: [M] = []
    func hand() throws -> Bool {
      for batch in all { try batch.load() }
      for index in models.indices where try !body(try beside(models[index], index, all)) {
        return false
      }
      return true
    }
    var goesOn = true
    try run.forEach { key, record in
      models.append(try M.schema.decode(record, key: key, decoder))
      for batch in all { try batch.keys.add(key, record) }
      if models.count == most {
        goesOn = try hand()
        for batch in all { batch.keys.clear() }
        models.removeAll(keepingCapacity: true)
      }
      return goesOn
    }
    if goesOn && !models.isEmpty { _ = try hand() }
  }
}

/// Makes a tuple of a model of a batch and of what belongs to it.
private struct RelatedValues<each R: Sendable>: Sendable {
  /// The next of the values beside a model of the batch.
  private func loaded<T: Sendable>(
    _ type: T.Type, _ index: Int, _ all: [RelationBatch], _ relation: inout Int
  ) throws -> T {
    defer { relation += 1 }
    guard let reader = all[relation] as? RelationReader<T> else {
      throw DatabaseError.corrupt(reason: "a relation was loaded as another")
    }
    return try reader.loaded(index)
  }

  func beside<M>(_ model: M, _ index: Int, _ all: [RelationBatch]) throws -> (M, repeat each R) {
    var relation = 0
    return (model, repeat try loaded((each R).self, index, all, &relation))
  }
}

extension RelationCounts {
  fileprivate var words: String {
    var parts: [String] = []
    if walks > 0 { parts.append("\(walks) walks over all") }
    if indexReads > 0 { parts.append("\(indexReads) looked for in the index") }
    if lookups > 0 || parts.isEmpty { parts.append("\(lookups) looked up") }
    if recordsRead > 0 { parts.append("\(recordsRead) records read") }
    return parts.joined(separator: ", ")
  }
}

extension ModelQuery {
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
    _ relations: repeat @escaping (Fields<M>) -> each T
  ) -> Loading<M, (M, repeat (each T).Loaded)> {
    let fields = Fields<M>()
    return Loading(self, repeat (each relations)(fields).relation)
  }

  /// As above, for one relation. The compiler of Swift 6.3 does not find out the types of a pack of
  /// one where a closure follows.
  public func with<T: RelationTerm>(
    _ relation: @escaping (Fields<M>) -> T
  ) -> Loading<M, (M, T.Loaded)> {
    Loading(self, relation(Fields<M>()).relation)
  }
}
