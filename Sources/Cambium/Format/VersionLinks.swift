// The links from a node's present version to the earlier ones: a directory that spills.
//
// A link names an entry of history: the transaction that replaced the version, and the entry's
// place among those that this transaction replaced. The present version holds links in levels, at
// most eight in each. A version that is replaced goes into history, and a link to it into level 0.
// Once level 0 is full, the next version that is replaced takes level 0's links into its own
// entry, and the link to it goes into level 1; when that is full, its links are moved as well,
// and so on.
//
//     present   level 1: 9  18          level 0: 19 20 21
//     history   … 9 (holds 1…8) … 18 (holds 10…17) 19 20 21
//
// A version that is removed takes all of its links into its entry. So any of n versions is read
// through O(log₉ n) entries, an update reads none, and an entry names only older ones: history can
// be cut anywhere.
//
// A link also names the properties that changed when its version was replaced, and when those were
// that its entry holds. So the last change of a property is found through O(log₉ n) entries, too,
// however many changes of others there were since.
//
// Stored: per level, the lowest first, count u8, then per link, the oldest first, sequence u48,
// little-endian, index varint, and the names; see ChangedNames.swift. Links of the first form have
// an index u32 and no names, and become links that name any with the node's next change.

/// Names a superseded version: an entry of history.
struct HistoryLink: Hashable, Comparable {
  /// The transaction that replaced the version.
  var sequence: UInt64
  /// The entry's place among those of that transaction.
  var index: UInt32

  /// The older is the smaller.
  @inline(__always)
  static func < (a: HistoryLink, b: HistoryLink) -> Bool {
    (a.sequence, a.index) < (b.sequence, b.index)
  }
}

/// A link to an earlier version.
struct VersionLink: Equatable {
  let entry: HistoryLink
  /// The properties that its replacement, and those of the versions that its entry holds links to,
  /// may have changed.
  let changed: ChangedNames
}

/// The links that a version holds to earlier ones, in their stored form.
struct VersionLinks: Equatable {
  private var bytes: [UInt8] = []

  private static let fanout = 8
  /// The maximum number of levels: enough for as many versions as there are sequence numbers.
  static let levelsMax = 32

  init() {}

  /// Reads stored links, and checks their form.
  init(_ stored: RawSpan) throws {
    try VersionLinks.forEach(stored, isNaming: true) { _, _ in }
    bytes = stored.array()
  }

  /// Reads stored links of the first form.
  init(firstForm stored: RawSpan) throws {
    var level = -1
    var count = 0
    try VersionLinks.forEach(stored, isNaming: false) { place, link in
      while level < place {
        bytes.append(0)
        (level, count) = (level + 1, bytes.count - 1)
      }
      bytes[count] += 1
      VersionLinks.append(link, .any, to: &bytes)
    }
  }

  var isEmpty: Bool { bytes.isEmpty }

  func stored() -> [UInt8] { bytes }

  /// All links, the oldest first.
  var all: [VersionLink] {
    get throws {
      try bytes.lend { bytes in
        var levels: [[VersionLink]] = []
        var offset = 0
        while offset < bytes.byteCount {
          levels.append(try VersionLinks.level(bytes, at: &offset))
        }
        return levels.reversed().flatMap(\.self)
      }
    }
  }

  /// Adds the link of a version that is replaced, whose successor differs in some properties.
  ///
  /// - Returns: The links that move into the replaced version's entry.
  mutating func add(_ entry: HistoryLink, changing changed: ChangedNames) throws -> VersionLinks {
    var (full, start, end, changed) = (0, 0, 0, changed)
    try bytes.lend { bytes in
      while start < bytes.byteCount, try bytes.load(UInt8.self, at: start) == VersionLinks.fanout {
        for link in try VersionLinks.level(bytes, at: &start) { changed.formUnion(link.changed) }
        full += 1
      }
      end = start
      if end < bytes.byteCount { try VersionLinks.forEach(in: bytes, at: &end) { _, _ in } }
    }
    var taken = VersionLinks()
    if full > 0 { taken.bytes = Array(bytes[..<start]) }
    var kept = [UInt8](repeating: 0, count: full)
    kept.reserveCapacity(bytes.count + 24)
    kept.append(1 + (end > start ? bytes[start] : 0))
    if end > start { kept += bytes[(start + 1)..<end] }
    VersionLinks.append(entry, changed, to: &kept)
    kept += bytes[end...]
    bytes = kept
    return taken
  }

