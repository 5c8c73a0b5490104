// What refers to a record that goes, and what becomes of it. Who refers is found by the index on
// the reference, which is the relation's other side.

import LMDB

extension Writing {
  /// How many of those that refer to a record are dealt with at a time.
  private static let batch = 1024

  /// Deals with what refers to a node and all below it, before that goes.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - destination: Where it goes; nil where it is removed. Within its collection a record only
  ///     gets another key, and references follow.
  /// - Throws: ``DatabaseError/stillReferred(_:by:property:)``.
  func letGo(_ path: Path, movingTo destination: Path?) throws {
    let collections = projector.memory.catalog.collections
    if let plan = collections[of: path] {
      let isRenamed = destination.map { collections[of: $0] === plan } ?? false
      try letGo(path, of: plan, renamedTo: isRenamed ? destination?.last : nil)
    }
    for plan in collections.all(within: path) where !collections.references(to: plan.path).isEmpty {
      try letGoAll(of: plan, with: path)
    }
  }

  /// Deals with what refers to any record of a collection that goes as a whole.
  private func letGoAll(of plan: CollectionPlan, with path: Path) throws {
    var last: Key?
    while let key = try nextKey(of: plan, after: last) {
      try letGo(plan.path.appending(key), of: plan, renamedTo: nil, except: path)
      last = key
    }
  }

  private func nextKey(of plan: CollectionPlan, after last: Key?) throws -> Key? {
    guard let node = try projector.node(at: plan.path) else { return nil }
    var walk = try ChildWalk(try projector.reader, node: node, moment: nil, from: last)
    while let key = try walk.next({ key, _, _ in try Key(key.extracting(droppingFirst: 8)) }) {
      if key != last { return key }
    }
    return nil
  }

  private func letGo(
    _ path: Path, of plan: CollectionPlan, renamedTo new: Key?, except subtree: Path? = nil
  ) throws {
    guard let key = path.last, leaving.insert(path).inserted else { return }
    defer { leaving.remove(path) }
    for (collection, property) in projector.memory.catalog.collections.references(to: plan.path) {
      if let subtree, collection.path.isWithin(subtree) { continue }
      guard property.definition.deleteRule != nil || new != nil,
        let index = collection.edge(property.name)
      else { continue }
      let edge = Edge(collection: collection, property: property, index: index)
      while true {
        let found = try referrers(to: key, edge).filter { !leaving.contains($0) }
        if found.isEmpty { break }
        for referrer in found { try dealWith(referrer, edge, key, path, renamedTo: new) }
      }
    }
  }

  /// A property by which records of one collection refer to those of another.
  private struct Edge {
    let collection: CollectionPlan
    let property: PropertyPlan
    let index: IndexPlan
  }

  /// The first records that refer to one, besides itself and what goes with it.
  private func referrers(to key: Key, _ edge: Edge) throws -> [Path] {
    var bytes = ByteBuffer(capacity: 64)
    OrderedBytes.append(key, to: &bytes)
    if edge.index.terms[0].isDescending { bytes.invert(from: 0) }
    let prefix = IndexEntry.prefix(edge.index.number) + bytes.array()
    let reader = try projector.reader
    var cursor = try Cursor(reader.access, reader.tables.index)
    var found: [Path] = []
    var isThere = try prefix.lend { try cursor.seek($0) }
    while isThere, found.count < Writing.batch + leaving.count {
      let path: Path? = try cursor.withEntry { entry, value in
        guard prefix.lend({ entry.starts(with: $0) }) else { return nil }
        let (place, _) = try IndexEntry.split(entry, value)
        return edge.collection.path.appending(try Key(entry.extracting(place)))
      }
      guard let path else { break }
      found.append(path)
      isThere = try cursor.next()
    }
    return found
  }

  private func dealWith(
    _ referrer: Path, _ edge: Edge, _ key: Key, _ path: Path, renamedTo new: Key?
  ) throws {
    let property = edge.property.definition
    if let new { return try replace(key, by: new, in: referrer, edge) }
    switch property.deleteRule {
    case .deny:
      throw DatabaseError.stillReferred(path, by: referrer, property: property.name)
    case .nullify: try replace(key, by: nil, in: referrer, edge)
    case .cascade: try issue(.remove(referrer))
    case nil: break
    }
  }

  /// Changes or takes away a reference.
  private func replace(_ old: Key, by new: Key?, in referrer: Path, _ edge: Edge) throws {
    let name = edge.property.name
    let snapshot = Snapshot(self, state, store, sequence: sequence)
    let value = try snapshot[referrer][edge.property.definition.name]
    let changed = value.flatMap { Writing.replacing(old, by: new, in: $0) }
    let update = Operation.PropertyUpdate(name: name, value: try changed?.stored())
    try issue(.update(referrer, [update]))
  }
}

extension Writing {
  /// The value of a property with each reference to one key changed, or taken away.
  private static func replacing(_ old: Key, by new: Key?, in value: Value) -> Value? {
    switch value {
    case .array(let elements):
      return .array(
        elements.compactMap { Key(reference: $0) == old ? new?.referenceValue : $0 })
    case .map(let record):
      var changed = Record()
      for member in record.members {
        let isOld = member.name == old.description
        if !isOld { changed[member.name] = member.value }
        if isOld, let new { changed[new.description] = member.value }
      }
      return .map(changed)
    default: return Key(reference: value) == old ? new?.referenceValue : value
    }
  }
}
