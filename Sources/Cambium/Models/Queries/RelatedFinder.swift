// Finds related records for batches of keys, and has models made of them.
//
// Generic code of a library is not specialized for an app's models. So all that finds is the same
// code for every model, and works with places in a list; the list alone knows the models' type.

import LMDB

/// A list of models whose type is not known.
class ModelList {
  /// Adds the model that a record is.
  func append(_ key: RawSpan, _ record: RawSpan) throws {}
  func removeAll() {}
  var count: Int { 0 }
}

/// A list of models of one type.
final class ModelListOf<M: Model>: ModelList {
  private let binding: Binding
  private var models: [M] = []

  init(_ binding: Binding) { self.binding = binding }

  override func append(_ key: RawSpan, _ record: RawSpan) throws {
    models.append(try M.schema.decode(record, key: key, binding))
  }

  override func removeAll() { models.removeAll(keepingCapacity: true) }
  override var count: Int { models.count }

  /// The models at some places.
  func models(at places: [Int]) -> [M] { places.map { models[$0] } }
}

/// The way from keys to the records that have them, or that refer to them, compiled for states with
/// the same catalog.
struct RelatedWay {
  let collection: NodePath
  let binding: Binding
  /// The property that refers, and its name in the database; nil where the records have the keys.
  let inverse: (values: QueryPaths, name: NameID)?

  init(_ core: SchemaCore, by property: String? = nil, _ records: QueryRecords) throws {
    collection = core.path
    binding = try records.snapshot.binding(core)
    inverse = try property.map { property in
      try core.checkAsked([property], records.snapshot)
      let scope = records.scope(of: core.path)
      return (
        try QueryPaths([PropertyPath(property)], in: scope), scope.catalog.id(of: property) ?? .max
      )
    }
  }
}

/// Finds the records that some keys are of, or that refer to them.
final class RelatedFinder {
  /// The largest number of keys that are remembered from one batch to the next.
  private static let rememberedMax = 4096

  private let keys: RelatedKeys
  private let way: RelatedWay
  private let list: ModelList
  /// The places of the models in the list, by key.
  private var known: [[UInt8]: [Int]] = [:]

  init(_ keys: RelatedKeys, _ way: RelatedWay, _ list: ModelList) {
    (self.keys, self.way, self.list) = (keys, way, list)
  }

  /// True if finding records takes a walk over all, since no index has the reference.
  var walks: Bool {
    way.inverse.map { keys.records.edge(way.collection, $0.name) == nil } ?? false
  }

  /// The places of the models of some keys, one key after the other.
  func places(of keys: [[UInt8]]) -> [Int] {
    keys.count == 1 ? known[keys[0]] ?? [] : keys.flatMap { known[$0] ?? [] }
  }

  /// Finds those of different keys.
  func find(_ wanted: [[UInt8]]) throws {
    if way.inverse != nil || known.count > RelatedFinder.rememberedMax {
      known.removeAll()
      list.removeAll()
    }
    guard let inverse = way.inverse else {
      for key in wanted where known[key] == nil { known[key] = try lookUp(key) }
      return
    }
    if wanted.isEmpty { return }
    if walks { return try walk(inverse.values, for: Set(wanted)) }
    for key in wanted { known[key] = try referrers(to: key, inverse.name) }
  }

  private func lookUp(_ key: [UInt8]) throws -> [Int] {
    keys.counts.lookups += 1
    let place = try key.lend { key in
      try keys.records.lend(way.collection, key) { try append(key, $0) }
    }
    return [place].compactMap { $0 ?? nil }
  }

  private func referrers(to key: [UInt8], _ name: NameID) throws -> [Int] {
    keys.counts.indexReads += 1
    var found: [(key: [UInt8], place: Int)] = []
    try key.lend { key in
      try keys.records.forEach(in: way.collection, name, refersTo: key) { own, record in
        if let place = try append(own, record) { found.append((own.array(), place)) }
        return true
      }
    }
    // The index may have more terms, which order those that refer to the same.
    found.sort { $0.key.lexicographicallyPrecedes($1.key) }
    return found.map { $0.place }
  }

  private func walk(_ values: QueryPaths, for wanted: Set<[UInt8]>) throws {
    keys.counts.walks += 1
    try keys.records.forEach(in: way.collection) { own, record in
      let named = try values.lend(0, record, key: own, keys.records) {
        try StoredKey.all(namedBy: $0)
      }
      let meant = wanted.intersection(named)
      if !meant.isEmpty, let place = try append(own, record) {
        for key in meant { known[key, default: []].append(place) }
      }
      return true
    }
  }

  /// Adds the model that a record is, if it is of the right case.
  ///
  /// - Returns: Its place.
  private func append(_ key: RawSpan, _ record: RawSpan) throws -> Int? {
    guard try way.binding.takes(record) else { return nil }
    try list.append(key, record)
    return list.count - 1
  }
}
