/// A property that has more to say than its name and type; a line of a ``ModelSchema``.
///
///     Property(\.number).validated("must be positive") { $0 > 0 }
///     Property(\.departureDelay).was("delay")
public struct Property<M: Model, V: PropertyValue>: SchemaPart, Refinable, Sendable {
  // Not a writable one: a misspelt property would be reported by three errors instead of one.
  private let keyPath: KeyPath<M, V> & Sendable
  private var name: String?
  private var changes: [@Sendable (inout PropertyInfo, M) -> Void] = []
  private var rules: [ModelRule<M>] = []
  private var conditions: [ModelCondition<M>] = []
  private var previewed: (@Sendable () -> [PropertyPath])?

  /// Names a property.
  ///
  /// - Parameters:
  ///   - property: The key path of the property.
  ///   - name: The name that it is stored under; nil for its name in the type.
  public init(_ property: KeyPath<M, V> & Sendable, name: String? = nil) {
    keyPath = property
    self.name = name
  }

  /// Lists a property with its name, for ``ModelSchema/init(listing:version:_:)``.
  public init(_ name: String, _ property: KeyPath<M, V> & Sendable) {
    self.init(property, name: name)
  }

  /// The key path of the property.
  var path: KeyPath<M, V> & Sendable { keyPath }

  func declaring(
    _ change: @escaping @Sendable (inout PropertyInfo, M) -> Void
  ) -> Property { changed { $0.changes.append(change) } }

  func ruled(by rule: ModelRule<M>) -> Property { changed { $0.rules.append(rule) } }

  // MARK: Required and absent values

  /// A record without a value is neither written nor read. A reference without a key is none. Where
  /// the property is new in a collection that has records, these have its initial value.
  public func required() -> Property {
    declaring { info, _ in
      (info.rules.isRequiredToRead, info.rules.isRequiredToWrite) = (true, true)
    }
  }

  /// A record without a value is not written; one that is there already can be read.
  public func writeRequired() -> Property {
    declaring { info, _ in info.rules.isRequiredToWrite = true }
  }

  /// The initial value is not stored: absence stands for it, as it does for what was written before
  /// the property was known. Changing the initial value later is a migration:
  /// <doc:ChangingASchema>.
  ///
  /// A value that was changed in place and has come back to it, as a counter that goes up and down
  /// again, is stored: such a change is logged alone, so that it can be undone alone.
  public func defaultOnEmpty() -> Property {
    declaring { info, template in info.defaults.absence = info.value(in: template) }
  }

  /// A model for which a condition holds is not written without a value.
  ///
  ///     Property(\.reason).required { $0.status == .cancelled }
  ///
  /// - Parameter condition: Asks the model that is to be written. It is code, so the app checks it:
  ///   after a change of any single property, too, for which the model is read then.
  /// - Returns: The property with the rule.
  public func required(where condition: @escaping @Sendable (M) -> Bool) -> Property {
    let rule = ModelRule(about: keyPath, "is required") { [keyPath] model in
      !model[keyPath: keyPath]._isAbsent || !condition(model)
    }
    return changed { $0.rules.append(rule) }
  }

  /// The property is stored only of models for which a condition holds. Of others it is stored as
  /// it is initially, which is not at all where that is nil or ``defaultOnEmpty()``.
  ///
  ///     Property(\.reason).stored { $0.status == .cancelled }
  ///
  /// - Parameter condition: Asks the model that is to be written. It is code, so the app sees to
  ///   it; what a tool has stored is read as it is.
  /// - Returns: The property with the condition.
  public func stored(where condition: @escaping @Sendable (M) -> Bool) -> Property {
    changed { $0.conditions.append(ModelCondition(keyPath, condition)) }
  }

