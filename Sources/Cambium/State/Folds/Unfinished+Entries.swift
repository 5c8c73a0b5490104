// The entries in `meta` about indexes and views that are not finished; see Unfinished.swift.

import LMDB

extension IndexEntry {
  /// Stands behind the fence for an entry that was removed. An entry's value is longer.
  static let tombstone: [UInt8] = [0]

  static func isTombstone(_ value: RawSpan) -> Bool { value.byteCount < 2 }
}

extension StateReader {
  /// The indexes and views that are not finished, by number.
  func unfinished() throws -> [UInt32: Unfinished] {
    var found: [UInt32: Unfinished] = [:]
    var cursor = try Cursor(access, tables.meta)
    var isThere = try cursor.seek(prefix: Unfinished.prefix)
    while isThere {
      try cursor.withEntry { key, value in
        let number = try key.load(UInt32.self, at: Unfinished.prefix.count).byteSwapped
        found[number] = try MetaEntry.open(value, name: key.array()) { try Unfinished($0) }
      }
      isThere = try cursor.next() && cursor.isAt(prefix: Unfinished.prefix)
    }
    return found
  }
}

extension Folds {
  /// Says what is to be done about an index or a view, or that nothing is.
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
