// Reads the records that may be results, along the plan's access path.

import LMDB

/// One walk along an access path.
///
/// An object with constants: the closures that are called for each record read them without copying
/// a plan, and without a check for exclusive access.
final class CandidateReader {
  /// Takes a key, its record, and true if the condition is known to accept it.
  typealias Visit = (_ key: RawSpan, _ record: RawSpan, _ isTested: Bool) throws -> Bool

  let access: AccessPlan
  /// The cursor behind which results that are not sorted go on.
  let after: QueryCursor?
  let records: QueryRecords
  let work: QueryWork
  /// The part of the condition that is left behind an index, which accepts everything where there
  /// is none. A program that a closure holds, or that is optional, is copied for each record.
  private let residual: ConditionProgram
  /// The index entry at which the visitor ended the walk, as a cursor has it; nil for no index.
  private(set) var lastEntry: LastEntry?

  /// An entry that a cursor names. Of those that are sorted, since one of them is cut, it is what
  /// they all begin with, and the place among them says which.
  struct LastEntry {
    var entry: [UInt8]
    var place: [UInt8]?
  }

  init(_ access: AccessPlan, after: QueryCursor?, _ records: QueryRecords, _ work: QueryWork) {
    self.access = access
    residual = access.residual ?? .everything
    self.after = after
    self.records = records
    self.work = work
  }

  /// Visits the records of a collection that may be results, as long as the visitor wants more.
  func forEach(in collection: NodePath, _ visit: Visit) throws {
    guard let node = try records.node(collection) else { return }
    switch access.path {
    case .scan, .keyRange: try scan(node, visit)
    case .keys(let keys): try lookUp(RecordCursor(records, node: node), keys, visit)
    case .index(let scan): try walk(scan, RecordCursor(records, node: node), visit)
    case .both(let one, let other):
      try intersect(one, other, RecordCursor(records, node: node), visit)
    case .corrected(let scan, let changed):
      try correct(scan, changed, RecordCursor(records, node: node), visit)
    case .top(let scan): try walk(scan, RecordCursor(records, node: node), visit)
    }
  }

  // MARK: Keys

  private func lookUp(
    _ found: consuming RecordCursor, _ keys: [[UInt8]], _ visit: Visit
  ) throws {
    let range = ClosedOpenBytes(from: [], upTo: nil).behind(after, isReversed: false)
    for (index, key) in keys.enumerated() {
      if index % RecordCursor.expectedMax == 0, found.isScattered {
        for later in keys[index...].prefix(RecordCursor.expectedMax) {
          later.lend { found.expect($0) }
        }
      }
      let goesOn = try key.lend { key -> Bool in
        guard range.contains(key) else { return true }
        return try fetch(&found, key, isTested: false, visit)
      }
      if !goesOn { return }
    }
  }

  /// Visits the record of a key, if there is one.
  @inline(__always)
  private func fetch(
    _ found: inout RecordCursor, _ key: RawSpan, isTested: Bool, _ visit: Visit
  ) throws -> Bool {
    try found.lend(key) { record in
      try work.count(records: 1)
      return try visit(key, record, isTested)
    } ?? true
  }

  // MARK: Indexes

  private func walk(
    _ scan: IndexScan, _ found: consuming RecordCursor, _ visit: Visit
  ) throws {
    try CandidateReader.noProperties.lend { try walk(scan, &found, $0, visit) }
  }

  /// The stored record of an entry that covers nothing.
  private static let noProperties: [UInt8] = [0, 0]

  private func walk(
    _ scan: IndexScan, _ found: inout RecordCursor, _ noProperties: RawSpan, _ visit: Visit
  ) throws {
    let (hasRecord, isCovering) = (scan.index.isCovering, scan.isCovering)
    let mayBeCut = access.cutOrder != nil
    var held = HeldEntries()
    // A cursor among such entries counts as being at all of them, whatever has become of those that
    // are cut.
    if mayBeCut, let after, !after.order.isEmpty {
      held = HeldEntries(after.entry)
    }
    try forEachEntry(scan, &found, looksUp: !isCovering) { found, entry, value, own, isCut in
      if mayBeCut, !held.isEmpty || isCut {
        if !held.takes(entry), try !release(&held, &found, visit) { return false }
        if isCut && held.isEmpty {
          held = HeldEntries(entry.extracting(0..<(entry.byteCount - own.byteCount)).array())
        }
        if !held.isEmpty {
          held.keys.append(own.array())
          return true
        }
      }
      let goesOn =
        isCut || !isCovering
        ? try fetchRest(&found, own, isCut, visit)
        : try visitEntry(own, hasRecord ? value.extracting(droppingFirst: 2) : noProperties, visit)
      if !goesOn { lastEntry = LastEntry(entry: entry.array()) }
      return goesOn
    }
    _ = try release(&held, &found, visit)
  }

