/// The place in the tree that an operation has come to: its tree key, and the version found there.
struct TreePlace {
  /// The parent's node id, then the node's key.
  private(set) var key: [UInt8] = []
  /// The node id that `key` begins with.
  private(set) var parent = StateHead.root
  /// The version that was found here.
  private(set) var version: [UInt8] = []

  /// Goes to a parent and one part of a path.
  mutating func aim(_ parent: UInt64, _ path: [UInt8], _ start: Int, _ end: Int) {
    self.parent = parent
    key.removeAll(keepingCapacity: true)
    key.append(bigEndian: parent)
    key.append(contentsOf: path[start..<(path[start] == KeyTag.text ? end - 1 : end)])
  }

  /// Goes to a node's first child.
  ///
  /// - Returns: True if there is one.
  mutating func aimAtFirstChild(
    of parent: UInt64, _ storage: borrowing some TreeStorage & ~Copyable
  ) throws -> Bool {
    guard let key = try storage.firstChild(of: parent) else { return false }
    (self.parent, self.key) = (parent, key)
    return true
  }

  /// True if there is a node.
  func hasVersion(_ storage: borrowing some TreeStorage & ~Copyable) throws -> Bool {
    try key.lend { try storage.version(at: $0) { _ in true } } ?? false
  }

  /// Copies the present version.
  ///
  /// - Returns: Its header, or nil if there is no node.
  @inline(__always)
  mutating func load(
    _ storage: borrowing some TreeStorage & ~Copyable
  ) throws -> NodeHeader? {
    let key = key
    var found: [UInt8] = []
    swap(&found, &version)
    defer { swap(&found, &version) }
    return try key.lend { key in
      try storage.version(at: key) { bytes in
        found.removeAll(keepingCapacity: true)
        found.append(bytes)
        return try NodeHeader(bytes, key: key)
      }
    }
  }

  /// The content of the version.
  func content(_ header: NodeHeader) -> [UInt8] { Array(version[header.contentOffset...]) }

  /// The links of the version.
  func links(_ header: NodeHeader) throws -> VersionLinks {
    header.hasLinks ? try version.lend { try header.links($0) } : VersionLinks()
  }

  /// The properties in which a new content differs from the version's.
  func changedNames(_ header: NodeHeader, to content: Content) throws -> ChangedNames {
    try version.lend { version in
      try content.bytes.lend { new in
        let old = version.extracting(droppingFirst: header.contentOffset)
        return try ChangedNames(from: (header.kind, old), to: (content.kind, new))
      }
    }
  }

  /// The record in the version; a node without a value of its own counts as an empty one.
  func record(_ header: NodeHeader, _ path: NodePath) throws -> RecordBuilder {
    switch header.kind {
    case .record:
      return try version.lend {
        try RecordBuilder($0.extracting(droppingFirst: header.contentOffset))
      }
    case .none: return RecordBuilder()
    case .scalar:
      throw DatabaseError.badValue(path, reason: "it holds a single value, no properties")
    }
  }

  /// Refuses a child whose name is a property of the record in the version.
  func checkNoProperty(
    _ header: NodeHeader, _ path: [UInt8], _ next: Range<Int>,
    _ storage: borrowing some TreeStorage & ~Copyable
  ) throws {
    var offset = next.lowerBound
    let name = Key(terminatedIn: path, at: &offset).description
    guard let id = storage.nameID(of: name) else { return }
    let isTaken = try version.lend {
      let record = $0.extracting(droppingFirst: header.contentOffset)
      return try RecordTable(record).find(record, id) != nil
    }
    if isTaken {
      throw DatabaseError.exists(
        NodePath(bytes: Array(path[..<next.upperBound])),
        reason: "it is a property of a record, so it cannot be a child or have children")
    }
  }
}
