// Properties by key path, for indexes and queries: `\.origin.name` as a function from `Fields` to
// `Operand`, through dynamic member lookup. A key path becomes an offset, the offset a property's
// name, and the name a `PropertyPath`, which is plain data.

/// Represents a model in conditions and orderings; its members are the model's properties.
@dynamicMemberLookup public struct Fields<M: Model>: Sendable {
  /// The references and joins that lead from the queried record to the model.
  let hops: [String]

  @usableFromInline
  init(hops: [String] = []) { self.hops = hops }

  /// A property of the model, or its id.
  public subscript<V: PropertyValue>(dynamicMember keyPath: KeyPath<M, V>) -> Operand<V> {
    let core = M.schema.core
    let offset = MemoryLayout<M>.offset(of: keyPath)
    return Operand(
      path: core.path(at: offset, of: keyPath, V.self, behind: hops), core: core, offset: offset)
  }

  /// The models that refer to the model.
  public subscript<Other: Model>(dynamicMember keyPath: KeyPath<M, Many<Other>>)
    -> ManyOperand<Other>
  {
    ManyOperand(M.schema.template[keyPath: keyPath], of: PropertyPath(hops: hops, nil))
  }
}

extension Fields {
  static func paths<each T: PropertyTerm>(_ properties: repeat each T) -> [PropertyPath] {
    var paths: [PropertyPath] = []
    for property in repeat each properties { paths.append(property.operand.path) }
    return paths
  }

  /// The names of properties of the model itself.
  static func names<each T: PropertyTerm>(_ properties: repeat each T) throws -> [String] {
    try paths(repeat each properties).map { try $0.ownProperty(of: "\(M.self)") }
  }

  static func orderings<each T: OrderTerm>(_ terms: repeat each T) -> [Ordering] {
    var orderings: [Ordering] = []
    for term in repeat each terms { orderings.append(term.ordering) }
    return orderings
  }
}

/// A property in conditions and orderings.
@dynamicMemberLookup public struct Operand<V: PropertyValue>: Sendable {
  var path: PropertyPath
  /// The schema whose property it is, and where it lies in that model.
  let core: SchemaCore
  /// Nil where it has no place of its own.
  let offset: Int?

  /// A property of the model that it refers to, or of the nested value.
  public subscript<T: PropertyValue>(dynamicMember keyPath: KeyPath<V.Members, T>) -> Operand<T> {
    let inner = MemoryLayout<V.Members>.offset(of: keyPath)
    guard let target = V.Members.members.core else {
      // Still in the same record: only the place moves.
      guard let offset else { return Operand<T>(path: path, core: core, offset: nil) }
      let place = inner.map { $0 + offset }
      return Operand<T>(
        path: core.path(at: place, of: keyPath, T.self, behind: path.hops), core: core,
        offset: place)
    }
    var next = target.path(at: inner, of: keyPath, T.self, behind: behindReference)
    next.problem = path.problem ?? next.problem
    return Operand<T>(path: next, core: target, offset: inner)
  }

  /// The models that refer to the model that it refers to.
  public subscript<Other: Model>(dynamicMember keyPath: KeyPath<V.Members, Many<Other>>)
    -> ManyOperand<Other> where V.Members: Model
  {
    var path = PropertyPath(hops: behindReference, nil)
    path.problem = self.path.problem
    return ManyOperand(V.Members.schema.template[keyPath: keyPath], of: path)
  }

  /// The hops that lead to the model that it refers to.
  var behindReference: [String] { path.hops + [path.property ?? "id"] }

  /// The property, or nil: for what is selected or grouped by through a reference that may lead
  /// nowhere.
  ///
  ///     query.select(\.number, \.carrier.name.orNil)        // (Int, String?)
  public var orNil: Operand<V.Base?> { Operand<V.Base?>(path: path, core: core, offset: offset) }

  func applying<T: PropertyValue>(_ function: PropertyPath.Function) -> Operand<T> {
    // Of a property with a codec it is a problem.
    let applied = path.changed { ($0.function, $0.guarantee) = (function, nil) }
    return Operand<T>(path: applied, core: core, offset: offset)
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

/// Several models that belong to one, in conditions and for loading.
public struct ManyOperand<Other: Model>: Sendable {
  let many: Condition.ToMany
  /// The path to the key of the one that they belong to.
  let owner: PropertyPath

  /// The models that the references in an array, a set or a dictionary name.
  init(elements path: PropertyPath) {
    many = .elements(path)
    owner = PropertyPath(nil)
  }

  /// The path to the models that have the keys, or to the one that they refer to.
  var path: PropertyPath { if case .elements(let path) = many { path } else { owner } }

  /// The models that refer to the one that a path leads to.
  init(_ many: Many<Other>, of owner: PropertyPath) {
    let reference = many.path
    self.many = .inverse(Other.schema.core.path, property: reference.property ?? "id")
    var owner = owner
    owner.problem = owner.problem ?? reference.problem
    self.owner = owner
  }
}

extension SchemaCore {
  /// The path to what a key path leads to.
  func path<V: PropertyValue>(
    at offset: Int?, of keyPath: AnyKeyPath, _ type: V.Type, behind hops: [String] = []
  ) -> PropertyPath {
    let nested = V.self is any Nested.Type ? ObjectIdentifier(type) : nil
    return path(at: offset, of: keyPath, nested: nested, behind: hops)
  }

  /// The path to what a key path leads to; one with a problem where it is not stored by itself.
  func path(
    at offset: Int?, of keyPath: AnyKeyPath, nested: ObjectIdentifier? = nil,
    behind hops: [String] = []
  ) -> PropertyPath {
    guard let offset else {
      return PropertyPath(
        hops: hops,
        // A key path does not have the name of a computed property.
        problem: """
          \(typeName): a computed property (\(type(of: keyPath).valueType)) cannot be named; name \
          what is stored, or use filter(_:)
          """)
    }
    if let index = layout.index(at: offset),
      nested.map({ $0 == properties[index].shape.typeID }) ?? true
    {
      return PropertyPath(of: properties[index], typeName, behind: hops)
    }
    if offset == layout.idOffset { return PropertyPath(hops: hops, nil) }
    let advice =
      layout.ignored.contains { $0.contains(offset) }
      ? "is ignored by the schema, so that only filter(_:) can name it"
      : nested == nil
        ? "is not a property of its own in the records"
        : "is stored property by property; name one of them"
    return PropertyPath(hops: hops, problem: "\(typeName): \(keyPath) \(advice)")
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
}

extension Operand: OrderTerm {
  /// Ascending.
  public var ordering: Ordering { Ordering(path.guarantee == .order ? path.ofStoredForm : path) }
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
