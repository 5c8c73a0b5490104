// Finds since when a place in the tree has had its present content, and when that changes next.
//
// The lifetime of a node at a place goes from the transaction that put it there to the
// one that removed it. All versions of one lifetime are linked from its last one, the present
// version or the removed one, since a node that is restored or moved starts without links. So the
// newest removal before a moment, the first one after it, and the oldest links determine the ends
// of lifetimes, in O(log versions) entries, without the log.
//
// Versions that were replaced up to the horizon are cut off. So no link to them is followed, and a
// transaction up to the horizon is known only as such: the number returned for it is some number up
// to the horizon.

import LMDB

/// The state of a place at a moment: held by a node, or empty.
enum Occupancy {
  case held(Lifetime)
  /// The place is empty: since the last removal, or zero, until a node arrives again.
  case empty(since: UInt64, until: UInt64?)
}

/// A node's lifetime at a place, and the version of it that is visible at a moment.
struct Lifetime {
  /// The transaction that put the node there.
  let placed: UInt64
  /// The transaction that made the version.
  let modified: UInt64
  /// The transaction that replaced the version, or removed the node; nil if none has yet.
  let replaced: UInt64?
  /// The entry of history that holds the removed node; nil if it is still there.
  let removal: HistoryLink?
  /// The node id that the children's keys begin with; 0 if the node never had any.
  let node: UInt64

  /// The transaction that removed the node; nil if it is still there.
  var end: UInt64? { removal?.sequence }
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
  /// all reads of history do.
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
      removal: last.entry, node: last.header.node)
  }

  /// The transaction that made the first version of a lifetime.
  private func placed(
    _ last: LinkedVersion, _ key: RawSpan, _ horizon: UInt64
  ) throws -> UInt64 {
    var version = last
    while let older = try older(version, after: horizon, key) { version = older }
    return version.header.modified
  }

  /// The oldest version that a version links to and that was still present after a moment.
  private func older(
    _ version: LinkedVersion, after moment: UInt64, _ key: RawSpan
  ) throws -> LinkedVersion? {
    guard let link = try version.links.oldest(after: moment) else { return nil }
    // An entry names only older ones, so a search ends whatever the bytes are.
    if let entry = version.entry, link >= entry { throw HistoryDamage.loop }
    return try superseded(link, key)
  }

  private func superseded(_ link: HistoryLink, _ key: RawSpan) throws -> LinkedVersion {
    try historyVersion(link, key) { try LinkedVersion($0, key, entry: link) }
  }

  /// The newest transaction up to a moment that removed a node from a place; zero for none.
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
