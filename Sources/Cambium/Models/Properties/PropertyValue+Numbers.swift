// Numbers and truth values as properties. A stored value that does not fit the type is an error
// when it is read, never a trap and never another number.

import FoundationEssentials

extension Bool: PropertyValue {
  /// ``PropertyType/bool``.
  public static var propertyType: PropertyType { .bool }
  /// ``Value/bool(_:)``.
  public var storedValue: Value { .bool(self) }

  /// Takes a stored truth value.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .bool(let value) = $0 { value } else { nil } }
  }
}

extension PropertyValue where Self: FixedWidthInteger {
  /// ``PropertyType/integer``.
  public static var propertyType: PropertyType { .integer }

  /// ``Value/integer(_:)``; what is larger than `Int64.max` is a ``Value/decimal(_:)``.
  public var storedValue: Value {
    if let value = Int64(exactly: self) { return .integer(value) }
    return Decimal(string: "\(self)").map { .decimal($0) } ?? .null
  }

  /// Takes a stored whole number that fits.
  public init(storedValue: Value) throws {
    let number: Self? =
      switch storedValue {
      case .integer(let value): Self(exactly: value)
      case .decimal(let value): Self("\(value)")
      default: nil
      }
    guard let number else { throw ValueMismatch(Self.self, found: storedValue) }
    self = number
  }

  /// Reads a stored whole number that fits.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Self {
    guard let value = try? stored.storedInteger(), let number = Self(exactly: value) else {
      return try Self(storedValue: try Value(stored, depth: depth))
    }
    return number
  }
}

extension Int: PropertyValue {}
extension Int8: PropertyValue {}
extension Int16: PropertyValue {}
extension Int32: PropertyValue {}
extension Int64: PropertyValue {}
extension UInt8: PropertyValue {}
extension UInt16: PropertyValue {}
extension UInt32: PropertyValue {}

extension UInt: PropertyValue {
  /// ``PropertyType/decimal``, since a large one does not fit the stored integers.
  public static var propertyType: PropertyType { .decimal }
}

extension UInt64: PropertyValue {
  /// ``PropertyType/decimal``, since a large one does not fit the stored integers.
  public static var propertyType: PropertyType { .decimal }
}

extension Double: PropertyValue {
  /// ``PropertyType/double``.
  public static var propertyType: PropertyType { .double }
  /// ``Value/double(_:)``, with all its bits.
  public var storedValue: Value { .double(self) }

  /// Takes a stored number; a whole one becomes the nearest `Double`.
  public init(storedValue: Value) throws {
    switch storedValue {
    case .double(let value): self = value
    case .integer(let value): self = Double(value)
    default: throw ValueMismatch(Self.self, found: storedValue)
    }
  }
}

extension Float: PropertyValue {
  /// ``PropertyType/double``.
  public static var propertyType: PropertyType { .double }
  /// ``Value/double(_:)``, which every `Float` fits.
  public var storedValue: Value { .double(Double(self)) }

  /// Takes a stored number, rounded to the nearest `Float`; one that is too large is refused.
  public init(storedValue: Value) throws {
    let value = try Double(storedValue: storedValue)
    self = Float(value)
    if isInfinite && value.isFinite { throw ValueMismatch(Self.self, found: storedValue) }
  }
}

extension Decimal: PropertyValue {
  /// ``PropertyType/decimal``.
  public static var propertyType: PropertyType { .decimal }
  /// ``Value/decimal(_:)``.
  public var storedValue: Value { .decimal(self) }

  /// Takes a stored decimal or whole number.
  public init(storedValue: Value) throws {
    switch storedValue {
    case .decimal(let value): self = value
    case .integer(let value): self = Decimal(value)
    default: throw ValueMismatch(Self.self, found: storedValue)
    }
  }
}
