// From an app's values to stored ones: names become numbers, which are defined in the log first.

extension RunningTransaction {
  /// The number of a name, which is defined if it is new.
  func define(_ name: String) throws -> NameID {
    if let id = catalog.id(of: name) { return id }
    _ = try Key.checked(name)
    let id = NameID(catalog.count)
    try issue(.define(id, name))
    return id
  }

  /// The content that a node holds for a value: a record for a map, a scalar otherwise.
  func content(_ value: Value, _ path: NodePath) throws -> Content {
    guard case .map(let record) = value else {
      return Content(kind: .scalar, bytes: try value.stored(at: path))
    }
    do {
      let bytes = try group.buffers.encoder.encode(record) { try define($0) }
      try Limits.check(bytes.count, path)
      return Content(kind: .record, bytes: bytes)
    } catch DatabaseError.badValue(_, let reason) {
      throw DatabaseError.badValue(path, reason: reason)
    }
  }

  /// The record and the property that a path names, if its parent is a record with such a property.
  func propertyPlace(_ path: NodePath) throws -> (NodePath, String)? {
    if group.stateWriter.tree.isLastParent(of: path) { return nil }
    guard let key = path.last, let parent = path.parent, !parent.isRoot else { return nil }
    let name = key.description
    guard catalog.id(of: name) != nil else { return nil }
    try use()
    let snapshot = Snapshot(self)
    return try snapshot[parent][name] == nil ? nil : (parent, name)
  }
}

extension Value {
  /// The stored form of a value that is written at a path.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` with the path.
  func stored(at path: NodePath, depth: Int = 0) throws -> [UInt8] {
    do {
      var bytes: [UInt8] = []
      try append(to: &bytes, depth: depth)
      try Limits.check(bytes.count, path)
      return bytes
    } catch DatabaseError.badValue(_, let reason) {
      throw DatabaseError.badValue(path, reason: reason)
    }
  }
}
