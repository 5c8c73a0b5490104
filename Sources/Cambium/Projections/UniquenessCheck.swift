import LMDB

/// Looks at the entries of an index in order, and refuses two records that are the same to it.
struct UniquenessCheck {
  private let index: IndexPlan
  private let plan: CollectionPlan
  private let reader: StateReader
  private var last: (terms: [UInt8], key: [UInt8])?

  init(_ index: IndexPlan, _ plan: CollectionPlan, _ reader: StateReader) {
    self.index = index
    self.plan = plan
    self.reader = reader
  }

  /// Looks at all entries that are stored.
  ///
  /// - Parameter seen: Told after each entry; what it throws ends the check.
  /// - Throws: ``DatabaseError/notUnique(_:index:takenBy:)``.
  mutating func checkAll(_ seen: () throws -> Void = {}) throws {
    let prefix = IndexEntry.prefix(index.number)
    var cursor = try Cursor(reader.access, reader.tables.index)
    var isThere = try cursor.seek(prefix: prefix)
    while isThere {
      let (key, value) = cursor.withEntry { ($0.array(), $1.array()) }
      try check(key, value)
      try seen()
      isThere = try cursor.next() && cursor.isAt(prefix: prefix)
    }
  }

  /// Looks at the next entry.
  ///
  /// - Throws: ``DatabaseError/notUnique(_:index:takenBy:)``.
  mutating func check(_ entry: [UInt8], _ value: [UInt8]) throws {
    let (place, isCut) = try entry.lend { key in
      try value.lend { try IndexEntry.split(key, $0) }
    }
    let terms = Array(entry[..<place.lowerBound])
    let key = Array(entry[place])
    defer { last = (terms, key) }
    guard let last, last.terms == terms, try !isNull(key) else { return }
    if isCut, try !haveSameTerms(last.key, key) { return }
    throw DatabaseError.notUnique(
      plan.path.appending(try key.lend { try Key($0) }),
      index: index.definition.terms.map(\.property),
      takenBy: plan.path.appending(try last.key.lend { try Key($0) }))
  }

  private func isNull(_ key: [UInt8]) throws -> Bool {
    try reader.withRecord(key, of: plan) { try index.hasNull($0) } ?? false
  }

  private func haveSameTerms(_ one: [UInt8], _ other: [UInt8]) throws -> Bool {
    let terms = try reader.withRecord(one, of: plan) { try index.termKeys($0) }
    return try terms == reader.withRecord(other, of: plan) { try index.termKeys($0) }
  }
}