  /// The property is there only in models for which a condition holds: of others it is neither
  /// stored nor read, and is what it is initially.
  ///
  ///     Property(\.deadline).when { $0.kind == .task }
  ///
  /// It is ``stored(where:)``, and read by the same condition: what a record holds all the same,
  /// since a tool or an older app has stored it, no model shows until the condition holds. Writing
  /// the whole model, as by `update`, replaces it. Queries and indexes, which look at records
  /// themselves, find what is stored.
  ///
  /// - Parameter condition: Asks the model that is written, or was read, with every property that
  ///   its record has. It is code, so the app sees to it.
  /// - Returns: The property with the condition.
  /// - Complexity: calls the condition once for each model that is read or written.
  public func when(_ condition: @escaping @Sendable (M) -> Bool) -> Property {
    changed { $0.conditions.append(ModelCondition(keyPath, condition, decidesReads: true)) }
  }

  // MARK: Labels

  /// Sets the label that people read in place of the name, and the documentation of the property.
  /// Both are stored in the declaration, where tools find them; see ``ModelSchema/subscript(_:)``.
  public func labelled(_ label: String, _ documentation: String? = nil) -> Property {
    declaring { info, _ in (info.label, info.documentation) = (label, documentation) }
  }

  // MARK: Rules and lists

  /// A rule that the app checks before a write is logged. All messages are reported at once.
  ///
  /// - Parameters:
  ///   - message: Says what is wrong, behind the property's name: `must be positive`.
  ///   - holds: Returns true if a value is good.
  /// - Returns: The property with the rule.
  public func validated(
    _ message: String, _ holds: @escaping @Sendable (V) -> Bool
  ) -> Property {
    changed { $0.rules.append(ModelRule(keyPath, message, holds)) }
  }

  /// A value outside is refused, or treated as it is said: ``Domain/Treatment/clamp`` puts the
  /// first of the list into its place.
  public func oneOf(_ values: [V], else treatment: Domain.Treatment = .reject) -> Property {
    declaring { info, _ in
      let domain = ValueDomain(values, treatment)
      info.rules.domain = domain.definition
      if treatment != .reject { return }
      info.rules.check = PropertyCheck { (value: inout V) in
        domain.nearest(value) == nil ? nil : domain.message
      }
    }
  }

  // MARK: Former names

  /// Stored under another name before.
  public func was(_ name: String) -> Property {
    declaring { info, _ in info.older.names.append(FormerName(name)) }
  }

  /// Stored under another name, or the same, as another type before.
  ///
  /// - Parameters:
  ///   - name: The name under which it was stored before.
  ///   - type: The type as which it was stored before.
  ///   - convert: Makes the new value; an error is that of reading the record.
  /// - Returns: The property with the former name.
  public func was<Old: PropertyValue>(
    _ name: String, as type: Old.Type, _ convert: @escaping @Sendable (Old) throws -> V
  ) -> Property {
    declaring { info, _ in info.older.names.append(FormerName(name, convert)) }
  }

  /// Made of other properties before: computed where a record has no value under its own name.
  ///
  ///     Property(\.name).was { old in
  ///       try old["first", as: String.self] + " " + old["last", as: String.self]
  ///     }
  ///
  /// - Parameter make: Makes the value of the whole record as it is stored; an error is that of
  ///   reading the record.
  /// - Returns: The property with the rule.
  public func was(_ make: @escaping @Sendable (DynamicRecord) throws -> V) -> Property {
    declaring { info, _ in info.older.computed = ComputedProperty(make) }
  }

  // MARK: The line

  /// The schema item that declares the property.
  public var item: SchemaItem<M> {
    SchemaItem(
      change: { [keyPath, name, changes, conditions] draft, template in
        if conditions.contains(where: \.decidesReads) { draft.readConditionally(keyPath) }
        // A rule can be about a nested value as a whole, of which the parts are stored.
        if V.self is any Nested.Type, name == nil, changes.isEmpty {
          if !conditions.isEmpty { _ = draft.offset(ofVariable: keyPath) }
          return
        }
        guard let index = draft.index(of: keyPath, name) else { return }
        if let name { draft.properties[index].name = name }
        for change in changes { change(&draft.properties[index], template) }
      },
      define: previewing,
      rules: rules, conditions: conditions)
  }

