// Cutting history off at the horizon.
//
// An entry of history holds a version that a transaction has replaced, so the entries of
// transactions up to the horizon S serve only moments before S. They are a prefix of the table. If
// one holds a removed version, the removal's entry is removed with it, and so is its subtree, which
// can no longer be reached:
//
//     history   … S │ S+1 …        removals   (place, transaction ≤ S)
//     ──── cut ─────┘              tree       all below the node ids that these removals hold
//
// Two kinds of removed subtrees stay. One that was restored, or moved elsewhere, is part of the
// tree again. And one that was restored *after* S stays as a removed one, with its entries: the
// record that restores it is kept, and must find it when the log is folded again.

import LMDB

/// Cuts the history of a state, in steps.
struct HistoryCut {
  /// The horizon: versions that were replaced up to it are removed.
  let horizon: SequenceNumber
  /// Removals that a later record restores, if the state cannot know it yet; nil if it can.
  let kept: Set<HistoryLink>?
  private let state: State
  /// The next entry to read.
  private var place = HistoryLink(sequence: 0, index: 0)
  /// The number of entries that were removed, from all tables.
  private(set) var removed: UInt64 = 0

  init(_ state: State, upTo horizon: SequenceNumber, keeping kept: Set<HistoryLink>? = nil) {
    self.state = state
    self.horizon = horizon
    self.kept = kept
  }

  /// Cuts until everything is cut or the time is over.
  ///
  /// The writer's turn must be held, unless the state has no other users.
  ///
  /// - Returns: True if everything is cut.
  mutating func step(until end: ContinuousClock.Instant) throws -> Bool {
    var trimmer = HistoryTrimmer(
      try WriteTransaction(state.environment, behind: state.behind), state.tables)
    var isDone = false
    repeat {
      guard let entry = try next(trimmer.access) else {
        isDone = true
        break
      }
      guard try cut(entry, &trimmer, until: end) else { break }
      place = HistoryLink(sequence: entry.link.sequence, index: entry.link.index + 1)
    } while ContinuousClock.now < end
    if isDone { try trimmer.setCut(horizon) }
    removed += trimmer.removed
    try (consume trimmer).finish()
    return isDone
  }

  private struct Entry {
    var link: HistoryLink
    var treeKey: [UInt8]
    var node: UInt64
  }

  /// The next entry up to the horizon.
  private func next(_ access: Access) throws -> Entry? {
    var cursor = try Cursor(access, state.tables.history)
    guard try HistoryEntry.key(place).lend({ try cursor.seek($0) }) else { return nil }
    return try cursor.withEntry { key, value -> Entry? in
      let link = try HistoryEntry.link(endOf: key)
      // In a damaged tree the way may lead back, and so on for ever.
      if link < place {
        throw DatabaseError.corrupt(reason: "the history is out of order at \(link.sequence)")
      }
      if link.sequence > horizon.rawValue { return nil }
      let (keyRange, versionRange) = try HistoryEntry.parts(value)
      let treeKey = value.extracting(keyRange)
      let header = try NodeHeader(value.extracting(versionRange), key: treeKey)
      return Entry(link: link, treeKey: treeKey.array(), node: header.node)
    }
  }

  /// Removes one entry, and everything that depends on it.
  ///
  /// - Returns: True if it is done; false if the time was over.
  private func cut(
    _ entry: Entry, _ trimmer: inout HistoryTrimmer, until end: ContinuousClock.Instant
  ) throws -> Bool {
    let removal = HistoryEntry.removalKey(entry.treeKey, entry.link)
    if let fate = try trimmer.fate(removal) {
      if keeps(entry.link, fate) { return true }
      if fate.holdsSubtree, entry.node != 0, try !trimmer.removeAll(below: entry.node, until: end) {
        return false
      }
      try trimmer.delete(state.tables.removals, removal)
    }
    try trimmer.delete(state.tables.history, HistoryEntry.key(entry.link))
    return true
  }

  private func keeps(_ link: HistoryLink, _ fate: RemovalFate) -> Bool {
    if let kept { return kept.contains(link) }
    if case .restored(let sequence) = fate { return sequence > horizon.rawValue }
    return false
  }
}

