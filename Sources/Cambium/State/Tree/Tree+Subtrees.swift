// Subtrees that are removed, restored or moved: one or two entries, however large they are, since
// descendants keep their parent's id.

extension Tree where Host: ~Copyable {
  /// Removes the node at a path from its place.
  mutating func remove(_ path: NodePath, _ host: inout Host) throws {
    let header = try loadExisting(path, &host)
    try host.willLeave(path)
    let fate = memory.restored.isChanged(path) ? RemovalFate.changed : .removed
    try leave(path, header, fate, &host)
    if isOwn(header) { try removeChildren(of: header.node, host) }
    try host.didLeave(path)
  }

  /// Removes the node at the place, whose version is loaded, from the tree.
  private mutating func leave(
    _ path: NodePath, _ header: NodeHeader, _ fate: RemovalFate, _ host: inout Host
  ) throws {
    let collection = host.collection(of: path)
    try make(path, of: collection, header, nil, isSubtree: header.node != 0, &host) { tree, host in
      try tree.removeEntry(header, fate, host)
    }
  }

  /// Puts a node that has been elsewhere, or was removed, at the place.
  private mutating func arrive(
    _ path: NodePath, _ content: Content, node: UInt64, _ host: inout Host
  ) throws {
    let collection = host.collection(of: path)
    try make(path, of: collection, nil, content, isSubtree: node != 0, &host) { tree, host in
      tree.count(+1)
      let header = NodeHeader(kind: content.kind, modified: tree.memory.sequence, node: node)
      try tree.write(header, content: content.bytes, host)
    }
  }

  /// Removes all below a node that this transaction has made and removed, and that can no longer be
  /// reached. It takes as many steps as the transaction took to create it.
  private mutating func removeChildren(of node: UInt64, _ host: borrowing Host) throws {
    var nodes = [node]
    while let node = nodes.last {
      guard node > 0, try place.aimAtFirstChild(of: node, host),
        let header = try place.load(host)
      else {
        nodes.removeLast()
        continue
      }
      try removeEntry(header, .removed, host)
      if isOwn(header) { nodes.append(header.node) }
    }
  }

  /// True if this transaction has put a node in its place, and everything below it as well.
  private func isOwn(_ header: NodeHeader) -> Bool {
    header.isPlaced(by: memory.sequence)
      && (header.node == 0 || header.node >= memory.firstNode)
  }

  private mutating func removeEntry(
    _ header: NodeHeader, _ fate: RemovalFate, _ host: borrowing Host
  ) throws {
    if header.node != 0 { memory.parent = nil }
    // A node with older children leaves a removal, even if this transaction has put it here: they
    // are found through it when history is cut, and it must not be restored twice.
    if !isOwn(header) {
      // No later version will hold the links, so all of them move into the removed one's entry.
      let link = try putIntoHistory(header, try place.links(header), host)
      try putRemoval(link, fate, host)
    }
    try host.removeVersion(at: place.key)
    count(-1)
  }

  mutating func move(_ source: NodePath, to destination: NodePath, _ host: inout Host) throws {
    if destination.isWithin(source) {
      throw DatabaseError.badValue(destination, reason: "a node cannot be moved into itself")
    }
    if try locate(destination, creating: false, &host) != nil, try place.load(host) != nil {
      throw DatabaseError.exists(destination, reason: "there is a node already; remove it first")
    }
    _ = try loadExisting(source, &host)
    try host.willLeave(source)
    try locate(destination, creating: true, &host)
    let header = try loadExisting(source, &host)
    let content = Content(kind: header.kind, bytes: place.content(header))
    try leave(source, header, .moved, &host)
    try locate(destination, creating: true, &host)
    try arrive(destination, content, node: header.node, &host)
    try host.didLeave(source)
    try host.didArrive(destination)
  }

  // MARK: Restoring

