// Divides a state's bytes by a walk from the root down, which knows the path of each entry, and
// with it the collection. Removed nodes are reached through `removals`, and replaced versions
// through the links of the versions that replaced them, so that each entry of `history` is read
// once, too.

import LMDB

/// Measures the nodes of a state and their history.
struct StateSizes {
  /// The columns of its tables.
  static let parts: KeyValuePairs<String, SizePlace.Part> = [
    "tree": .tree, "counts": .tree, "history": .history, "removals": .history, "index": .other,
    "views": .other, "meta": .other,
  ]

  /// A node whose children are being walked.
  private struct Level {
    let node: UInt64
    let path: NodePath
    let depth: Int
    /// True once the walk has come to the removed children, which follow those that are there.
    var isAmongRemoved = false
    /// The key from which to continue.
    var bound: [UInt8]

    init(_ node: UInt64, _ path: NodePath, depth: Int) {
      self.node = node
      self.path = path
      self.depth = depth
      bound = []
      bound.append(bigEndian: node)
    }

    func holds(_ key: RawSpan) -> Bool {
      key.byteCount > 8 && (try? key.bigEndian(at: 0)) == node
    }
  }

  let reader: StateReader
  let ages: AgeScale
  let places: SizePlaces
  let depth: Int
  let progress: ProgressReporter
  private(set) var tally: SizeTally
  private(set) var count: UInt64 = 0

  /// Measures all.
  mutating func run() throws {
    var levels = [Level(StateHead.root, .root, depth: 0)]
    try addCount(of: StateHead.root, SizeLabel(.nodes))
    while var level = levels.popLast() {
      let next = try advance(&level)
      if let next {
        levels.append(level)
        levels.append(next)
      } else if !level.isAmongRemoved {
        var removed = Level(level.node, level.path, depth: level.depth)
        removed.isAmongRemoved = true
        levels.append(removed)
      }
    }
    try addLeftovers()
    try addProjections()
    try addEntries()
  }

  /// Adds the entries that the walk has not reached.
  private mutating func addLeftovers() throws {
    let tables = reader.tables
    for (table, place) in [
      (tables.tree, places["tree"]), (tables.counts, places["counts"]),
      (tables.history, places["history"]), (tables.removals, places["removals"]),
    ] {
      let bytes = try reader.access.contentBytes(of: table)
      let met = Int(clamping: tally.places[place].content)
      tally.add(bytes - met, SizeLabel(.leftovers), at: place)
    }
  }

  /// Indexes and views, by the collections that they are of.
  private mutating func addProjections() throws {
    var collections: [UInt32: NodePath] = [:]
    for plan in try reader.catalog().collections.all {
      for number in plan.numbers { collections[number] = plan.path.prefix(depth) }
    }
    for (table, use, place) in [
      (reader.tables.index, Sizes.Use.indexes, places["index"]),
      (reader.tables.views, Sizes.Use.views, places["views"]),
    ] {
      try reader.access.forEach(table) { key, value in
        let number = UInt32(bigEndian: try key.load(UInt32.self, at: 0).littleEndian)
        let label = SizeLabel(use, collections[number])
        let bytes = key.byteCount + value.byteCount + table.sealBytes
        tally.add(bytes, label, at: place)
        try report()
      }
    }
  }

  /// Advances among the children of a node to the next that has children.
  private mutating func advance(_ level: inout Level) throws -> Level? {
    let table = level.isAmongRemoved ? reader.tables.removals : reader.tables.tree
    var cursor = try Cursor(reader.access, table)
    let bound = level.bound
    var isThere = try bound.lend { try cursor.seek($0) }
    while isThere {
      let (key, next) = try cursor.withEntry { key, value -> ([UInt8]?, Level?) in
        guard level.holds(key) else { return (nil, nil) }
        let next =
          level.isAmongRemoved
          ? try addRemoval(key, value, in: level) : try addNode(key, value, in: level)
        return (next == nil ? [] : key.array(), next)
      }
      guard let key else { return nil }
      if let next {
        level.bound = key + [0]
        return next
      }
      isThere = try cursor.next()
    }
    return nil
  }

  /// Adds a node.
  ///
  /// - Returns: Where its children are, if it has had any.
  private mutating func addNode(
    _ key: RawSpan, _ version: RawSpan, in level: Level
  ) throws -> Level? {
    let header = try NodeHeader(version, key: key)
    let path = try collection(of: key, in: level)
    let label = SizeLabel(.nodes, path, age: ages.step(of: header.modified))
    try add(header, version, besides: key.byteCount, label, at: places["tree"])
    try addHistory(header, version, SizeLabel(.nodes, path), key)
    try report()
    if header.node == 0 { return nil }
    try addCount(of: header.node, label)
    return Level(header.node, path, depth: level.depth + 1)
  }

