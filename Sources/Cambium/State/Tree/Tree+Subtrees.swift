// Subtrees that are removed, restored or moved: one or two entries, however large they are, since
// descendants keep their parent's id.

extension Tree where Host: ~Copyable {
  /// Removes the node at a path from its place.
  mutating func remove(_ path: Path, _ host: inout Host) throws {
    let header = try loadExisting(path, &host)
    try host.willLeave(path)
    let fate = memory.restored.isChanged(path) ? RemovalFate.changed : .removed
    try leave(path, header, fate, &host)
    if isOwn(header) { try removeChildren(of: header.node, host) }
    try host.didLeave(path)
  }

  /// Removes the node at `treeKey`, whose version is in `old`, from the tree.
  private mutating func leave(
    _ path: Path, _ header: NodeHeader, _ fate: RemovalFate, _ host: inout Host
  ) throws {
    let change = change(path, header, nil, isSubtree: header.node != 0, &host)
    if let change { try host.willMake(change) }
    try removeEntry(header, fate, host)
    try checkInvariants(host)
    if let change { try host.didMake(change) }
  }

  /// Puts a node that has been elsewhere, or was removed, at `treeKey`.
  private mutating func arrive(
    _ path: Path, _ content: Content, node: UInt64, _ host: inout Host
  ) throws {
    let change = change(path, nil, content, isSubtree: node != 0, &host)
    if let change { try host.willMake(change) }
    count(+1)
    let header = NodeHeader(kind: content.kind, modified: memory.sequence, node: node)
    try write(header, content: content.bytes, host)
    try checkInvariants(host)
    if let change { try host.didMake(change) }
  }

  /// Removes all below a node that this transaction has made and removed, and that can no longer be
  /// reached. It takes as many steps as the transaction took to create it.
  private mutating func removeChildren(of node: UInt64, _ host: borrowing Host) throws {
    var nodes = [node]
    while let node = nodes.last {
      guard node > 0, try aimAtFirstChild(of: node, host), let header = try loadOld(host) else {
        nodes.removeLast()
        continue
      }
      try removeEntry(header, .removed, host)
      if isOwn(header) { nodes.append(header.node) }
    }
  }

  /// True if this transaction has put a node in its place, and everything below it as well.
  private func isOwn(_ header: NodeHeader) -> Bool {
    header.modified == memory.sequence && !header.hasLinks
      && (header.node == 0 || header.node >= memory.firstNode)
  }

  private mutating func removeEntry(
    _ header: NodeHeader, _ fate: RemovalFate, _ host: borrowing Host
  ) throws {
    memory.parent = nil
    // A node with older children leaves a removal, even if this transaction has put it here: they
    // are found through it when history is cut, and it must not be restored twice.
    if !isOwn(header) {
      // No later version will hold the links, so all of them move into the removed one's entry.
      let link = try putIntoHistory(header, try oldLinks(header), host)
      try host.putRemoval(of: treeKey, link, fate)
    }
    try host.removeVersion(at: treeKey)
    count(-1)
  }

  mutating func move(_ source: Path, to destination: Path, _ host: inout Host) throws {
    if destination.isWithin(source) {
      throw DatabaseError.badValue(destination, reason: "a node cannot be moved into itself")
    }
    if try locate(destination, creating: false, &host) != nil, try loadOld(host) != nil {
      throw DatabaseError.exists(destination, reason: "there is a node already; remove it first")
    }
    _ = try loadExisting(source, &host)
    try host.willLeave(source)
    try locate(destination, creating: true, &host)
    let header = try loadExisting(source, &host)
    let content = Content(kind: header.kind, bytes: oldContent(header))
    try leave(source, header, .moved, &host)
    try locate(destination, creating: true, &host)
    try arrive(destination, content, node: header.node, &host)
    try host.didLeave(source)
    try host.didArrive(destination)
  }

  // MARK: Restoring

  mutating func restore(
    _ path: Path, removedAt sequence: UInt64, _ host: inout Host
  ) throws {
    guard try locate(path, creating: false, &host) != nil else {
      throw DatabaseError.notFound(path, reason: "its parent is not there; restore that first")
    }
    guard try loadOld(host) == nil else {
      throw DatabaseError.exists(path, reason: "a node has taken the place of the removed one")
    }
    let removed = try removed(path, sequence, host)
    memory.parent = nil
    try arrive(path, removed.content, node: removed.node, &host)
    // The restored subtree must not be deleted when history is cut.
    for link in removed.links {
      try host.putRemoval(of: treeKey, link, .restored(by: memory.sequence))
    }
    memory.restored.add(path)
    try host.didArrive(path)
  }

  /// The version that an earlier transaction removed from `treeKey`, and the removals that hold its
  /// subtree.
  private func removed(
    _ path: Path, _ sequence: UInt64, _ host: borrowing Host
  ) throws -> (content: Content, node: UInt64, links: [HistoryLink]) {
    var place = HistoryLink(sequence: sequence, index: 0)
    return try treeKey.lend { key in
      while sequence > 0, sequence < memory.sequence,
        let (link, fate) = try host.removal(key, from: place), link.sequence == sequence
      {
        place.index = link.index + 1
        let found = try fate == .moved ? nil : removedVersion(link, key, host)
        if let (content, node) = found {
          let vain = try vainRestorations(key, node, after: link, path, host)
          return (content, node, [link] + vain)
        }
      }
      throw DatabaseError.notFound(path, reason: "transaction \(sequence) did not remove it")
    }
  }

  /// The version in an entry of history, unless the transaction that removed it had made it.
  private func removedVersion(
    _ link: HistoryLink, _ key: RawSpan, _ host: borrowing Host
  ) throws -> (Content, node: UInt64)? {
    try host.superseded(link, key) { version in
      let header = try NodeHeader(version, key: key)
      if header.modified == link.sequence && !header.hasLinks { return nil }
      let bytes = version.extracting(droppingFirst: header.contentOffset).array()
      return (Content(kind: header.kind, bytes: bytes), header.node)
    }
  }

  /// Refuses to restore a subtree that was restored since and removed again: it must not be in two
  /// places. If it was restored and removed in one transaction that changed nothing below it, it is
  /// unchanged.
  ///
  /// - Returns: The removals of such transactions.
  private func vainRestorations(
    _ key: RawSpan, _ node: UInt64, after link: HistoryLink, _ path: Path, _ host: borrowing Host
  ) throws -> [HistoryLink] {
    if node == 0 { return [] }
    var place = link
    var vain: [HistoryLink] = []
    while true {
      place.index += 1
      guard let (link, fate) = try host.removal(key, from: place) else { return vain }
      let later = try host.superseded(link, key) { try NodeHeader($0, key: key) }
      place = link
      if later.node != node { continue }
      guard fate != .moved && later.modified == link.sequence && !later.hasLinks else {
        throw DatabaseError.notFound(
          path, reason: "it was restored since; transaction \(link.sequence) took it away again")
      }
      // Earlier versions restored it with the changes, so a logged record is applied in the same
      // way.
      if fate == .changed && isEnforcing { throw RestoredPlaces.changed(path, by: link.sequence) }
      vain.append(link)
    }
  }
}
