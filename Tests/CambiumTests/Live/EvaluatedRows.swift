// The results of a live query at one moment, evaluated as a whole: all that an observer may see of
// each, as bytes.

@testable import Cambium

/// The results by the key of the first record, without the query's limit.
struct EvaluatedRows {
  /// All that is seen of the results of a record: one for each group of joined records.
  private(set) var results: [[UInt8]: [[UInt8]]] = [:]
  /// The guards of the records that are only shown.
  private(set) var shown: [LiveGuard] = []

  init(
    _ query: QueryDescription, _ loading: [LoadedPath], _ dependencies: Dependencies,
    on snapshot: Snapshot
  ) throws {
    let run = try QueryRun(query.ofWholeRecords, on: snapshot)
    let orderings = query.grouping == nil ? query.orderings : []
    let order = try QueryOrder(orderings, in: run.scope)
    let values = try query.shownPaths.map { try QueryPaths($0, in: run.scope) }
    let loaded = try loading.map {
      RelatedKeys(try RelatedPath($0.path, from: query.collection, run.records), run.records)
    }
    var rows: [PlacedResult] = []
    try run.forEach { key, record in
      var place = ByteBuffer()
      try order.write(record, key: key, run.records, to: &place)
      var seen = place.array()
      if let values {
        seen += try values.values(record, key: key, run.records).flatMap { try $0.stored() }
      } else {
        seen += record.array()
        for other in run.records.joined { seen += other.map { $0.key + [0] + $0.record } ?? [1] }
      }
      for (relation, keys) in zip(loading, loaded) {
        try keys.add(key, record)
        try keys.follow()
        for other in keys[0] { seen += try relation.bytes(of: other, run.records) }
        keys.clear()
      }
      let identity = ResultIdentity(key: key.array(), joined: run.records.joinedKeys)
      rows.append(PlacedResult(place: [], identity: identity))
      results[key.array(), default: []].append(seen)
      return true
    }
    // The records that are joined to one come in the order of an index, or of their keys.
    results = results.mapValues { $0.sorted { $0.lexicographicallyPrecedes($1) } }
    var guards = try ShownGuards(dependencies, run.records)
    try guards.fill(rows, run.records)
    shown = guards.guards
  }

  /// The keys whose results differ.
  func differing(from other: EvaluatedRows) -> Set<[UInt8]> {
    Set(results.keys).union(other.results.keys).filter { results[$0] != other.results[$0] }
  }
}

extension QueryDescription {
  /// The query of all records whose results may be in it.
  fileprivate var ofWholeRecords: QueryDescription {
    var query = self
    (query.orderings, query.selection, query.grouping, query.limit) = ([], nil, nil, nil)
    (query.isDistinct, query.offset) = (false, 0)
    return query
  }

  /// The paths whose values are seen of a result; nil for whole records.
  fileprivate var shownPaths: [PropertyPath]? {
    if let grouping { return grouping.paths + grouping.aggregates.compactMap(\.path) }
    return selection
  }
}

extension LoadedPath {
  /// All that is seen of the records that one key leads to.
  fileprivate func bytes(of key: [UInt8], _ records: QueryRecords) throws -> [UInt8] {
    try key.lend { key in
      if condition != nil || !orderings.isEmpty || isCount {
        return try someBytes(of: key.array(), records)
      }
      guard let inverse else {
        return try records.lend(collection, key) { $0.array() } ?? []
      }
      var all: [[UInt8]] = []
      let name = records.catalog.id(of: inverse) ?? .max
      try records.forEach(in: collection, name, refersTo: key) { own, record in
        all.append(own.array() + [0] + record.array())
        return true
      }
      return all.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
    }
  }
}

extension LoadedPath {
  /// The number of the records that pass, or the first of them by the order, or all.
  private func someBytes(of key: [UInt8], _ records: QueryRecords) throws -> [UInt8] {
    var description = QueryDescription(collection, where: condition)
    (description.orderings, description.limit) = (orderings, orderings.isEmpty ? nil : 1)
    let run = RelatedRun(try RelatedPlan(description, by: inverse, records), records)
    var all: [[UInt8]] = []
    func visit(_ own: RawSpan, _ record: RawSpan) { all.append(own.array() + [0] + record.array()) }
    if inverse == nil {
      try run.forEach(of: [key], visit)
    } else {
      try run.prepare(for: [key])
      try run.forEach(refersTo: key, visit)
    }
    return isCount ? [UInt8(all.count)] : all.flatMap(\.self)
  }
}

extension LiveGuard {
  /// True if a change matches, where absent values have their stand-ins or none.
  func matches(_ change: NetChange, _ records: QueryRecords, standIns: Bool) throws -> Bool {
    guard change.collection == collection, try differs(change, records) else { return false }
    func hasValue(
      _ property: GuardedProperty, _ passes: (RawSpan) -> Bool
    ) throws -> Bool {
      let name = records.catalog.id(of: property.name) ?? .max
      let standIn =
        standIns ? try StandIn(records.definition(of: collection)?[property.name]) : .null
      return try [change.old, change.new].compactMap(\.self).contains { record in
        try record.lend { record in
          try RecordTable(record).lend(record, name, or: standIn) { value in
            func matches(_ value: RawSpan, _ type: PropertyType) throws -> Bool {
              var bytes = ByteBuffer()
              try OrderedBytes.append(stored: value, as: type, property.collation, to: &bytes)
              return bytes.lend(passes)
            }
            if try matches(value, property.type) { return true }
            guard case .array(let element) = property.type else { return false }
            return try IndexEntry.elements(value).contains {
              try $0.lend { try matches($0, element) }
            }
          }
        }
      }
    }
    switch test {
    case .any: return true
    case .keys(let keys): return keys.contains(change.key)
    case .points(nil, let points):
      return points.contains(change.key.lend { Checksum.of($0) })
    case .points(let property?, let points):
      return try hasValue(property) { points.contains(Checksum.of($0)) }
    case .values(let name, let type, let collation, let ranges):
      return try hasValue(.init(name: name, type: type, collation: collation)) { bytes in
        ranges.contains { $0.contains(bytes) }
      }
    }
  }

  /// True if one of the properties differs that must.
  private func differs(_ change: NetChange, _ records: QueryRecords) throws -> Bool {
    guard let properties, let old = change.old, let new = change.new else { return true }
    func value(_ record: StoredRecord, _ name: String) throws -> [UInt8]? {
      try record.lend { record in
        guard let id = records.catalog.id(of: name) else { return nil }
        return try RecordTable(record).find(record, id).map { record.extracting($0).array() }
      }
    }
    return try properties.contains { try value(old, $0) != value(new, $0) }
  }
}

extension NetChange {
  /// The changes of some collections' records between two moments.
  static func all(
    in collections: [NodePath], from before: Snapshot, to after: Snapshot
  ) throws -> [NetChange] {
    try collections.flatMap { collection in
      let (old, new) = (try stored(collection, before), try stored(collection, after))
      return Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.map { key in
        NetChange(
          collection: collection, key: key,
          old: old[key].map { StoredRecord(bytes: $0, offset: 0) },
          new: new[key].map { StoredRecord(bytes: $0, offset: 0) })
      }
    }
  }

  private static func stored(
    _ collection: NodePath, _ snapshot: Snapshot
  ) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    try QueryRecords(snapshot).forEach(in: collection) { key, record in
      found[key.array()] = record.array()
      return true
    }
    return found
  }
}
