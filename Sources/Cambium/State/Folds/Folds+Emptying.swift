// The removal of the entries of dropped indexes and views; see Unfinished.swift.

import LMDB

extension Folds {
  /// The number of entries between two checks of the clock.
  static let looksEvery = 32

  /// Drops indexes and views: their entries are removed now, or in steps if others would have to
  /// wait.
  mutating func giveUp(_ numbers: [UInt32]) throws {
    try texts.write(to: storage)
    for number in numbers {
      let isEmpty = try storage.removeEntries(of: number, atMost: emptiedAtOnce)
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
      if try storage.removeEntries(of: number, atMost: Folds.looksEvery) {
        try set(number, nil)
        return true
      }
    } while ContinuousClock.now < end
    return false
  }
}

extension StateTransaction {
  /// Removes entries of an index or a view.
  ///
  /// - Returns: True if none is left.
  func removeEntries(of number: UInt32, atMost most: Int) throws -> Bool {
    let prefix = IndexEntry.prefix(number)
    var count = 0
    for table in [tables.index, tables.views] {
      while let key = try reader.access.firstKey(table, prefix) {
        if count == most { return false }
        try delete(table, key)
        count += 1
      }
    }
    return true
  }
}
