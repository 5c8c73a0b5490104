// Makes the entries of a fold from all of its records, sorted:
//
//     records ──▶ contributions ──external sort──▶ those with one key put together ──▶ entries
//
// A contribution has an entry's key, and of what is counted together a part: a group's figures of
// one record, one record that has a term. An index has an entry for each contribution.

/// Takes records in any order, and gives a fold's entries in order.
struct FoldBuilder: ~Copyable {
  private let fold: Fold
  /// Only entries of an index behind it.
  private let fence: [UInt8]
  private var sort = ExternalSort()
  private var totals: TextTotals?
  private var value = ByteBuffer()

  init(_ fold: Fold, behind fence: [UInt8] = []) {
    self.fold = fold
    self.fence = fence
    if case .text(let plan, _) = fold { totals = TextTotals(plan) }
  }

  /// Takes a record; the reader has those that it refers to.
  mutating func add(_ key: RawSpan, _ record: RawSpan, _ reader: StateReader) throws {
    switch fold {
    case .index(let index): try add(index, key, record, reader)
    case .preview(let previewer): try add(previewer.index, key, record, reader)
    case .groups(let plan, let view):
      if try view.has(record, key: key) { try add(plan, view.number, key, record) }
    case .top(let plan, let view):
      guard try view.has(record, key: key) else { return }
      let entry = try TopEntry(view.number, plan, key, record)
      try sort.add(entry.key, entry.value)
    case .text(let plan, let view):
      if try view.has(record, key: key) { try add(plan, view.number, key, record) }
    }
  }

  private mutating func add(
    _ index: IndexPlan, _ key: RawSpan, _ record: RawSpan, _ reader: StateReader
  ) throws {
    guard try index.has(record, key: key) else { return }
    let copies = try IndexEntry.copies(index, record, reader)
    for entry in try index.entryKeys(record, key)
    where fence.lexicographicallyPrecedes(entry.key) {
      IndexEntry.makeValue(
        keyCount: key.byteCount, isCut: entry.isCut, copies: copies, into: &value)
      try sort.add(entry.key, value.array())
    }
  }

  private mutating func add(
    _ plan: GroupsPlan, _ number: UInt32, _ key: RawSpan, _ record: RawSpan
  ) throws {
    let place = try GroupPlace(plan.by, record)
    var group = GroupEntry(plan, values: try GroupPlace.values(plan.by, record))
    try group.change(plan, record, isRemoval: false)
    try sort.add(GroupsPlan.key(number, place), group.stored)
    for index in plan.extremes.indices {
      guard let value = try plan.extreme(index, of: record) else { continue }
      let entry = ExtremeEntry(number, place, index, value, key)
      try sort.add(entry.key, entry.value)
    }
  }

  private mutating func add(
    _ plan: TextPlan, _ number: UInt32, _ key: RawSpan, _ record: RawSpan
  ) throws {
    let found = try RecordTerms(plan, record)
    if found.isEmpty { return }
    totals?.add(found)
    let place = TextEntry.place(of: key)
    for (term, places) in found.terms {
      let termKey = TextEntry.termKey(number, term)
      try sort.add(termKey, [])
      try sort.add(termKey + place, places.stored)
    }
    try sort.add(
      TextEntry.recordsStart(number) + place, TextEntry.stored(found.lengths, key, place))
  }

  /// Ends taking records.
  consuming func finish() throws -> FoldEntries {
    if let totals, totals.records > 0 {
      try sort.add(TextEntry.totalsKey(fold.number), totals.stored)
    }
    return try FoldEntries(fold, sort.sorted())
  }
}

/// A fold's entries in order.
struct FoldEntries: ~Copyable {
  private let fold: Fold
  private var contributions: SortedEntries
  private var upcoming: SortedEntries.Entry?

  fileprivate init(_ fold: Fold, _ contributions: consuming SortedEntries) throws {
    self.fold = fold
    self.contributions = contributions
    upcoming = try self.contributions.next()
  }

  /// The next entry, or nil after the last.
  mutating func next() throws -> SortedEntries.Entry? {
    guard let first = upcoming else { return nil }
    upcoming = try contributions.next()
    switch fold {
    case .groups(let plan, _) where isShared(first.key): return try sum(plan, first)
    case .text where first.value.isEmpty: return try count(first)
    default:
      while upcoming?.key == first.key { upcoming = try contributions.next() }
      return first
    }
  }

  private mutating func sum(
    _ plan: GroupsPlan, _ first: SortedEntries.Entry
  ) throws -> SortedEntries.Entry {
    var group = try first.value.lend { try GroupEntry(plan, $0) }
    while let other = upcoming, other.key == first.key {
      group.add(try other.value.lend { try GroupEntry(plan, $0) })
      upcoming = try contributions.next()
    }
    return (first.key, group.stored)
  }

  private mutating func count(_ first: SortedEntries.Entry) throws -> SortedEntries.Entry {
    var values: UInt64 = 1
    while upcoming?.key == first.key {
      values += 1
      upcoming = try contributions.next()
    }
    var count: [UInt8] = []
    count.append(varint: values)
    return (first.key, count)
  }

  private func isShared(_ key: [UInt8]) -> Bool { key[4] == ViewKey.Part.main.rawValue }
}
