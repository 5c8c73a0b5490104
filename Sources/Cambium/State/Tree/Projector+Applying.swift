// The effect of each operation on the tree. Every function checks first and then writes.

import FoundationEssentials
import LMDB

extension Projector {
  /// Folds one operation in.
  ///
  /// - Throws: ``DatabaseError`` for what cannot be done, with nothing changed; a storage error
  ///   with the transaction unusable.
  mutating func apply(_ operation: Operation, enforcing: Bool = false) throws {
    enforcesRules = enforcing
    switch operation {
    case .set(let path, let content): try set(path, content)
    case .update(let path, let updates): try update(path, updates)
    case .change(let path, let target, let change): try self.change(path, target, change)
    case .remove(let path): try remove(path)
    case .restore(let path, let sequence): try restore(path, removedAt: sequence)
    case .move(let source, let destination): try move(source, to: destination)
    case .define(let id, let name): try define(id, name)
    case .event: break
    case .declare(let path, let definition): try declare(path, definition)
    }
    if !memory.restored.isEmpty { memory.restored.note(operation) }
  }

  private mutating func set(_ path: Path, _ content: Content) throws {
    try locateForWriting(path)
    let header = try loadOld()
    if let header, content.kind == .record {
      try checkNoChild(path, header.node, try content.bytes.lend { try RecordBuilder($0).names })
    }
    try replace(header, with: content, at: path)
  }

  private mutating func update(_ path: Path, _ updates: [Operation.PropertyUpdate]) throws {
    let header = try loadExisting(path)
    var record = try record(header, path)
    for update in updates { record[update.name] = update.value }
    try checkNoChild(path, header.node, updates.lazy.filter { $0.value != nil }.map(\.name))
    try replaceRecord(header, record, path)
  }

  /// Changes one stored value in place: a property's, or the node's own.
  private mutating func change(
    _ path: Path, _ target: Target, _ change: ValueChange<[UInt8]>
  ) throws {
    guard let name = target else { return try changeScalar(path, change) }
    let header = try loadExisting(path)
    var record = try record(header, path)
    let isNew = record[name] == nil
    record[name] = try change.applied(to: record[name], path)
    if isNew, record[name] != nil { try checkNoChild(path, header.node, [name]) }
    try replaceRecord(header, record, path)
  }

  private mutating func changeScalar(_ path: Path, _ change: ValueChange<[UInt8]>) throws {
    let found = try locate(path, creating: false) == nil ? nil : try loadOld()
    if let found, found.kind == .record {
      throw DatabaseError.badValue(path, reason: "it is a record; name the property to change")
    }
    var present: [UInt8]?
    if let found, found.kind == .scalar { present = oldContent(found) }
    guard let bytes = try change.applied(to: present, path) else {
      throw DatabaseError.notFound(path, reason: "there is nothing to take out of")
    }
    try Limits.check(bytes.count, path)
    try locateForWriting(path)
    try replace(try loadOld(), with: Content(kind: .scalar, bytes: bytes), at: path)
  }

  /// Aims at a path, makes missing ancestors, and drops what is known about the node as a parent.
  private mutating func locateForWriting(_ path: Path) throws { try locate(path, creating: true) }

  private mutating func loadExisting(_ path: Path) throws -> NodeHeader {
    guard try locate(path, creating: false) != nil, let header = try loadOld() else {
      throw DatabaseError.notFound(path, reason: "there is no node; set it first")
    }
    return header
  }

  /// The record in `old`; a node without a value of its own counts as an empty one.
  private func record(_ header: NodeHeader, _ path: Path) throws -> RecordBuilder {
    switch header.kind {
    case .record:
      return try old.lend { try RecordBuilder($0.extracting(droppingFirst: header.contentOffset)) }
    case .none: return RecordBuilder()
    case .scalar:
      throw DatabaseError.badValue(path, reason: "it holds a single value, no properties")
    }
  }

