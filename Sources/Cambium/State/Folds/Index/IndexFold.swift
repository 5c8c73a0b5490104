import LMDB

/// Keeps indexes up to date: removes the entries of the old record, then adds those of the new one.
struct IndexFold: ~Copyable {
  // Buffers that are reused for each change.
  private var oldEntry = ByteBuffer()
  private var newEntry = ByteBuffer()
  private var value = ByteBuffer()

  /// Updates an index for a change of a record.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - key: The record's key, in its stored form.
  ///   - old: The stored record before, or nil if there was none.
  ///   - new: The stored record after, or nil if there is none.
  ///   - unfinished: The remaining work on the index.
  ///   - storage: The state.
  /// - Throws: A storage error with the transaction unusable.
  mutating func keep(
    _ index: IndexPlan, key: RawSpan, old: RawSpan?, new: RawSpan?, _ unfinished: Unfinished?,
    in storage: borrowing StateTransaction
  ) throws {
    let old = try index.has(old, key: key) ? old : nil
    let new = try index.has(new, key: key) ? new : nil
    if index.plural != nil {
      return try keepPlural(index, key: key, old: old, new: new, unfinished, storage)
    }
    var wasThere = false
    if let old {
      _ = try IndexEntry.makeKey(index, old, key, into: &oldEntry)
      wasThere = true
    }
    guard let new else {
      if wasThere { try oldEntry.lend { try IndexFold.remove($0, unfinished, storage) } }
      return
    }
    let isCut = try IndexEntry.makeKey(index, new, key, into: &newEntry)
    if wasThere, let old {
      let isSame = oldEntry.lend { a in newEntry.lend { a.equals($0) } }
      if isSame, try index.covers(sameIn: old, new) { return }
      if !isSame { try oldEntry.lend { try IndexFold.remove($0, unfinished, storage) } }
    }
    try putEntry(index, new, keyCount: key.byteCount, isCut: isCut, storage)
  }

  /// Updates one entry for each distinct element.
  private mutating func keepPlural(
    _ index: IndexPlan, key: RawSpan, old: RawSpan?, new: RawSpan?, _ unfinished: Unfinished?,
    _ storage: borrowing StateTransaction
  ) throws {
    let before = try index.entryKeys(old, key)
    let after = try index.entryKeys(new, key)
    let stays = Set(after.map(\.key))
    for entry in before where !stays.contains(entry.key) {
      try entry.key.lend { try IndexFold.remove($0, unfinished, storage) }
    }
    guard let new else { return }
    let was = Set(before.map(\.key))
    for entry in after where index.isCovering || !was.contains(entry.key) {
      try put(entry, of: index, new, keyCount: key.byteCount, in: storage)
    }
  }

  /// Writes an entry of a record.
  mutating func put(
    _ entry: (key: [UInt8], isCut: Bool), of index: IndexPlan, _ record: RawSpan, keyCount: Int,
    in storage: borrowing StateTransaction
  ) throws {
    newEntry.clear()
    newEntry.append(array: entry.key)
    try putEntry(index, record, keyCount: keyCount, isCut: entry.isCut, storage)
  }

  /// Writes the entry whose key is in `newEntry`.
  private mutating func putEntry(
    _ index: IndexPlan, _ record: RawSpan, keyCount: Int, isCut: Bool,
    _ storage: borrowing StateTransaction
  ) throws {
    let copies = try IndexEntry.copies(index, record, storage.reader)
    IndexEntry.makeValue(keyCount: keyCount, isCut: isCut, copies: copies, into: &value)
    try newEntry.lend { key in try value.lend { try storage.put(storage.tables.index, key, $0) } }
  }

  /// Removes an entry; if the backfill may still add it, a tombstone prevents that.
  private static func remove(
    _ key: RawSpan, _ unfinished: Unfinished?, _ storage: borrowing StateTransaction
  ) throws {
    if let unfinished, unfinished.isAhead(of: key) {
      return try IndexEntry.tombstone.lend { try storage.put(storage.tables.index, key, $0) }
    }
    try storage.delete(storage.tables.index, key)
  }
}

// MARK: An index's entries for a record

extension IndexPlan {
  /// True if there is a record, and it has an entry.
  @inline(__always)
  func has(_ record: RawSpan?, key: RawSpan) throws -> Bool {
    guard let record else { return false }
    guard let condition else { return true }
    return try condition.accepts(record: record, key: key)
  }

  /// The keys of all entries of a record, each once; empty if there is no record.
  func entryKeys(_ record: RawSpan?, _ key: RawSpan) throws -> [(key: [UInt8], isCut: Bool)] {
    guard let record else { return [] }
    var bytes = ByteBuffer()
    guard plural != nil else {
      let isCut = try IndexEntry.makeKey(self, record, key, into: &bytes)
      return [(bytes.array(), isCut)]
    }
    var seen: Set<[UInt8]> = []
    var keys: [(key: [UInt8], isCut: Bool)] = []
    for element in try elements(record) {
      let isCut = try element.lend {
        try IndexEntry.makeKey(self, record, key, element: $0, into: &bytes)
      }
      if seen.insert(bytes.array()).inserted { keys.append((bytes.array(), isCut)) }
    }
    return keys
  }

  /// The terms of all entries of a record, uncut.
  func termKeys(_ record: RawSpan) throws -> [[UInt8]] {
    var bytes = ByteBuffer()
    guard plural != nil else {
      try IndexEntry.makeTerms(self, record, element: nil, into: &bytes)
      return [bytes.array()]
    }
    return try elements(record).map { element in
      try element.lend { try IndexEntry.makeTerms(self, record, element: $0, into: &bytes) }
      return bytes.array()
    }
  }

  private func elements(_ record: RawSpan) throws -> [[UInt8]] {
    guard let plural else { return [] }
    let term = terms[plural]
    return try RecordTable(record).lend(record, term.name, or: term.standIn) {
      try IndexEntry.elements($0)
    }
  }

  /// True if a term is null, so that the record cannot equal another.
  func hasNull(_ record: RawSpan) throws -> Bool {
    let table = try RecordTable(record)
    return try terms.contains { term in
      try table.lend(record, term.name, or: term.standIn) { try $0.isNull }
    }
  }

  func hasSameTerms(_ a: RawSpan, _ b: RawSpan) throws -> Bool {
    try termKeys(a) == termKeys(b)
  }

  /// True if the covered properties are equal in two records, and both refer to the same records
  /// for previews.
  func covers(sameIn a: RawSpan, _ b: RawSpan) throws -> Bool {
    if !isCovering { return true }
    return try RecordTable.areSame(covered + previews.map(\.reference), in: a, b)
  }
}
