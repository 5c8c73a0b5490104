// The properties behind references that a step has changed, named by the paths that lead there.
//
//     author.name              of the record that author names, which may be another one now
//     comments[7].text         of one of several records; crew[7].name of an array of references
//     comments[7]              a record that has come, or gone
//     p.name                   of the record that a join named p has put beside the row
//
// Properties that only decide which rows there are, or their order, are not told: an update tells
// what its element shows.

import LMDB

/// The changes of other records behind a row.
struct FarChange {
  private(set) var properties: [PropertyUpdate] = []
  /// True if one of them surely shows in the row's element, which then need not be compared.
  private(set) var isShown = false

  fileprivate mutating func add(_ some: [PropertyUpdate], of role: DependencyRole) {
    if some.isEmpty { return }
    properties += some
    isShown = isShown || role.isDelivered
  }
}

/// Tells the properties of other records that differ for a row.
struct FarUpdates {
  /// The moments before and after the step.
  private enum Side { case before, after }

  private let dependencies: Dependencies
  private let changes: [NodePath: [[UInt8]: NetChange]]

  /// - Parameters:
  ///   - dependencies: The dependencies of the query.
  ///   - changes: The changes of the step.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  init(_ dependencies: Dependencies, _ changes: [NetChange]) throws {
    self.dependencies = dependencies
    var all: [NodePath: [[UInt8]: NetChange]] = [:]
    if try dependencies.mayLeadElsewhere(changes) {
      for change in changes { all[change.collection, default: [:]][change.key] = change }
    }
    self.changes = all
  }

  /// The properties of other records that have changed in a row that was there before.
  ///
  /// - Complexity: a lookup for each record that the row leads to by the query's paths.
  func updates(of row: PlacedResult, _ records: QueryRecords) throws -> FarChange {
    var change = FarChange()
    if changes.isEmpty { return change }
    for role in dependencies.roles.dropFirst() where role.isShown {
      change.add(try updates(role, row, records), of: role)
    }
    for (place, join) in dependencies.joins.enumerated() {
      guard dependencies.roles.indices.contains(join.role) else { continue }
      let role = dependencies.roles[join.role]
      change.add(try joined(place, join.collection, join.name, role, row, records), of: role)
    }
    return change
  }

  private func updates(
    _ role: DependencyRole, _ row: PlacedResult, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard let collection = role.collection, let upper = role.upper else { return [] }
    switch role.edge {
    case .reference(let name):
      guard let hops = role.hops else { return [] }
      return isPlural(name, upper, records)
        ? try several(role, collection, hops, row, records)
        : try single(role, collection, hops, row, records)
    case .inverse(let name): return try referring(role, collection, name, row, records)
    default: return []
    }
  }

  private func isPlural(_ name: String, _ role: Int, _ records: QueryRecords) -> Bool {
    let collection = dependencies.roles[role].collection
    switch collection.flatMap({ records.definition(of: $0) })?[name]?.type {
    case .array, .keyed, .map: return true
    default: return false
    }
  }

  // MARK: Kinds of relations

  /// The record that a single reference names.
  private func single(
    _ role: DependencyRole, _ collection: NodePath, _ hops: [String], _ row: PlacedResult,
    _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    let before = try keys(of: role, row, .before, records).first
    let after = try keys(of: role, row, .after, records).first
    if before == after, before.map({ changes[collection]?[$0] == nil }) ?? true { return [] }
    return try between(
      before.flatMap { try record(collection, $0, .before, records) },
      after.flatMap { try record(collection, $0, .after, records) }, role,
      hops.joined(separator: "."), records)
  }

  /// The records that an array of references names, or a dictionary by its names.
  private func several(
    _ role: DependencyRole, _ collection: NodePath, _ hops: [String], _ row: PlacedResult,
    _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    let before = Set(try keys(of: role, row, .before, records))
    let after = Set(try keys(of: role, row, .after, records))
    let name = hops.joined(separator: ".")
    return try before.union(after).sorted { $0.lexicographicallyPrecedes($1) }.flatMap { key in
      try one(
        key, role, collection, name, wasThere: before.contains(key), isThere: after.contains(key),
        records)
    }
  }

  /// The records that refer to the row, or to one that it leads to.
  private func referring(
    _ role: DependencyRole, _ collection: NodePath, _ property: String, _ row: PlacedResult,
    _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard let upper = role.upper.map({ dependencies.roles[$0] }), let hops = upper.hops,
      let changed = changes[collection],
      let value = try StoredProperty(property, of: collection, records)
    else { return [] }
    let before = try keys(of: upper, row, .before, records)
    // Of another record's, all would have come: its own name tells that.
    guard before == (try keys(of: upper, row, .after, records)) else { return [] }
    let name = (hops + [ConditionText.collection(collection)]).joined(separator: ".")
    func refers(_ record: StoredRecord?) throws -> Bool {
      try record?.lend { try value.lend($0) { try StoredKey.all(namedBy: $0) } }
        .contains(where: before.contains) ?? false
    }
    return try changed.keys.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { key in
      try one(
        key, role, collection, name, wasThere: refers(changed[key]?.old),
        isThere: refers(try record(collection, key, .after, records)), records)
    }
  }

  /// The record that a join has put beside the row.
  private func joined(
    _ place: Int, _ collection: NodePath, _ name: String, _ role: DependencyRole,
    _ row: PlacedResult, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard place < row.identity.joined.count,
      let change = changes[collection]?[row.identity.joined[place]]
    else { return [] }
    let now = try record(collection, change.key, .after, records)
    return try between(change.old, now, role, name, records)
  }

  /// One of several records.
  private func one(
    _ key: [UInt8], _ role: DependencyRole, _ collection: NodePath, _ name: String, wasThere: Bool,
    isThere: Bool, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    let known = try key.lend { try Key($0) }
    let name = "\(name)[\(known)]"
    switch (wasThere, isThere) {
    case (true, true):
      guard let change = changes[collection]?[key] else { return [] }
      let now = try record(collection, key, .after, records)
      return try between(change.old, now, role, name, records)
    case (false, false): return []
    default:
      let reference = Value.reference(collection.appending(known))
      return [
        PropertyUpdate(
          name: name, old: wasThere ? reference : nil, new: isThere ? reference : nil)
      ]
    }
  }

  // MARK: Records

  /// The keys of the records to which a role leads from a row.
  private func keys(
    of role: DependencyRole, _ row: PlacedResult, _ side: Side, _ records: QueryRecords
  ) throws -> [[UInt8]] {
    guard let upper = role.upper.map({ dependencies.roles[$0] }) else { return [row.identity.key] }
    guard case .reference(let name)? = role.edge, let collection = upper.collection,
      let value = try StoredProperty(name, of: collection, records)
    else { return [] }
    return try keys(of: upper, row, side, records).flatMap { key in
      try record(collection, key, side, records)?.lend { record in
        try value.lend(record) { try StoredKey.all(namedBy: $0) }
      } ?? []
    }
  }

  private func record(
    _ collection: NodePath, _ key: [UInt8], _ side: Side, _ records: QueryRecords
  ) throws -> StoredRecord? {
    // Guards may have left out changes after the last one that is told.
    if side == .before, let change = changes[collection]?[key] { return change.old }
    return try records.record(collection, key)
  }

  /// The properties that are shown and differ in two records; one that is not there has none.
  private func between(
    _ old: StoredRecord?, _ new: StoredRecord?, _ role: DependencyRole, _ name: String,
    _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    let none = StoredRecord(bytes: RecordBuilder().stored())
    return try (old ?? none).lend { old in
      try (new ?? none).lend { new in
        try PropertyUpdate.between(old, new, records.catalog)
          .filter { role.isWhole || role.shownNames.contains($0.name) }
          .map { PropertyUpdate(name: "\(name).\($0.name)", old: $0.old, new: $0.new) }
      }
    }
  }
}
