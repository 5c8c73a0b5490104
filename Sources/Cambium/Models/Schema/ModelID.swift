import FoundationEssentials

/// A key that identifies a model among its kind: a time-ordered `UUID`, unless the model says
/// `typealias Key = String` or `Int`. There are no others; the requirements are not for apps.
public protocol ModelKey: PropertyValue, Hashable {
  /// Not given yet: an insert makes one, or refuses.
  static var _unassigned: Self { get }
  /// The kind of key in the collection's declaration.
  static var _keyType: CollectionDefinition.KeyType { get }
  /// A fresh one, for kinds that can be made without looking at the database.
  static func _generated() -> Self?
  /// The key as the tree has it.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for what no key can be.
  func _treeKey() throws -> Cambium.Key
  /// Reads the tree's key, or gives nil for one of another kind.
  init?(_treeKey treeKey: Cambium.Key)
}

extension UUID: ModelKey {
  /// All zeros.
  public static var _unassigned: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }
  /// ``CollectionDefinition/KeyType/uuid``.
  public static var _keyType: CollectionDefinition.KeyType { .uuid }
  /// A UUID of version 7, which sorts behind those made before.
  ///
  /// - Complexity: about 0.3 µs.
  public static func _generated() -> UUID? { UniqueIdentifiers.shared.next() }
  /// Itself.
  public func _treeKey() -> Cambium.Key { .uuid(self) }
  /// Takes a UUID.
  public init?(_treeKey treeKey: Cambium.Key) {
    guard case .uuid(let value) = treeKey else { return nil }
    self = value
  }
}

extension String: ModelKey {
  /// The empty text.
  public static var _unassigned: String { "" }
  /// ``CollectionDefinition/KeyType/string``.
  public static var _keyType: CollectionDefinition.KeyType { .string }
  /// None: the app knows its natural keys.
  public static func _generated() -> String? { nil }
  /// The key that the text reads as: `42` is an integer in the tree, and equal texts are one key.
  public func _treeKey() throws -> Cambium.Key { try Cambium.Key(Cambium.Key.composed(self)) }
  /// Takes any key, as text.
  public init?(_treeKey treeKey: Cambium.Key) { self = treeKey.description }
}

extension Int: ModelKey {
  /// The least integer, so that 0 is a key like any other.
  public static var _unassigned: Int { .min }
  /// ``CollectionDefinition/KeyType/integer``.
  public static var _keyType: CollectionDefinition.KeyType { .integer }
  /// None: `insert(_:)` takes the one behind the greatest that there ever was.
  public static func _generated() -> Int? { nil }
  /// Itself.
  public func _treeKey() -> Cambium.Key { .integer(Int64(self)) }
  /// Takes an integer.
  public init?(_treeKey treeKey: Cambium.Key) {
    guard case .integer(let value) = treeKey else { return nil }
    self.init(exactly: value)
  }
}

/// Identifies one `M`: in a model `ID()` is its own, and `Airline.ID` another's.
///
/// A property of this type refers to the other model. It is stored as the plain key.
public struct ModelID<M: Model>: Hashable, Sendable {
  /// The key.
  public var key: M.Key

  /// Not given yet.
  @inlinable
  public init() { key = ._unassigned }

  /// Takes a key.
  @inlinable
  public init(_ key: M.Key) { self.key = key }

  /// True if there is a key.
  @inlinable
  public var isAssigned: Bool { key != ._unassigned }

  /// The path under which the model is stored.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for what no key can be,
  ///   ``DatabaseError/misuse(reason:)`` for an id without a key.
  public var path: NodePath {
    get throws { try M.schema.core.path(of: self) }
  }
}

