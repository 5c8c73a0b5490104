// Groups and distinct values as a live query would follow them, and what their changes alone lead
// to.

import Testing

@testable import Cambium

/// Groups, or distinct values, and the share that each record has in them.
struct FollowedGroups {
  let kept: OperatorEntries
  private let groups: LiveGroups
  private let share: (RawSpan, RawSpan, QueryRecords) throws -> GroupShare
  private var shares: [[UInt8]: GroupShare] = [:]
  /// The groups that the changes lead to, by their identities.
  private var model: [[UInt8]: ShownGroup] = [:]

  init(_ query: QueryDescription, memoryMax: Int, hasPlaces: Bool, _ items: Items) throws {
    let scope = try items.records().scope(of: query.collection)
    kept = OperatorEntries(memoryMax: memoryMax)
    if let grouping = query.grouping {
      let paths = try GroupedPaths(grouping, in: scope)
      share = { try paths.share($1, key: $0, $2) }
      groups = try LiveGroups(
        grouping, by: paths, orderings: query.orderings, kept, hasPlaces: hasPlaces)
    } else {
      let paths = try QueryPaths(query.selection ?? [], in: scope)
      let order = try QueryOrder(query.orderings, in: scope)
      share = { key, record, records in
        var place = ByteBuffer()
        try order.write(record, key: key, records, to: &place)
        let values = try paths.values(record, key: key, records)
        return try GroupShare(inDistinct: values, place: place.array())
      }
      groups = LiveGroups(distinctIn: kept, hasPlaces: hasPlaces)
    }
    let records = try items.records()
    try kept.during { try items.forEach { try replace($0, $1, $2) } }
    let changes = try kept.during { try groups.finish(records) }
    #expect(changes.isEmpty)
    for row in try rows() {
      model[row.key] = try kept.during { try groups.shown(row.key) }
    }
  }

  mutating func replace(_ key: RawSpan, _ record: RawSpan?, _ records: QueryRecords) throws {
    let id = key.array()
    var new: GroupShare?
    if let record { new = try share(key, record, records) }
    let old = shares[id]
    try groups.replace(row: id, old: old, with: new)
    shares[id] = new
  }

  /// Ends a step, and applies what it says has changed.
  mutating func finish(_ items: Items) throws {
    let records = try items.records()
    for change in try groups.finish(records) {
      #expect(model[change.id] == change.before)
      model[change.id] = change.after
    }
  }

  /// Takes a random step.
  mutating func step(_ items: Items) throws {
    try kept.during {
      try items.change { try replace($0, $1, $2) }
      try finish(items)
    }
  }

  private func rows() throws -> [PlacedResult] { try kept.during { try groups.allRows() } }

  /// The values that the changes have led to, in order.
  var shown: [[Value]] { model.values.sorted { $0.place.precedes($1.place) }.map(\.values) }

  /// The values of all groups, in order.
  func all() throws -> [[Value]] {
    let rows = try rows()
    return try kept.during {
      try rows.map { try #require(try groups.shown($0.key)).values }
    }
  }

  /// The values of the groups behind the first ones.
  func some(behind count: Int, most: Int) throws -> [[Value]] {
    let last = count == 0 ? nil : try rows()[count - 1].place
    return try kept.during {
      try groups.rows(behind: last, most: most)
        .map { try #require(try groups.shown($0.key)).values }
    }
  }
}
