// Types of an app's own whose stored form is that of another type.

import FoundationEssentials

/// An enum or a wrapper that is stored as its raw value: `enum Status: String, RawProperty { … }`.
///
/// Queries compare the case: `$0.status == .departed`. A raw value that is none of the type's is an
/// error when the record is read.
public protocol RawProperty: PropertyValue, RawRepresentable where RawValue: PropertyValue {}

extension RawProperty {
  /// The raw value's.
  public static var propertyType: PropertyType { RawValue.propertyType }
  /// The raw value's.
  public var storedValue: Value { rawValue.storedValue }

  /// Takes a raw value of the type.
  public init(storedValue: Value) throws {
    guard let known = Self(rawValue: try RawValue(storedValue: storedValue)) else {
      throw ValueMismatch(Self.self, found: storedValue)
    }
    self = known
  }

  /// Reads a raw value of the type.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Self {
    guard let known = Self(rawValue: try RawValue.readStored(stored, depth: depth)) else {
      throw ValueMismatch(Self.self, found: try Value(stored, depth: depth))
    }
    return known
  }

  /// Writes the raw value.
  public func writeStored(to writer: inout ValueWriter) throws {
    try rawValue.writeStored(to: &writer)
  }
}

extension [any CodingKey] {
  /// The place in a value: `rates[2].percent`.
  fileprivate var placeText: String {
    let text = reduce(into: "") { text, key in
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return text.isEmpty ? "its top" : text
  }
}

/// Any Codable type, stored as JSON text: the way out where nothing else fits.
///
/// It takes 20 to 50 times as long as a ``Nested`` value, and queries cannot look into it.
public protocol CodableProperty: PropertyValue, Codable {}

extension CodableProperty {
  /// ``PropertyType/string``.
  public static var propertyType: PropertyType { .string }

  /// ``Value/string(_:)`` with the JSON; null where the value cannot be encoded.
  public var storedValue: Value { (try? json()).map { .string($0) } ?? .null }

  /// Takes a stored text with JSON of the type.
  public init(storedValue: Value) throws {
    self = try JSONDecoder().decode(
      Self.self, from: Data(try String(storedValue: storedValue).utf8))
  }

  /// Writes the JSON.
  public func writeStored(to writer: inout ValueWriter) throws { writer.write(text: try json()) }

  private func json() throws -> String {
    let encoder = JSONEncoder()
    // Equal values are to be equal bytes.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { return String(decoding: try encoder.encode(self), as: UTF8.self) } catch {
      guard case EncodingError.invalidValue(let value, let context) = error else { throw error }
      throw ValueMismatch(
        reason: "\(value) at \(context.codingPath.placeText) cannot be stored as JSON")
    }
  }
}