extension HistoryCut {
  /// The removals up to a horizon that a later record restores.
  ///
  /// - Complexity: O(removals up to the horizon).
  static func removalsToKeep(_ reader: StateReader, upTo horizon: SequenceNumber) throws
    -> Set<HistoryLink>
  {
    var kept: Set<HistoryLink> = []
    try reader.access.forEach(reader.tables.removals) { key, value in
      guard case .restored(let sequence) = try RemovalFate(value), sequence > horizon.rawValue
      else { return }
      let link = try HistoryEntry.link(endOf: key)
      if link.sequence <= horizon.rawValue { kept.insert(link) }
    }
    return kept
  }
}

/// Removes entries from a state's tables.
private struct HistoryTrimmer: ~Copyable {
  private let transaction: WriteTransaction
  private let tables: StateTables
  private(set) var removed: UInt64 = 0

  init(_ transaction: consuming WriteTransaction, _ tables: StateTables) {
    self.transaction = transaction
    self.tables = tables
  }

  var access: Access { transaction.access }

  /// - Returns: True if there was an entry.
  @discardableResult
  mutating func delete(_ table: Table, _ key: [UInt8]) throws -> Bool {
    let wasThere = try key.lend { try transaction.delete(table, $0) }
    if wasThere { removed += 1 }
    return wasThere
  }

  /// The fate of a removed version; nil if the version was replaced, not removed.
  func fate(_ removal: [UInt8]) throws -> RemovalFate? {
    try removal.lend { key in
      try access.get(tables.removals, key) { try RemovalFate($0) }
    }
  }

  /// Removes all below an unreachable node: its leaves first, each with its count, so that the work
  /// can resume after any of them. At least one is removed, however late it is.
  ///
  /// - Returns: True if all are removed.
  mutating func removeAll(below node: UInt64, until end: ContinuousClock.Instant) throws -> Bool {
    var nodes = [node]
    while let parent = nodes.last {
      guard let child = try firstChild(of: parent) else {
        nodes.removeLast()
        continue
      }
      // A damaged tree has no end, or does not find what was seen in it.
      let isInside = nodes.contains(child.node)
      if child.node != 0, !isInside, try firstChild(of: child.node) != nil {
        nodes.append(child.node)
        continue
      }
      guard !isInside, try delete(tables.tree, child.key) else {
        throw DatabaseError.corrupt(reason: "node \(parent) has a child that is not below it")
      }
      try deleteCount(of: child.node)
      if ContinuousClock.now >= end { return false }
    }
    try deleteCount(of: node)
    return true
  }

  private mutating func deleteCount(of node: UInt64) throws {
    let key = [UInt8](bigEndian: node)
    try delete(tables.counts, key)
  }

  private func firstChild(of parent: UInt64) throws -> (key: [UInt8], node: UInt64)? {
    try StateReader(access: access, tables: tables).firstChild(of: parent)
  }

  /// Stores the horizon up to which history is cut.
  func setCut(_ horizon: SequenceNumber) throws {
    let bytes = [UInt8](littleEndian: horizon.rawValue)
    let sealed = MetaEntry.seal(bytes, name: StateHead.cutName)
    try StateHead.cutName.lend { key in
      try sealed.lend { try transaction.put(tables.meta, key, $0) }
    }
  }

  consuming func finish() throws { try transaction.commit() }
}

extension StateReader {
  /// The tree's key of a node's first child, and the child's node id; nil if there is none.
  func firstChild(of parent: UInt64) throws -> (key: [UInt8], node: UInt64)? {
    let prefix = [UInt8](bigEndian: parent)
    var cursor = try Cursor(access, tables.tree)
    guard try prefix.lend({ try cursor.seek($0) }) else { return nil }
    return try cursor.withEntry { key, version in
      guard key.byteCount > 8, prefix.lend({ $0.equals(key.extracting(0..<8)) }) else { return nil }
      return (key.array(), try NodeHeader(version, key: key).node)
    }
  }

  /// The horizon up to which history is cut.
  func cut() throws -> SequenceNumber {
    SequenceNumber(try entry(StateHead.cutName) { try $0.load(UInt64.self, at: 0) } ?? 0)
  }
}
