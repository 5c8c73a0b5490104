// Makes the entries of a fold from all of its records, sorted:
//
//     records ──▶ contributions ──external sort──▶ those with one key combined ──▶ entries
//
// A contribution has an entry's key, and a part of a value that several records share: a group's
// aggregates of one record. Every other entry is one contribution. The lists of a text view are not
// made this way; see PendingTexts.swift.

extension Fold {
  /// Visits the contributions of a record; there are none if it does not count.
  ///
  /// - Parameters:
  ///   - key: The record's key, in its stored form.
  ///   - record: The stored record.
  ///   - reader: Reads the records that it refers to.
  ///   - visit: Takes each contribution.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and any error that `visit` throws.
  func contribute(
    _ key: RawSpan, _ record: RawSpan, _ reader: StateReader,
    _ visit: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) throws {
    switch self {
    case .index(let index): try index.contribute(key, record, reader, visit)
    case .preview(let previewer): try previewer.index.contribute(key, record, reader, visit)
    case .groups(_, let view), .top(_, let view):
      if try view.has(record, key: key) { try view.contribute(key, record, visit) }
    case .text: break
    }
  }

  /// True for a contribution to an entry that other records contribute to as well.
  func isShared(_ key: [UInt8]) -> Bool {
    if case .groups = self { key[4] == ViewKey.Part.main.rawValue } else { false }
  }
}

extension IndexPlan {
  fileprivate func contribute(
    _ key: RawSpan, _ record: RawSpan, _ reader: StateReader,
    _ visit: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) throws {
    guard try has(record, key: key) else { return }
    let copies = try IndexEntry.copies(self, record, reader)
    var value = ByteBuffer(capacity: 64)
    for entry in try entryKeys(record, key) {
      IndexEntry.makeValue(
        keyCount: key.byteCount, isCut: entry.isCut, copies: copies, into: &value)
      try visit(entry.key, value.array())
    }
  }
}

extension ViewPlan {
  fileprivate func contribute(
    _ key: RawSpan, _ record: RawSpan, _ visit: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
  ) throws {
    switch content {
    case .groups(let plan):
      let place = try GroupPlace(plan.by, record)
      var group = GroupEntry(plan, values: try GroupPlace.values(plan.by, record))
      try group.change(plan, record, isRemoval: false)
      try visit(GroupsPlan.key(number, place), group.stored)
      for index in plan.extremes.indices {
        guard let value = try plan.extreme(index, of: record) else { continue }
        let entry = ExtremeEntry(number, place, index, value, key)
        try visit(entry.key, entry.value)
      }
    case .top(let plan):
      let entry = try TopEntry(number, plan, key, record)
      try visit(entry.key, entry.value)
    case .text: break
    }
  }
}

/// Takes records in any order, and returns a fold's entries in order.
struct FoldBuilder: ~Copyable {
  private let fold: Fold
  /// The key after which entries are kept.
  private let fence: [UInt8]
  private var sort = ExternalSort()

  init(_ fold: Fold, behind fence: [UInt8] = []) {
    self.fold = fold
    self.fence = fence
  }

  /// Adds a record; the reader reads the records that it refers to.
  mutating func add(_ key: RawSpan, _ record: RawSpan, _ reader: StateReader) throws {
    try fold.contribute(key, record, reader) { key, value in
      if fence.lexicographicallyPrecedes(key) { try sort.add(key, value) }
    }
  }

  /// Ends adding records.
  consuming func finish() throws -> FoldEntries { try FoldEntries(fold, sort.sorted()) }
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
    guard fold.isShared(first.key), case .groups(let plan, _) = fold else { return first }
    var group = try first.value.lend { try GroupEntry(plan, $0) }
    while let other = upcoming, other.key == first.key {
      group.add(try other.value.lend { try GroupEntry(plan, $0) })
      upcoming = try contributions.next()
    }
    return (first.key, group.stored)
  }
}