  /// Visits entries that were held back, in the order of what their records have.
  private func release(
    _ held: inout HeldEntries, _ found: inout RecordCursor, _ visit: Visit
  ) throws -> Bool {
    guard let order = access.cutOrder, !held.isEmpty else { return true }
    var places: [(place: [UInt8], key: [UInt8])] = []
    var place = ByteBuffer()
    for key in held.keys {
      try key.lend { own in
        _ = try found.lend(own) { record in
          try order.write(record, key: own, records, to: &place)
          places.append((place.array(), key))
        }
      }
    }
    places.sort { $0.place.lexicographicallyPrecedes($1.place) }
    if let after, after.entry == held.prefix {
      let (place, isJoined) = (after.place, !after.joined.isEmpty)
      places.removeAll {
        !place.lexicographicallyPrecedes($0.place) && !(isJoined && place == $0.place)
      }
    }
    let prefix = held.prefix
    held = HeldEntries()
    for (place, key) in places {
      if try !key.lend({ try fetchWhole(&found, $0, visit) }) {
        lastEntry = LastEntry(entry: prefix, place: Array(place.dropLast(key.count)))
        return false
      }
    }
    return true
  }

  /// Visits a record that an entry led to, of which only the rest of the condition is to be tested.
  @inline(__always)
  private func fetchRest(
    _ found: inout RecordCursor, _ key: RawSpan, _ isCut: Bool, _ visit: Visit
  ) throws -> Bool {
    if isCut { return try fetchWhole(&found, key, visit) }
    return try found.lend(key) { record in
      try work.count(records: 1)
      return try visitEntry(key, record, visit)
    } ?? true
  }

  /// Visits a record whose entry is cut: all of the condition is to be tested. The steps after it
  /// take the record as the entry has it, where they read previews.
  private func fetchWhole(
    _ found: inout RecordCursor, _ key: RawSpan, _ visit: Visit
  ) throws -> Bool {
    guard let scan = access.scan, !scan.previews.isEmpty else {
      return try fetch(&found, key, isTested: false, visit)
    }
    return try found.lend(key) { record in
      try work.count(records: 1)
      if let program = access.program, try !program.accepts(record, key: key, records) {
        return true
      }
      let copies = try IndexEntry.copies(scan.index, record, records.reader)
      return try copies.lend { try visit(key, $0, true) }
    } ?? true
  }

  @inline(__always)
  private func visitEntry(
    _ key: RawSpan, _ record: RawSpan, _ visit: Visit
  ) throws -> Bool {
    guard try residual.accepts(record, key: key, records) else { return true }
    return try visit(key, record, true)
  }

  /// Takes the records by key, an entry, its value, the record's key in it, and true if it is cut.
  private typealias VisitEntry = (
    _ found: inout RecordCursor, _ entry: RawSpan, _ value: RawSpan, _ own: RawSpan, _ isCut: Bool
  ) throws -> Bool

