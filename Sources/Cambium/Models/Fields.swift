// Properties by key path, for indexes and queries: `\.origin.name` as a function from `Fields` to
// `Operand`, through dynamic member lookup. A key path becomes an offset, the offset a property's
// name, and the name a `PropertyPath`, which is plain data.

/// Stands for a model in conditions and orderings; its members are the model's properties.
@dynamicMemberLookup public struct Fields<M: Model>: Sendable {
  /// What leads from the record that is asked about to the model.
  let hops: [String]

  init(hops: [String] = []) { self.hops = hops }

  /// A property of the model, or its id.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    let core = M.schema.core
    let offset = MemoryLayout<M>.offset(of: keyPath)
    return Operand(
      path: PropertyPath(hops: hops, core.pathName(at: offset, of: keyPath, V.self)), core: core,
      offset: offset ?? 0)
  }

  /// The models that refer to the model.
  public subscript<Other: Model>(dynamicMember keyPath: KeyPath<M, Many<Other>>)
    -> ManyOperand<Other>
  {
    let many = M.schema.template[keyPath: keyPath]
    return ManyOperand(.inverse(Other.schema.core.path, property: many.property))
  }
}

/// A property in conditions and orderings.
@dynamicMemberLookup public struct Operand<V: PropertyValue>: Sendable {
  var path: PropertyPath
  /// The schema whose property it is, and where it lies in that model.
  let core: SchemaCore
  let offset: Int

  /// A property of the model that it refers to, or of the nested value.
  public subscript<T: PropertyValue>(dynamicMember keyPath: KeyPath<V.Members, T>) -> Operand<T> {
    let inner = MemoryLayout<V.Members>.offset(of: keyPath)
    guard let target = V.Members.members.core else {
      // Still in the same record: only the place moves.
      let place = inner.map { $0 + offset }
      var path = path
      path.property = core.pathName(at: place, of: keyPath, T.self)
      return Operand<T>(path: path, core: core, offset: place ?? 0)
    }
    let next = PropertyPath(
      hops: path.hops + [path.property ?? "id"], target.pathName(at: inner, of: keyPath, T.self))
    return Operand<T>(path: next, core: target, offset: inner ?? 0)
  }

  /// The property, or nil: for what is selected or grouped by through a reference that may lead
  /// nowhere.
  ///
  ///     query.select(\.number, \.carrier.name.orNil)        // (Int, String?)
  public var orNil: Operand<V.Base?> { Operand<V.Base?>(path: path, core: core, offset: offset) }

  func applying<T: PropertyValue>(_ function: PropertyPath.Function) -> Operand<T> {
    var path = path
    path.function = function
    return Operand<T>(path: path, core: core, offset: offset)
  }
}

/// A property as selections, groups, views and covering indexes name it: an ``Operand``.
///
/// A list of properties takes terms of this protocol, each of a type of its own, since the compiler
/// then says which one is misspelt, and nothing else.
public protocol PropertyTerm<V>: Sendable {
  /// The property's type.
  associatedtype V: PropertyValue
  /// The property.
  var operand: Operand<V> { get }
}

extension Operand: PropertyTerm {
  /// Itself.
  public var operand: Operand { self }
}

/// Several models that belong to one, in conditions.
public struct ManyOperand<Other: Model>: Sendable {
  let many: Condition.ToMany

  init(_ many: Condition.ToMany) { self.many = many }
}

extension SchemaCore {
  /// Stands for a nested value as a whole, of which only the properties have names.
  static let wholeName = "?"

  /// The name of what a key path leads to; nil for the id.
  func pathName<V: PropertyValue>(
    at offset: Int?, of keyPath: AnyKeyPath, _ type: V.Type
  ) -> String? {
    let isNested = V.self is any Nested.Type
    if let index = offset.flatMap({ index(at: $0) }),
      !isNested || properties[index].shape.typeID == ObjectIdentifier(type)
    {
      return properties[index].name
    }
    if offset == idOffset { return nil }
    if isNested, offset != nil { return SchemaCore.wholeName }
    return property(at: offset, of: keyPath).name
  }
}

/// A property, ascending or descending: what results and indexes are ordered by.
public protocol OrderTerm: Sendable {
  /// The property and the direction.
  var ordering: Ordering { get }
}

extension Ordering: OrderTerm {
  /// Itself.
  public var ordering: Ordering { self }

  /// Large values first.
  public var descending: Ordering { changed { $0.isDescending = true } }
  /// Texts by their folded characters.
  public var ignoringCase: Ordering { changed { $0.collation = .ignoringCase } }
  /// Texts by their folded characters, without diacritics.
  public var ignoringCaseAndDiacritics: Ordering {
    changed { $0.collation = .ignoringCaseAndDiacritics }
  }
  /// Records without a value before the others.
  public var nullsFirst: Ordering { changed { $0.nulls = .first } }
  /// Records without a value behind the others.
  public var nullsLast: Ordering { changed { $0.nulls = .last } }

  private func changed(_ change: (inout Ordering) -> Void) -> Ordering {
    var copy = self
    change(&copy)
    return copy
  }
}

extension Operand: OrderTerm {
  /// Ascending.
  public var ordering: Ordering { Ordering(path) }
  /// Large values first.
  public var descending: Ordering { ordering.descending }
  /// Texts by their folded characters.
  public var ignoringCase: Ordering { ordering.ignoringCase }
  /// Texts by their folded characters, without diacritics.
  public var ignoringCaseAndDiacritics: Ordering { ordering.ignoringCaseAndDiacritics }
  /// Records without a value before the others.
  public var nullsFirst: Ordering { ordering.nullsFirst }
  /// Records without a value behind the others.
  public var nullsLast: Ordering { ordering.nullsLast }
}