  /// Declares the index that holds the previews.
  private var previewing: (@Sendable (inout CollectionDefinition) throws -> Void)? {
    guard let previewed else { return nil }
    return { [keyPath] (definition: inout CollectionDefinition) in
      let own = try Fields<M>()[dynamicMember: keyPath].path.ownProperty(of: "\(M.self)")
      var index = IndexDefinition([IndexDefinition.Term(own)])
      index.covered = try previewed().map {
        "\(own).\(try $0.ownProperty(of: "a preview in \(M.self)"))"
      }
      definition.add(index)
    }
  }
}

extension Property where V.Base: Comparable {
  /// A value outside becomes the nearest inside.
  public func clamped(to range: ClosedRange<V.Base>) -> Property {
    within(range.lowerBound, range.upperBound, .clamp)
  }

  /// A value below one, or above another, becomes that.
  public func clamped(below least: V.Base? = nil, above greatest: V.Base? = nil) -> Property {
    within(least, greatest, .clamp)
  }

  /// A value outside is refused.
  public func rejected(outside range: ClosedRange<V.Base>) -> Property {
    within(range.lowerBound, range.upperBound, .reject)
  }

  /// A value below one, or above another, is refused.
  public func rejected(below least: V.Base? = nil, above greatest: V.Base? = nil) -> Property {
    within(least, greatest, .reject)
  }

  /// A value outside is refused, becomes the nearest one inside, or the one that says that there is
  /// none.
  private func within(
    _ least: V.Base?, _ greatest: V.Base?, _ treatment: Domain.Treatment, cleared: V? = nil
  ) -> Property {
    declaring { info, _ in
      let domain = ValueDomain(least, greatest, treatment)
      info.rules.domain = domain.definition
      info.rules.check = PropertyCheck { (value: inout V) in
        guard let base = value as? V.Base, let nearest = domain.nearest(base) else { return nil }
        if treatment == .reject { return domain.message }
        if let replacement = cleared ?? (nearest as? V) { value = replacement }
        return nil
      }
    }
  }
}

extension Property where V: ExpressibleByNilLiteral, V.Base: Comparable {
  /// A value outside becomes nil.
  public func cleared(outside range: ClosedRange<V.Base>) -> Property {
    cleared(below: range.lowerBound, above: range.upperBound)
  }

  /// A value below one, or above another, becomes nil.
  public func cleared(below least: V.Base? = nil, above greatest: V.Base? = nil) -> Property {
    within(least, greatest, .clear, cleared: .some(nil))
  }
}

/// A property that refers to models, by itself or in each of its elements or keys.
public protocol ReferringProperty: PropertyValue {
  /// The model that is referred to.
  associatedtype Referred: Model
  /// The type of the value that `with(_:)` of ``ModelQuery`` puts beside a model for it.
  associatedtype Loaded: Sendable = [Referred]
  /// Makes that value of the models that are referred to and there.
  static func loaded(_ models: [Referred]) -> Loaded
  /// The ids of the models, in the order in which they are stored.
  var referredIDs: [ModelID<Referred>] { get }
}

extension ReferringProperty where Loaded == [Referred] {
  /// All of them.
  public static func loaded(_ models: [Referred]) -> [Referred] { models }
}

/// A property that refers to one model.
public protocol ReferenceProperty: ReferringProperty {
  /// The id of that model.
  var modelID: ModelID<Referred> { get }
}

extension ModelID: ReferenceProperty {
  /// The model.
  public typealias Referred = M
  /// The one.
  public static func loaded(_ models: [M]) -> M? { models.first }
  /// Itself.
  public var modelID: ModelID<M> { self }
  /// Itself, if it is assigned.
  public var referredIDs: [ModelID<M>] { isAssigned ? [self] : [] }
}

extension Array: ReferringProperty where Element: ReferringProperty {
  /// The model that the elements refer to.
  public typealias Referred = Element.Referred
  /// The ids in the elements.
  public var referredIDs: [ModelID<Referred>] { flatMap(\.referredIDs) }
}

