// Walking the versions of one lifetime of a node one by one.
//
// A version's links lead to a tree: those that it holds itself, each with those that its entry of
// history holds. Their order in time is the order of a walk through that tree which visits each
// entry after what it holds. So a step to the next version, in either direction, reads one entry,
// and the frames on the way to the present one are all that is kept.
//
//     present  ─▶ 9 18 19 20 21        21 ◀ 20 ◀ 19 ◀ 18 ◀ 17 …  each by its own link
//     18       ─▶ 10 … 17
//
// A link names the properties that may have changed up to its version's replacement, so that a walk
// back to the last change of one passes all links that do not name it.

import LMDB

/// A place among the versions of one lifetime of a node.
struct VersionChain {
  /// A version that a node had.
  struct Version {
    let modified: UInt64
    /// The transaction that replaced it, or removed the node; nil for the present version.
    let replaced: UInt64?
    let kind: ContentKind
    let content: [UInt8]
    fileprivate let links: [VersionLink]
  }

  /// The links of one version on the way from the last one, and the one that was taken.
  private struct Frame {
    let owner: HistoryLink?
    let links: [VersionLink]
    var index: Int
  }

  private let reader: StateReader
  /// The tree's key of the node.
  private let key: [UInt8]
  /// Links to versions that were replaced up to it are not followed: those may be cut.
  private let horizon: UInt64
  private var frames: [Frame] = []
  /// The version at this place.
  private(set) var current: Version
  private var entry: HistoryLink?

  /// Goes to the version of a node, by its tree key, that was visible at a moment, in the lifetime
  /// that ends with an entry of history; nil for the present one.
  init(
    _ reader: StateReader, _ key: [UInt8], endingWith removal: HistoryLink?, asOf moment: UInt64,
    horizon: UInt64
  ) throws {
    (self.reader, self.key, self.horizon) = (reader, key, horizon)
    current = try VersionChain.load(reader, key, removal)
    entry = removal
    while current.modified > moment {
      guard let index = current.links.firstIndex(where: { $0.entry.sequence > moment }) else {
        throw HistoryDamage.loop
      }
      try push(current.links, index)
    }
  }

  /// Goes to the version before, or to one further back whose replacement may have changed what is
  /// wanted.
  ///
  /// - Returns: False at the oldest one that can be read; the place is then of no more use.
  mutating func older(where isWanted: (ChangedNames) -> Bool = { _ in true }) throws -> Bool {
    if let index = older(in: current.links, before: current.links.count, isWanted) {
      try push(current.links, index)
      return true
    }
    while let frame = frames.popLast() {
      if let index = older(in: frame.links, before: frame.index, isWanted) {
        try push(frame.links, index, owner: frame.owner)
        return true
      }
    }
    return false
  }

  /// Goes to the version after.
  ///
  /// - Returns: False at the lifetime's last one.
  mutating func newer() throws -> Bool {
    guard let frame = frames.popLast() else { return false }
    guard frame.index + 1 < frame.links.count else {
      entry = frame.owner
      current = try VersionChain.load(reader, key, frame.owner)
      return true
    }
    try push(frame.links, frame.index + 1, owner: frame.owner)
    while let index = current.links.firstIndex(where: { $0.entry.sequence > horizon }) {
      try push(current.links, index)
    }
    return true
  }

  /// The newest wanted link before a place that can be followed.
  private func older(
    in links: [VersionLink], before end: Int, _ isWanted: (ChangedNames) -> Bool
  ) -> Int? {
    links[..<end].lastIndex { $0.entry.sequence > horizon && isWanted($0.changed) }
  }

  /// Follows one of the current version's links.
  private mutating func push(_ links: [VersionLink], _ index: Int) throws {
    try push(links, index, owner: entry)
  }

  /// Follows one of a version's links.
  private mutating func push(
    _ links: [VersionLink], _ index: Int, owner: HistoryLink?
  ) throws {
    let next = links[index].entry
    // An entry names only older ones, so a walk ends whatever the bytes are.
    if let owner, next >= owner { throw HistoryDamage.loop }
    frames.append(Frame(owner: owner, links: links, index: index))
    entry = next
    current = try VersionChain.load(reader, key, next)
  }

  private static func load(
    _ reader: StateReader, _ key: [UInt8], _ entry: HistoryLink?
  ) throws -> Version {
    try key.lend { key in
      if let entry {
        return try reader.historyVersion(entry, key) { try Version($0, key, entry) }
      }
      let present = try reader.access.get(reader.tables.tree, key) { try Version($0, key, nil) }
      guard let present else { throw HistoryDamage.loop }
      return present
    }
  }
}

extension VersionChain.Version {
  fileprivate init(_ version: RawSpan, _ key: RawSpan, _ entry: HistoryLink?) throws {
    let header = try NodeHeader(version, key: key)
    modified = header.modified
    replaced = entry?.sequence
    kind = header.kind
    content = version.extracting(droppingFirst: header.contentOffset).array()
    links = header.hasLinks ? try header.links(version).all : []
  }

  /// The stored value of a property; nil where there is none of that name.
  func value(of property: NameID) throws -> [UInt8]? {
    guard kind == .record else { return nil }
    return try content.lend { record in
      try RecordTable(record).find(record, property).map { record.extracting($0).array() }
    }
  }
}