  /// Refuses a record one of whose properties is named like a child of the node.
  private func checkNoChild(_ path: Path, _ node: UInt64, _ names: some Sequence<Catalog.NameID>)
    throws
  {
    if node == 0 { return }
    for id in names {
      let name = try Key(try memory.catalog.name(of: id))
      var key: [UInt8] = []
      key.append(bigEndian: node)
      name.append(to: &key)
      let reader = try reader
      let isTaken = try key.lend { try reader.access.get(tables.tree, $0) { _ in true } } ?? false
      if isTaken {
        throw DatabaseError.exists(
          path.appending(name), reason: "it is a child, so it cannot be a property as well")
      }
    }
  }

  private mutating func replaceRecord(_ header: NodeHeader, _ record: RecordBuilder, _ path: Path)
    throws
  {
    let bytes = record.stored()
    try Limits.check(bytes.count, path)
    try replace(header, with: Content(kind: .record, bytes: bytes), at: path)
  }
}

// MARK: Subtrees

extension Projector {
  /// Takes the node at a path out of its place; descendants keep their parent's id.
  private mutating func remove(_ path: Path) throws {
    try leave(path)
    let header = try loadExisting(path)
    try fold(path, header, nil)
    try removeEntry(header, memory.restored.isChanged(path) ? .changed : .removed)
    try foldIntoPreviews(path, header, nil)
    if isOwn(header) { try removeChildren(of: header.node) }
    try renewPreviews(within: path)
  }

  /// Removes all below a node that this transaction has made and removed, and that nothing leads to
  /// any more. It takes as many steps as the transaction took to put it there.
  private mutating func removeChildren(of node: UInt64) throws {
    var nodes = [node]
    while let node = nodes.last {
      guard node > 0, try aimAtFirstChild(of: node), let header = try loadOld() else {
        nodes.removeLast()
        continue
      }
      try removeEntry(header)
      if isOwn(header) { nodes.append(header.node) }
    }
  }

  /// True if this transaction has put a node where it is, and everything below it as well.
  private func isOwn(_ header: NodeHeader) -> Bool {
    header.modified == memory.sequence && !header.hasLinks
      && (header.node == 0 || header.node >= memory.firstNode)
  }

  private mutating func removeEntry(
    _ header: NodeHeader, _ fate: RemovalFate = .removed
  ) throws {
    memory.parent = nil
    // A node with older children leaves a trace, even if this transaction has put it here: they are
    // found through it when history is cut, and it must not be restored twice.
    if !isOwn(header) {
      // No later version will hold the links, so the removed one takes all of them along.
      let link = try putIntoHistory(header, try oldLinks(header))
      try put(tables.removals, HistoryEntry.removalKey(treeKey, link), fate.stored())
    }
    try delete(tables.tree, treeKey)
    count(-1)
  }

  private mutating func restore(_ path: Path, removedAt sequence: UInt64) throws {
    guard try locate(path, creating: false) != nil else {
      throw DatabaseError.notFound(path, reason: "its parent is not there; restore that first")
    }
    guard try loadOld() == nil else {
      throw DatabaseError.exists(path, reason: "a node has taken the place of the removed one")
    }
    let removed = try removed(path, sequence)
    memory.parent = nil
    let content = Content(kind: removed.header.kind, bytes: removed.content)
    try fold(path, nil, content)
    count(+1)
    try write(
      NodeHeader(
        kind: removed.header.kind, modified: memory.sequence, node: removed.header.node),
      content: removed.content)
    // The restored subtree must not be deleted when history is cut.
    let fate = RemovalFate.restored(by: memory.sequence).stored()
    for link in removed.links {
      try put(tables.removals, HistoryEntry.removalKey(treeKey, link), fate)
    }
    try foldIntoPreviews(path, nil, content)
    memory.restored.add(path)
    try arrive(path)
  }

  /// A version that can be restored, and the removals that hold its subtree.
  private struct Removed {
    var header: NodeHeader
    var content: [UInt8]
    var links: [HistoryLink]
  }