extension Set: ReferringProperty where Element: ReferringProperty {
  /// The model that the elements refer to.
  public typealias Referred = Element.Referred
  /// The ids in the elements, in the order of their stored bytes.
  public var referredIDs: [ModelID<Referred>] {
    map { (ids: $0.referredIDs, bytes: $0.storedBytes ?? []) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.flatMap(\.ids)
  }
}

extension Dictionary: ReferringProperty
where Key: DictionaryKey & ReferringProperty, Value: PropertyValue {
  /// The model that the keys refer to.
  public typealias Referred = Key.Referred
  /// The ids in the keys, in the order of the keys' texts.
  public var referredIDs: [ModelID<Referred>] {
    keys.sorted { ByteOrder.compare($0._keyText, $1._keyText) < 0 }.flatMap(\.referredIDs)
  }
}

extension Property where V.Base: ReferringProperty {
  /// Sets what happens to this record when one that it refers to is deleted: ``DeleteRule/nullify``
  /// takes the reference away, or the element, or the entry. The record that it refers to must be
  /// there when this one is written, unless ``mustExist(_:)`` says otherwise.
  public func onDelete(_ rule: DeleteRule) -> Property {
    declaring { info, _ in info.rules.deleteRule = rule }
  }

  /// True if the record that it refers to must be there when this one is written: so with a delete
  /// rule, and not without one, unless this says otherwise.
  public func mustExist(_ mustExist: Bool = true) -> Property {
    declaring { info, _ in info.rules.mustExist = mustExist }
  }
}

extension Property where V.Base: ReferenceProperty {
  /// Keeps a copy of some properties of what this refers to, beside the reference: lists that show
  /// them are read from the index on the reference alone, without looking the other records up.
  ///
  ///     Property(\.carrier).preview(\.name)
  ///     …
  ///     try database.query(Flight.self).select(\.id, \.carrier.name).fetch()
  ///
  /// The copies cannot differ from what they are of: a transaction that changes the one changes the
  /// other. They are read at the present moment; a past one looks the records up. An index in
  /// another order takes them as well: `Index(\.scheduled).covering(\.carrier.name)`.
  ///
  /// - Parameter properties: Properties of the other model itself. Any that are
  ///   ``defaultOnEmpty()`` are looked up all the same.
  /// - Returns: The property with the previews.
  /// - Complexity: changing a property that is previewed rewrites an index entry, about 2 µs, for
  ///   each record that refers.
  public func preview<each T: PropertyTerm>(
    _ properties: repeat @escaping @Sendable (Fields<V.Base.Referred>) -> each T
  ) -> Property {
    let previewed: @Sendable () -> [PropertyPath] = {
      Fields<V.Base.Referred>.paths(repeat (each properties)(Fields<V.Base.Referred>()))
    }
    return changed { $0.previewed = previewed }
  }
}

extension SchemaDraft {
  /// The offset of a stored `var` in the model; anything else is a problem.
  mutating func offset<M: Model, V>(ofVariable keyPath: KeyPath<M, V>) -> Int? {
    if keyPath is WritableKeyPath<M, V>, let offset = MemoryLayout<M>.offset(of: keyPath) {
      return offset
    }
    problem = problem ?? "\(typeName): \(keyPath) is not a stored `var`"
    return nil
  }

  /// Marks a property, or all of a nested value, as one whose value is not always read.
  fileprivate mutating func readConditionally<M: Model, V>(_ keyPath: KeyPath<M, V>) {
    guard let start = offset(ofVariable: keyPath) else { return }
    omissions.conditional.append(start..<start + max(1, MemoryLayout<V>.size))
  }

  /// The place of a property, which is listed now where none is found.
  fileprivate mutating func index<M: Model, V: PropertyValue>(
    of keyPath: KeyPath<M, V>, _ name: String?
  ) -> Int? {
    guard let offset = offset(ofVariable: keyPath) else { return nil }
    if let index = properties.firstIndex(where: { $0.offset == offset }) { return index }
    if !isDiscovered, name == "id", V.self == M.ID.self {
      idOffset = offset
      return nil
    }
    guard !isDiscovered, let name, offset != idOffset else {
      problem = problem ?? "\(typeName): \(keyPath) is not a property of its own in the records"
      return nil
    }
    let shape = PropertyShape(V.self)
    properties.append(
      PropertyInfo(DiscoveredProperty(name: name, offset: offset, shape: shape)))
    return properties.count - 1
  }
}
