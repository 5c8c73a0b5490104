// The properties behind references that a step has changed, named by the paths that lead there.
//
//     author.name              of the record that author names, which may be another one now
//     author.id                its key, where that is asked for: null as long as it is not there
//     comments[7].text         of one of several records; crew[7].name of an array of references
//     comments[7]              a record that has come, or gone
//     p.name                   of the record that a join named p has put beside the row, and
//     p.author.name            of the one that its reference names
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
    return change
  }

  private func updates(
    _ role: DependencyRole, _ row: PlacedResult, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard let collection = role.collection, let upper = role.upper else { return [] }
    if role.way.join != nil { return try single(role, collection, row, records) }
    switch role.edge {
    case .reference(let name):
      return isPlural(name, upper, records)
        ? try several(role, collection, row, records)
        : try single(role, collection, row, records)
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

  /// The record that a single reference names, or that a join has put beside the row.
  private func single(
    _ role: DependencyRole, _ collection: NodePath, _ row: PlacedResult, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard let name = role.way.names?.joined(separator: ".") else { return [] }
    let before = try keys(of: role, row, .before, records).first
    let after = try keys(of: role, row, .after, records).first
    if before == after, before.map({ changes[collection]?[$0] == nil }) ?? true { return [] }
    let (old, new) = (
      try before.flatMap { try record(collection, $0, .before, records) },
      try after.flatMap { try record(collection, $0, .after, records) }
    )
    let key =
      try role.shown.hasKey
      ? FarUpdates.ofKey(name, old != nil ? before : nil, new != nil ? after : nil) : nil
    return try between(old, new, role, name, records) + [key].compactMap(\.self)
  }

  /// The update of a key that is shown, which is null where there is no record.
  private static func ofKey(
    _ name: String, _ old: [UInt8]?, _ new: [UInt8]?
  ) throws -> PropertyUpdate? {
    if old == new { return nil }
    func value(_ key: [UInt8]?) throws -> Value? {
      try key.map { try $0.lend { StoredKey.value(of: try Key($0)) } }
    }
    return PropertyUpdate(name: "\(name).id", old: try value(old), new: try value(new))
  }

  /// The records that an array of references names, or a dictionary by its names.
  private func several(
    _ role: DependencyRole, _ collection: NodePath, _ row: PlacedResult, _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    guard let name = role.way.names?.joined(separator: ".") else { return [] }
    let before = Set(try keys(of: role, row, .before, records))
    let after = Set(try keys(of: role, row, .after, records))
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
    guard let upper = role.upper.map({ dependencies.roles[$0] }), let way = upper.way.names,
      let changed = changes[collection],
      let value = try StoredProperty(property, of: collection, records)
    else { return [] }
    let before = try keys(of: upper, row, .before, records)
    // Of another record's, all would have come: its own name tells that.
    guard before == (try keys(of: upper, row, .after, records)) else { return [] }
    let name = (way + [ConditionText.collection(collection)]).joined(separator: ".")
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
    guard let upper = role.upper.map({ dependencies.roles[$0] }) else { return [row.key] }
    // A row keeps the records that it is made of.
    if let place = role.way.join {
      return row.joined.dropFirst(place).prefix(1).filter { !$0.isEmpty }
    }
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

  /// The properties that are shown and differ in two records, with what stands for absent values: a
  /// record that comes brings its defaults. One that is not there has no properties.
  private func between(
    _ old: StoredRecord?, _ new: StoredRecord?, _ role: DependencyRole, _ name: String,
    _ records: QueryRecords
  ) throws -> [PropertyUpdate] {
    let none = StoredRecord(bytes: RecordBuilder().stored())
    let definition = role.collection.flatMap { records.definition(of: $0) }
    return try (old ?? none).lend { before in
      try (new ?? none).lend { after in
        let (one, other) = (try RecordTable(before), try RecordTable(after))
        let names = try shownNames(
          role, definition, try one.names(in: before) + other.names(in: after), records.catalog)
        return try names.compactMap { property in
          let known = try records.catalog.name(of: property)
          let standIn = try StandIn(definition?[known])
          return try one.lend(before, property, or: old == nil ? .null : standIn) { before in
            try other.lend(after, property, or: new == nil ? .null : standIn) { after in
              try PropertyUpdate("\(name).\(known)", before, after)
            }
          }
        }
      }
    }
  }

  /// The numbers of the properties that are shown of a role's records. Of whole records these are
  /// the stored ones, which are given, and those with defaults.
  private func shownNames(
    _ role: DependencyRole, _ definition: CollectionDefinition?, _ stored: [NameID],
    _ catalog: Catalog
  ) throws -> [NameID] {
    if !role.isWhole { return role.shown.names.compactMap(catalog.id(of:)).sorted() }
    let defaults = definition?.properties.filter(\.hasDefault).map(\.name) ?? []
    return Set(stored + defaults.compactMap(catalog.id(of:))).sorted()
  }
}

extension RecordTable {
  /// The names of a record's properties.
  fileprivate func names(in record: RawSpan) throws -> [NameID] {
    try (0..<count).map { try name(record, $0) }
  }
}

extension PropertyUpdate {
  /// The update from one stored value to another, empty for none; nil if they are the same.
  fileprivate init?(_ name: String, _ old: RawSpan, _ new: RawSpan) throws {
    if old.equals(new) { return nil }
    self.init(
      name: name, old: old.byteCount == 0 ? nil : try Value(old),
      new: new.byteCount == 0 ? nil : try Value(new))
  }
}
