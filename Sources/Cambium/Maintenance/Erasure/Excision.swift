// Takes places out of a baseline. It has no log to fold again, so its entries are taken out one by
// one, and what is left goes into a fresh file:
//
//     tree       the places' nodes and all below them
//     history,   what was removed at the places, and all below it: it is there only where a later
//     removals   record restores it
//
// A place's parent may itself be among what was removed, and may have been several nodes in turn,
// so the way to a place goes through all nodes that ever stood on it.

import LMDB

/// Takes places out of a state's tables.
struct Excision: ~Copyable {
  private let transaction: WriteTransaction
  private let tables: StateTables
  private let catalog: Catalog
  /// True if there was anything to take out.
  private(set) var hasFound = false

  init(_ transaction: consuming WriteTransaction, _ tables: StateTables, _ catalog: Catalog) {
    self.transaction = transaction
    self.tables = tables
    self.catalog = catalog
  }

  /// Takes out what is at a place, be it a node or a property.
  mutating func takeOut(_ place: NodePath) throws {
    guard let name = place.last, let parent = place.parent else { return }
    for node in try nodes(at: parent) { try takeOut(Excision.key(node, name)) }
    guard let grandparent = parent.parent, let key = parent.last,
      let property = catalog.id(of: name.description)
    else { return }
    for node in try nodes(at: grandparent) {
      try takeOut(property, ofVersionsAt: Excision.key(node, key))
    }
  }

  consuming func commit() throws { try transaction.commit() }

  private var reader: StateReader { StateReader(access: transaction.access, tables: tables) }

  private static func key(_ parent: UInt64, _ key: Key) -> [UInt8] {
    var bytes = [UInt8](bigEndian: parent)
    key.append(to: &bytes)
    return bytes
  }

  // MARK: Finding

  /// The ids of all nodes that are at a path, or were removed from it.
  private func nodes(at path: NodePath) throws -> Set<UInt64> {
    var nodes: Set<UInt64> = [StateHead.root]
    for key in path.keys {
      var next: Set<UInt64> = []
      for parent in nodes {
        let treeKey = Excision.key(parent, key)
        if let node = try present(treeKey)?.node { next.insert(node) }
        for (_, header) in try removed(treeKey) { next.insert(header.node) }
      }
      nodes = next.subtracting([0])
    }
    return nodes
  }

  private func present(_ treeKey: [UInt8]) throws -> NodeHeader? {
    try treeKey.lend { key in
      try transaction.access.get(tables.tree, key) { try NodeHeader($0, key: key) }
    }
  }

  /// The nodes that were removed from a place, each with its link in the history.
  private func removed(_ treeKey: [UInt8]) throws -> [(HistoryLink, NodeHeader)] {
    var found: [(HistoryLink, NodeHeader)] = []
    var place = HistoryLink(sequence: 0, index: 0)
    try treeKey.lend { key in
      while let (link, _) = try reader.removal(key, from: place) {
        found.append((link, try reader.historyVersion(link, key) { try NodeHeader($0, key: key) }))
        place = HistoryLink(sequence: link.sequence, index: link.index + 1)
      }
    }
    return found
  }

  // MARK: Nodes

  private mutating func takeOut(_ treeKey: [UInt8]) throws {
    if let header = try present(treeKey) {
      hasFound = true
      try takeOutAll(below: header.node)
      try delete(tables.tree, treeKey)
      try takeOneFromCount(of: treeKey)
    }
    for (link, header) in try removed(treeKey) {
      hasFound = true
      try takeOutAll(below: header.node)
      try delete(tables.history, HistoryEntry.key(link))
      try delete(tables.removals, HistoryEntry.removalKey(treeKey, link))
    }
  }

  /// Takes out what is below a node, deepest first, with what was removed there.
  private mutating func takeOutAll(below node: UInt64) throws {
    if node == 0 { return }
    var nodes = [node]
    while let node = nodes.last {
      guard let (key, child) = try firstChild(of: node) else {
        nodes.removeLast()
        try takeOutRemoved(below: node)
        try deleteCount(of: node)
        continue
      }
      if child != 0, try firstChild(of: child) != nil {
        nodes.append(child)
      } else {
        if child != 0 {
          try takeOutRemoved(below: child)
          try deleteCount(of: child)
        }
        try delete(tables.tree, key)
      }
    }
  }

