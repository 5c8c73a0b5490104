// What a declaration changes: new indexes are made of the records that are there, in order, and the
// entries of those that are not declared any more go.

import LMDB

extension Projector {
  /// Takes a collection's new declaration, or takes it back where there is none.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` and ``DatabaseError/notUnique(_:index:takenBy:)``
  ///   where a record that is there breaks a new rule; the caller must undo what was done.
  mutating func declare(_ path: Path, _ stored: [UInt8]?) throws {
    let old = memory.catalog.collections[path]
    memory.parent = nil
    guard let stored else {
      guard let old else {
        throw DatabaseError.notFound(path, reason: "no collection is declared here")
      }
      try drop(old.numbers)
      memory.catalog.collections.takeBack(path)
      memory.head.declarations = memory.catalog.collections.version
      return try delete(tables.meta, old.metaKey)
    }
    let definition = try CollectionDefinition(stored.lend { try Value($0) })
    let (plan, kept) = try plan(path, definition, replacing: old)
    try drop(old?.numbers.filter { !kept.contains($0) } ?? [])
    memory.catalog.collections.declare(plan)
    memory.head.declarations = memory.catalog.collections.version
    try put(tables.meta, plan.metaKey, MetaEntry.seal(plan.stored(), name: plan.metaKey))
    if enforcesRules { try checkRecords(plan, since: old) }
    try build(plan, except: kept)
  }

  /// Resolves a declaration: what stays as it was keeps its number, what is new gets the next.
  private mutating func plan(
    _ path: Path, _ definition: CollectionDefinition, replacing old: CollectionPlan?
  ) throws -> (CollectionPlan, kept: Set<UInt32>) {
    let count = CollectionPlan.indexes(of: definition).count + definition.views.count
    let draft = try CollectionPlan(
      path, definition, numbers: Array(repeating: 0, count: count), memory.catalog)
    var numbers = draft.indexes.map { index in
      old?.indexes.first { $0.hasSameEntries(as: index) }?.number
    }
    numbers += draft.views.map { view in
      old?.views.first { $0.hasSameContent(as: view) }?.number
    }
    let given = numbers.map { number in
      if let number { return number }
      defer { memory.head.nextProjection += 1 }
      return memory.head.nextProjection
    }
    let plan = try CollectionPlan(path, definition, numbers: given, memory.catalog)
    return (plan, Set(numbers.compactMap { $0 }))
  }

  /// Removes all entries of indexes and views.
  mutating func drop(_ numbers: [UInt32]) throws {
    for number in numbers {
      for table in [tables.index, tables.views] {
        while let key = try firstKey(table, IndexEntry.prefix(number)) { try delete(table, key) }
      }
    }
  }

  private func firstKey(_ table: Table, _ prefix: [UInt8]) throws -> [UInt8]? {
    var cursor = try Cursor(try reader.access, table)
    guard try prefix.lend({ try cursor.seek($0) }) else { return nil }
    return cursor.withEntry { key, _ in
      prefix.lend { key.starts(with: $0) } ? key.array() : nil
    }
  }

  // MARK: Building

  mutating func build(_ plan: CollectionPlan, except kept: Set<UInt32>) throws {
    for index in plan.indexes where !kept.contains(index.number) { try build(index, of: plan) }
    for view in plan.views where !kept.contains(view.number) { try build(view, of: plan) }
  }

  /// Makes an index of the records that are there: sorted first, so that entries are appended.
  private mutating func build(_ index: IndexPlan, of plan: CollectionPlan) throws {
    var sort = ExternalSort()
    let isUnique = index.isUnique && enforcesRules
    try forEachRecord(of: plan.path) { key, record in
      guard try index.has(record, key: key) else { return }
      var value = ByteBuffer()
      for entry in try index.entryKeys(record, key) {
        try IndexEntry.makeValue(
          index, record, keyCount: key.byteCount, isCut: entry.isCut, into: &value)
        try sort.add(entry.key, value.array())
      }
    }
    var entries = try sort.sorted()
    var last: (terms: [UInt8], key: [UInt8])?
    while let entry = try entries.next() {
      if isUnique { try checkNext(entry, after: &last, index, plan) }
      try put(tables.index, entry.key, entry.value)
    }
  }

