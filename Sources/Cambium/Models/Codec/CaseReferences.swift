// Ids of one case of a union that name a record of another. The tree has one key for both, so such
// an id is refused where it is used: to write the record, to refer to it, and to compare with it.

/// A property that refers to one case of a union, by itself or in its elements or keys.
struct CaseReference: Sendable {
  let name: NameID
  let property: String
  /// The schema of the case.
  let core: SchemaCore

  /// True if a property of a model, or of one of its cases, is one.
  static func isAny(in core: SchemaCore) -> Bool {
    core.properties.contains { $0.shape.reference?.core().sharing.caseName != nil }
      || core.sharing.cases.contains { isAny(in: $0()) }
  }

  /// All of a model's, with the names of its properties in a database.
  static func all(of core: SchemaCore, _ names: [NameID]) -> [CaseReference] {
    zip(core.properties, names).compactMap { info, name in
      guard let referred = info.shape.reference?.core(), referred.sharing.caseName != nil else {
        return nil
      }
      return CaseReference(name: name, property: info.name, core: referred)
    }
  }
}

extension Value {
  /// The keys that a reference, or a container of references, holds.
  fileprivate var referredKeys: [Cambium.Key] {
    switch self {
    case .array(let elements): return elements.flatMap(\.referredKeys)
    case .map(let entries):
      var keys: [Cambium.Key] = []
      for entry in entries.members {
        if let key = try? Cambium.Key(entry.name) { keys.append(key) }
      }
      return keys
    default: return StoredKey.key(naming: self).map { [$0] } ?? []
    }
  }
}

// MARK: Looking

extension Snapshot {
  /// The case of a record, in words, where a model of another one would have its key; nil where it
  /// has the case that is looked for, or is not there.
  func otherCase(_ core: SchemaCore, _ key: Key) throws -> String? {
    let sharing = core.sharing
    guard let own = sharing.caseName, let discriminator = sharing.discriminator,
      let name = try nameID(discriminator)
    else { return nil }
    let node = Node(self, base: core.path, key: key, version: nil)
    let found = try node.lookUp { header, version -> Value? in
      guard header.kind == .record else { return nil }
      let record = version.extracting(droppingFirst: header.contentOffset)
      let stored = try RecordTable(record).find(record, name)
      return try stored.map { try Value(record.extracting($0)) }
    }
    guard case let other?? = found, !sharing.caseNames.contains(where: { .string($0) == other })
    else { return nil }
    return """
      the record is of the case \(other.text) of \(core.declaring.typeName), not \
      \(Value.string(own).text)
      """
  }
}

extension ModelReader where Self: ~Copyable {
  /// The error of a model that is not there.
  @usableFromInline
  func missing<M: Model>(_ id: ModelID<M>) throws -> DatabaseError {
    let core = M.schema.core
    let other = id.isAssigned ? try readingSnapshot().otherCase(core, core.treeKey(of: id)) : nil
    return .notFound(try id.path, reason: other ?? "there is no such \(M.self)")
  }

  /// Throws where an id of one case names a record of another.
  func checkCase<M: Model>(_ id: ModelID<M>) throws {
    let core = M.schema.core
    guard core.sharing.caseName != nil, id.isAssigned else { return }
    if try readingSnapshot().otherCase(core, core.treeKey(of: id)) != nil { throw try missing(id) }
  }
}

// MARK: Writing

extension Binding {
  /// The binding of a model's case; nil where it is no union.
  func ofCase<M: Model>(_ model: M) -> Binding? {
    core.sharing.codec?.caseIndex(model).map { union.cases[$0] }
  }
}

extension Database.Transaction {
  /// Refuses references to one case that name a record of another.
  func checkReferences(
    _ updates: [Operation.PropertyUpdate], _ path: NodePath, _ binding: Binding
  ) throws {
    for reference in binding.caseReferences {
      let update = updates.first { $0.name == reference.name }
      guard let stored = update?.value else { continue }
      try check(try stored.lend { try Value($0) }.referredKeys, reference, path)
    }
  }

  /// As ``checkReferences(_:_:_:)``, of a whole record; of what it has as it was, nothing is asked.
  func checkReferences(
    in record: [UInt8], unlike old: [UInt8]? = nil, _ path: NodePath, _ binding: Binding
  ) throws {
    var own = binding
    if !binding.union.cases.isEmpty {
      guard let index = try record.lend({ try binding.caseIndex($0) }) else { return }
      own = binding.union.cases[index]
    }
    if own.caseReferences.isEmpty { return }
    let values = try record.lend { try RecordBuilder($0) }
    let former = try old?.lend { try RecordBuilder($0) }
    let changed = values.names.filter { former == nil || former?[$0] != values[$0] }
    try checkReferences(changed.map { .init(name: $0, value: values[$0]) }, path, own)
  }

