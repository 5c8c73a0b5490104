/// A place in the tree, read through a snapshot.
///
/// Making one reads nothing. Each access goes to the memory map, touches pages in proportion to the
/// depth, and decodes only the requested part.
///
///     let ada = snapshot["users/ada"]
///     print(try ada["name"], try ada.childCount)
///
/// A property of a record can be addressed like a child: `users/ada/name` is either.
public struct Node: Sendable {
  let snapshot: Snapshot
  /// The node's path, or its parent's if `ownKey` is set: a child costs no new path.
  private let base: NodePath
  private let ownKey: Key?
  private let version: StoredVersion?

  init(_ snapshot: Snapshot, base: NodePath, key: Key?, version: StoredVersion?) {
    self.snapshot = snapshot
    self.base = base
    ownKey = key
    self.version = version
  }

  /// The path of the node.
  public var path: NodePath { ownKey.map { base.appending($0) } ?? base }

  /// The node's key, or nil for the root.
  public var key: Key? { ownKey ?? base.last }

  /// The node of a child, existing or not. Nothing is read.
  public func child(_ key: Key) -> Node {
    Node(snapshot, base: path, key: key, version: nil)
  }

  /// True if there is a node here (or a property of a record).
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` when stored bytes are damaged, as all reading
  ///   does.
  public var exists: Bool {
    get throws {
      if path.isRoot { return true }
      if let found = try lookUp({ _, _ in true }) { return found }
      guard let key, let parent = path.parent, !parent.isRoot,
        let id = try snapshot.nameID(key.description)
      else { return false }
      return try snapshot[parent].property(id) != nil
    }
  }

  /// The stored content of the node: a single value, or a record as `.map`; nil if there is no
  /// node, or one that only has children.
  public var value: Value? {
    get throws {
      if let found = try lookUp({ try content($0, $1) }) { return found }
      return try propertyOfParent()
    }
  }

  /// The content of the node itself: a property of the parent's record does not count.
  var ownValue: Value? {
    get throws { try lookUp { try content($0, $1) } ?? nil }
  }

  /// A property of the node's record, without decoding the others; if the record has none, the
  /// declared default, ``PropertyDefinition/absence``; else nil.
  public subscript(property: String) -> Value? {
    get throws {
      guard let id = try snapshot.nameID(property) else { return nil }
      if let value = try self.property(id), value != .null { return value }
      return try standIn(for: property, id)
    }
  }

  /// The transaction that last changed the node's own value, or nil if there is no node. A property
  /// has none of its own; read that of its record.
  public var modified: SequenceNumber? {
    get throws { try lookUp { header, _ in SequenceNumber(header.modified) } }
  }

  /// The children, in key order: nodes of their own, not properties. Nothing is read yet.
  public var children: Children { Children(node: self) }

  /// The number of children, not counting properties.
  ///
  /// - Complexity: O(1) at present; in the past, or in a subtree that has been removed since, they
  ///   are walked.
  public var childCount: Int {
    get throws {
      guard let id = try nodeID() else { return 0 }
      if snapshot.moment == nil { return try snapshot.childCount(id) }
      var count = 0
      try children.forEach { _ in count += 1 }
      return count
    }
  }
}

extension Node {
  /// Lends the node's version.
  @inline(__always)
  func lookUp<R>(_ body: (NodeHeader, RawSpan) throws -> R) throws -> R? {
    if let version { return try version.lend(body) }
    guard let key = ownKey else { return try lookUpByPath(body) }
    guard let parent = try snapshot.node(at: base) else { return nil }
    let (reader, moment) = (try snapshot.reader, snapshot.moment)
    return try key.lendTreeKey(parent: parent) { try reader.version($0, asOf: moment, body) }
  }

  private func lookUpByPath<R>(_ body: (NodeHeader, RawSpan) throws -> R) throws -> R? {
    guard let parent = base.parent, let key = base.last else { return nil }
    return try Node(snapshot, base: parent, key: key, version: nil).lookUp(body)
  }

  /// The stored form of the last key, and the length of the path in bytes: enough to identify a
  /// node's place in a walk, without making its path.
  var place: (last: [UInt8], pathCount: Int) {
    guard let key = ownKey else { return (base.bytes, base.bytes.count) }
    var last: [UInt8] = []
    key.appendTerminated(to: &last)
    return (last, base.bytes.count + last.count)
  }

  /// The id that the children's keys begin with, or nil if there never were any children.
  func nodeID() throws -> UInt64? {
    if let version { return version.header.node == 0 ? nil : version.header.node }
    return try snapshot.node(at: path)
  }

  @inline(__always)
  func property(_ id: NameID) throws -> Value? {
    try lookUp { header, version in
      guard header.kind == .record else { return nil }
      let record = version.extracting(droppingFirst: header.contentOffset)
      return try RecordTable(record).find(record, id).map { try Value(record.extracting($0)) }
    } ?? nil
  }

  /// The value that a record has for a property that is absent or null in it.
  @inline(never)
  private func standIn(for property: String, _ id: NameID) throws -> Value? {
    let stored = try self.property(id)
    guard let defaults = try declaredDefaults,
      try lookUp({ header, _ in header.kind == .record }) ?? false
    else { return stored }
    return defaults.value(
      of: property, in: ValueMap(stored.map { [(name: property, value: $0)] } ?? []))
      ?? stored
  }

  /// The defaults of the node's collection, for properties that its record does not have.
  var declaredDefaults: DeclaredDefaults? {
    get throws {
      guard let parent = path.parent else { return nil }
      return try snapshot.names.collections[parent]?.declaredDefaults(asOf: snapshot.moment)
    }
  }

  private func content(_ header: NodeHeader, _ version: RawSpan) throws -> Value? {
    try Value(
      version.extracting(droppingFirst: header.contentOffset), header.kind, snapshot.names)
  }

  /// The value of the parent's property that has this node's key as its name.
  private func propertyOfParent() throws -> Value? {
    guard let key, let parent = path.parent, !parent.isRoot else { return nil }
    return try snapshot[parent][key.description]
  }
}
