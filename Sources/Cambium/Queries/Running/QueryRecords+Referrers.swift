// The number of records that refer to one: entries of an index, which are counted without reading a
// record; or one walk over the collection for all, as at a past moment.
//
//     index    number | reference | other terms | the record's key
//              └───── bound ────┘   one entry for each record that refers

import LMDB

extension QueryRecords {
  func count(
    _ referrers: CountedReferrers, _ property: NameID, refersTo key: RawSpan,
    passing program: ConditionProgram
  ) throws -> Int {
    guard let index = edge(referrers.collection, property) else {
      return try walkedCounts(referrers, passing: program)[key.array()] ?? 0
    }
    let bound = try index.prefix(of: key)
    // Entries that are cut may be of another reference.
    if program.start == ConditionProgram.accept,
      bound.count <= leastRoom(referrers.collection)
    {
      return try countEntries(ClosedOpenBytes(prefix: bound), max: .max)
    }
    var count = 0
    try forEach(in: referrers.collection, property, refersTo: key) { key, record in
      if try program.accepts(record, key: key, self) { count += 1 }
      return true
    }
    return count
  }

  /// The way by which each number of referring records in a query is found, in words.
  func countWords(_ description: QueryDescription) -> [String] {
    let paths = description.paths + (description.condition?.test.paths ?? [])
    var words: [String] = []
    for referrers in paths.compactMap(\.referrers) {
      let index = catalog.id(of: referrers.property).flatMap { edge(referrers.collection, $0) }
      let way = index.map { "by the index \($0.name)" } ?? "by one walk over all"
      let name = ConditionText.collection(referrers.collection)
      let line = "count \(name) that refer by \(referrers.property), \(way)"
      if !words.contains(line) { words.append(line) }
    }
    return words
  }

  /// The room that each entry of a collection's indexes has for its terms.
  func leastRoom(_ collection: NodePath) -> Int {
    catalog.collections[collection]?.leastRoom ?? IndexEntry.roomOfAnyKey
  }

  /// The numbers of records that pass a program, by the keys that they refer to.
  private func walkedCounts(
    _ referrers: CountedReferrers, passing program: ConditionProgram
  ) throws -> [[UInt8]: Int] {
    if let known = walkedCounts[referrers] { return known }
    var counts: [[UInt8]: Int] = [:]
    try forEachReference(in: referrers.collection, by: referrers.property) { key, record, named in
      if try program.accepts(record, key: key, self) {
        for key in named { counts[key, default: 0] += 1 }
      }
    }
    walkedCounts[referrers] = counts
    return counts
  }

  /// Visits the records of a collection with the keys that they refer to by a property, each once.
  func forEachReference(
    in collection: NodePath, by property: String,
    _ body: (_ key: RawSpan, _ record: RawSpan, _ named: Set<[UInt8]>) throws -> Void
  ) throws {
    let values = try QueryPaths([PropertyPath(property)], in: scope(of: collection))
    try forEach(in: collection) { key, record in
      let named = try values.lend(0, record, key: key, self) { try StoredKey.all(namedBy: $0) }
      try body(key, record, Set(named))
      return true
    }
  }
}

extension IndexPlan {
  /// The bytes that the entries of records begin with which refer to a key by the first term.
  func prefix(of key: RawSpan) throws -> [UInt8] {
    var prefix = ByteBuffer()
    prefix.append(bigEndian: number)
    try StoredKey.value(of: key).lend {
      try OrderedBytes.append(
        stored: $0, as: terms[0].type, terms[0].collation, isDescending: terms[0].isDescending,
        to: &prefix)
    }
    return prefix.array()
  }
}

extension StoredKey {
  /// The keys that a value names: by itself, by its elements, or by its names.
  static func all(namedBy value: RawSpan) throws -> [[UInt8]] {
    guard value.byteCount > 0 else { return [] }
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.null: return []
    case ValueTag.array, ValueTag.map:
      return try IndexEntry.elements(value).flatMap { try $0.lend { try all(namedBy: $0) } }
    default: return try StoredKey.bytes(naming: value).map { [$0] } ?? []
    }
  }
}