  /// As ``checkReferences(_:_:_:)``, of a change in place.
  func checkReference(
    in change: ValueChange<[UInt8]>, of name: NameID, _ path: NodePath, _ binding: Binding
  ) throws {
    guard let reference = binding.caseReferences.first(where: { $0.name == name }) else { return }
    switch change {
    case .append(let element), .insert(let element, _), .include(let element):
      try check(try element.lend { try Value($0) }.referredKeys, reference, path)
    case .setEntry(let key, .some): try check([try Key(key)], reference, path)
    default: break
    }
  }

  private func check(_ keys: [Key], _ reference: CaseReference, _ path: NodePath) throws {
    for key in keys {
      guard let other = try readingSnapshot().otherCase(reference.core, key) else { continue }
      let target = reference.core.path.appending(key)
      throw DatabaseError.invalid([
        Violation(path, reference.property, "refers to \(target): \(other)")
      ])
    }
  }

  /// The record that a model is.
  func encoded<M: Model>(
    _ model: M, _ path: NodePath, _ binding: Binding
  ) throws -> RecordBuilder {
    try naming(path) {
      try unsafe withUnsafePointer(to: model) {
        try unsafe running.modelBuffers.encoder.encode(UnsafeRawPointer($0), binding)
      }
    }.lend { try RecordBuilder($0) }
  }

  /// The updates that make a stored record one of another case: also of what is equal in both
  /// models, but stored in an older form.
  func becoming<M: Model>(
    _ new: M, from former: Binding, to own: Binding, _ path: NodePath, _ binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    let wanted = try encoded(new, path, binding)
    let stored = try self[path].lookUp { header, version in
      header.kind == .record
        ? try RecordBuilder(version.extracting(droppingFirst: header.contentOffset))
        : RecordBuilder()
    }
    let known = [former, own].flatMap { $0.names + $0.former.map(\.name) }
    return Set(wanted.names + known).subtracting([Binding.unknown]).sorted().compactMap { name in
      stored?[name] == wanted[name] ? nil : .init(name: name, value: wanted[name])
    }
  }
}

// MARK: Asking

/// The ids with which conditions about the records of a collection compare. An id of one case that
/// names a record of another is refused.
struct ComparedIDs {
  let core: SchemaCore
  /// Nil for records behind a reference.
  let binding: Binding?
  let snapshot: Snapshot

  func check(_ condition: Condition?) throws { if let condition { try check(condition.test) } }

  private func check(_ test: Condition.Test) throws {
    switch test {
    case .all(let tests), .any(let tests): for test in tests { try check(test) }
    case .not(let test): try check(test)
    case .compare(let path, .equal, let value), .compare(let path, .notEqual, let value),
      .contains(let path, let value):
      try check([value], path)
    case .oneOf(let path, let values): try check(values, path)
    case .related(.elements(let path), _, let test):
      guard let core = referred(by: path) else { return }
      try ComparedIDs(core: core, binding: nil, snapshot: snapshot).check(test)
    default: break
    }
  }

  private func check(_ values: [Value], _ path: PropertyPath) throws {
    // Most conditions compare with no id, which is seen without a look at the names.
    if path.hops.isEmpty, path.property != nil, let binding, !binding.refersToCases { return }
    guard let core = referred(by: path), core.sharing.caseName != nil else { return }
    for key in values.flatMap(\.referredKeys) {
      guard let other = try snapshot.otherCase(core, key) else { continue }
      throw DatabaseError.notFound(core.path.appending(key), reason: other)
    }
  }

  /// The schema of the model whose id a path holds; nil where that is not known.
  private func referred(by path: PropertyPath) -> SchemaCore? {
    var core = core
    for name in path.hops + [path.property].compactMap(\.self) {
      guard let next = ComparedIDs.referred(by: name, of: core) else { return nil }
      core = next
    }
    return core
  }

  private static func referred(by name: String, of core: SchemaCore) -> SchemaCore? {
    let all = core.storedProperties.filter { $0.name == name }.map { $0.shape.reference?.core() }
    // Where the cases refer to different ones, the path does not say which.
    guard case let core?? = all.first, all.allSatisfy({ $0 === core }) else { return nil }
    return core
  }
}

extension Binding {
  /// True if a property of the model refers to one case of a union.
  var refersToCases: Bool {
    !caseReferences.isEmpty || union.cases.contains { !$0.caseReferences.isEmpty }
  }
}
