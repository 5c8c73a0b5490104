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
// be cut anywhere. Stored: per level, the lowest first, count u8, then per link, the oldest first,
// sequence u48 and index u32, little-endian.

/// Names a superseded version: an entry of history.
struct HistoryLink: Hashable {
  /// The transaction that replaced the version.
  var sequence: UInt64
  /// The entry's place among those of that transaction.
  var index: UInt32
}

/// The links that a version holds to earlier ones.
struct VersionLinks: Equatable {
  /// The lowest level first, in each the oldest link first.
  private(set) var levels: [[HistoryLink]] = []

  private static let fanout = 8
  /// The maximum number of levels: enough for as many versions as there are sequence numbers.
  static let levelsMax = 32
  private static let linkBytes = 10

  init() {}

  init(_ bytes: RawSpan) throws {
    var offset = 0
    while offset < bytes.byteCount {
      let count = Int(try bytes.load(UInt8.self, at: offset))
      offset += 1
      guard count <= VersionLinks.fanout, levels.count < VersionLinks.levelsMax else {
        throw DatabaseError.corrupt(reason: "a version has more links than can be")
      }
      var level: [HistoryLink] = []
      for _ in 0..<count {
        level.append(
          HistoryLink(
            sequence: try bytes.load48(at: offset),
            index: try bytes.load(UInt32.self, at: offset + 6)))
        offset += VersionLinks.linkBytes
      }
      levels.append(level)
    }
  }

  func stored() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(levels.reduce(0) { $0 + 1 + $1.count * VersionLinks.linkBytes })
    for level in levels {
      bytes.append(UInt8(level.count))
      for link in level {
        bytes.append48(link.sequence)
        bytes.append(littleEndian: link.index)
      }
    }
    return bytes
  }

  /// Adds the link of a version that is replaced.
  ///
  /// - Returns: The links that move into the replaced version's entry.
  mutating func add(_ link: HistoryLink) -> VersionLinks {
    var taken = VersionLinks()
    var level = 0
    while level < levels.count && levels[level].count == VersionLinks.fanout {
      taken.levels.append(levels[level])
      levels[level] = []
      level += 1
    }
    if level == levels.count { levels.append([]) }
    levels[level].append(link)
    return taken
  }

  /// Traps in debug builds if links do not lead back in time: from the highest level to the lowest,
  /// and within each, they ascend up to the transaction that made the version.
  func checkInvariants(upTo modified: UInt64) {
    #if DEBUG
      let links = levels.reversed().joined().map { ($0.sequence, $0.index) }
      precondition(zip(links, links.dropFirst()).allSatisfy { $0 < $1 }, "links lead forward")
      precondition(links.last.map { $0.0 <= modified } ?? true, "a link is of a later transaction")
    #endif
  }

  /// The link to the oldest version that was still present after a moment.
  func oldest(after moment: UInt64) -> HistoryLink? {
    for level in levels.reversed() {
      if let link = level.first(where: { $0.sequence > moment }) { return link }
    }
    return nil
  }
}
