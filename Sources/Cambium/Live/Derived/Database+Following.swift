// Lists that a property of one record holds, followed: the models that it refers to, and the
// entries of a dictionary.
//
//     members: [Person.ID]       live(references: \.members, of: team)   people, in that order
//     tags: Set<Tag.ID>          the same, in the order of the keys
//     scores: [Player.ID: Int]   live(entries: \.scores, of: game)       keys with their values
//                                live(references: \.scores, of: game)    the key objects
//
// Objects that belong to another, and go with it, refer to it: a query for the reference follows
// them.

extension Database {
  // MARK: References

  /// The models that a property refers to, as a live collection in the property's order.
  ///
  ///     let members = try database.live(references: \.members, of: team)
  ///
  /// - Parameters:
  ///   - property: A property with several references: an array, a set, or a dictionary with ids as
  ///     keys. Sets and dictionaries are in the order of the keys.
  ///   - id: The model that has the property; while there is none, the collection is empty.
  /// - Returns: The collection. Models that are not there are left out; a change of one is an
  ///   update.
  /// - Throws: As `find(_:)`; ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  /// - Complexity: One read for each model that is referred to; later one for each that changed,
  ///   and O(*n*) for the list where the property or a model did.
  public func live<M: Model, V: PropertyValue>(
    references property: KeyPath<M, V> & Sendable, of id: ModelID<M>
  ) throws -> LiveCollection<V.Base.Referred> where V.Base: ReferringProperty {
    let run = try RecordsRun(ReferencesReader(id, property), self)
    try run.step()
    return LiveCollection(same: run)
  }

  /// The differences of the models that a property refers to; see ``live(references:of:)``.
  ///
  /// - Parameters:
  ///   - property: A property with several references.
  ///   - id: The model that has the property.
  /// - Returns: The sequence, which reads nothing until it is iterated; its iterator throws as
  ///   ``live(references:of:)``.
  public func changes<M: Model, V: PropertyValue>(
    references property: KeyPath<M, V> & Sendable, of id: ModelID<M>
  ) -> RecordChanges<V.Base.Referred> where V.Base: ReferringProperty {
    RecordChanges { [self] in try RecordsRun(ReferencesReader(id, property), self) }
  }

  /// The same models by their ids alone, each of which is read when it is asked for.
  ///
  /// - Parameters:
  ///   - property: A property with several references.
  ///   - id: The model that has the property.
  ///   - count: The largest number of models that are kept.
  /// - Returns: The collection.
  /// - Throws: As ``live(references:of:)``.
  /// - Complexity: One read of the property; O(*n*) for *n* ids where it, or a model, changes.
  public func lazy<M: Model, V: PropertyValue>(
    references property: KeyPath<M, V> & Sendable, of id: ModelID<M>, keeping count: Int = 256
  ) throws -> LazyModels<V.Base.Referred> where V.Base: ReferringProperty {
    let run = try RecordsRun(LightReferencesReader(id, property), self)
    try run.step()
    return LazyModels(LiveCollection(same: run), in: self, keeping: count)
  }

  // MARK: Dictionaries

  /// The entries of a dictionary, as a live collection in the order of their keys.
  ///
  ///     let scores = try database.live(entries: \.scores, of: game)
  ///
  /// - Parameters:
  ///   - property: A dictionary whose keys are ids, or texts.
  ///   - id: The model that has it; while there is none, the collection is empty.
  /// - Returns: The collection. Another value under the same key is an update.
  /// - Throws: As `find(_:)`; ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  /// - Complexity: O(*n* log *n*) for *n* entries, at first and where the dictionary changes.
  public func live<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>(
    entries property: KeyPath<M, V> & Sendable, of id: ModelID<M>
  ) throws -> LiveCollection<LiveEntry<Key, Entry>> where V.Base == [Key: Entry] {
    let run = try RecordsRun(EntriesReader<M, V, Key, Entry>(id, property), self)
    try run.step()
    return LiveCollection(same: run)
  }

  /// The differences of the entries of a dictionary; see ``live(entries:of:)``.
  ///
  /// - Parameters:
  ///   - property: A dictionary whose keys are ids, or texts.
  ///   - id: The model that has it.
  /// - Returns: The sequence, which reads nothing until it is iterated; its iterator throws as
  ///   ``live(entries:of:)``.
  public func changes<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>(
    entries property: KeyPath<M, V> & Sendable, of id: ModelID<M>
  ) -> RecordChanges<LiveEntry<Key, Entry>> where V.Base == [Key: Entry] {
    RecordChanges { [self] in
      try RecordsRun(EntriesReader<M, V, Key, Entry>(id, property), self)
    }
  }
}

/// An entry of a dictionary that is followed.
public struct LiveEntry<Key: DictionaryKey, Value: Sendable>: Identifiable, Sendable {
  /// The key, which identifies the entry.
  public let key: Key
  /// The value.
  public let value: Value
  /// The key.
  public var id: Key { key }
}

extension LiveEntry: Equatable where Value: Equatable {}

extension LiveCollection {
  /// The value under a key of a dictionary that is followed; nil if there is none.
  ///
  /// - Parameter key: The key.
  /// - Complexity: O(log *n*) comparisons of keys.
  public subscript<Key: DictionaryKey, Value: Sendable>(key: Key) -> Value?
  where Element == LiveEntry<Key, Value> {
    let (elements, name) = (elements, key._keyText)
    let place = elements.partitionPoint { ByteOrder.compare($0.key._keyText, name) < 0 }
    return place < elements.count && elements[place].key == key ? elements[place].value : nil
  }
}
