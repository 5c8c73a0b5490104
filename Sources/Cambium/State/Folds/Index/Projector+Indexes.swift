// How a change of a collection's record reaches what is declared about it.
//
//     old, new record ──▶ rules, uniqueness ──▶ entries that go ──▶ entries that come ──▶ views
//                         (a new write only)
//
// All that can refuse the change is asked before anything is written.

import LMDB

extension Projector {
  /// Folds in that a record of a collection changed.
  ///
  /// - Parameters:
  ///   - plan: The collection.
  ///   - key: The record's key, in its stored form.
  ///   - old: The stored record that was there, if one was.
  ///   - new: The stored record that is there from now on, if one is.
  /// - Throws: ``DatabaseError/invalid(_:)`` or ``DatabaseError/notUnique(_:index:takenBy:)``, with
  ///   nothing changed; a storage error with the transaction unusable.
  mutating func fold(
    _ plan: CollectionPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    if enforcesRules, let new {
      try plan.check(new, key: key, memory.catalog)
      if plan.hasUniqueIndex { try checkUnique(plan, key: key, old: old, new: new) }
    }
    for index in plan.indexes { try fold(index, key: key, old: old, new: new) }
    try foldViews(plan, key: key, old: old, new: new)
  }

  private mutating func fold(
    _ index: IndexPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    let old = try index.has(old, key: key) ? old : nil
    let new = try index.has(new, key: key) ? new : nil
    if index.plural != nil {
      return try foldPlural(index, key: key, old: old, new: new)
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

  /// One entry for each different element.
  private mutating func foldPlural(
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
    try newEntry.lend { key in try value.lend { try put(tables.index, key, $0) } }
  }

  /// Removes an entry; where it may still be filled in, a tombstone sees to it that it is not.
  private borrowing func removeIndexEntry(_ index: IndexPlan, _ key: RawSpan) throws {
    let unfinished = memory.catalog.collections.unfinished
    if !unfinished.isEmpty, unfinished[index.number]?.isAhead(of: key) ?? false {
      return try IndexEntry.tombstone.lend { try put(tables.index, key, $0) }
    }
    try remove(tables.index, key)
  }
}

// MARK: Uniqueness

extension Projector {
  func checkUnique(
    _ plan: CollectionPlan, key: RawSpan, old: RawSpan?, new: RawSpan
  ) throws {
    for index in plan.indexes where index.isUnique {
      guard try index.has(new, key: key), try !index.hasNull(new) else { continue }
      if let old, try index.has(old, key: key), try index.hasSameTerms(old, new) { continue }
      for terms in try index.termKeys(new) {
        try UniquenessCheck(index, plan, try reader).check(terms, of: key)
      }
    }
  }
}

// MARK: An index's entries for a record

extension IndexPlan {
  /// True if a record is there and has an entry.
  @inline(__always)
  func has(_ record: RawSpan?, key: RawSpan) throws -> Bool {
    guard let record else { return false }
    guard let condition else { return true }
    return try condition.accepts(record: record, key: key)
  }

  /// The keys of all entries of a record, each once; none of no record.
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

  /// True if a term is null, so that the record cannot be the same as another.
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

  /// True if the covered properties are the same in two records, and both refer to the same records
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

// MARK: Where changes come from

extension Projector {
  /// Folds in what becomes of the node at a path, which `treeKey` and `old` are of.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - header: Of the version in `old`, if there is one.
  ///   - content: The content from now on, or nil for no node.
  /// - Throws: As the fold of a record's change.
  @inline(__always)
  mutating func fold(_ path: Path, _ header: NodeHeader?, _ content: Content?) throws {
    guard let plan = plan(of: path) else { return }
    let (version, treeKey, offset) = (old, treeKey, header?.contentOffset ?? 0)
    let isRecord = (old: header?.kind == .record, new: content?.kind == .record)
    if let content, content.kind == .scalar, enforcesRules, !plan.properties.isEmpty {
      throw DatabaseError.invalid([Violation(path, nil, "must be a record in \(plan.path)")])
    }
    let new = content?.bytes ?? []
    try treeKey.lend { treeKey in
      let key = treeKey.extracting(droppingFirst: 8)
      try version.lend { version in
        try new.lend { new in
          try fold(
            plan, key: key, old: isRecord.old ? version.extracting(droppingFirst: offset) : nil,
            new: isRecord.new ? new : nil)
        }
      }
    }
    if header == nil { try countKey(plan) }
  }

  /// The collection that a node belongs to, if one is declared.
  @inline(__always)
  func plan(of path: Path) -> CollectionPlan? {
    if memory.catalog.collections.isEmpty { return nil }
    let count = path.parentCount
    if let parent = memory.parent, parent.path.count == count, parent.path.isPrefix(of: path.bytes)
    {
      return parent.plan
    }
    return memory.catalog.collections[path.bytes[..<count]]
  }

  /// True if an operation may entail others, or be refused when it has changed something already.
  @inline(__always)
  func isCompound(_ operation: Operation) -> Bool {
    switch operation {
    case .declare: return true
    case .restore(let path, _): return memory.catalog.collections.hasAny(within: path)
    case .remove(let path):
      let collections = memory.catalog.collections
      return collections.hasAny(within: path) || !collections.targets(within: path).isEmpty
        || path.parent.map { collections.isReferredTo($0) } ?? false
    case .move: return !memory.catalog.collections.isEmpty
    default: return false
    }
  }

  /// Empties the indexes and views of the collections that go with a subtree. The previews that
  /// others have of them are up to the caller, once they are gone.
  mutating func leave(_ path: Path) throws {
    for plan in memory.catalog.collections.all(within: path) { try clear(plan.numbers) }
  }

  /// Makes the indexes and views of the collections that came with a subtree, and what others
  /// preview of them.
  mutating func arrive(_ path: Path) throws {
    for plan in memory.catalog.collections.all(within: path) {
      if enforcesRules { try checkRecords(plan, since: nil) }
      try countKeys(plan)
      // One that is being filled is whole from now on.
      try clear(plan.numbers)
      try build(plan, except: [])
    }
    try renewPreviews(within: path)
  }
}
