// Building an index or a view in steps; see Unfinished.swift.

import LMDB

/// The content from which an unfinished index or view is built.
enum Backfill {
  case index(IndexBackfill)
  case view(ViewPlan, CollectionPlan)

  /// Does one step.
  ///
  /// - Parameters:
  ///   - folds: The state.
  ///   - end: The time at which the step should end.
  /// - Returns: True if the index or view is complete, or is not being built any more.
  /// - Throws: ``DatabaseError``; the transaction must be rolled back then.
  func step(in folds: inout Folds, until end: ContinuousClock.Instant) throws -> Bool {
    switch self {
    case .index(let entries): try entries.step(in: &folds, until: end)
    case .view(let view, let plan): try view.fill(of: plan, in: &folds, until: end)
    }
  }
}

extension ViewPlan {
  /// Folds records into the view until none is left or the time is over.
  fileprivate func fill(
    of plan: CollectionPlan, in folds: inout Folds, until end: ContinuousClock.Instant
  ) throws -> Bool {
    guard case .filling(upTo: var fence)? = folds.memory.catalog.collections.unfinished[number]
    else { return true }
    repeat {
      guard let last = try take(of: plan, behind: fence, in: &folds) else {
        try folds.set(number, nil)
        return true
      }
      fence = last
      // It counts as time of this step, not of the commit.
      try folds.texts.write(to: folds.storage)
    } while ContinuousClock.now < end
    try folds.set(number, .filling(upTo: fence))
    return false
  }

  /// Folds the next records of a collection into the view, which has none after a fence.
  ///
  /// - Parameters:
  ///   - plan: The collection.
  ///   - fence: The key of the last record that it has; empty for none.
  ///   - folds: The state.
  /// - Returns: The key of the last one from now on; nil if no record is left.
  /// - Throws: ``DatabaseError``; the transaction must be rolled back then.
  func take(
    of plan: CollectionPlan, behind fence: [UInt8], in folds: inout Folds
  ) throws -> [UInt8]? {
    // Copied, since a write may move the pages that they are lent from.
    let (records, last) = try folds.reader.records(
      of: plan, behind: fence, atMost: Folds.looksEvery)
    for (key, record) in records {
      try key.lend { key in
        try record.lend { try folds.take(Fold(self), self, key: key, old: nil, new: $0) }
      }
    }
    return last
  }
}

/// Sorted entries of an index, as of any moment after its declaration, that are filled in.
final class IndexBackfill {
  private let number: UInt32
  private var rest: FoldEntries
  /// The next entry, or nil after the last.
  private var first: SortedEntries.Entry?
  private(set) var taken: UInt64 = 0

  init(_ index: IndexPlan, _ entries: consuming FoldEntries) throws {
    number = index.number
    rest = entries
    first = try rest.next()
  }

  private func removeFirst() throws {
    first = try rest.next()
    taken += 1
  }

  /// Fills in entries until none is left or the time is over.
  fileprivate func step(
    in folds: inout Folds, until end: ContinuousClock.Instant
  ) throws -> Bool {
    guard case .filling(upTo: var fence)? = folds.memory.catalog.collections.unfinished[number]
    else { return true }
    var left = try LeftByWriters(number, behind: fence, folds.reader)
    let appends = try left.isEmpty && folds.reader.isLast(inIndex: fence)
    var count = 0
    while let entry = first, left.reaches(entry.key) {
      try removeFirst()
      if fence.precedes(entry.key) {  // else another process was here
        if try !left.settle(upTo: entry.key, folds.storage) {
          try folds.storage.put(
            folds.tables.index, entry.key, entry.value, appends ? .append : .replace)
        }
        fence = entry.key
      }
      count += 1
      if count % Folds.looksEvery == 0, ContinuousClock.now > end {
        try folds.set(number, .filling(upTo: fence))
        return false
      }
    }
    if let bound = left.bound {
      _ = try left.settle(upTo: bound, folds.storage)
      try folds.set(number, .filling(upTo: bound))
      return false
    }
    _ = try left.settle(upTo: nil, folds.storage)
    try folds.set(number, nil)
    return true
  }
}

/// The first of the entries and tombstones that writers have left after an index's fence.
private struct LeftByWriters {
  /// The most entries that one step reads.
  private static let countMax = 1024

  private var keys: ArraySlice<(key: [UInt8], isTombstone: Bool)> = []
  /// The last of them, if there may be more after it.
  let bound: [UInt8]?

  init(_ number: UInt32, behind fence: [UInt8], _ reader: StateReader) throws {
    let prefix = IndexEntry.prefix(number)
    var cursor = try Cursor(reader.access, reader.tables.index)
    // No key can be between a key and the same one followed by a zero.
    var isThere = try (fence + [0]).lend { try cursor.seek($0) }
    while isThere && cursor.isAt(prefix: prefix), keys.count < LeftByWriters.countMax {
      keys.append(cursor.withEntry { ($0.array(), IndexEntry.isTombstone($1)) })
      isThere = try cursor.next()
    }
    bound = keys.count == LeftByWriters.countMax ? keys.last?.key : nil
  }

  var isEmpty: Bool { keys.isEmpty }

  /// True if these extend to a key, so that the entries up to it are known.
  func reaches(_ key: [UInt8]) -> Bool { bound.map { !$0.precedes(key) } ?? true }

  /// Removes the tombstones up to a key.
  ///
  /// - Returns: True if writers have left an entry or a tombstone at the key itself.
  mutating func settle(
    upTo key: [UInt8]?, _ storage: borrowing StateTransaction
  ) throws -> Bool {
    while let first = keys.first {
      if let key, key.precedes(first.key) { return false }
      keys.removeFirst()
      if first.isTombstone { try storage.delete(storage.tables.index, first.key) }
      if first.key == key { return true }
    }
    return false
  }
}

extension StateReader {
  /// True if no entry of any index comes after a key.
  fileprivate func isLast(inIndex key: [UInt8]) throws -> Bool {
    var cursor = try Cursor(access, tables.index)
    guard try cursor.last() else { return true }
    return cursor.withEntry { last, _ in key.lend { !$0.precedes(last) } }
  }
}