  /// Adds a removal and the version that was removed.
  ///
  /// - Returns: Where its children are, if it took some along.
  private mutating func addRemoval(
    _ key: RawSpan, _ value: RawSpan, in level: Level
  ) throws -> Level? {
    let treeCount = key.byteCount - HistoryEntry.removalSuffixCount
    try key.check(0, treeCount)
    let treeKey = key.extracting(0..<treeCount)
    let path = try collection(of: treeKey, in: level)
    let link = try HistoryEntry.link(endOf: key)
    let label = SizeLabel(.nodes, path, age: ages.step(of: link.sequence))
    let bytes = key.byteCount + value.byteCount + reader.tables.removals.sealBytes
    tally.add(bytes, label, at: places["removals"])
    let node = try addHistory(from: [link], SizeLabel(.nodes, path), treeKey)
    guard try RemovalFate(value).holdsSubtree, node != 0 else { return nil }
    try addCount(of: node, label)
    return Level(node, path, depth: level.depth + 1)
  }

  /// The first keys of a path.
  private func collection(of treeKey: RawSpan, in level: Level) throws -> NodePath {
    if level.depth >= depth { return level.path }
    return level.path.appending(try Key(treeKey.extracting(droppingFirst: 8)))
  }

  private mutating func add(
    _ header: NodeHeader, _ version: RawSpan, besides: Int, _ label: SizeLabel, at place: Int
  ) throws {
    let content = version.extracting(droppingFirst: header.contentOffset)
    let left = try tally.addContent(content, header.kind, label, at: place)
    tally.add(besides + header.contentOffset + left, label, at: place)
  }

  /// A node's count of children, where it has some.
  private mutating func addCount(of node: UInt64, _ label: SizeLabel) throws {
    let key = [UInt8](bigEndian: node)
    let bytes = try key.lend { key in
      let table = reader.tables.counts
      return try reader.access.get(table, key) { key.byteCount + $0.byteCount + table.sealBytes }
    }
    tally.add(bytes ?? 0, label, at: places["counts"])
  }

  private mutating func report() throws {
    count += 1
    if count % 4096 == 0 { try progress.tell("sizes of nodes", count) }
  }
}

/// History.
extension StateSizes {
  private mutating func addHistory(
    _ header: NodeHeader, _ version: RawSpan, _ label: SizeLabel, _ treeKey: RawSpan
  ) throws {
    guard header.hasLinks else { return }
    let links = try header.links(version).all.map(\.entry)
    _ = try addHistory(from: links, label, treeKey)
  }

  /// Adds the versions that links lead to, but those that are cut.
  ///
  /// - Returns: The node id that the first one has.
  private mutating func addHistory(
    from links: [HistoryLink], _ label: SizeLabel, _ treeKey: RawSpan
  ) throws -> UInt64 {
    var node: UInt64?
    var pending = links
    while let link = pending.popLast() {
      let older = try HistoryEntry.key(link).lend { key in
        try reader.access.get(reader.tables.history, key) { entry in
          let (stored, range) = try HistoryEntry.parts(entry)
          guard entry.extracting(stored).equals(treeKey) else {
            throw HistoryDamage.wrongNode(link)
          }
          let version = entry.extracting(range)
          let header = try NodeHeader(version, key: treeKey)
          node = node ?? header.node
          var label = label
          label.age = ages.step(of: header.modified)
          let besides = key.byteCount + range.lowerBound + reader.tables.history.sealBytes
          try add(header, version, besides: besides, label, at: places["history"])
          return header.hasLinks ? try header.links(version).all.map(\.entry) : []
        }
      }
      // An entry names only older ones, so this ends whatever the bytes say.
      guard (older ?? []).allSatisfy({ $0 < link }) else { throw HistoryDamage.loop }
      pending += older ?? []
      try report()
    }
    return node ?? 0
  }

  /// The state's own entries: its head, and the names.
  private mutating func addEntries() throws {
    try reader.access.forEach(reader.tables.meta) { key, value in
      let bytes = key.byteCount + value.byteCount
      let name = StateReader.name(ofKey: key.array())
      let label = name.map { SizeLabel(.names).of($0) } ?? SizeLabel(.entries)
      tally.add(bytes, label, at: places["meta"])
    }
  }
}
