// Follows a path from records to those that are related to them, for a batch of records at once, so
// that each different key is looked up once, however many lead there.
//
//     records ──▶ keys ──▶ different ones ──▶ the records behind them ──▶ keys …

/// The work that looking for related models took.
struct RelationCounts: Equatable, Sendable {
  /// Keys that were looked up.
  var lookups = 0
  /// Keys whose referring records were looked for in an index.
  var indexReads = 0
  /// Walks over all records, where no index has them.
  var walks = 0
  /// Records that were read to find the first few by a condition or an order.
  var recordsRead = 0
}

/// The keys that a path leads to from each record of a batch.
final class RelatedKeys {
  /// One step of the path: a collection, and the property that is read from its records.
  private struct Step {
    let collection: NodePath
    let values: QueryPaths
  }

  let records: QueryRecords
  let snapshot: Snapshot
  var counts = RelationCounts()
  /// The way to related records, for `explain()`; empty where it goes without saying.
  var words = ""
  private let steps: [Step]
  /// The keys by record, in order.
  private var keys: [[[UInt8]]] = []

  init(_ path: PropertyPath, from collection: NodePath, _ run: QueryRun) throws {
    records = run.records
    snapshot = run.records.snapshot
    let resolved = try records.scope(of: collection).resolve(path)
    var (steps, place) = ([Step](), collection)
    for hop in resolved.hops {
      steps.append(try RelatedKeys.step(hop.name, place, records))
      guard let next = hop.collection else {
        throw QueryError("\(place)/\(hop.name) is not declared as a reference; register its model")
      }
      place = next
    }
    self.steps = steps + [try RelatedKeys.step(resolved.property, place, records)]
  }

  private static func step(
    _ property: String?, _ place: NodePath, _ records: QueryRecords
  ) throws -> Step {
    Step(
      collection: place,
      values: try QueryPaths([PropertyPath(property)], in: records.scope(of: place)))
  }

  // MARK: A batch

  /// The keys of one record of the batch.
  subscript(index: Int) -> [[UInt8]] { keys[index] }

  /// Each key of the batch once, ascending.
  var different: [[UInt8]] {
    Set(keys.joined()).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Starts the next batch.
  func clear() { keys.removeAll(keepingCapacity: true) }

  /// Adds a record of the first collection.
  func add(_ key: RawSpan, _ record: RawSpan) throws {
    keys.append(try read(steps[0], key, record))
  }

  /// Follows the references behind the first.
  func follow() throws {
    for step in steps.dropFirst() {
      var known: [[UInt8]: [[UInt8]]] = [:]
      for key in different {
        counts.lookups += 1
        known[key] = try key.lend { key in
          try records.lend(step.collection, key) { try read(step, key, $0) }
        }
      }
      keys = keys.map { $0.flatMap { known[$0] ?? [] } }
    }
  }

  private func read(_ step: Step, _ key: RawSpan, _ record: RawSpan) throws -> [[UInt8]] {
    try step.values.lend(0, record, key: key, records) { try RelatedKeys.named(by: $0) }
  }

  /// The keys that a value names: by itself, by its elements, or by its names.
  static func named(by value: RawSpan) throws -> [[UInt8]] { try StoredKey.all(namedBy: value) }
}

/// The models that some keys are of, or that refer to them.
final class RelatedModels<Other: Model> {
  /// The largest number of models that are remembered from one batch to the next.
  private static var rememberedMax: Int { 4096 }

  private let keys: RelatedKeys
  private let collection = Other.schema.core.path
  private let binding: Binding
  /// The property that refers, and its name in the database; nil where the models have the keys.
  private let inverse: (values: QueryPaths, name: NameID)?
  private var known: [[UInt8]: [Other]] = [:]

  init(_ keys: RelatedKeys, by property: String? = nil) throws {
    self.keys = keys
    let core = Other.schema.core
    binding = try keys.snapshot.binding(core)
    inverse = try property.map { property in
      try core.checkAsked([property], keys.snapshot)
      let scope = keys.records.scope(of: core.path)
      return (
        try QueryPaths([PropertyPath(property)], in: scope), scope.catalog.id(of: property) ?? .max
      )
    }
  }

  /// True if finding models takes a walk over all, since no index has the reference.
  var walks: Bool { inverse.map { keys.records.edge(collection, $0.name) == nil } ?? false }

  /// The models of some keys, one key after the other.
  func models(of keys: [[UInt8]]) -> [Other] { keys.flatMap { known[$0] ?? [] } }

  /// Finds those of different keys.
  func find(_ wanted: [[UInt8]]) throws {
    if inverse != nil || known.count > Self.rememberedMax { known.removeAll() }
    guard let inverse else {
      for key in wanted where known[key] == nil { known[key] = try lookUp(key) }
      return
    }
    if wanted.isEmpty { return }
    if walks { return try walk(inverse.values, for: Set(wanted)) }
    for key in wanted { known[key] = try referrers(to: key, inverse.name) }
  }

  private func lookUp(_ key: [UInt8]) throws -> [Other] {
    keys.counts.lookups += 1
    let found = try key.lend { key in
      try keys.records.lend(collection, key) { try decode(key, $0) }
    }
    return found.flatMap(\.self).map { [$0] } ?? []
  }

  private func referrers(to key: [UInt8], _ name: NameID) throws -> [Other] {
    keys.counts.indexReads += 1
    var found: [(key: [UInt8], model: Other)] = []
    try key.lend { key in
      try keys.records.forEach(in: collection, name, refersTo: key) { own, record in
        if let model = try decode(own, record) { found.append((own.array(), model)) }
        return true
      }
    }
    // The index may have more terms, which order those that refer to the same.
    return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.model)
  }

  private func walk(_ values: QueryPaths, for wanted: Set<[UInt8]>) throws {
    keys.counts.walks += 1
    try keys.records.forEach(in: collection) { own, record in
      let named = try values.lend(0, record, key: own, keys.records) {
        try RelatedKeys.named(by: $0)
      }
      let meant = wanted.intersection(named)
      if !meant.isEmpty, let model = try decode(own, record) {
        for key in meant { known[key, default: []].append(model) }
      }
      return true
    }
  }

  /// The model that a record is, if it is of the right case.
  private func decode(_ key: RawSpan, _ record: RawSpan) throws -> Other? {
    try binding.takes(record) ? try Other.schema.decode(record, key: key, binding) : nil
  }
}
