// Reading the tree as of a past moment.
//
// As of S, a node is its present version if that was made at or before S; else the newest earlier
// version that was, found through its links in O(log versions) entries; else the version that its
// place held before a later removal. A link names the transaction that replaced its version, so the
// search follows the oldest version that was still present after S, and continues with the links
// in that version's entry.

import LMDB

extension StateReader {
  /// Lends a node's version as of a moment.
  ///
  /// - Parameters:
  ///   - key: The tree's key.
  ///   - moment: The moment, or nil for the present.
  ///   - body: Takes the version's header and its whole bytes.
  /// - Returns: nil if there was no such node.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  @inline(__always)
  func version<R>(
    _ key: RawSpan, asOf moment: UInt64?, _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    guard let moment else {
      return try access.get(tables.tree, key) { try body(NodeHeader($0, key: key), $0) }
    }
    return try pastVersion(key, moment, body)
  }

  /// The outcome of inspecting a version: it is the right one, or it is too young, with the place
  /// to continue at.
  private enum Step<R> {
    case found(R)
    case earlier(HistoryLink?)
  }

  private func pastVersion<R>(
    _ key: RawSpan, _ moment: UInt64, _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    var history = NearLookup(access, tables.history)
    var arrival: UInt64?
    let present = try access.get(tables.tree, key) { try step(key, moment, $0, &arrival, body) }
    let found = try follow(present ?? .earlier(nil), key, moment, &history, &arrival, body)
    return try found ?? removedVersion(key, asOf: moment, &history, &arrival, body)
  }

  /// Lends a node's version as of a moment, if it is that of the node's present lifetime, whose
  /// version now is at hand; see ``version(_:asOf:_:)``. `history` looks up in that table, quickly
  /// where nodes were changed together. `arrival` becomes the transaction that made the lifetime's
  /// first version, if that is later than the moment, and earlier than the arrival so far.
  func version<R>(
    _ key: RawSpan, asOf moment: UInt64, from present: RawSpan, _ history: inout NearLookup,
    _ arrival: inout UInt64?, _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    let start = try step(key, moment, present, &arrival, body)
    return try follow(start, key, moment, &history, &arrival, body)
  }

  /// Lends a node's version as of a moment, if it is that of a lifetime that has ended since;
  /// `history` and `arrival` as in ``version(_:asOf:from:_:_:_:)``.
  func removedVersion<R>(
    _ key: RawSpan, asOf moment: UInt64, _ history: inout NearLookup, _ arrival: inout UInt64?,
    _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    guard let removal = try removal(key, after: moment) else { return nil }
    return try follow(.earlier(removal), key, moment, &history, &arrival, body)
  }

