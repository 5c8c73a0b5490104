// One step of building an index or a view, or of emptying one; see Unfinished.swift.

import LMDB

extension Folds {
  /// The number of entries between two checks of the clock.
  private static let looksEvery = 32

  /// Fills in entries until none is left or the time is over.
  ///
  /// - Parameters:
  ///   - number: The index.
  ///   - entries: Its entries in order, as of any moment after its declaration.
  ///   - end: The time at which the step should end.
  /// - Returns: True if the index is complete, or is not being built any more.
  /// - Throws: ``DatabaseError``; the transaction must be rolled back then.
  mutating func fill(
    _ number: UInt32, from entries: FillEntries, until end: ContinuousClock.Instant
  ) throws -> Bool {
    guard case .filling(upTo: var fence)? = memory.catalog.collections.unfinished[number] else {
      return true
    }
    var left = try LeftByWriters(number, behind: fence, reader)
    let appends = try left.isEmpty && reader.isLast(inIndex: fence)
    var count = 0
    while let entry = entries.first, left.reaches(entry.key) {
      try entries.removeFirst()
      if fence.precedes(entry.key) {  // else another process was here
        if try !left.settle(upTo: entry.key, storage) {
          try storage.put(tables.index, entry.key, entry.value, appends ? .append : .replace)
        }
        fence = entry.key
      }
      count += 1
      if count % Folds.looksEvery == 0, ContinuousClock.now > end {
        try set(number, .filling(upTo: fence))
        return false
      }
    }
    if let bound = left.bound {
      _ = try left.settle(upTo: bound, storage)
      try set(number, .filling(upTo: bound))
      return false
    }
    _ = try left.settle(upTo: nil, storage)
    try set(number, nil)
    return true
  }

  // MARK: Views

  /// Folds records into a view until none is left or the time is over.
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - plan: Its collection.
  ///   - end: The time at which the step should end.
  /// - Returns: True if the view is complete, or is not being built any more.
  /// - Throws: ``DatabaseError``; the transaction must be rolled back then.
  mutating func fill(
    _ view: ViewPlan, of plan: CollectionPlan, until end: ContinuousClock.Instant
  ) throws -> Bool {
    guard case .filling(upTo: var fence)? = memory.catalog.collections.unfinished[view.number]
    else { return true }
    repeat {
      // Copied, since a write may move the pages that they are lent from.
      let (records, last) = try reader.records(
        of: plan, behind: fence, atMost: Folds.looksEvery)
      for (key, record) in records {
        try key.lend { key in
          try record.lend { try take(Fold(view), view, key: key, old: nil, new: $0) }
        }
      }
      guard let last else {
        try set(view.number, nil)
        return true
      }
      fence = last
    } while ContinuousClock.now < end
    try set(view.number, .filling(upTo: fence))
    return false
  }

  // MARK: Emptying

  /// Drops indexes and views: their entries are removed now, or in steps if others would have to
  /// wait.
  mutating func giveUp(_ numbers: [UInt32]) throws {
    for number in numbers {
      let isEmpty = try remove(number, atMost: emptiedAtOnce)
      try set(number, isEmpty ? nil : .emptying)
      if !isEmpty { hasGivenUp = true }
    }
  }

  /// Removes entries of a dropped index or view until none is left or the time is over.
  ///
  /// - Returns: True if none is left.
  mutating func empty(_ number: UInt32, until end: ContinuousClock.Instant) throws -> Bool {
    guard memory.catalog.collections.unfinished[number] == .emptying else { return true }
    repeat {
      if try remove(number, atMost: Folds.looksEvery) {
        try set(number, nil)
        return true
      }
    } while ContinuousClock.now < end
    return false
  }

  /// Removes entries of an index or a view.
  ///
  /// - Returns: True if none is left.
  mutating func remove(_ number: UInt32, atMost most: Int) throws -> Bool {
    let prefix = IndexEntry.prefix(number)
    var count = 0
    for table in [tables.index, tables.views] {
      while let key = try reader.access.firstKey(table, prefix) {
        if count == most { return false }
        try storage.delete(table, key)
        count += 1
      }
    }
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

/// Sorted entries of an index, of which the first can be inspected before it is consumed.
final class FillEntries {
  private var rest: FoldEntries
  /// The next entry, or nil after the last.
  private(set) var first: SortedEntries.Entry?
  private(set) var taken: UInt64 = 0

  init(_ entries: consuming FoldEntries) throws {
    rest = entries
    first = try rest.next()
  }

  func removeFirst() throws {
    first = try rest.next()
    taken += 1
  }
}

extension [UInt8] {
  /// True if these bytes sort before others.
  fileprivate func precedes(_ other: [UInt8]) -> Bool {
    lend { bytes in other.lend { bytes.precedes($0) } }
  }
}
