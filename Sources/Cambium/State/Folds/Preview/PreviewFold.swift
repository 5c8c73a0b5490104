// The path of a record's change to the indexes of others that preview it.
//
//     airlines/UA: name ──▶ referring records (the index on carrier) ──▶ their entries rewritten
//
// It runs after the change is written: entries are made from the tree's content.

import LMDB

extension Folds {
  /// Updates an index's copies of a record, which is `new` in the tree.
  ///
  /// - Complexity: O(*k* log *n*) for *k* records that refer to it; no cost if no previewed
  ///   property has changed.
  mutating func keep(
    _ previewer: Previewer, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    if try previewer.previews.allSatisfy({ try $0.isSame(in: old, new) }) { return }
    try renew(previewer, try Key(key))
  }

  /// Rewrites the entries of the records that refer to a key.
  private mutating func renew(_ previewer: Previewer, _ key: Key) throws {
    guard let edge = previewer.edge else { return }
    var referrers = Referrers(of: key, edge, previewer.collection)
    while let keys = try referrers.next(reader, memory.catalog.collections) {
      for key in keys { try renew(previewer, key) }
    }
  }

  private mutating func renew(_ previewer: Previewer, _ key: [UInt8]) throws {
    // Copied, since a write may move the page that it is lent from.
    let record = try reader.withRecord(key, of: previewer.collection) { $0.array() }
    try record?.lend { record in
      try key.lend { key in
        let index = previewer.index
        guard try index.has(record, key: key) else { return }
        for entry in try index.entryKeys(record, key) {
          try indexes.put(entry, of: index, record, keyCount: key.byteCount, in: storage)
        }
      }
    }
  }
}

extension PreviewPlan {
  /// True if it shows the same value for two records.
  fileprivate func isSame(in one: RawSpan?, _ other: RawSpan?) throws -> Bool {
    func value(_ record: RawSpan?) throws -> [UInt8]? {
      guard let record else { return nil }
      return try RecordTable(record).find(record, property).map { record.extracting($0).array() }
        ?? [ValueTag.null]
    }
    return try value(one) == value(other)
  }
}
