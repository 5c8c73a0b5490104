import LMDB

/// Finds two records with the same values in an index: for one record, by looking up its terms; or
/// for all, entry by entry in order, where equal ones are adjacent unless they are cut.
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

  // MARK: All entries

  /// Checks all stored entries.
  ///
  /// - Parameter seen: Called after each entry; an error that it throws ends the check.
  /// - Throws: ``DatabaseError/notUnique(_:index:takenBy:)``.
  mutating func checkAll(_ seen: () throws -> Void = {}) throws {
    let prefix = IndexEntry.prefix(index.number)
    try reader.access.forEach(reader.tables.index, startingWith: prefix) { key, value in
      try check(key.array(), value.array())
      try seen()
    }
  }

  /// Checks the next entry; those before it are stored.
  ///
  /// - Throws: ``DatabaseError/notUnique(_:index:takenBy:)``.
  mutating func check(_ entry: [UInt8], _ value: [UInt8]) throws {
    let (place, isCut) = try entry.lend { key in
      try value.lend { try IndexEntry.split(key, $0) }
    }
    let key = Array(entry[place])
    if isCut { return try checkRecord(key) }
    let terms = Array(entry[..<place.lowerBound])
    defer { last = (terms, key) }
    guard let last, last.terms == terms, try !isNull(key) else { return }
    throw notUnique(try Key(stored: key), takenBy: try Key(stored: last.key))
  }

  /// Searches for a record with the same values as one whose entry is cut.
  private func checkRecord(_ key: [UInt8]) throws {
    if try isNull(key) { return }
    let terms = try reader.withRecord(key, of: plan) { try index.termKeys($0) } ?? []
    for terms in terms { try key.lend { try check(terms, of: $0) } }
  }

  private func isNull(_ key: [UInt8]) throws -> Bool {
    try reader.withRecord(key, of: plan) { try index.hasNull($0) } ?? false
  }

  private func notUnique(_ key: Key, takenBy other: Key) -> DatabaseError {
    .notUnique(
      plan.path.appending(key), index: index.definition.terms.map(\.property),
      takenBy: plan.path.appending(other))
  }

  // MARK: One record

  /// Refuses terms of a record that another record has.
  ///
  /// - Throws: ``DatabaseError/notUnique(_:index:takenBy:)``.
  func check(_ terms: [UInt8], of key: RawSpan) throws {
    if let other = try owner(of: terms, except: key) {
      throw notUnique(try Key(key), takenBy: other)
    }
  }

  /// The record other than the given one that has an entry with given terms.
  ///
  /// An entry is cut if its terms leave no room for its record's key. So the same terms may be
  /// stored whole, or cut at any place from which a long key fills the entry: each is looked up,
  /// since the range between may be a whole index whose values have a common prefix.
  private func owner(of terms: [UInt8], except key: RawSpan) throws -> Key? {
    if let whole = try owner(from: terms, of: terms, except: key) { return whole }
    let textKeysOnly = IndexEntry.roomOfFixedKeys
    for place in plan.leastRoom..<max(plan.leastRoom, min(terms.count, textKeysOnly)) {
      let start = terms[..<place] + [KeyTag.text]
      if let cut = try owner(from: Array(start), of: terms, except: key) { return cut }
    }
    if terms.count <= textKeysOnly { return nil }
    return try owner(from: Array(terms[..<textKeysOnly]), of: terms, except: key)
  }

  /// The same among the entries that begin with `start`.
  private func owner(
    from start: [UInt8], of terms: [UInt8], except key: RawSpan
  ) throws -> Key? {
    var owner: Key?
    try reader.access.walk(reader.tables.index, startingWith: start) { entry, value in
      let (place, isCut) = try IndexEntry.split(entry, value)
      let own = entry.extracting(place)
      if own.equals(key) { return true }
      let entryTerms = entry.extracting(0..<place.lowerBound)
      let isSame = try isCut ? hasTerms(terms, own) : terms.lend { $0.equals(entryTerms) }
      if isSame { owner = try Key(own) }
      return !isSame
    }
    return owner
  }

  /// True if a record whose entry is cut has given terms.
  private func hasTerms(_ terms: [UInt8], _ key: RawSpan) throws -> Bool {
    try reader.withRecord(key.array(), of: plan) { try index.termKeys($0).contains(terms) } ?? false
  }
}

extension CollectionPlan {
  /// Refuses a record whose values in a unique index are those of another one.
  func checkUnique(
    _ reader: StateReader, key: RawSpan, old: RawSpan?, new: RawSpan
  ) throws {
    for index in indexes where index.isUnique {
      guard try index.has(new, key: key), try !index.hasNull(new) else { continue }
      if let old, try index.has(old, key: key), try index.hasSameTerms(old, new) { continue }
      for terms in try index.termKeys(new) {
        try UniquenessCheck(index, self, reader).check(terms, of: key)
      }
    }
  }
}

extension Key {
  fileprivate init(stored bytes: [UInt8]) throws { self = try bytes.lend { try Key($0) } }
}