  /// Refuses an entry of a unique index that has the terms of the one before.
  private func checkNext(
    _ entry: SortedEntries.Entry, after last: inout (terms: [UInt8], key: [UInt8])?,
    _ index: IndexPlan, _ plan: CollectionPlan
  ) throws {
    let (place, isCut) = try entry.key.lend { key in
      try entry.value.lend { try IndexEntry.split(key, $0) }
    }
    let terms = Array(entry.key[..<place.lowerBound])
    let key = Array(entry.key[place])
    defer { last = (terms, key) }
    guard let last, last.terms == terms, try !isNull(key, index, plan) else { return }
    if isCut, try !haveSameTerms(last.key, key, index, plan) { return }
    throw DatabaseError.notUnique(
      plan.path.appending(try key.lend { try Key($0) }),
      index: index.definition.terms.map(\.property),
      takenBy: plan.path.appending(try last.key.lend { try Key($0) }))
  }

  private func isNull(_ key: [UInt8], _ index: IndexPlan, _ plan: CollectionPlan) throws -> Bool {
    try withRecord(key, of: plan) { try index.hasNull($0) } ?? false
  }

  private func haveSameTerms(
    _ one: [UInt8], _ other: [UInt8], _ index: IndexPlan, _ plan: CollectionPlan
  ) throws -> Bool {
    let terms = try withRecord(one, of: plan) { try index.termKeys($0) }
    return try terms == withRecord(other, of: plan) { try index.termKeys($0) }
  }

  // MARK: Records

  /// Refuses rules that a record breaks which is there already.
  func checkRecords(_ plan: CollectionPlan, since old: CollectionPlan?) throws {
    if let old, old.definition.properties == plan.definition.properties { return }
    try forEachRecord(of: plan.path) { key, record in
      try plan.check(record, key: key, memory.catalog)
    }
  }

  /// Lends each record below a path, in key order.
  func forEachRecord(
    of path: Path, _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    guard let node = try node(at: path) else { return }
    var walk = try ChildWalk(try reader, node: node, moment: nil)
    while try walk.next({ key, header, version in
      guard header.kind == .record else { return }
      try body(
        key.extracting(droppingFirst: 8), version.extracting(droppingFirst: header.contentOffset))
    }) != nil {}
  }

  /// The records below a path, copied, so that others can be written meanwhile.
  func records(of path: Path) throws -> [(key: [UInt8], record: [UInt8])] {
    var records: [(key: [UInt8], record: [UInt8])] = []
    try forEachRecord(of: path) { key, record in records.append((key.array(), record.array())) }
    return records
  }

  /// Lends one record.
  func withRecord<R>(
    _ key: [UInt8], of plan: CollectionPlan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard let parent = try node(at: plan.path) else { return nil }
    var treeKey: [UInt8] = []
    treeKey.append(bigEndian: parent)
    treeKey += key
    let (reader, table) = (try reader, tables.tree)
    return try treeKey.lend { treeKey in
      try reader.access.get(table, treeKey) { version in
        let header = try NodeHeader(version, key: treeKey)
        guard header.kind == .record else { return nil }
        return try body(version.extracting(droppingFirst: header.contentOffset))
      } ?? nil
    }
  }

  /// The node id of the node at a path, or nil where it is not there or never had children.
  func node(at path: Path) throws -> UInt64? {
    let (reader, bytes) = (try reader, path.bytes)
    var node = StateHead.root
    var key: [UInt8] = []
    try path.forEachKey { range, _ in
      if node == 0 { return }
      key.removeAll(keepingCapacity: true)
      key.append(bigEndian: node)
      key.append(contentsOf: bytes[range])
      node =
        try key.lend { key in
          try reader.access.get(reader.tables.tree, key) { try NodeHeader($0, key: key).node }
        } ?? 0
    }
    return node == 0 ? nil : node
  }
}
