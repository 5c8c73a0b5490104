// The keys of dictionaries, which are stored as the names in a map. Each key has one text, and only
// that is read, so that no two entries of a map are one of the dictionary.

import FoundationEssentials

/// A key that a dictionary's values can be stored under: text, a whole number, a UUID, the id of a
/// model, or an enum with such a raw value.
///
///     enum Meal: String, RawProperty, DictionaryKey { case lunch, dinner }
///     …
///     var prices: [Meal: Decimal] = [:]
///     var seats: [Int: String] = [:]
///
/// There are no others; the requirements are not for apps.
public protocol DictionaryKey: Hashable, Sendable {
  /// The type, in a declaration, of a dictionary with such keys.
  static func _propertyType(of values: PropertyType) -> PropertyType
  /// The key as text.
  var _keyText: String { get }
  /// Reads the text.
  init(_keyText keyText: String) throws
}

extension DictionaryKey {
  /// A ``PropertyType/map(_:)``.
  public static func _propertyType(of values: PropertyType) -> PropertyType { .map(values) }

  fileprivate static func mismatch(_ text: String) -> ValueMismatch {
    ValueMismatch(reason: "the key '\(text)' is no \(Self.self)")
  }
}

extension String: DictionaryKey {
  /// Itself.
  public var _keyText: String { self }
  /// Takes any text.
  public init(_keyText keyText: String) throws { self = keyText }
}

extension DictionaryKey where Self: FixedWidthInteger {
  /// The decimal digits, behind a minus where it is negative.
  public var _keyText: String { String(self) }

  /// Takes decimal digits that are written as the number is.
  public init(_keyText keyText: String) throws {
    guard let number = Self(keyText), number._keyText == keyText else {
      throw Self.mismatch(keyText)
    }
    self = number
  }
}

extension Int: DictionaryKey {}
extension Int64: DictionaryKey {}
extension Int32: DictionaryKey {}
extension Int16: DictionaryKey {}
extension Int8: DictionaryKey {}
extension UInt32: DictionaryKey {}
extension UInt16: DictionaryKey {}
extension UInt8: DictionaryKey {}

extension UUID: DictionaryKey {
  /// The digits as keys of the tree have them, in lower case.
  public var _keyText: String { Cambium.Key.uuid(self).description }

  /// Takes digits in lower case.
  public init(_keyText keyText: String) throws {
    guard let id = UUID(uuidString: keyText), id._keyText == keyText else {
      throw Self.mismatch(keyText)
    }
    self = id
  }
}

extension DictionaryKey where Self: RawRepresentable, RawValue: DictionaryKey {
  /// The raw value's text.
  public var _keyText: String { rawValue._keyText }

  /// Takes the text of a raw value of the type.
  public init(_keyText keyText: String) throws {
    guard let known = Self(rawValue: try RawValue(_keyText: keyText)) else {
      throw Self.mismatch(keyText)
    }
    self = known
  }
}