extension ModelID {
  /// An id that no other model has.
  ///
  /// - Parameters:
  ///   - identifiers: Where UUIDs come from.
  ///   - last: Gives the greatest id that there ever was, where ids are integers.
  /// - Returns: The id.
  /// - Throws: ``ValidationError`` where only the app knows ids, what `last` throws, and
  ///   ``DatabaseError/misuse(reason:)`` where no integer is left.
  static func fresh(
    _ identifiers: UniqueIdentifiers = .shared, after last: () throws -> Int64?
  ) throws -> ModelID {
    if identifiers !== UniqueIdentifiers.shared, let key = identifiers.next() as? M.Key {
      return ModelID(key)
    }
    if let key = M.Key._generated() { return ModelID(key) }
    guard M.Key._keyType == .integer else {
      throw ValidationError(causes: [ValidationError(property: "id", "is required")])
    }
    let last = max(try last() ?? 0, 0)
    guard last < .max, let key = M.Key(_treeKey: .integer(last + 1)) else {
      throw DatabaseError.misuse(reason: "no integer is left for the id of a \(M.self)")
    }
    return ModelID(key)
  }
}

extension ModelID: PropertyValue {
  /// The model, whose properties queries reach through the reference.
  public typealias Members = M

  /// A reference to the model's collection.
  public static var propertyType: PropertyType { .reference(M.schema.core.path) }
  /// The plain key; a text as it is in keys, composed.
  public var storedValue: Value {
    if case .string(let text) = key.storedValue, isAssigned {
      return .string(Cambium.Key.composed(text))
    }
    return isAssigned ? key.storedValue : .null
  }
  /// True if there is no key.
  public var _isAbsent: Bool { !isAssigned }

  /// Takes a plain key. A text that reads as a number is one as a key of the tree, and comes as
  /// such where ids are selected or grouped by.
  public init(storedValue: Value) throws {
    do { self.init(try M.Key(storedValue: storedValue)) } catch {
      if case .string = storedValue { throw error }
      guard let key = StoredKey.key(naming: storedValue).flatMap({ M.Key(_treeKey: $0) }) else {
        throw error
      }
      self.init(key)
    }
  }
}

extension ModelID: DictionaryKey {
  /// ``PropertyType/keyed(by:_:)`` the model's collection.
  public static func _propertyType(of values: PropertyType) -> PropertyType {
    .keyed(by: M.schema.core.path, values)
  }

  /// The key's text.
  public var _keyText: String { (try? key._treeKey().description) ?? "" }

  /// Reads a key's text.
  public init(_keyText keyText: String) throws {
    guard let key = M.Key(_treeKey: try Cambium.Key(keyText)) else {
      throw ValueMismatch(reason: "the key '\(keyText)' is no \(M.Key.self)")
    }
    self.init(key)
  }
}

extension ModelID: CustomStringConvertible, CustomDebugStringConvertible {
  /// The model's type and the key: `Airport/JFK`; `Airport/?` for an id that is not assigned.
  public var description: String { "\(M.self)/\(isAssigned ? "\(key)" : "?")" }

  /// The id as a program writes it: `Airport.ID("JFK")`; `Airport.ID()` for one that is not
  /// assigned.
  public var debugDescription: String {
    "\(M.self).ID(\(isAssigned ? String(reflecting: key) : ""))"
  }
}

extension ModelID: Comparable where M.Key: Comparable {
  /// Compares the keys.
  public static func < (a: ModelID, b: ModelID) -> Bool { a.key < b.key }
}

extension ModelID: ExpressibleByUnicodeScalarLiteral where M.Key == String {
  /// Takes a literal as key.
  public init(unicodeScalarLiteral key: String) { self.init(key) }
}

extension ModelID: ExpressibleByExtendedGraphemeClusterLiteral where M.Key == String {
  /// Takes a literal as key.
  public init(extendedGraphemeClusterLiteral key: String) { self.init(key) }
}

extension ModelID: ExpressibleByStringLiteral where M.Key == String {
  /// Takes a literal as key.
  public init(stringLiteral key: String) { self.init(key) }
}

extension ModelID: ExpressibleByIntegerLiteral where M.Key == Int {
  /// Takes a literal as key.
  public init(integerLiteral key: Int) { self.init(key) }
}