  /// The version that an earlier transaction removed from `treeKey`.
  private func removed(_ path: Path, _ sequence: UInt64) throws -> Removed {
    let reader = try reader
    var place = HistoryLink(sequence: sequence, index: 0)
    return try treeKey.lend { key in
      while sequence > 0, sequence < memory.sequence,
        let (link, fate) = try reader.removal(key, from: place), link.sequence == sequence
      {
        place.index = link.index + 1
        let found = try fate == .moved ? nil : removedVersion(link, key, reader)
        if let (header, content) = found {
          let vain = try vainRestorations(key, header.node, after: link, path)
          return Removed(header: header, content: content, links: [link] + vain)
        }
      }
      throw DatabaseError.notFound(path, reason: "transaction \(sequence) did not remove it")
    }
  }

  /// The version in an entry of history, unless the transaction that removed it had made it.
  private func removedVersion(
    _ link: HistoryLink, _ key: RawSpan, _ reader: StateReader
  ) throws -> (NodeHeader, content: [UInt8])? {
    try reader.historyVersion(link, key) { version in
      let header = try NodeHeader(version, key: key)
      if header.modified == link.sequence && !header.hasLinks { return nil }
      return (header, version.extracting(droppingFirst: header.contentOffset).array())
    }
  }

  /// Refuses to restore a subtree that came back since and went again: it must not be in two
  /// places. Where it came back and went in one transaction that changed nothing below it, it is as
  /// it was before.
  ///
  /// - Returns: The removals of such transactions.
  private func vainRestorations(
    _ key: RawSpan, _ node: UInt64, after link: HistoryLink, _ path: Path
  ) throws -> [HistoryLink] {
    if node == 0 { return [] }
    let reader = try reader
    var place = link
    var vain: [HistoryLink] = []
    while true {
      place.index += 1
      guard let (link, fate) = try reader.removal(key, from: place) else { return vain }
      let later = try reader.historyVersion(link, key) { try NodeHeader($0, key: key) }
      place = link
      if later.node != node { continue }
      guard fate != .moved && later.modified == link.sequence && !later.hasLinks else {
        throw DatabaseError.notFound(
          path, reason: "it was restored since; transaction \(link.sequence) took it away again")
      }
      // Earlier versions restored it with the changes, so a record that was logged is followed.
      if fate == .changed && enforcesRules { throw RestoredPlaces.changed(path, by: link.sequence) }
      vain.append(link)
    }
  }

  private mutating func move(_ source: Path, to destination: Path) throws {
    if destination.isWithin(source) {
      throw DatabaseError.badValue(destination, reason: "a node cannot be moved into itself")
    }
    if try locate(destination, creating: false) != nil, try loadOld() != nil {
      throw DatabaseError.exists(destination, reason: "there is a node already; remove it first")
    }
    _ = try loadExisting(source)
    try leave(source)
    try locate(destination, creating: true)
    let header = try loadExisting(source)
    let content = Content(kind: header.kind, bytes: oldContent(header))
    try fold(source, header, nil)
    try removeEntry(header, .moved)
    try foldIntoPreviews(source, header, nil)
    try locate(destination, creating: true)
    try fold(destination, nil, content)
    count(+1)
    try write(
      NodeHeader(kind: header.kind, modified: memory.sequence, node: header.node),
      content: content.bytes)
    try foldIntoPreviews(destination, nil, content)
    try renewPreviews(within: source)
    try arrive(destination)
  }

  private mutating func define(_ id: Catalog.NameID, _ name: String) throws {
    try memory.catalog.define(name, as: id)
    let key = StateReader.nameKey(id)
    try put(tables.meta, key, MetaEntry.seal(Array(name.utf8), name: key))
  }
}

/// How large things may be.
enum Limits {
  /// The operations of one transaction, in bytes.
  static let transactionBytesMax = 64 << 20

  static func check(_ count: Int, _ path: Path) throws {
    if count > Value.bytesMax {
      throw DatabaseError.badValue(
        path,
        reason: "it takes \(count) bytes; \(Value.bytesMax) is the limit, store a blob instead")
    }
  }
}
