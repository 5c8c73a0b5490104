// The entries in `meta` about unfinished indexes and views; see Unfinished.swift.

import LMDB

extension IndexEntry {
  /// Marks, after the fence, an entry that was removed. An entry's value is longer.
  static let tombstone: [UInt8] = [0]

  static func isTombstone(_ value: RawSpan) -> Bool { value.byteCount < 2 }
}

extension StateReader {
  /// The unfinished indexes and views, by number.
  func unfinished() throws -> [UInt32: Unfinished] {
    var found: [UInt32: Unfinished] = [:]
    try access.forEach(tables.meta, startingWith: Unfinished.prefix) { key, value in
      let number = try key.load(UInt32.self, at: Unfinished.prefix.count).byteSwapped
      found[number] = try MetaEntry.open(value, name: key.array()) { try Unfinished($0) }
    }
    return found
  }
}

extension Folds {
  /// Stores the remaining work on an index or a view; nil if there is none.
  mutating func set(_ number: UInt32, _ unfinished: Unfinished?) throws {
    let key = Unfinished.key(number)
    if let unfinished {
      try storage.put(tables.meta, key, MetaEntry.seal(unfinished.stored(), name: key))
    } else if memory.catalog.collections.unfinished[number] != nil {
      try storage.delete(tables.meta, key)
    }
    memory.catalog.collections.unfinished[number] = unfinished
  }
}
