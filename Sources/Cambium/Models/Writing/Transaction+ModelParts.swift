// Sets and dictionaries of models, changed without reading the model; see the same calls on paths.

extension Database.Transaction {
  // MARK: Sets

  /// Puts an element into a set, if it is not in it, without reading the set.
  ///
  ///     try tx.insert("vip", into: user, \.tags)
  ///
  /// Only the element is logged: two writers who both insert lose nothing, and an undo takes out
  /// its own. Elements are compared by their stored form.
  ///
  /// - Parameters:
  ///   - element: The element to put in.
  ///   - id: The id of the model.
  ///   - property: The key path of the property; nil counts as empty.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/badValue(_:reason:)`` for a set that would be
  ///   too large.
  public func insert<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, into id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == Set<Element> {
    try change(id, property) { _ in .include(try running.modelBuffers.encoder.stored(element)) }
  }

  /// Takes an element out of a set, if it is in it, without reading the set.
  ///
  /// - Parameters:
  ///   - element: The element to take out.
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  /// - Throws: As ``set(_:_:to:)``.
  public func remove<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, from id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == Set<Element> {
    try change(id, property) { _ in .exclude(try running.modelBuffers.encoder.stored(element)) }
  }

  // MARK: Dictionaries

  /// Gives a key of a dictionary its value, and leaves the others, without reading them.
  ///
  ///     try tx.set(book, \.prices, "USD", to: 30)
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - property: The key path of the property; nil counts as empty.
  ///   - key: The key of the entry.
  ///   - value: The entry's new value.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/badValue(_:reason:)`` for a dictionary that
  ///   would be too large.
  public func set<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, _ key: Key, to value: Entry
  ) throws where V.Base == [Key: Entry] {
    try change(id, property) { _ in
      .setEntry(key: key._keyText, try running.modelBuffers.encoder.stored(value))
    }
  }

  /// Takes an entry out of a dictionary, if there is one under the key, without reading the others.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  /// - Throws: As ``set(_:_:to:)``.
  public func removeValue<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>(
    forKey key: Key, from id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == [Key: Entry] {
    try change(id, property) { _ in .setEntry(key: key._keyText, nil) }
  }

  /// Adds to the number under a key of a dictionary without reading it; what is absent counts as
  /// zero.
  ///
  ///     try tx.increment(post, \.reactions, "👍", by: 1)
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - property: The key path of the property; nil counts as empty.
  ///   - key: The key of the entry.
  ///   - step: The number to add.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/badValue(_:reason:)`` for a sum that does not
  ///   fit 64 bits.
  public func increment<M: Model, V: PropertyValue, Key: DictionaryKey, Entry: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, _ key: Key, by step: Entry
  ) throws where V.Base == [Key: Entry], Entry: Numeric {
    try change(id, property) { _ in
      .incrementEntry(key: key._keyText, by: try running.modelBuffers.encoder.stored(step))
    }
  }
}
