// Reading one model by its key: a part that is the same code for every model, and a thin generic
// one that is inlined into the app, where the model's type is known. Generic code that is not looks
// its types up at run time, which took a sixth of a read.

import LMDB

extension Snapshot {
  /// The model with an assigned id, or nil where there is none.
  @inlinable
  func model<M: Model>(_ id: ModelID<M>, _ schema: ModelSchema<M>) throws -> M? {
    let key = try id.key._treeKey()
    var model = schema.template
    let isThere = try unsafe withUnsafeMutablePointer(to: &model) {
      try unsafe load(schema.core, key, into: UnsafeMutableRawPointer($0))
    }
    guard isThere else { return nil }
    if schema.hasReadConditions { schema.hideUnread(&model) }
    return model
  }

  /// Puts the record under a key into the model at `base`, which must hold a value of the schema's
  /// type.
  ///
  /// - Returns: True if there is such a record.
  @usableFromInline
  func load(
    _ core: SchemaCore, _ key: Key, into base: UnsafeMutableRawPointer
  ) throws -> Bool {
    let binding = try binding(core)
    return try lend(binding, key) { header, version, key in
      try unsafe binding.decode(header, version, key: key, into: base)
    }
  }

  /// Lends the version of the model under a key, and the key; false where there is no such model.
  ///
  /// It is not generic: an optional of a generic result is handled at run time, by the metadata of
  /// its type, which took a fortieth of the read of a model.
  @inline(__always)
  private func lend(
    _ binding: Binding, _ key: Key,
    _ body: (NodeHeader, _ version: RawSpan, _ key: RawSpan) throws -> Void
  ) throws -> Bool {
    guard let node = try node(at: binding.core.path) else { return false }
    let (reader, moment) = (try reader, moment)
    return try key.lendTreeKey(parent: node) { treeKey in
      try reader.version(treeKey, asOf: moment) { header, version in
        guard try binding.takes(header, version) else { return false }
        try body(header, version, treeKey.extracting(droppingFirst: 8))
        return true
      } ?? false
    }
  }
}

/// The end of a search for one property of a model.
@usableFromInline
enum FoundProperty {
  /// There is no such model.
  case none
  /// The property was lent.
  case here
  /// The whole model has to say: the property is not in the record, or in another form.
  case elsewhere
}

extension Snapshot {
  /// Lends the stored value of the property at an offset of the model under a key.
  @usableFromInline
  func lend(
    _ core: SchemaCore, _ key: Key, at offset: Int, _ body: (RawSpan) throws -> Void
  ) throws -> FoundProperty {
    let binding = try binding(core)
    guard let index = core.layout.index(at: offset), core.layout.isPlain[index] else {
      return .elsewhere
    }
    var found = FoundProperty.none
    _ = try lend(binding, key) { header, version, key in
      found = .elsewhere
      guard header.kind == .record else { return }
      let record = version.extracting(droppingFirst: header.contentOffset)
      guard let range = try RecordTable(record).find(record, binding.names[index]),
        try record.load(UInt8.self, at: range.lowerBound) != ValueTag.null
      else { return }
      do { try body(record.extracting(range)) } catch { throw core.located(error, key, index) }
      found = .here
    }
    return found
  }
}

extension Binding {
  /// True if a record is of the model's case, or the model is not one of several in its collection.
  @inline(__always)
  func takes(_ header: NodeHeader, _ version: RawSpan) throws -> Bool {
    union.isAlone ? true : try isOfCase(header, version)
  }

  private func isOfCase(_ header: NodeHeader, _ version: RawSpan) throws -> Bool {
    guard header.kind == .record else { return true }
    return try takes(version.extracting(droppingFirst: header.contentOffset))
  }

  /// As ``takes(_:_:)``, of a stored record.
  func takes(_ record: RawSpan) throws -> Bool {
    guard let caseName = core.sharing.caseName else { return true }
    guard let range = try RecordTable(record).find(record, union.discriminator) else {
      return core.sharing.namelessCase.map { $0 == caseName } ?? true
    }
    let stored = record.extracting(range)
    return union.names.contains { $0.stored.lend { $0.equals(stored) } }
  }
}
