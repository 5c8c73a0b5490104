// Makes the entries of a view from all of its records, sorted:
//
//     records ──▶ contributions ──external sort──▶ those with one key put together ──▶ entries
//
// A contribution has an entry's key, and of what is counted together a part: a group's figures of
// one record, one record that has a term.

/// Takes records in any order, and gives a view's entries in order.
struct ViewBuilder: ~Copyable {
  private let view: ViewPlan
  private var sort = ExternalSort()
  private var totals: TextTotals?

  init(_ view: ViewPlan) {
    self.view = view
    if case .text(let plan) = view.content { totals = TextTotals(plan) }
  }

  /// Takes a record that counts.
  mutating func add(_ key: RawSpan, _ record: RawSpan) throws {
    switch view.content {
    case .groups(let plan): try add(plan, key, record)
    case .top(let plan):
      let entry = try TopEntry(view.number, plan, key, record)
      try sort.add(entry.key, entry.value)
    case .text(let plan): try add(plan, key, record)
    }
  }

  private mutating func add(_ plan: GroupsPlan, _ key: RawSpan, _ record: RawSpan) throws {
    let place = try GroupPlace(plan.by, record)
    var group = GroupEntry(plan, values: try GroupPlace.values(plan.by, record))
    try group.change(plan, record, isRemoval: false)
    try sort.add(GroupsPlan.key(view.number, place), group.stored)
    for index in plan.extremes.indices {
      guard let value = try plan.extreme(index, of: record) else { continue }
      let entry = ExtremeEntry(view.number, place, index, value, key)
      try sort.add(entry.key, entry.value)
    }
  }

  private mutating func add(_ plan: TextPlan, _ key: RawSpan, _ record: RawSpan) throws {
    let found = try RecordTerms(plan, record)
    if found.isEmpty { return }
    totals?.add(found)
    let place = TextEntry.place(of: key)
    for (term, places) in found.terms {
      let termKey = TextEntry.termKey(view.number, term)
      try sort.add(termKey, [])
      try sort.add(termKey + place, places.stored)
    }
    try sort.add(
      TextEntry.recordsStart(view.number) + place,
      TextEntry.stored(found.lengths, key, place))
  }

  /// Ends taking records.
  consuming func finish() throws -> ViewEntries {
    if let totals, totals.records > 0 {
      try sort.add(TextEntry.totalsKey(view.number), totals.stored)
    }
    return try ViewEntries(view, sort.sorted())
  }
}

/// A view's entries in order.
struct ViewEntries: ~Copyable {
  private let view: ViewPlan
  private var contributions: SortedEntries
  private var upcoming: SortedEntries.Entry?

  fileprivate init(_ view: ViewPlan, _ contributions: consuming SortedEntries) throws {
    self.view = view
    self.contributions = contributions
    upcoming = try self.contributions.next()
  }

  /// The next entry, or nil after the last.
  mutating func next() throws -> SortedEntries.Entry? {
    guard let first = upcoming else { return nil }
    var values = 1
    var group: GroupEntry?
    if case .groups(let plan) = view.content, isShared(first.key) {
      group = try first.value.lend { try GroupEntry(plan, $0) }
    }
    upcoming = try contributions.next()
    while let other = upcoming, other.key == first.key {
      values += 1
      if case .groups(let plan) = view.content {
        group?.add(try other.value.lend { try GroupEntry(plan, $0) })
      }
      upcoming = try contributions.next()
    }
    if let group { return (first.key, group.stored) }
    guard case .text = view.content, first.value.isEmpty else { return first }
    var count: [UInt8] = []
    count.append(varint: UInt64(values))
    return (first.key, count)
  }

  private func isShared(_ key: [UInt8]) -> Bool { key[4] == ViewKey.Part.main.rawValue }
}
