// How a change of a record reaches the indexes of others that preview it.
//
//     airlines/UA: name ──▶ who refers to it? (the index on carrier) ──▶ their entries, anew
//
// It comes after the change is written: entries are made of what the tree has.

import LMDB

extension Projector {
  /// Folds the change of a record into the previews that others have of it.
  ///
  /// - Parameters:
  ///   - path: The record, which is as `content` says in the tree.
  ///   - header: Of the version in `old`, if there was one.
  ///   - content: The content from now on, or nil for no node.
  /// - Throws: A storage error with the transaction unusable.
  /// - Complexity: O(*k* log *n*) for *k* records that refer to it, and nothing where no property
  ///   that is previewed has changed.
  @inline(__always)
  mutating func foldIntoPreviews(
    _ path: Path, _ header: NodeHeader?, _ content: Content?
  ) throws {
    if memory.catalog.collections.hasPreviews { try foldIntoAnyPreviews(path, header, content) }
  }

  private mutating func foldIntoAnyPreviews(
    _ path: Path, _ header: NodeHeader?, _ content: Content?
  ) throws {
    let previewers = memory.catalog.collections.previewers(of: path.bytes[..<path.parentCount])
    guard !previewers.isEmpty, let key = path.last else { return }
    var before: [UInt8]?
    if let header, header.kind == .record { before = oldContent(header) }
    let after = content?.kind == .record ? content?.bytes : nil
    for previewer in previewers {
      if try previewer.previews.allSatisfy({ try $0.isSame(in: before, after) }) { continue }
      try renew(previewer, key)
    }
  }

  /// Renews the entries of the records that refer to a key.
  private mutating func renew(_ previewer: Previewer, _ key: Key) throws {
    guard let edge = previewer.edge else { return }
    var referrers = Referrers(of: key, edge, previewer.collection)
    while let keys = try referrers.next(reader, memory.catalog.collections) {
      for key in keys { try renew(previewer, key) }
    }
  }

  private mutating func renew(_ previewer: Previewer, _ key: [UInt8]) throws {
    // Copied, since what is written may move the page that it is lent from.
    let record = try reader.withRecord(key, of: previewer.collection) { $0.array() }
    try record?.lend { record in
      try key.lend { key in
        let index = previewer.index
        guard try index.has(record, key: key) else { return }
        for entry in try index.entryKeys(record, key) {
          newEntry.clear()
          newEntry.append(array: entry.key)
          try putIndexEntry(index, record, keyCount: key.byteCount, isCut: entry.isCut)
        }
      }
    }
  }

  /// Makes all entries anew that preview records of the collections within a path, which have come
  /// or gone as a whole.
  mutating func renewPreviews(within path: Path) throws {
    let collections = memory.catalog.collections
    if !collections.hasPreviews { return }
    for previewer in collections.previewers(within: path)
    where !previewer.collection.path.isWithin(path) {
      try clear([previewer.index.number])
      try build(previewer.index, of: previewer.collection)
    }
  }
}

extension PreviewPlan {
  /// True if it shows the same value for two records.
  fileprivate func isSame(in one: [UInt8]?, _ other: [UInt8]?) throws -> Bool {
    func value(_ record: [UInt8]?) throws -> [UInt8]? {
      try record?.lend { record in
        try RecordTable(record).find(record, property).map { record.extracting($0).array() }
          ?? [ValueTag.null]
      }
    }
    return try value(one) == value(other)
  }
}
