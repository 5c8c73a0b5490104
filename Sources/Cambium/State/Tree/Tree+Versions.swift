// A node's versions: the present one in the tree, and those that it has replaced in history.

extension Tree where Host: ~Copyable {
  /// Makes a change of the node at the place, over its present version if there is one: whoever
  /// takes changes is given it before and after `write`. The node's collection is `collection`.
  @inline(__always)
  mutating func make(
    _ path: NodePath, of collection: CollectionPlan?, _ header: NodeHeader?, _ content: Content?,
    isSubtree: Bool = false, _ host: inout Host,
    _ write: (inout Tree, borrowing Host) throws -> Void
  ) throws {
    guard collection != nil || host.takesAll else {
      try write(&self, host)
      return try checkInvariants(host)
    }
    // It is no optional, since binding one copies what it holds.
    let change = RecordChange(
      path: path, collection: collection, treeKey: place.key,
      old: header.map { ($0.kind, $0.contentOffset, place.version) }, content: content,
      isSubtree: isSubtree)
    try host.willMake(change)
    try write(&self, host)
    try checkInvariants(host)
    try host.didMake(change)
  }

  /// Writes a version at the place.
  @inline(__always)
  mutating func write(
    _ header: NodeHeader, content: [UInt8], linking links: VersionLinks? = nil,
    _ host: borrowing Host
  ) throws {
    let key = place.key
    content.lend { content in
      key.lend { header.store(content, links, key: $0, into: &value) }
    }
    try value.lend { try host.putVersion($0, at: key) }
  }

  /// Writes new content at the place, which is that of a path, over the present version if
  /// there is one.
  mutating func replace(
    _ header: NodeHeader?, with content: Content, at path: NodePath,
    of collection: CollectionPlan?, _ host: inout Host
  ) throws {
    try make(path, of: collection, header, content, &host) { tree, host in
      try tree.write(content, over: header, host)
    }
  }

  private mutating func write(
    _ content: Content, over header: NodeHeader?, _ host: borrowing Host
  ) throws {
    var links: VersionLinks?
    if let header {
      if content.kind == .record { memory.parent = nil }
      var kept = try place.links(header)
      try link(header, to: content, &kept, host)
      links = kept
    } else {
      count(+1)
    }
    let made = NodeHeader(
      kind: content.kind, modified: memory.sequence, node: header?.node ?? 0)
    try write(made, content: content.bytes, linking: links, host)
  }

  /// Puts the present version into history, and its link into the directory; a version that the
  /// same transaction has made is replaced without a trace, but for what has changed.
  private mutating func link(
    _ header: NodeHeader, to content: Content, _ links: inout VersionLinks, _ host: borrowing Host
  ) throws {
    let isOwn = header.modified == memory.sequence
    if isOwn && links.isEmpty { return }
    let changed = try place.changedNames(header, to: content)
    if isOwn { return try links.noteNewest(changed) }
    let entry = HistoryLink(sequence: memory.sequence, index: memory.superseded)
    try putIntoHistory(header, try links.add(entry, changing: changed), host)
  }

  /// Puts the present version into history, with the links that move into its entry.
  @discardableResult
  mutating func putIntoHistory(
    _ header: NodeHeader, _ taken: VersionLinks, _ host: borrowing Host
  ) throws -> HistoryLink {
    let link = HistoryLink(sequence: memory.sequence, index: memory.superseded)
    let (version, key) = (place.version, place.key)
    version.lend { version in
      let content = version.extracting(droppingFirst: header.contentOffset)
      key.lend { key in
        value.clear()
        HistoryEntry.appendStart(key, to: &value)
        header.append(content, taken, key: key, to: &value)
      }
    }
    try value.lend { try host.putSuperseded($0, at: link) }
    memory.superseded += 1
    return link
  }

  /// Notes that the node at the place was removed, or what became of its removal.
  mutating func putRemoval(
    _ link: HistoryLink, _ fate: RemovalFate, _ host: borrowing Host
  ) throws {
    value.clear()
    place.key.lend { HistoryEntry.appendRemovalKey($0, link, to: &value) }
    try value.lend { try host.putRemoval($0, fate) }
  }
}

// MARK: Invariants

extension Tree where Host: ~Copyable {
  /// Traps in debug builds if the node at the place is inconsistent with its surroundings: its
  /// parent must count it, no version may be of a later transaction, no node id beyond those
  /// assigned, and the links must lead back in time.
  func checkInvariants(_ host: borrowing Host) throws {
    #if DEBUG
      let isThere: Bool? = try place.key.lend { key in
        try host.version(at: key) { version in
          let header = try NodeHeader(version, key: key)
          precondition(header.modified <= memory.sequence, "a version is of a later transaction")
          precondition(header.node < memory.nextNode, "a node id was never given")
          if header.hasLinks {
            try header.links(version).checkInvariants(upTo: header.modified)
          }
          return true
        }
      }
      let count = try childCount(place.parent, host)
      precondition(count >= (isThere == nil ? 0 : 1), "a parent counts \(count) children")
    #endif
  }
}
