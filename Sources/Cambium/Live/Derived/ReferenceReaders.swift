// Readers of one record's property: the models that it refers to, their ids, and a dictionary's
// entries.

/// A property of one record.
struct FollowedProperty<M: Model, V: PropertyValue>: Sendable {
  let id: ModelID<M>
  let property: KeyPath<M, V> & Sendable
  let path: NodePath
  let guardOfOwner: LiveGuard

  init(_ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable) throws {
    (self.id, self.property, path) = (id, property, try id.path)
    guardOfOwner = LiveGuard(
      collection: M.schema.core.path, test: .keys([try M.schema.core.treeKey(of: id).stored]))
  }

  /// The value at a moment; nil if there is no such model, or the value is nil.
  func value(at snapshot: Snapshot) throws -> V.Base? {
    try snapshot.find(id, property).flatMap { $0 as? V.Base }
  }
}

/// The ids that a property refers to, and the changes of the models behind them.
struct FollowedReferences<M: Model, V: PropertyValue>: Sendable where V.Base: ReferringProperty {
  typealias Referred = V.Base.Referred

  let owner: FollowedProperty<M, V>
  private(set) var ids: [ModelID<Referred>] = []
  private(set) var guards: [LiveGuard]
  /// The stored keys of the models that have changed since the step before; nil if not known.
  private(set) var changed: Set<[UInt8]>?

  init(_ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable) throws {
    owner = try FollowedProperty(id, property)
    guards = [owner.guardOfOwner]
  }

  mutating func read(_ snapshot: Snapshot, _ changes: [NetChange]?) throws {
    let core = Referred.schema.core
    let ids = try owner.value(at: snapshot)?.referredIDs ?? []
    self.ids = ids.filter(\.isAssigned)
    let keys = try self.ids.map { try core.treeKey(of: $0).stored }
    guards = [owner.guardOfOwner, LiveGuard(collection: core.path, test: .keys(Set(keys)))]
    changed = changes.map { Set($0.filter { $0.collection == core.path }.map(\.key)) }
  }

  /// True if a model may have changed in the last step.
  func mayHaveChanged(_ id: ModelID<Referred>) -> Bool {
    guard let changed, let key = try? Referred.schema.core.treeKey(of: id).stored else {
      return true
    }
    return changed.contains(key)
  }
}

/// Reads the models that a property refers to.
struct ReferencesReader<M: Model, V: PropertyValue>: RecordsReader where V.Base: ReferringProperty {
  typealias Referred = V.Base.Referred

  private var references: FollowedReferences<M, V>
  /// The models as of the last step, of those that are there.
  private var models: [ModelID<Referred>: Referred] = [:]

  init(_ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable) throws {
    references = try FollowedReferences(id, property)
  }

  var guards: [LiveGuard] { references.guards }

  mutating func read(
    _ snapshot: Snapshot, _ changes: [NetChange]?
  ) throws -> [(id: ModelID<Referred>, element: Referred)] {
    try references.read(snapshot, changes)
    var read: [ModelID<Referred>: Referred] = [:]
    for id in references.ids where read[id] == nil {
      let known = references.mayHaveChanged(id) ? nil : models[id]
      read[id] = try known ?? snapshot.find(id)
    }
    models = read
    return references.ids.compactMap { id in read[id].map { (id, $0) } }
  }

  func isSame(_ id: ModelID<Referred>, _ old: Referred, _ new: Referred) -> Bool {
    !references.mayHaveChanged(id) || Referred.schema.core.differences(old, new).isEmpty
  }
}

/// Reads the ids alone; a change of a model is an update of its id.
struct LightReferencesReader<M: Model, V: PropertyValue>: RecordsReader
where V.Base: ReferringProperty {
  typealias Referred = V.Base.Referred

  private var references: FollowedReferences<M, V>

  init(_ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable) throws {
    references = try FollowedReferences(id, property)
  }

  var guards: [LiveGuard] { references.guards }

  mutating func read(
    _ snapshot: Snapshot, _ changes: [NetChange]?
  ) throws -> [(id: ModelID<Referred>, element: LightKey<Referred>)] {
    try references.read(snapshot, changes)
    return references.ids.map { ($0, LightKey(id: $0)) }
  }

  func isSame(
    _ id: ModelID<Referred>, _ old: LightKey<Referred>, _ new: LightKey<Referred>
  ) -> Bool { !references.mayHaveChanged(id) }
}

/// Reads the entries of a dictionary, in the order in which they are stored.
struct EntriesReader<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>:
  RecordsReader
where V.Base == [Key: Entry] {
  private let owner: FollowedProperty<M, V>

  init(_ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable) throws {
    owner = try FollowedProperty(id, property)
  }

  var guards: [LiveGuard] { [owner.guardOfOwner] }

  func read(
    _ snapshot: Snapshot, _ changes: [NetChange]?
  ) throws -> [(id: Key, element: LiveEntry<Key, Entry>)] {
    let entries = try owner.value(at: snapshot) ?? [:]
    return entries.map { (name: $0.key._keyText, key: $0.key, value: $0.value) }
      .sorted { ByteOrder.compare($0.name, $1.name) < 0 }
      .map { ($0.key, LiveEntry(key: $0.key, value: $0.value)) }
  }

  func isSame(
    _ id: Key, _ old: LiveEntry<Key, Entry>, _ new: LiveEntry<Key, Entry>
  ) -> Bool { old.value.isSame(new.value) }
}
