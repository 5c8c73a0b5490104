// Groups and distinct values as a live query would follow them, and a list that only applies their
// changes.

import Testing

@testable import Cambium

/// Groups, what each record contributed, and the list that their changes lead to.
struct FollowedGroups {
  private(set) var groups: LiveGroups
  private(set) var shown: [[Value]] = []
  private let query: QueryDescription
  private let reader: GroupedPaths
  private let remembersRows: Bool
  private var contributions: [[UInt8]: GroupContribution] = [:]

  init(_ query: QueryDescription, remembersRows: Bool, _ items: Items) throws {
    (self.query, self.remembersRows) = (query, remembersRows)
    let records = try items.records()
    let scope = records.scope(of: query.collection)
    reader = try GroupedPaths(try #require(query.grouping), in: scope)
    groups = try LiveGroups(
      try #require(query.grouping), orderings: query.orderings, in: scope,
      remembersRows: remembersRows)
    try items.forEach { try replace($0, $1, $2) }
  }

  mutating func replace(_ key: RawSpan, _ record: RawSpan?, _ records: QueryRecords) throws {
    let id = key.array()
    var new: GroupContribution?
    if let record { new = try reader.contribution(record, key: key, records) }
    try groups.replace(row: id, old: remembersRows ? nil : contributions[id], with: new)
    contributions[id] = new
  }

  mutating func finish(_ items: Items) throws {
    if let changes = try groups.finish(try items.records()) { return shown.apply(changes) }
    let records = try items.records()
    groups = try LiveGroups(
      try #require(query.grouping), orderings: query.orderings,
      in: records.scope(of: query.collection), remembersRows: remembersRows)
    for (id, contribution) in contributions { try groups.replace(row: id, with: contribution) }
    shown = []
    shown.apply(try #require(try groups.finish(records)))
  }
}

/// Distinct values, what each record contributed, and the list that their changes lead to.
struct FollowedValues {
  private(set) var rows: DistinctRows
  private(set) var shown: [[Value]] = []
  private let paths: QueryPaths
  private let order: QueryOrder
  private let remembersRows: Bool
  private var contributions: [[UInt8]: DistinctContribution] = [:]

  init(_ query: QueryDescription, remembersRows: Bool, _ items: Items) throws {
    let scope = try items.records().scope(of: query.collection)
    paths = try QueryPaths(query.selection ?? [], in: scope)
    order = try QueryOrder(query.orderings, in: scope)
    rows = DistinctRows(remembersRows: remembersRows)
    self.remembersRows = remembersRows
    try items.forEach { try replace($0, $1, $2) }
  }

  mutating func replace(_ key: RawSpan, _ record: RawSpan?, _ records: QueryRecords) throws {
    let id = key.array()
    var new: DistinctContribution?
    if let record {
      var place = ByteBuffer()
      try order.write(record, key: key, records, to: &place)
      new = try DistinctContribution(
        place: place.array(), values: try paths.values(record, key: key, records))
    }
    rows.replace(row: id, old: remembersRows ? nil : contributions[id], with: new)
    contributions[id] = new
  }

  mutating func finish() { shown.apply(rows.finish()) }
}

extension [[Value]] {
  /// Applies changes as a list does: departures by positions before, arrivals by positions after.
  fileprivate mutating func apply(_ changes: ComputedChanges) {
    for before in changes.changes.compactMap(\.before) {
      #expect(before.position < count && self[before.position] == before.values)
    }
    let moved = changes.changes.filter { $0.before?.place != $0.after?.place }
    for place in moved.compactMap(\.before?.position).sorted(by: >) { remove(at: place) }
    for after in moved.compactMap(\.after).sorted(by: { $0.position < $1.position }) {
      insert(after.values, at: Swift.min(after.position, count))
    }
    for after in changes.changes.compactMap(\.after) {
      #expect(after.position < count)
      if after.position < count { self[after.position] = after.values }
    }
  }
}
