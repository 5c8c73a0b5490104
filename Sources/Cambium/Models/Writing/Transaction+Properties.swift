// Changing one property of a model without reading it: only the change is logged, so that two
// writers who both add lose nothing. Rules in code that are about the property, or about the model
// as a whole, are checked on what comes out, and take the change back.

extension Database.Transaction {
  /// Sets a property without reading the model.
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - property: The property, or a nested value with all of its properties.
  ///   - value: The property's new value.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is no model, ``ValidationError``,
  ///   or what a rule of the database refuses. Nothing is logged then.
  /// - Complexity: O(log n), 1 to 3 µs; where code has a rule to check, it reads the model as well.
  public func set<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, to value: V
  ) throws {
    let offset = try place(of: property)
    try checked(id, property, offset) {
      let path = try id.path
      let binding = try running.binding(M.schema.core)
      let updates = try naming(path) {
        try running.modelBuffers.encoder.updates(value, at: offset, binding)
      }
      let left = try leavingFormerNames(updates, path, binding)
      try checkReferences(updates, path, binding)
      try running.issue(.update(path, updates + left))
    }
  }

  /// Adds to a number without reading it. An absent one counts as its default, or else as zero.
  ///
  /// - Parameters:
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  ///   - step: The number to add.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/badValue(_:reason:)`` for a sum that does not
  ///   fit 64 bits.
  public func increment<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, by step: V.Base
  ) throws where V.Base: Numeric {
    try change(id, property) { _ in .increment(by: try running.modelBuffers.encoder.stored(step)) }
  }

  /// Adds an element at the end of an array without reading it; an absent array is made.
  ///
  /// - Parameters:
  ///   - element: The element to add.
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/badValue(_:reason:)`` for an array that would
  ///   be too large.
  public func append<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, to id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == [Element] {
    try change(id, property) { _ in .append(try running.modelBuffers.encoder.stored(element)) }
  }

  /// Puts an element into an array before the one at `position`, without reading it.
  ///
  /// - Parameters:
  ///   - element: The element to put in.
  ///   - position: From 0 up to the number of elements, which is the end.
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  /// - Throws: As `append(_:to:_:)`;
  ///   ``DatabaseError/notFound(_:reason:)`` for a position outside the array.
  public func insert<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, at position: Int, into id: ModelID<M>,
    _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == [Element] {
    try change(id, property) { path in
      .insert(try running.modelBuffers.encoder.stored(element), at: try checked(position, path))
    }
  }

  /// Takes an element out of an array without reading it; those behind it move up.
  ///
  /// - Parameters:
  ///   - position: The index of the element, from 0.
  ///   - id: The id of the model.
  ///   - property: The key path of the property.
  /// - Throws: As ``set(_:_:to:)``; ``DatabaseError/notFound(_:reason:)`` for a position outside
  ///   the array or where there is none.
  public func removeElement<M: Model, V: PropertyValue, Element: PropertyValue>(
    at position: Int, from id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == [Element] {
    try change(id, property) { path in .removeElement(at: try checked(position, path)) }
  }

  /// Takes all elements that are equal to one out of an array.
  ///
  /// - Parameters:
  ///   - element: The value of the elements to remove.
  ///   - id: The id of the model.
  ///   - property: The property, which is read to find their positions.
  /// - Returns: The number of elements that were removed.
  /// - Throws: As ``set(_:_:to:)``.
  @discardableResult
  public func removeAll<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, from id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws -> Int where V.Base == [Element] {
    guard let value = try find(id, property) else {
      try checkCase(id)
      return 0
    }
    let positions = ((value as? [Element]) ?? []).indices(where: { $0 == element })
    let places = positions.ranges.flatMap { Array($0) }
    for position in places.reversed() {
      try removeElement(at: position, from: id, property)
    }
    return places.count
  }

  // MARK: Helpers

  /// Changes a property in place; `change` is given its path.
  func change<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable,
    _ change: (NodePath) throws -> ValueChange<[UInt8]>
  ) throws {
    let offset = try place(of: property)
    try checked(id, property, offset) {
      try renew(id, property, offset)
      let (path, name) = try target(id, offset)
      let part = try naming(path) {
        do { return try change(path) } catch { throw naming(M.self, offset, error) }
      }
      try checkReference(in: part, of: name, path, try running.binding(M.schema.core))
      try running.issue(.change(path, name, part))
    }
  }

  private func naming<M: Model>(
    _ type: M.Type, _ offset: Int, _ error: any Error
  ) -> any Error {
    let core = M.schema.core
    return core.layout.index(at: offset).map { core.properties[$0].naming(error) } ?? error
  }

  /// The offset of a property in the model.
  func place<M: Model, V>(of property: KeyPath<M, V>) throws -> Int {
    try M.schema.core.check()
    guard let offset = MemoryLayout<M>.offset(of: property), property is WritableKeyPath<M, V>
    else {
      throw DatabaseError.misuse(reason: "\(property) is no stored `var`; only such can be set")
    }
    if M.schema.core.layout.ignored.contains(where: { $0.contains(offset) }) {
      throw DatabaseError.misuse(reason: "\(property) is ignored by the schema, and not stored")
    }
    return offset
  }

  /// Where the model is stored, and the property's name there.
  func target<M: Model>(
    _ id: ModelID<M>, _ offset: Int
  ) throws -> (NodePath, NameID) {
    let core = M.schema.core
    guard let index = core.layout.index(at: offset) else {
      throw DatabaseError.misuse(reason: "the id of a \(M.self) cannot be changed")
    }
    if let codec = core.properties[index].codec {
      throw DatabaseError.misuse(
        reason: """
          \(M.self).\(core.properties[index].name) is stored by \(codec.name), so that it is \
          changed as a whole, by set or update
          """)
    }
    return (try id.path, try running.binding(core).names[index])
  }

  /// Gives a property that the record has in an older form only the one that is changed in place.
  func renew<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, _ offset: Int
  ) throws {
    let core = M.schema.core
    guard let index = core.layout.index(at: offset), core.properties[index].lazyStep != nil,
      let model = try find(id)
    else { return }
    let (path, binding) = (try id.path, try running.binding(core))
    var updates = try running.modelBuffers.encoder.updates(
      model[keyPath: property], at: offset, binding)
    updates += try leavingFormerNames(updates, path, binding)
    let node = self[path]
    if try updates.allSatisfy({ try node.property($0.name)?.stored() == $0.value }) { return }
    try running.issue(.update(path, updates), isAsked: true)
  }

  /// Runs a change; where code has rules that it can break, they are checked on the model that
  /// comes out.
  func checked<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V>, _ offset: Int, _ body: () throws -> Void
  ) throws {
    let place = offset..<offset + max(1, MemoryLayout<V>.size)
    let schema = M.schema
    if schema.core.sharing.caseName != nil, try !exists(id) { throw try missing(id) }
    let hasCode = schema.hooks != nil || !schema.conditions.isEmpty
    if hasCode || schema.hasRules(in: place) || schema.core.sharing.owner?().guardian != nil {
      return try running.asking(.part(place), body)
    }
    guard schema.core.isGuarded(in: place) else { return try running.asking(.none, body) }
    try attempt {
      try running.asking(.none, body)
      var model = try get(id)
      let problems = schema.core.checked(&model)
      if problems.isEmpty { return }
      throw ValidationError(path: try id.path, causes: problems)
    }
  }
}

extension SchemaCore {
  /// True if anything is checked before the properties in a range of the model are written.
  fileprivate func isGuarded(in place: Range<Int>) -> Bool {
    guarded.contains { place.contains(properties[$0].offset) }
  }
}
