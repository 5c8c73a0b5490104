import LMDB

/// Finds the records that a query asks for, at one moment: by key, by path, by what they refer to.
final class QueryRecords: RelatedRecords {
  let snapshot: Snapshot
  let reader: StateReader
  let catalog: Catalog
  /// The nodes of the collections that were looked up last. Most queries read of one or two.
  private var nodes: [(collection: NodePath, node: UInt64?)] = []
  private static let nodesMax = 8
  /// Copies of the records that are joined to the one at hand; nil where there is none.
  var joined: [(key: [UInt8], record: [UInt8])?] = []
  /// The number of records that were read because others are related to them.
  private(set) var relatedCount = 0
  /// The numbers of referring records by the keys that they refer to, where no index has them: each
  /// found by one walk.
  var walkedCounts: [CountedReferrers: [[UInt8]: Int]] = [:]

  /// Their keys; an empty one where there is none.
  var joinedKeys: [[UInt8]] { joined.map { $0?.key ?? [] } }

  init(_ snapshot: Snapshot) throws {
    self.snapshot = snapshot
    reader = try snapshot.reader
    catalog = try snapshot.names
  }

  /// The scope in which names are resolved for the records of a collection.
  func scope(of collection: NodePath?) -> ConditionScope {
    let (collections, moment) = (catalog.collections, snapshot.moment)
    func find(_ path: NodePath) -> CollectionDefinition? {
      collections[path]?.definition(asOf: moment)
    }
    return ConditionScope(catalog, collection.flatMap(find), find: find)
  }

  /// The declaration of a collection, with what absence stood for at the moment.
  func definition(of collection: NodePath) -> CollectionDefinition? {
    catalog.collections[collection]?.definition(asOf: snapshot.moment)
  }

  /// The node id with which the tree's keys of a collection's records begin; nil where there never
  /// were any.
  func node(_ collection: NodePath) throws -> UInt64? {
    for known in nodes where known.collection == collection { return known.node }
    let node = try snapshot.node(at: collection)
    if nodes.count == QueryRecords.nodesMax { nodes.removeFirst() }
    nodes.append((collection, node))
    return node
  }

  /// True if any key of a collection is an integer or a UUID: such come before texts.
  func hasMixedKeys(_ collection: NodePath) throws -> Bool {
    guard let node = try node(collection) else { return false }
    var walk = try snapshot.walk(node)
    return try walk.next { key, _, _ in try key.load(UInt8.self, at: 8) != KeyTag.text } ?? false
  }

  func lend<R>(_ collection: NodePath, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    guard let node = try node(collection) else { return nil }
    relatedCount += 1
    return try lend(node: node, key, body)
  }

  /// A copy of a record; nil where there is none.
  func record(_ collection: NodePath, _ key: [UInt8]) throws -> StoredRecord? {
    try key.lend { try lend(collection, $0) { StoredRecord(bytes: $0.array()) } }
  }

  /// Lends the record with a key below a node.
  @inline(__always)
  func lend<R>(
    node: UInt64, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    var treeKey: [UInt8] = []
    treeKey.reserveCapacity(8 + key.byteCount)
    treeKey.append(bigEndian: node)
    treeKey.append(key)
    return try treeKey.lend { treeKey in
      try reader.version(treeKey, asOf: snapshot.moment) { header, version -> R? in
        guard header.kind == .record else { return nil }
        return try body(version.extracting(droppingFirst: header.contentOffset))
      }
    } ?? nil
  }

  func lend<R>(at path: NodePath, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? {
    guard let parent = path.parent, let key = path.last else { return nil }
    var stored: [UInt8] = []
    key.append(to: &stored)
    return try stored.lend { key in try lend(parent, key) { try body(key, $0) } }
  }

  func forEach(
    in collection: NodePath, _ property: NameID, refersTo key: RawSpan,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    guard let node = try node(collection) else { return }
    if let index = edge(collection, property) {
      return try forEach(index, node, property, key, body)
    }
    let standIn = try standIn(collection, property)
    try forEach(in: collection) { own, record in
      relatedCount += 1
      return try QueryRecords.refers(record, property, standIn, to: key)
        ? try body(own, record) : true
    }
  }

  /// The index that says which records of a collection refer to a key by a property.
  func edge(_ collection: NodePath, _ property: NameID) -> IndexPlan? {
    guard snapshot.moment == nil, let index = catalog.collections.edge(collection, property),
      index.plural == nil || index.plural == 0, case .reference = index.terms[0].type
    else { return nil }
    return index
  }

  /// Visits all records of a collection, until `body` says that it is enough.
  func forEach(
    in collection: NodePath, _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws {
    guard let node = try node(collection) else { return }
    var walk = try snapshot.walk(node)
    try walk.forEach { treeKey, header, version in
      guard header.kind == .record else { return true }
      let record = version.extracting(droppingFirst: header.contentOffset)
      return try body(treeKey.extracting(droppingFirst: 8), record)
    }
  }

  func lendJoined<R>(_ index: Int, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? {
    guard let found = joined[index] else { return nil }
    return try found.key.lend { key in try found.record.lend { try body(key, $0) } }
  }

  private func forEach(
    _ index: IndexPlan, _ node: UInt64, _ property: NameID, _ key: RawSpan,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    var last: [UInt8] = []
    // Entries may be cut, so the record has the last word.
    let bound = try Array(index.prefix(of: key).prefix(IndexEntry.boundBytesMax))
    try reader.access.walk(reader.tables.index, startingWith: bound) { entry, value in
      let own = entry.extracting(try IndexEntry.split(entry, value).record)
      if last.lend({ $0.equals(own) }) { return true }
      last = own.array()
      relatedCount += 1
      return try lend(node: node, own) { record in
        try QueryRecords.refers(record, property, index.terms[0].standIn, to: key)
          ? try body(own, record) : true
      } ?? true
    }
  }

  /// True if a record refers to a key by a property: by its value, by an element, or by a name.
  static func refers(
    _ record: RawSpan, _ property: NameID, _ standIn: StandIn, to key: RawSpan
  ) throws -> Bool {
    try RecordTable(record).lend(record, property, or: standIn) { value in
      if value.byteCount == 0 { return false }
      switch try value.load(UInt8.self, at: 0) {
      case ValueTag.array, ValueTag.map:
        return try IndexEntry.elements(value).contains { element in
          try element.lend { try StoredKey.bytes(naming: $0) }?.lend { $0.equals(key) } ?? false
        }
      default: return try StoredKey.bytes(naming: value)?.lend { $0.equals(key) } ?? false
      }
    }
  }

  /// The stand-in for a property's value that a record of a collection does not have.
  private func standIn(_ collection: NodePath, _ property: NameID) throws -> StandIn {
    guard Int(property) < catalog.count else { return .null }
    return try StandIn(definition(of: collection)?[try catalog.name(of: property)])
  }
}