  /// Visits the entries in the ranges of an index.
  ///
  /// - Parameters:
  ///   - scan: The index and the ranges.
  ///   - found: The records by key, for `body`.
  ///   - looksUp: True if `body` looks up the record of each entry: some are then looked for
  ///     together.
  ///   - body: Returns false to end the walk.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  private func forEachEntry(
    _ scan: IndexScan, _ found: inout RecordCursor, looksUp: Bool, _ body: VisitEntry
  ) throws {
    for range in scan.isReversed ? scan.ranges.reversed() : scan.ranges {
      if try !forEachEntry(range, scan, &found, looksUp, body) { return }
    }
  }

  private func forEachEntry(
    _ range: ClosedOpenBytes, _ scan: IndexScan, _ found: inout RecordCursor, _ looksUp: Bool,
    _ body: VisitEntry
  ) throws -> Bool {
    // Cut entries are found by what is there of every entry; others are compared with the bounds. A
    // cursor is at an entry as stored, cut or not.
    let wide = range.widened.behind(after, scan)
    if wide.isEmpty { return true }
    let (isWider, isReversed) = (range.widened != range, scan.isReversed)
    var cursor = try Cursor(records.reader.access, records.reader.tables.index)
    guard try cursor.seek(to: wide, isReversed: isReversed) else { return true }
    var wantsMore = true
    try cursor.walkBatches(isReversed: isReversed) { batch in
      for index in 0..<batch.count {
        if looksUp { CandidateReader.expect(batch, from: index, wide, scan, &found) }
        let goesOn = try batch.lend(index) { entry, value in
          if wide.ends(before: entry, isReversed: isReversed) { return false }
          let (place, isCut) = try IndexEntry.split(entry, value)
          try work.count(entries: 1)
          if isWider && !isCut && !range.contains(entry) { return true }
          wantsMore = try body(&found, entry, value, entry.extracting(place), isCut)
          return wantsMore
        }
        if !goesOn { return false }
      }
      return true
    }
    return wantsMore
  }

  /// Announces the records of an entry and of those behind it, once for every few entries.
  private static func expect(
    _ batch: borrowing EntryBatch, from index: Int, _ range: ClosedOpenBytes, _ scan: IndexScan,
    _ found: inout RecordCursor
  ) {
    guard index % RecordCursor.expectedMax == 0, found.isScattered else { return }
    for later in index..<min(index + RecordCursor.expectedMax, batch.count) {
      batch.lend(later) { entry, value in
        // An entry that cannot be read is told of when it is visited.
        guard !range.ends(before: entry, isReversed: scan.isReversed),
          let place = try? IndexEntry.split(entry, value).record
        else { return }
        found.expect(entry.extracting(place))
      }
    }
  }

  private func walk(
    _ scan: TopScan, _ found: consuming RecordCursor, _ visit: Visit
  ) throws {
    let reader = TopReader(number: scan.number, plan: scan.plan, reader: records.reader)
    try reader.forEach(at: scan.place) { key in
      try work.count(entries: 1)
      return try fetch(&found, key, isTested: false, visit)
    }
  }

  private func intersect(
    _ one: IndexScan, _ other: IndexScan, _ found: consuming RecordCursor, _ visit: Visit
  ) throws {
    var first: Set<[UInt8]> = []
    var found = found
    try forEachEntry(one, &found, looksUp: false) { _, _, _, own, _ in
      first.insert(own.array())
      return true
    }
    var keys: [[UInt8]] = []
    try forEachEntry(other, &found, looksUp: false) { _, _, _, own, _ in
      let key = own.array()
      if first.remove(key) != nil { keys.append(key) }
      return true
    }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    try lookUp(found, keys, visit)
  }

  private func correct(
    _ scan: IndexScan, _ changed: [[UInt8]], _ found: consuming RecordCursor, _ visit: Visit
  ) throws {
    var found = found
    for key in changed {
      if try !key.lend({ try fetch(&found, $0, isTested: false, visit) }) { return }
    }
    let done = Set(changed)
    try forEachEntry(scan, &found, looksUp: false) { found, _, _, own, _ in
      if done.contains(own.array()) { return true }
      return try fetch(&found, own, isTested: false, visit)
    }
  }
}

extension ClosedOpenBytes {
  /// A range that certainly holds all cut entries of this one.
  var widened: ClosedOpenBytes {
    let most = IndexEntry.boundBytesMax
    var wide = self
    if lower.count > most { wide.lower = Array(lower.prefix(most)) }
    if let upper, upper.count > most {
      wide.upper = ClosedOpenBytes.successor(Array(upper.prefix(most)))
    }
    return wide
  }

  /// The part of a range of keys that lies behind a cursor, where keys come in the wanted order.
  func behind(_ cursor: QueryCursor?, isReversed: Bool) -> ClosedOpenBytes {
    guard let cursor else { return self }
    // More may be joined to the record at which the page before ended.
    let (key, next) = (cursor.key, cursor.key + [0])
    let isAlone = cursor.joined.isEmpty
    return intersection(
      isReversed
        ? ClosedOpenBytes(from: [], upTo: isAlone ? key : next)
        : ClosedOpenBytes(from: isAlone ? next : key, upTo: nil))
  }

  /// The part of the range after the entry at a cursor. Where that is one of the entries that are
  /// sorted together, all of them are included.
  fileprivate func behind(_ cursor: QueryCursor?, _ scan: IndexScan) -> ClosedOpenBytes {
    guard let cursor, cursor.index == scan.index.number else { return self }
    let (entry, next) = (cursor.entry, cursor.entry + [0])
    let isAlone = cursor.joined.isEmpty
    if scan.isReversed {
      return intersection(ClosedOpenBytes(from: [], upTo: isAlone ? entry : next))
    }
    return intersection(
      ClosedOpenBytes(from: cursor.order.isEmpty && isAlone ? next : entry, upTo: nil))
  }
}

/// Entries that lie side by side in an index and have lost their order, since one of them is cut.
private struct HeldEntries {
  /// The bytes with which they all begin; nothing where there are none.
  let prefix: [UInt8]
  var keys: [[UInt8]] = []

  init(_ prefix: [UInt8] = []) { self.prefix = prefix }

  var isEmpty: Bool { prefix.isEmpty }

  /// True if an entry is one of them.
  func takes(_ entry: RawSpan) -> Bool {
    !isEmpty && prefix.lend { entry.starts(with: $0) }
  }
}

extension Cursor {
  /// Goes to where a walk through a range begins.
  ///
  /// - Returns: True if there is an entry, which may lie beyond the other bound.
  mutating func seek(to range: ClosedOpenBytes, isReversed: Bool) throws -> Bool {
    guard isReversed else { return try range.lower.lend { try seek($0) } }
    guard let upper = range.upper else { return try last() }
    return try upper.lend { try seekBefore($0) }
  }
}
