// What refers to records that go, and what becomes of it. Who refers is found by the index on the
// reference, which is the relation's other side.
//
//     the records that go ──cascade──▶ those that go with them ──▶ is one denied? ──▶ nullify
//                           (all of them, before anything is changed)                  remove
//
// All of it is logged as operations of its own, dependents first, so that folding needs no rules.

import LMDB

extension Writing {
  /// Deals with what refers to a node and all below it, before that goes.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - destination: Where it goes; nil where it is removed. Within its collection a record only
  ///     gets another key, and references follow.
  /// - Throws: ``DatabaseError/stillReferred(_:by:property:)``; what was issued must be undone.
  func letGo(_ path: Path, movingTo destination: Path?) throws {
    let collections = projector.memory.catalog.collections
    if let plan = collections[of: path], let destination, collections[of: destination] === plan {
      return try rename(path, to: destination, in: plan)
    }
    var departure = Departure(path)
    if collections[of: path] != nil, try exists(path) { departure.add(path) }
    for plan in collections.all(within: path) where collections.isReferredTo(plan.path) {
      var last: Key?
      while let key = try nextKey(of: plan, after: last) {
        departure.add(plan.path.appending(key))
        last = key
      }
    }
    try gather(&departure)
    for member in departure.members { try release(member, departure) }
    for dependent in departure.dependents.reversed() { try log(.remove(dependent)) }
  }

  /// The records that go.
  private struct Departure {
    /// The node that was asked to go; what is below it goes without an operation of its own.
    let root: Path
    private(set) var members: [Path] = []
    private var known: Set<Path> = []

    init(_ root: Path) { self.root = root }

    mutating func add(_ path: Path) { if known.insert(path).inserted { members.append(path) } }

    func contains(_ path: Path) -> Bool { path.isWithin(root) || known.contains(path) }

    /// Those that go because of a rule.
    var dependents: [Path] { members.filter { !$0.isWithin(root) } }
  }

  /// Adds what goes because of delete rules, and refuses what may not go.
  private func gather(_ departure: inout Departure) throws {
    var next = 0
    while next < departure.members.count {
      let member = departure.members[next]
      next += 1
      for edge in edges(to: member) where edge.rule == .cascade {
        try forEachReferrer(to: member, edge) { departure.add($0) }
      }
    }
    for member in departure.members {
      for edge in edges(to: member) where edge.rule == .deny {
        try forEachReferrer(to: member, edge) { referrer in
          if departure.contains(referrer) { return }
          throw DatabaseError.stillReferred(member, by: referrer, property: edge.name)
        }
      }
    }
  }

  /// Takes a reference away from those that stay.
  private func release(_ member: Path, _ departure: Departure) throws {
    guard let key = member.last else { return }
    for edge in edges(to: member) where edge.rule == .nullify {
      try forEachReferrer(to: member, edge) { referrer in
        if !departure.contains(referrer) { try replace(key, by: nil, in: referrer, edge) }
      }
    }
  }

  /// Lets references follow a record that gets another key.
  private func rename(_ path: Path, to destination: Path, in plan: CollectionPlan) throws {
    guard let old = path.last, let new = destination.last, old != new else { return }
    for edge in edges(to: path) {
      try forEachReferrer(to: path, edge) { try replace(old, by: new, in: $0, edge) }
    }
  }

  // MARK: Who refers

  /// A property by which records of one collection refer to those of another.
  private struct Edge {
    let collection: CollectionPlan
    let property: PropertyPlan
    let index: IndexPlan

    var rule: DeleteRule? { property.definition.deleteRule }
    var name: String { property.definition.name }
  }

  private func edges(to member: Path) -> [Edge] {
    guard let parent = member.parent else { return [] }
    return projector.memory.catalog.collections.references(to: parent).compactMap {
      (collection, property) in
      collection.edge(property.name).map {
        Edge(collection: collection, property: property, index: $0)
      }
    }
  }

  /// Visits the records that refer to one; the visit may change them.
  private func forEachReferrer(
    to member: Path, _ edge: Edge, _ body: (Path) throws -> Void
  ) throws {
    guard let key = member.last else { return }
    var bytes = ByteBuffer(capacity: 64)
    OrderedBytes.append(key, to: &bytes)
    if edge.index.terms[0].isDescending { bytes.invert(from: 0) }
    let prefix = IndexEntry.prefix(edge.index.number) + bytes.array()
    if projector.memory.catalog.collections.isFilling(edge.index.number) {
      return try allReferrers(within: prefix, edge).forEach(body)
    }
    var place = prefix
    while let (referrers, last) = try referrers(from: place, within: prefix, edge) {
      for referrer in referrers { try body(referrer) }
      place = last + [0]
    }
  }

  /// Some of the records that have an entry at or after a place, and the last entry's key.
  private func referrers(
    from place: [UInt8], within prefix: [UInt8], _ edge: Edge
  ) throws -> (referrers: [Path], last: [UInt8])? {
    let reader = try projector.reader
    var cursor = try Cursor(reader.access, reader.tables.index)
    var found: [Path] = []
    var last = place
    var isThere = try place.lend { try cursor.seek($0) }
    while isThere, found.count < 1024 {
      let path: Path? = try cursor.withEntry { entry, value in
        guard prefix.lend({ entry.starts(with: $0) }) else { return nil }
        last = entry.array()
        return edge.collection.path.appending(
          try Key(entry.extracting(try IndexEntry.split(entry, value).record)))
      }
      guard let path else { break }
      found.append(path)
      isThere = try cursor.next()
    }
    return found.isEmpty ? nil : (found, last)
  }

  /// The same of all records, where the index does not have them all yet.
  private func allReferrers(within prefix: [UInt8], _ edge: Edge) throws -> [Path] {
    var found: [Path] = []
    try projector.reader.forEachRecord(of: edge.collection.path) { key, record in
      let entries = try edge.index.entryKeys(record, key)
      if entries.contains(where: { $0.key.starts(with: prefix) }) {
        found.append(edge.collection.path.appending(try Key(key)))
      }
    }
    return found
  }

  private func nextKey(of plan: CollectionPlan, after last: Key?) throws -> Key? {
    guard let node = try projector.reader.node(at: plan.path) else { return nil }
    var walk = try ChildWalk(try projector.reader, node: node, moment: nil, from: last)
    while let key = try walk.next({ key, _, _ in try Key(key.extracting(droppingFirst: 8)) }) {
      if key != last { return key }
    }
    return nil
  }

  // MARK: Changing references

  /// Changes or takes away a reference.
  private func replace(_ old: Key, by new: Key?, in referrer: Path, _ edge: Edge) throws {
    let snapshot = Snapshot(self, state, store, sequence: sequence)
    let value = try snapshot[referrer][edge.name]
    let changed = value.flatMap { Writing.replacing(old, by: new, in: $0) }
    let update = Operation.PropertyUpdate(
      name: edge.property.name, value: try changed?.stored())
    try log(.update(referrer, [update]))
  }

  /// The value of a property with each reference to one key changed, or taken away.
  static func replacing(_ old: Key, by new: Key?, in value: Value) -> Value? {
    switch value {
    case .array(let elements):
      return .array(
        elements.compactMap {
          StoredKey.key(naming: $0) == old ? new.map(StoredKey.value) : $0
        })
    case .map(let record):
      var changed = Record()
      for member in record.members {
        let isOld = member.name == old.description
        if !isOld { changed[member.name] = member.value }
        if isOld, let new { changed[new.description] = member.value }
      }
      return .map(changed)
    default: return StoredKey.key(naming: value) == old ? new.map(StoredKey.value) : value
    }
  }
}
