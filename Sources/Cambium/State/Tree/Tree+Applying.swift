// The effect of each operation on the tree. Every function checks first and then writes.

import LMDB

extension Tree where Host: ~Copyable {
  /// Folds one operation in, or refuses a `set` of a node that exists, if that must be new.
  ///
  /// - Throws: ``DatabaseError`` if the operation is impossible, with nothing changed; a storage
  ///   error with the transaction unusable.
  mutating func apply(
    _ operation: Operation, enforcing: Bool = false, isNew: Bool = false, in host: inout Host
  ) throws {
    isEnforcing = enforcing
    switch operation {
    case .set(let path, let content): try set(path, content, operation, isNew: isNew, &host)
    case .update(let path, _), .change(let path, _?, _): try change(path, operation, &host)
    case .change(let path, nil, let change): try changeScalar(path, change, &host)
    case .remove(let path): try remove(path, &host)
    case .restore(let path, let sequence): try restore(path, removedAt: sequence, &host)
    case .move(let source, let destination): try move(source, to: destination, &host)
    case .define, .event, .declare: break
    }
    if !memory.restored.isEmpty { memory.restored.note(operation) }
  }

  private mutating func set(
    _ path: NodePath, _ content: Content, _ operation: Operation, isNew: Bool,
    _ host: inout Host
  ) throws {
    try locate(path, creating: true, &host)
    let collection = host.collection(of: path)
    // Folding the log again looks every node up, so that `verify` would find one that was
    // overwritten because it was taken for new.
    if isEnforcing, host.isUnused(place.key, in: collection) {
      #if DEBUG
        let isThere = try place.hasVersion(host)
        precondition(!isThere, "a key that is in use counts as unused")
      #endif
      return try replace(nil, with: content, at: path, of: collection, &host)
    }
    let header = try place.load(host)
    if isNew, header != nil { throw DatabaseError.exists(path, reason: "there is a node already") }
    if let header, header.node != 0 { try checkNoChild(path, header.node, operation.names, host) }
    try replace(header, with: content, at: path, of: collection, &host)
  }

  /// Changes properties of a record.
  private mutating func change(
    _ path: NodePath, _ operation: Operation, _ host: inout Host
  ) throws {
    let header = try loadExisting(path, &host)
    var record = try place.record(header, path)
    try record.apply(operation)
    if header.node != 0 { try checkNoChild(path, header.node, operation.names(in: record), host) }
    let bytes = record.stored()
    try Limits.check(bytes.count, path)
    let content = Content(kind: .record, bytes: bytes)
    try replace(header, with: content, at: path, of: host.collection(of: path), &host)
  }

  /// Changes the node's own value in place.
  private mutating func changeScalar(
    _ path: NodePath, _ change: ValueChange<[UInt8]>, _ host: inout Host
  ) throws {
    let found = try locate(path, creating: false, &host) == nil ? nil : try place.load(host)
    if let found, found.kind == .record {
      throw DatabaseError.badValue(path, reason: "it is a record; name the property to change")
    }
    var present: [UInt8]?
    if let found, found.kind == .scalar { present = place.content(found) }
    guard let bytes = try change.applied(to: present, path) else {
      throw DatabaseError.notFound(path, reason: "there is nothing to take out of")
    }
    try Limits.check(bytes.count, path)
    try locate(path, creating: true, &host)
    let content = Content(kind: .scalar, bytes: bytes)
    let collection = host.collection(of: path)
    try replace(try place.load(host), with: content, at: path, of: collection, &host)
  }

  mutating func loadExisting(_ path: NodePath, _ host: inout Host) throws -> NodeHeader {
    guard try locate(path, creating: false, &host) != nil, let header = try place.load(host) else {
      throw DatabaseError.notFound(path, reason: "there is no node; set it first")
    }
    return header
  }

  /// Refuses a record if one of its properties has the name of a child of the node.
  private func checkNoChild(
    _ path: NodePath, _ node: UInt64, _ names: [NameID], _ host: borrowing Host
  ) throws {
    for id in names {
      let name = try Key(try host.name(of: id))
      var key = [UInt8](bigEndian: node)
      name.append(to: &key)
      if try key.lend({ try host.version(at: $0) { _ in true } }) ?? false {
        throw DatabaseError.exists(
          path.appending(name), reason: "it is a child, so it cannot be a property as well")
      }
    }
  }
}

/// The limits of sizes.
enum Limits {
  /// The operations of one transaction, in bytes.
  static let transactionBytesMax = 64 << 20

  static func check(_ count: Int, _ path: NodePath) throws {
    if count > Value.bytesMax {
      throw DatabaseError.badValue(
        path,
        reason: "it takes \(count) bytes; \(Value.bytesMax) is the limit, store a blob instead")
    }
  }
}

extension Operation {
  /// The names of properties that it gives a value; also of one that it clears afterwards.
  fileprivate func names(in changed: RecordBuilder) throws -> [NameID] {
    guard case .update(_, let updates) = self else {
      return try names.filter { changed[$0] != nil }
    }
    return updates.filter { $0.value != nil }.map(\.name)
  }
}
