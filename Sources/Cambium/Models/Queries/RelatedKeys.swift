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

/// A path to the keys of related records, compiled for states with the same catalog.
struct RelatedPath {
  /// One step of the path: a collection, and the property that is read from its records.
  fileprivate struct Step {
    let collection: NodePath
    let values: QueryPaths
  }

  fileprivate let steps: [Step]

  init(_ path: PropertyPath, from collection: NodePath, _ records: QueryRecords) throws {
    let resolved = try records.scope(of: collection).resolve(path)
    var (steps, place) = ([Step](), collection)
    for hop in resolved.hops {
      steps.append(try RelatedPath.step(hop.name, place, records))
      guard let next = hop.collection else {
        throw QueryError("\(place)/\(hop.name) is not declared as a reference; register its model")
      }
      place = next
    }
    self.steps = steps + [try RelatedPath.step(resolved.property, place, records)]
  }

  private static func step(
    _ property: String?, _ place: NodePath, _ records: QueryRecords
  ) throws -> Step {
    Step(
      collection: place,
      values: try QueryPaths([PropertyPath(property)], in: records.scope(of: place)))
  }
}

/// The keys that a path leads to from each record of a batch.
final class RelatedKeys {
  let records: QueryRecords
  var counts = RelationCounts()
  /// The way to related records, for `explain()`; empty where it goes without saying.
  var words = ""
  private let steps: [RelatedPath.Step]
  /// The keys by record, in order.
  private var keys: [[[UInt8]]] = []

  init(_ path: RelatedPath, _ records: QueryRecords) {
    (self.records, steps) = (records, path.steps)
  }

  // MARK: A batch

  /// The keys of one record of the batch.
  subscript(index: Int) -> [[UInt8]] { keys[index] }

  /// Each key of the batch once, ascending.
  var different: [[UInt8]] {
    if keys.count == 1, keys[0].count < 2 { return keys[0] }
    return Set(keys.joined()).sorted { $0.lexicographicallyPrecedes($1) }
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

  private func read(_ step: RelatedPath.Step, _ key: RawSpan, _ record: RawSpan) throws -> [[UInt8]]
  {
    try step.values.lend(0, record, key: key, records) { try StoredKey.all(namedBy: $0) }
  }
}
