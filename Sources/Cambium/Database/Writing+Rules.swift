// What declared rules make of an operation before it is applied and logged: values outside a domain
// are replaced, what stands for absence is left out, references must lead somewhere, and what
// refers to a record that goes is dealt with first. All of it becomes explicit operations, so that
// folding the log needs no rules.

extension Writing {
  /// The operation as the rules want it.
  func obeying(_ operation: Operation) throws -> Operation {
    let collections = projector.memory.catalog.collections
    if collections.isEmpty { return operation }
    switch operation {
    case .set(let path, let content) where content.kind == .record:
      guard let plan = projector.plan(of: path), plan.changesValues else { return operation }
      return .set(path, try plan.treated(content, self))
    case .update(let path, let updates):
      guard let plan = projector.plan(of: path), plan.changesValues else { return operation }
      return .update(path, try updates.map { try plan.treated($0, self) })
    case .increment(let path, let name?, _):
      guard let plan = collections[of: path], plan.property(name)?.domain != nil else {
        return operation
      }
      return try clamped(operation, path, name)
    default: return operation
    }
  }

  /// Issues what must happen before an operation that takes records away.
  func entail(_ operation: Operation) throws {
    switch operation {
    case .remove(let path): try letGo(path, movingTo: nil)
    case .move(let source, let destination): try letGo(source, movingTo: destination)
    default: break
    }
  }

  /// An increment whose sum leaves a domain, as the update that the domain makes of it.
  private func clamped(
    _ operation: Operation, _ path: Path, _ name: Catalog.NameID
  ) throws -> Operation {
    let plan = projector.memory.catalog.collections[of: path]
    guard let domain = plan?.property(name)?.domain, let old = try record(at: path),
      let sum = try Content.applying(operation, to: old)?.value(of: name)
    else { return operation }
    let treated = try domain.treated(sum)
    return treated == sum ? operation : .update(path, [.init(name: name, value: treated)])
  }

  /// What a node holds.
  private func record(at path: Path) throws -> Content? {
    guard let parent = path.parent, let key = path.last else { return nil }
    let reader = try projector.reader
    guard let node = try reader.node(at: parent) else { return nil }
    return try key.lendTreeKey(parent: node) {
      try reader.version($0, asOf: nil) { header, version in
        Content(
          kind: header.kind, bytes: version.extracting(droppingFirst: header.contentOffset).array())
      }
    }
  }

  /// Refuses a reference that leads nowhere.
  fileprivate func checkTarget(_ value: [UInt8], _ property: PropertyDefinition) throws -> String? {
    guard property.mustExist, let target = property.target, !value.isEmpty,
      value[0] != ValueTag.null
    else { return nil }
    let values = property.type.isPlural ? try value.lend { try IndexEntry.elements($0) } : [value]
    for value in values {
      let reference = try value.lend { try Value($0) }
      guard let key = StoredKey.key(naming: reference), try exists(target.appending(key))
      else { return "refers to \(reference.text), which is not in \(target)" }
    }
    return nil
  }

  func exists(_ path: Path) throws -> Bool { try record(at: path) != nil }

  /// Whether there is a node at a path that is to be written next: found by the writer's own
  /// cursor, which then stands where it will be written.
  func hasNode(at path: Path) throws -> Bool {
    try use()
    return try translating {
      try projector.locate(path, creating: false) != nil && projector.loadOld() != nil
    }
  }
}

extension Collections {
  /// The collection that a node belongs to.
  subscript(of path: Path) -> CollectionPlan? { self[path.bytes[..<path.parentCount]] }
}

extension CollectionPlan {
  fileprivate func treated(_ content: Content, _ writing: Writing) throws -> Content {
    var record = try content.bytes.lend { try RecordBuilder($0) }
    for property in properties {
      guard let value = record[property.name] else { continue }
      record[property.name] = try property.treated(value, path, writing)
    }
    return Content(kind: .record, bytes: record.stored())
  }

  fileprivate func treated(
    _ update: Operation.PropertyUpdate, _ writing: Writing
  ) throws -> Operation.PropertyUpdate {
    guard let value = update.value, let property = property(update.name) else { return update }
    return .init(name: update.name, value: try property.treated(value, path, writing))
  }
}

extension PropertyPlan {
  /// What is stored for a value: nil for nothing.
  fileprivate func treated(
    _ value: [UInt8], _ collection: Path, _ writing: Writing
  ) throws -> [UInt8]? {
    if let reason = try writing.checkTarget(value, definition) {
      throw DatabaseError.invalid([Violation(collection, definition.name, reason)])
    }
    guard value.first != ValueTag.null else { return value }
    var result: [UInt8]? = value
    if let domain, try value.lend({ try definition.type.takes($0) }) {
      result = try domain.treated(value)
    }
    return try result == definition.absence?.stored() ? nil : result
  }
}
