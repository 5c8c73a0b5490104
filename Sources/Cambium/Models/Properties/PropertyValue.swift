/// A value that a property of a ``Model`` can hold.
///
/// The standard types conform: numbers, text, dates, UUIDs, bytes, blobs, optionals, arrays, sets,
/// dictionaries, ``Value`` for anything. Types of your own conform through ``RawProperty`` (enums
/// and wrappers), ``Nested`` (structs of properties), ``UnionProperty`` (enums with payloads) or
/// ``CodableProperty`` (anything else, as JSON). Whatever the type, it is stored as a ``Value``,
/// which tools can read without the app's code.
///
///     extension Celsius: PropertyValue {
///       static var propertyType: PropertyType { .double }
///       var storedValue: Value { .double(degrees) }
///       init(storedValue: Value) throws { degrees = try Double(storedValue: storedValue) }
///     }
public protocol PropertyValue: Equatable, Sendable {
  /// The type without its optional.
  associatedtype Base: PropertyValue = Self
  /// The members that a query can name behind it: the properties of the model that it refers to, or
  /// of the nested value.
  associatedtype Members: MemberSource = NoMembers

  /// The members that conditions can name behind an optional value of this type.
  associatedtype OptionalMembers: MemberSource = Members

  /// The type of such a property in the collection's declaration.
  static var propertyType: PropertyType { get }

  /// The value as it is stored.
  var storedValue: Value { get }

  /// Reads a stored value.
  ///
  /// - Parameter storedValue: The value as it was stored.
  /// - Throws: Any error, where it is none of this type; it is reported with the record's path and
  ///   the property.
  init(storedValue: Value) throws

  /// True if there is nothing to store; null in queries.
  var _isAbsent: Bool { get }

  /// Reads a value from its stored bytes, to save making a ``Value``.
  ///
  /// - Parameters:
  ///   - stored: The tag and the payload.
  ///   - depth: The number of arrays and maps around the value.
  /// - Returns: The value.
  /// - Throws: As ``init(storedValue:)``.
  static func readStored(_ stored: RawSpan, depth: Int) throws -> Self

  /// Writes the stored bytes, to save making a ``Value``.
  ///
  /// - Parameter writer: The writer that takes the bytes.
  /// - Throws: Any error, where the value cannot be stored.
  func writeStored(to writer: inout ValueWriter) throws
}

extension PropertyValue {
  /// Nothing is absent unless its type says so.
  public var _isAbsent: Bool { false }

  /// Reads by way of a ``Value``.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Self {
    try Self(storedValue: try Value(stored, depth: depth))
  }

  /// Writes by way of a ``Value``.
  public func writeStored(to writer: inout ValueWriter) throws { try writer.write(storedValue) }
}

/// A type whose members a query can name: the properties of a model or of a nested value.
public protocol MemberSource: Sendable {
  /// The list of those properties.
  static var members: MemberList { get }
}

/// The properties that a type has for queries. Only this module makes them.
public struct MemberList: Sendable {
  /// A model's schema; nil for a nested value, whose properties are those of its owner.
  let core: SchemaCore?
}

/// A type without members: numbers, text, dates.
public struct NoMembers: MemberSource {
  /// None.
  public static var members: MemberList { MemberList(core: nil) }
}

/// A stored value that is not of the type that a model has for it.
struct ValueMismatch: Error {
  let reason: String

  init(_ expected: Any.Type, found value: Value) {
    reason = "it holds \(value.kindText), which is no \(expected)"
  }

  init(_ expected: Any.Type, foundTag tag: UInt8) {
    reason = "it holds \(ValueTag.text(tag)), which is no \(expected)"
  }

  init(reason: String) { self.reason = reason }
}

extension Value {
  /// The payload of the kind of value that a type is stored as.
  @inline(__always)
  func payload<V>(_ find: (Value) -> V?) throws -> V {
    guard let payload = find(self) else { throw ValueMismatch(V.self, found: self) }
    return payload
  }
}