  mutating func restore(
    _ path: NodePath, removedAt sequence: UInt64, _ host: inout Host
  ) throws {
    guard try locate(path, creating: false, &host) != nil else {
      throw DatabaseError.notFound(path, reason: "its parent is not there; restore that first")
    }
    guard try place.load(host) == nil else {
      throw DatabaseError.exists(path, reason: "a node has taken the place of the removed one")
    }
    let removed = try removed(path, sequence, host)
    memory.parent = nil
    try arrive(path, removed.content, node: removed.node, &host)
    // The restored subtree must not be deleted when history is cut.
    for link in removed.links {
      try putRemoval(link, .restored(by: memory.sequence), host)
    }
    memory.restored.add(path)
    try host.didArrive(path)
  }

  /// The version that an earlier transaction removed from the place, and the removals that hold its
  /// subtree.
  ///
  /// A subtree that came back since and went again is not restored: it must not be in two places.
  /// Where it came back and went in one transaction that changed nothing below it, it is as it was
  /// before.
  private func removed(
    _ path: NodePath, _ sequence: UInt64, _ host: borrowing Host
  ) throws -> (content: Content, node: UInt64, links: [HistoryLink]) {
    try place.key.lend { key in
      guard sequence > 0, sequence < memory.sequence,
        let found = try host.removed(key, by: sequence)
      else {
        throw DatabaseError.notFound(path, reason: "transaction \(sequence) did not remove it")
      }
      let later = try host.removals(of: found.node, key, after: found.link)
      for removal in later {
        let sequence = removal.link.sequence
        guard removal.isVain else {
          throw DatabaseError.notFound(
            path, reason: "it was restored since; transaction \(sequence) took it away again")
        }
        // Earlier versions restored it with the changes, so a logged record is followed.
        if removal.fate == .changed && isEnforcing {
          throw RestoredPlaces.changed(path, by: sequence)
        }
      }
      return (found.content, found.node, [found.link] + later.map(\.link))
    }
  }
}

// MARK: Removals

extension TreeStorage where Self: ~Copyable {
  /// The version that a transaction removed from a place and had not put there itself, if any.
  func removed(
    _ key: RawSpan, by sequence: UInt64
  ) throws -> (link: HistoryLink, content: Content, node: UInt64)? {
    var place = HistoryLink(sequence: sequence, index: 0)
    while let (link, fate) = try removal(key, from: place), link.sequence == sequence {
      place.index = link.index + 1
      if fate == .moved { continue }
      let found = try superseded(link, key) { version -> (HistoryLink, Content, UInt64)? in
        let header = try NodeHeader(version, key: key)
        if header.isPlaced(by: sequence) { return nil }
        let bytes = version.extracting(droppingFirst: header.contentOffset).array()
        return (link, Content(kind: header.kind, bytes: bytes), header.node)
      }
      if let found { return found }
    }
    return nil
  }

  /// The later removals of a subtree that was removed from a place, in order. A vain one is of a
  /// transaction that had restored the subtree itself.
  func removals(
    of node: UInt64, _ key: RawSpan, after link: HistoryLink
  ) throws -> [(link: HistoryLink, fate: RemovalFate, isVain: Bool)] {
    if node == 0 { return [] }
    var removals: [(link: HistoryLink, fate: RemovalFate, isVain: Bool)] = []
    var place = link
    place.index += 1
    while let (link, fate) = try removal(key, from: place) {
      place = HistoryLink(sequence: link.sequence, index: link.index + 1)
      let header = try superseded(link, key) { try NodeHeader($0, key: key) }
      if header.node != node { continue }
      removals.append((link, fate, fate != .moved && header.isPlaced(by: link.sequence)))
    }
    return removals
  }

  /// The transaction by whose removal a subtree can be restored to a place that one has removed it
  /// from: the last that took it away from there. Nil where it was moved elsewhere since, or
  /// changed by a transaction that restored it and took it away again.
  ///
  /// It is as the first removal left it only where it never came back, not even within a
  /// transaction that took it away again.
  func lastRemoval(
    _ key: RawSpan, since sequence: UInt64
  ) throws -> (sequence: UInt64, isUntouched: Bool)? {
    guard let first = try removed(key, by: sequence) else { return nil }
    let later = try removals(of: first.node, key, after: first.link)
    var last: UInt64? = sequence
    for removal in later where !removal.isVain || removal.fate == .changed {
      last = removal.isVain || removal.fate == .moved ? nil : removal.link.sequence
    }
    return last.map { ($0, later.isEmpty) }
  }
}