  private func step<R>(
    _ key: RawSpan, _ moment: UInt64, _ version: RawSpan, _ arrival: inout UInt64?,
    _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> Step<R> {
    let header = try NodeHeader(version, key: key)
    if header.modified <= moment { return .found(try body(header, version)) }
    arrival = min(arrival ?? .max, header.modified)
    return .earlier(try header.oldestLink(version, after: moment))
  }

  private func follow<R>(
    _ start: Step<R>, _ key: RawSpan, _ moment: UInt64, _ history: inout NearLookup,
    _ arrival: inout UInt64?, _ body: (NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    var current = start
    var bound = HistoryLink(sequence: .max, index: 0)
    while true {
      switch current {
      case .found(let result): return result
      case .earlier(nil): return nil
      case .earlier(let link?):
        // An entry names only older ones, so this ends whatever the bytes are.
        guard link < bound else { throw HistoryDamage.loop }
        bound = link
        current = try historyVersion(link, key, &history) {
          try step(key, moment, $0, &arrival, body)
        }
      }
    }
  }

  /// Lends a superseded version of the node with a given tree key.
  func historyVersion<R>(
    _ link: HistoryLink, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R {
    var history = NearLookup(access, tables.history)
    return try historyVersion(link, key, &history, body)
  }

  private func historyVersion<R>(
    _ link: HistoryLink, _ key: RawSpan, _ history: inout NearLookup, _ body: (RawSpan) throws -> R
  ) throws -> R {
    func lend(_ entry: RawSpan) throws -> R {
      let (stored, version) = try HistoryEntry.parts(entry)
      guard entry.extracting(stored).equals(key) else { throw HistoryDamage.wrongNode(link) }
      return try body(entry.extracting(version))
    }
    let found = try HistoryEntry.lendKey(link) { try history.lend($0, lend) }
    guard let found else { throw HistoryDamage.missing(link) }
    return found
  }

  /// The first removal of a node after a moment.
  private func removal(_ key: RawSpan, after moment: UInt64) throws -> HistoryLink? {
    try removal(key, from: HistoryLink(sequence: moment + 1, index: 0))?.link
  }

  /// The first removal of a node at or after a place in history, with its fate.
  func removal(
    _ key: RawSpan, from place: HistoryLink
  ) throws -> (link: HistoryLink, fate: RemovalFate)? {
    let bound = HistoryEntry.removalKey(key.array(), place)
    let prefixCount = key.byteCount + 1
    var cursor = try Cursor(access, tables.removals)
    guard try bound.lend({ try cursor.seek($0) }) else { return nil }
    return try cursor.withEntry { found, value -> (link: HistoryLink, fate: RemovalFate)? in
      guard found.byteCount == bound.count,
        bound.lend({ $0.extracting(0..<prefixCount).equals(found.extracting(0..<prefixCount)) })
      else { return nil }
      return (try HistoryEntry.link(endOf: found), try RemovalFate(value))
    }
  }
}

/// The fate of a removed version: the value of its entry in `removals`.
///
///     00                            it may be restored
///     01                            it was moved elsewhere
///     02 | sequence number u64      that transaction has restored it, the last one that did
///     03                            the same transaction had restored it and changed its subtree
enum RemovalFate: Equatable {
  case removed
  case moved
  case restored(by: UInt64)
  case changed

  /// True if the node's subtree is found through this removal alone.
  var holdsSubtree: Bool { self == .removed || self == .changed }

  init(_ stored: RawSpan) throws {
    switch try stored.load(UInt8.self, at: 0) {
    case 0: self = .removed
    case 1: self = .moved
    case 3: self = .changed
    default: self = .restored(by: try stored.load(UInt64.self, at: 1))
    }
  }

  func stored() -> [UInt8] {
    switch self {
    case .removed: return [0]
    case .moved: return [1]
    case .changed: return [3]
    case .restored(let sequence):
      var bytes: [UInt8] = [2]
      bytes.append(littleEndian: sequence)
      return bytes
    }
  }
}

/// The entries of the table `history`, and the keys of `removals`.
enum HistoryEntry {
  /// The key of a superseded version.
  static func key(_ link: HistoryLink) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(12)
    key.append(bigEndian: link.sequence)
    key.append(bigEndian: link.index)
    return key
  }

  /// Lends the key of a superseded version, without an allocation: a walk in the past looks up one
  /// for most children.
  @inline(__always)
  static func lendKey<R>(_ link: HistoryLink, _ body: (RawSpan) throws -> R) rethrows -> R {
    let words: InlineArray<3, UInt32> = [
      UInt32(truncatingIfNeeded: link.sequence >> 32).bigEndian,
      UInt32(truncatingIfNeeded: link.sequence).bigEndian, link.index.bigEndian,
    ]
    return try words.lend(body)
  }

  /// An entry: length of the tree's key u16, key, version.
  static func stored(_ treeKey: [UInt8], _ version: RawSpan) -> [UInt8] {
    var entry: [UInt8] = []
    entry.reserveCapacity(2 + treeKey.count + version.byteCount)
    treeKey.lend { appendStart($0, to: &entry) }
    entry.append(version)
    return entry
  }

  /// Adds the part of an entry that comes before the version.
  @inline(__always)
  static func appendStart(_ treeKey: RawSpan, to entry: inout some ByteSink & ~Copyable) {
    entry.append(littleEndian: UInt16(treeKey.byteCount))
    entry.append(treeKey)
  }

  /// The ranges of the tree's key and the version in an entry.
  static func parts(_ entry: RawSpan) throws -> (key: Range<Int>, version: Range<Int>) {
    let count = Int(try entry.load(UInt16.self, at: 0))
    try entry.check(2, count)
    return (2..<(2 + count), (2 + count)..<entry.byteCount)
  }

  /// The number of bytes of a removal's key after the tree's key: 0, sequence number u64, index
  /// u32.
  static let removalSuffixCount = 13

  /// The key of a removal: the tree's key, 0, and the entry of history that holds the removed
  /// version.
  static func removalKey(_ treeKey: [UInt8], _ link: HistoryLink) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(treeKey.count + removalSuffixCount)
    treeKey.lend { appendRemovalKey($0, link, to: &key) }
    return key
  }

  /// Adds the key of a removal.
  @inline(__always)
  static func appendRemovalKey(
    _ treeKey: RawSpan, _ link: HistoryLink, to key: inout some ByteSink & ~Copyable
  ) {
    key.append(treeKey)
    key.append(0)
    key.append(bigEndian: link.sequence)
    key.append(bigEndian: link.index)
  }

  /// The entry of history at the end of a removal's key.
  static func link(endOf key: RawSpan) throws -> HistoryLink {
    let sequence = try key.load(UInt64.self, at: key.byteCount - 12)
    let index = try key.load(UInt32.self, at: key.byteCount - 4)
    return HistoryLink(
      sequence: UInt64(bigEndian: sequence.littleEndian),
      index: UInt32(bigEndian: index.littleEndian))
  }
}

/// The kinds of damage of history.
enum HistoryDamage {
  static let loop = DatabaseError.corrupt(reason: "a node's versions are linked in a circle")

  static func missing(_ link: HistoryLink) -> DatabaseError {
    .corrupt(reason: "the version replaced by \(link.sequence) (\(link.index)) is missing")
  }

  static func wrongNode(_ link: HistoryLink) -> DatabaseError {
    .corrupt(reason: "the version replaced by \(link.sequence) (\(link.index)) is another node's")
  }
}