  /// Notes that the transaction that has added the newest link has changed more properties.
  mutating func noteNewest(_ changed: ChangedNames) throws {
    if changed == .none || isEmpty { return }
    var (offset, newest) = (0, 0..<0)
    var names = changed
    try bytes.lend { bytes in
      while newest.isEmpty && offset < bytes.byteCount {
        try VersionLinks.forEach(in: bytes, at: &offset) { _, range in newest = range }
      }
      var start = newest.lowerBound
      names.formUnion(try ChangedNames(bytes, at: &start))
    }
    var stored: [UInt8] = []
    names.append(to: &stored)
    bytes.replaceSubrange(newest, with: stored)
  }

  /// The link to the oldest version that was still present after a moment.
  func oldest(after moment: UInt64) throws -> HistoryLink? {
    try bytes.lend { try VersionLinks.oldest(after: moment, in: $0, isNaming: true) }
  }

  /// The same, of stored links of either form.
  static func oldest(
    after moment: UInt64, in bytes: RawSpan, isNaming: Bool
  ) throws -> HistoryLink? {
    // The higher a level is, the older are its links, so that the last level that has one counts.
    var (found, foundLevel) = (nil as HistoryLink?, -1)
    try forEach(bytes, isNaming: isNaming) { level, link in
      if link.sequence > moment && level != foundLevel { (found, foundLevel) = (link, level) }
    }
    return found
  }

  /// Traps in debug builds if links do not lead back in time: from the highest level to the lowest,
  /// and within each, they ascend up to the transaction that made the version.
  func checkInvariants(upTo modified: UInt64) throws {
    #if DEBUG
      let links = try all.map { ($0.entry.sequence, $0.entry.index) }
      precondition(zip(links, links.dropFirst()).allSatisfy { $0 < $1 }, "links lead forward")
      precondition(links.last.map { $0.0 <= modified } ?? true, "a link is of a later transaction")
    #endif
  }
}

// MARK: The stored form

extension VersionLinks {
  private static func append(
    _ entry: HistoryLink, _ changed: ChangedNames, to bytes: inout [UInt8]
  ) {
    bytes.append48(entry.sequence)
    bytes.append(varint: UInt64(entry.index))
    changed.append(to: &bytes)
  }

  /// Visits the links level by level, the lowest first, in each the oldest first.
  @inline(__always)
  private static func forEach(
    _ bytes: RawSpan, isNaming: Bool, _ body: (_ level: Int, HistoryLink) throws -> Void
  ) throws {
    var (offset, level) = (0, 0)
    while offset < bytes.byteCount {
      if level == levelsMax { throw tooMany }
      try forEach(in: bytes, at: &offset, isNaming: isNaming) { link, _ in try body(level, link) }
      level += 1
    }
  }

  /// Visits the links of one level, with the ranges of their names, and moves the offset behind it.
  @inline(__always)
  private static func forEach(
    in bytes: RawSpan, at offset: inout Int, isNaming: Bool = true,
    _ body: (HistoryLink, _ names: Range<Int>) throws -> Void
  ) throws {
    let count = Int(try bytes.load(UInt8.self, at: offset))
    if count > fanout { throw tooMany }
    offset += 1
    for _ in 0..<count {
      let sequence = try bytes.load48(at: offset)
      offset += 6
      let index = try index(in: bytes, at: &offset, isNaming: isNaming)
      let start = offset
      if isNaming { try ChangedNames.read(bytes, at: &offset) }
      try body(HistoryLink(sequence: sequence, index: index), start..<offset)
    }
  }

  /// The index in a link, which has a fixed length in the first form; moves the offset behind it.
  @inline(__always)
  private static func index(
    in bytes: RawSpan, at offset: inout Int, isNaming: Bool
  ) throws -> UInt32 {
    if isNaming {
      guard let index = UInt32(exactly: try bytes.varint(at: &offset)) else { throw tooMany }
      return index
    }
    defer { offset += 4 }
    return try bytes.load(UInt32.self, at: offset)
  }

  /// The links of one level, the oldest first; moves the offset behind it.
  private static func level(_ bytes: RawSpan, at offset: inout Int) throws -> [VersionLink] {
    var links: [VersionLink] = []
    try forEach(in: bytes, at: &offset) { entry, names in
      var start = names.lowerBound
      links.append(VersionLink(entry: entry, changed: try ChangedNames(bytes, at: &start)))
    }
    return links
  }

  private static let tooMany = DatabaseError.corrupt(
    reason: "a version has more links than can be")
}
