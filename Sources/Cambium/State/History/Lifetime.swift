// Finds how long a place in the tree has held what it holds, and when that changes next.
//
// A node's *lifetime* at a place goes from the transaction that put it there to the one that took
// it away. All versions of one lifetime hang on its last one, the present or the removed one,
// since a node that comes back or is moved starts without links. So the newest removal before a
// moment, the first one after it, and the oldest links give the bounds of a lifetime in
// O(log versions) entries, without the log.
//
// Versions that were replaced up to the horizon are cut off. So no link to them is followed, and a
// transaction up to the horizon is known only as such: the number given for it is some number up to
// the horizon.

import LMDB

/// The state of a place at a moment: held by a node, or empty.
enum Occupancy {
  case held(Lifetime)
  /// Nothing is there: since the last removal, or zero, until something comes again.
  case empty(since: UInt64, until: UInt64?)
}

/// A node's lifetime at a place, and which of its versions a moment sees.
struct Lifetime {
  /// The transaction that put the node there.
  let placed: UInt64
  /// The transaction that made the version.
  let modified: UInt64
  /// The transaction that replaced the version, or took the node away; nil if none has yet.
  let replaced: UInt64?
  /// The transaction that took the node away; nil if it is still there.
  let end: UInt64?
  /// The node id that the children's keys begin with; 0 where the node never had any.
  let node: UInt64
}

/// A version with its links, and the entry of history that holds it; nil for the present one.
private struct LinkedVersion {
  let header: NodeHeader
  let links: VersionLinks
  let entry: HistoryLink?

  init(_ version: RawSpan, _ key: RawSpan, entry: HistoryLink?) throws {
    header = try NodeHeader(version, key: key)
    links = header.hasLinks ? try header.links(version) : VersionLinks()
    self.entry = entry
  }
}

extension StateReader {
  /// The occupancy of a place, by the tree's key, as of a moment at or after the horizon; throws as
  /// all reading of history does.
  func occupancy(
    _ key: RawSpan, asOf moment: UInt64, horizon: UInt64
  ) throws -> Occupancy {
    var until: UInt64?
    if let present = try access.get(tables.tree, key, { try LinkedVersion($0, key, entry: nil) }) {
      let placed = try placed(present, key, horizon)
      if placed <= moment { return .held(try lifetime(present, placed, key, moment)) }
      until = placed
    }
    if let removal = try removal(key, from: HistoryLink(sequence: moment + 1, index: 0))?.link {
      let removed = try superseded(removal, key)
      let placed = try placed(removed, key, horizon)
      if placed <= moment { return .held(try lifetime(removed, placed, key, moment)) }
      until = placed
    }
    return .empty(since: try lastRemoval(key, upTo: moment), until: until)
  }

  /// The lifetime that ends with a version.
  private func lifetime(
    _ last: LinkedVersion, _ placed: UInt64, _ key: RawSpan, _ moment: UInt64
  ) throws -> Lifetime {
    var version = last
    while version.header.modified > moment {
      guard let older = try older(version, after: moment, key) else { throw HistoryDamage.loop }
      version = older
    }
    return Lifetime(
      placed: placed, modified: version.header.modified, replaced: version.entry?.sequence,
      end: last.entry?.sequence, node: last.header.node)
  }

  /// The transaction that made the first version of a lifetime.
  private func placed(
    _ last: LinkedVersion, _ key: RawSpan, _ horizon: UInt64
  ) throws -> UInt64 {
    var version = last
    while let older = try older(version, after: horizon, key) { version = older }
    return version.header.modified
  }

  /// The oldest version that a version links to and that was still in place after a moment.
  private func older(
    _ version: LinkedVersion, after moment: UInt64, _ key: RawSpan
  ) throws -> LinkedVersion? {
    guard let link = version.links.oldest(after: moment) else { return nil }
    // An entry names only older ones, so a search ends whatever the bytes say.
    if let entry = version.entry, (link.sequence, link.index) >= (entry.sequence, entry.index) {
      throw HistoryDamage.loop
    }
    return try superseded(link, key)
  }

  private func superseded(_ link: HistoryLink, _ key: RawSpan) throws -> LinkedVersion {
    try historyVersion(link, key) { try LinkedVersion($0, key, entry: link) }
  }

  /// The newest transaction up to a moment that took a node away from a place; zero for none.
  private func lastRemoval(_ key: RawSpan, upTo moment: UInt64) throws -> UInt64 {
    let bound = HistoryEntry.removalKey(
      key.array(), HistoryLink(sequence: moment + 1, index: 0))
    let prefixCount = key.byteCount + 1
    var cursor = try Cursor(access, tables.removals)
    guard try bound.lend({ try cursor.seekBefore($0) }) else { return 0 }
    return try cursor.withEntry { found, _ in
      guard found.byteCount == bound.count,
        bound.lend({ $0.extracting(0..<prefixCount).equals(found.extracting(0..<prefixCount)) })
      else { return 0 }
      return try HistoryEntry.link(endOf: found).sequence
    }
  }
}
