// Reads of a transaction's own writes, for rules, hooks and keys.

extension RunningTransaction {
  /// The content of a node, or nil if there is none.
  func record(at path: NodePath) throws -> Content? {
    try reader.version(of: path) { header, version in
      Content(
        kind: header.kind, bytes: version.extracting(droppingFirst: header.contentOffset).array())
    }
  }

  func exists(_ path: NodePath) throws -> Bool { try record(at: path) != nil }

  /// The greatest integer key that a collection ever had; if it is not declared, that it has now.
  func greatestKey(_ path: NodePath) throws -> Int64? {
    try use()
    return try translating {
      guard let plan = catalog.collections[path] else {
        return try reader.greatestKey(below: path)
      }
      return try group.stateWriter.folds.memory.keys.greatest(plan, reader)
    }
  }

  /// True if there is a node at a path that may be written next: the writer's cursor goes there.
  func hasNode(at path: NodePath) throws -> Bool {
    try use()
    return try translating { try group.stateWriter.hasNode(at: path) }
  }

  /// Visits the members of a collection in key order. What `body` writes may move or remove any.
  func forEachMember(of collection: NodePath, _ body: (NodePath) throws -> Void) throws {
    var last: Key?
    while let key = try reader.nextKey(below: collection, after: last) {
      try body(collection.appending(key))
      last = key
    }
  }
}

extension StateReader {
  /// The key of the first child of a node after one.
  fileprivate func nextKey(below path: NodePath, after last: Key?) throws -> Key? {
    guard let node = try node(at: path) else { return nil }
    var walk = try ChildWalk(self, node: node, moment: nil, from: last)
    while let key = try walk.next({ key, _, _ in try Key(key.extracting(droppingFirst: 8)) }) {
      if key != last { return key }
    }
    return nil
  }
}
