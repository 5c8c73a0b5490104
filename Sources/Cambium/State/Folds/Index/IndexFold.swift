// Maintenance of an index: removes the entries of the old record, then adds those of the new one.

import LMDB

extension Folds {
  /// Updates an index for a change of a record.
  mutating func keep(
    _ index: IndexPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    let old = try index.has(old, key: key) ? old : nil
    let new = try index.has(new, key: key) ? new : nil
    if index.plural != nil {
      return try keepPlural(index, key: key, old: old, new: new)
    }
    var wasThere = false
    if let old {
      _ = try IndexEntry.makeKey(index, old, key, into: &oldEntry)
      wasThere = true
    }
    guard let new else {
      if wasThere { try oldEntry.lend { try removeIndexEntry(index, $0) } }
      return
    }
    let isCut = try IndexEntry.makeKey(index, new, key, into: &newEntry)
    if wasThere, let old {
      let isSame = oldEntry.lend { a in newEntry.lend { a.equals($0) } }
      if isSame, try index.covers(sameIn: old, new) { return }
      if !isSame { try oldEntry.lend { try removeIndexEntry(index, $0) } }
    }
    try putIndexEntry(index, new, keyCount: key.byteCount, isCut: isCut)
  }

  /// Updates one entry for each distinct element.
  private mutating func keepPlural(
    _ index: IndexPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    let before = try index.entryKeys(old, key)
    let after = try index.entryKeys(new, key)
    let stays = Set(after.map(\.key))
    for entry in before where !stays.contains(entry.key) {
      try entry.key.lend { try removeIndexEntry(index, $0) }
    }
    guard let new else { return }
    let was = Set(before.map(\.key))
    for entry in after where index.isCovering || !was.contains(entry.key) {
      newEntry.clear()
      newEntry.append(array: entry.key)
      try putIndexEntry(index, new, keyCount: key.byteCount, isCut: entry.isCut)
    }
  }

  /// Writes the entry whose key is in `newEntry`.
  mutating func putIndexEntry(
    _ index: IndexPlan, _ record: RawSpan, keyCount: Int, isCut: Bool
  ) throws {
    let copies = try IndexEntry.copies(index, record, try reader)
    IndexEntry.makeValue(keyCount: keyCount, isCut: isCut, copies: copies, into: &value)
    try newEntry.lend { key in try value.lend { try storage.put(tables.index, key, $0) } }
  }

  /// Removes an entry; if the backfill may still add it, a tombstone prevents that.
  private borrowing func removeIndexEntry(_ index: IndexPlan, _ key: RawSpan) throws {
    if memory.catalog.collections.isAhead(index.number, of: key) {
      return try IndexEntry.tombstone.lend { try storage.put(tables.index, key, $0) }
    }
    try storage.delete(tables.index, key)
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
      try table.lend(record, term.name, or: term.standIn) {
        try $0.byteCount == 0 || $0.load(UInt8.self, at: 0) == ValueTag.null
      }
    }
  }

  func hasSameTerms(_ a: RawSpan, _ b: RawSpan) throws -> Bool {
    try termKeys(a) == termKeys(b)
  }

  /// True if the covered properties are equal in two records, and both refer to the same records
  /// for previews.
  func covers(sameIn a: RawSpan, _ b: RawSpan) throws -> Bool {
    if !isCovering { return true }
    let (first, second) = (try RecordTable(a), try RecordTable(b))
    return try (covered + previews.map(\.reference)).allSatisfy { name in
      switch (try first.find(a, name), try second.find(b, name)) {
      case (nil, nil): true
      case (let one?, let other?): a.extracting(one).equals(b.extracting(other))
      default: false
      }
    }
  }
}