  /// Takes out what was removed from below a node.
  private mutating func takeOutRemoved(below node: UInt64) throws {
    while let treeKey = try firstRemoval([UInt8](bigEndian: node)) { try takeOut(treeKey) }
  }

  private func firstRemoval(_ prefix: [UInt8]) throws -> [UInt8]? {
    var cursor = try Cursor(transaction.access, tables.removals)
    guard try prefix.lend({ try cursor.seek($0) }) else { return nil }
    let key = cursor.withEntry { key, _ in key.array() }
    return key.starts(with: prefix) ? key.dropLast(HistoryEntry.removalSuffixCount) : nil
  }

  private func firstChild(of parent: UInt64) throws -> (key: [UInt8], node: UInt64)? {
    try reader.firstChild(of: parent)
  }

  // MARK: Properties

  private mutating func takeOut(
    _ property: NameID, ofVersionsAt treeKey: [UInt8]
  ) throws {
    let tree = tables.tree
    let version = try treeKey.lend { try transaction.access.get(tree, $0) { $0.array() } } ?? nil
    if let version, let changed = try without(property, version, treeKey) {
      hasFound = true
      try put(tree, treeKey, changed)
    }
    for (link, _) in try removed(treeKey) {
      let version = try treeKey.lend { try reader.historyVersion(link, $0) { $0.array() } }
      guard let changed = try without(property, version, treeKey) else { continue }
      hasFound = true
      let entry = changed.lend { HistoryEntry.stored(treeKey, $0) }
      try put(tables.history, HistoryEntry.key(link), entry)
    }
  }

  /// A version without a property; nil where it has none of that name.
  private func without(
    _ property: NameID, _ version: [UInt8], _ treeKey: [UInt8]
  ) throws -> [UInt8]? {
    try version.lend { version in
      try treeKey.lend { key in
        let header = try NodeHeader(version, key: key)
        guard header.kind == .record else { return nil }
        var record = try RecordBuilder(version.extracting(droppingFirst: header.contentOffset))
        guard record[property] != nil else { return nil }
        record[property] = nil
        let links = header.hasLinks ? try header.links(version) : nil
        var changed = ByteBuffer()
        record.stored().lend { header.store($0, links, key: key, into: &changed) }
        return changed.array()
      }
    }
  }

  // MARK: Tables

  private func put(_ table: Table, _ key: [UInt8], _ value: [UInt8]) throws {
    try key.lend { key in try value.lend { try transaction.put(table, key, $0) } }
  }

  private func delete(_ table: Table, _ key: [UInt8]) throws {
    try key.lend { _ = try transaction.delete(table, $0) }
  }

  private func deleteCount(of node: UInt64) throws {
    try delete(tables.counts, [UInt8](bigEndian: node))
  }

  /// Counts one child less for the parent in a tree's key.
  private func takeOneFromCount(of treeKey: [UInt8]) throws {
    let key = Array(treeKey.prefix(8))
    let count = try reader.childCount(try key.lend { try $0.bigEndian(at: 0) }) - 1
    if count <= 0 { return try delete(tables.counts, key) }
    try put(tables.counts, key, [UInt8](littleEndian: UInt64(count)))
  }
}

extension State {
  /// Copies all entries into an empty state. Nothing that was deleted here goes along, as it would
  /// with the pages.
  func copyEntries(into fresh: State) throws {
    let source = try ReadTransaction(environment, tables: [])
    for name in StateTables.names {
      guard let from = tables[name], let to = fresh.tables[name] else { continue }
      // The empty state has an entry already, which says how its own are protected.
      let mode = name == "meta" ? PutMode.replace : .append
      var cursor = try Cursor(source.access, from)
      var isThere = try cursor.first()
      while isThere { isThere = try fresh.put(to, from: &cursor, mode) }
    }
  }

  /// Puts entries until there are enough for one transaction.
  ///
  /// - Returns: True if there are more.
  private func put(
    _ table: Table, from cursor: inout Cursor, _ mode: PutMode
  ) throws -> Bool {
    try environment.growMap(headroom: Replay.stepBytes * 8)
    let transaction = try WriteTransaction(environment)
    var bytes = 0
    var isThere = true
    while isThere, bytes < Replay.stepBytes {
      try cursor.withEntry { key, value in
        try transaction.put(table, key, value, mode)
        bytes += key.byteCount + value.byteCount
      }
      isThere = try cursor.next()
    }
    try transaction.commit()
    return isThere
  }
}
