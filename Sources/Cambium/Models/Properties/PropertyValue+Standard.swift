// Text, moments, identifiers and bytes as properties, and a property that may hold anything.

import FoundationEssentials

extension String: PropertyValue {
  /// ``PropertyType/string``.
  public static var propertyType: PropertyType { .string }
  /// ``Value/string(_:)``, not normalized.
  public var storedValue: Value { .string(self) }

  /// Takes a stored text.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .string(let value) = $0 { value } else { nil } }
  }

  /// Reads a stored text.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> String {
    let tag = try stored.load(UInt8.self, at: 0)
    guard tag == ValueTag.string else { throw ValueMismatch(Self.self, foundTag: tag) }
    return try stored.string(1, stored.byteCount - 1)
  }

  /// Writes a stored text.
  public func writeStored(to writer: inout ValueWriter) throws { writer.write(text: self) }
}

extension Date: PropertyValue {
  /// ``PropertyType/date``.
  public static var propertyType: PropertyType { .date }
  /// ``Value/date(_:)``, to the microsecond: a `Date()` with more digits comes back without them.
  public var storedValue: Value { .date(self) }

  /// Takes a stored moment.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .date(let value) = $0 { value } else { nil } }
  }
}

extension UUID: PropertyValue {
  /// ``PropertyType/uuid``.
  public static var propertyType: PropertyType { .uuid }
  /// ``Value/uuid(_:)``.
  public var storedValue: Value { .uuid(self) }

  /// Takes a stored UUID.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .uuid(let value) = $0 { value } else { nil } }
  }
}

extension Data: PropertyValue {
  /// ``PropertyType/data``.
  public static var propertyType: PropertyType { .data }
  /// ``Value/data(_:)``; for more than a few hundred KB use a ``Blob``.
  public var storedValue: Value { .data(self) }

  /// Takes stored bytes.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .data(let value) = $0 { value } else { nil } }
  }
}

extension URL: PropertyValue {
  /// ``PropertyType/string``.
  public static var propertyType: PropertyType { .string }
  /// ``Value/string(_:)`` with the absolute form: a relative URL loses what it is relative to.
  public var storedValue: Value { .string(absoluteString) }

  /// Takes a stored text that is a URL.
  public init(storedValue: Value) throws {
    guard case .string(let text) = storedValue, let url = URL(string: text) else {
      throw ValueMismatch(Self.self, found: storedValue)
    }
    self = url
  }
}

extension Blob: PropertyValue {
  /// ``PropertyType/blob``.
  public static var propertyType: PropertyType { .blob }
  /// ``Value/blob(_:)``.
  public var storedValue: Value { .blob(self) }

  /// Takes a stored blob's address.
  public init(storedValue: Value) throws {
    self = try storedValue.payload { if case .blob(let value) = $0 { value } else { nil } }
  }
}

extension Value: PropertyValue {
  /// ``PropertyType/any``.
  public static var propertyType: PropertyType { .any }
  /// Itself.
  public var storedValue: Value { self }
  /// True if it is ``null``.
  public var _isAbsent: Bool { if case .null = self { true } else { false } }

  /// Takes anything.
  public init(storedValue: Value) throws { self = storedValue }
}
