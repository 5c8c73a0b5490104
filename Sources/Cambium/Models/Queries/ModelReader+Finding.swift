// Finding models by their ids, and reading them.

extension ModelReader where Self: ~Copyable {
  /// The model with an id, or nil where there is none: where the id is of one case of a
  /// ``ModelUnion``, and the record of another, there is none either, since a record can become
  /// another case. All that would go on with the model throws instead, and names both cases.
  ///
  /// - Throws: ``PropertyError`` where what is stored is not of the model's types,
  ///   ``DatabaseError/corrupt(reason:)`` where it is damaged, ``DatabaseError/misuse(reason:)``
  ///   for a model that cannot be stored.
  /// - Complexity: one descent of the tree, 0.5 to 1 µs, and about 10 ns a property.
  @inlinable
  public func find<M: Model>(_ id: ModelID<M>) throws -> M? {
    let schema = M.schema
    try schema.core.check()
    guard id.isAssigned else { return nil }
    return try readingSnapshot().model(id, schema)
  }

  /// The model with an id.
  ///
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is none; otherwise as
  ///   `find(_:)`.
  @inlinable
  public func get<M: Model>(_ id: ModelID<M>) throws -> M {
    if let model = try find(id) { return model }
    throw try missing(id)
  }

  /// Some models by their ids, in the order of the ids; those that are not there are left out.
  ///
  /// - Throws: As `find(_:)`.
  public func find<M: Model>(_ ids: some Sequence<ModelID<M>>) throws -> [M] {
    let (snapshot, schema) = (try readingSnapshot(), M.schema)
    try schema.core.check()
    return try ids.compactMap { $0.isAssigned ? try snapshot.model($0, schema) : nil }
  }

  /// One property of a model, without decoding the others; nil where there is no such model.
  ///
  /// - Throws: As `find(_:)`.
  /// - Complexity: one descent of the tree, and about 10 ns.
  @inlinable
  public func find<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws -> V? {
    let core = M.schema.core
    try core.check()
    guard id.isAssigned else { return nil }
    // The members of a nested value are its own: it is stored in several properties.
    if V.Members.self != V.self, let offset = MemoryLayout<M>.offset(of: property) {
      var value: V?
      let found = try readingSnapshot().lend(core, try id.key._treeKey(), at: offset) { stored in
        value = try V.readStored(stored, depth: 0)
      }
      if found != .elsewhere { return value }
    }
    return try find(id).map { $0[keyPath: property] }
  }

  /// True if there is a model with an id.
  ///
  /// - Throws: As `find(_:)`; the model itself is not decoded.
  public func exists<M: Model>(_ id: ModelID<M>) throws -> Bool {
    let core = M.schema.core
    try core.check()
    guard id.isAssigned else { return false }
    let snapshot = try readingSnapshot()
    let node = Node(snapshot, base: core.path, key: try core.treeKey(of: id), version: nil)
    let binding = try snapshot.binding(core)
    if core.sharing.caseName == nil { return try node.lookUp { _, _ in true } ?? false }
    return try node.lookUp { try binding.takes($0, $1) } ?? false
  }

  /// All models of a type, in the order of their keys: a description that reads nothing yet.
  public func all<M: Model>(_ type: M.Type = M.self) throws -> Models<M> {
    try M.schema.core.check()
    return Models(try readingSnapshot())
  }

  /// The number of models of a type.
  ///
  /// - Complexity: O(1) at present, 1 µs; O(n) in the past, where the models are walked.
  public func count<M: Model>(_ type: M.Type) throws -> Int {
    let core = M.schema.core
    try core.check()
    if core.sharing.caseName != nil { return try readingSnapshot().query(type).count() }
    let snapshot = try readingSnapshot()
    _ = try snapshot.binding(core)
    return try snapshot[core.path].childCount
  }
}

extension ModelSchema {
  /// The model that a node's version is.
  func decode(
    _ header: NodeHeader, _ version: RawSpan, key: Cambium.Key, _ binding: Binding
  ) throws -> M {
    try key.stored.lend { try decode(header, version, key: $0, binding) }
  }
}
