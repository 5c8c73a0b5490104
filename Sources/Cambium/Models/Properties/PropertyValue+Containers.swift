// Optionals, arrays, sets and dictionaries of property values. They are stored as null, arrays and
// maps, so that tools read them.

extension Optional: PropertyValue where Wrapped: PropertyValue {
  /// The wrapped type's.
  public typealias Base = Wrapped.Base
  /// The members that the wrapped type has behind an optional.
  public typealias Members = Wrapped.OptionalMembers

  /// The wrapped type's: null is allowed besides.
  public static var propertyType: PropertyType { Wrapped.propertyType }
  /// The wrapped value's, or null.
  public var storedValue: Value { self?.storedValue ?? .null }
  /// True if it is nil, or the wrapped value is absent.
  public var _isAbsent: Bool { self?._isAbsent ?? true }

  /// Takes null, or a stored value of the wrapped type.
  public init(storedValue: Value) throws {
    self = if case .null = storedValue { nil } else { try Wrapped(storedValue: storedValue) }
  }

  /// Reads null, or a stored value of the wrapped type.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Wrapped? {
    if try stored.load(UInt8.self, at: 0) == ValueTag.null { return nil }
    return try Wrapped.readStored(stored, depth: depth)
  }

  /// Writes the value, or null.
  public func writeStored(to writer: inout ValueWriter) throws {
    if let self { try self.writeStored(to: &writer) } else { writer.writeNull() }
  }
}

extension Array: PropertyValue where Element: PropertyValue {
  /// An array of what the elements are.
  public static var propertyType: PropertyType { .array(Element.propertyType) }
  /// ``Value/array(_:)``.
  public var storedValue: Value { .array(map(\.storedValue)) }

  /// Takes a stored array all of whose elements are of the element's type.
  public init(storedValue: Value) throws {
    guard case .array(let elements) = storedValue else {
      throw ValueMismatch(Self.self, found: storedValue)
    }
    self = try elements.map { try Element(storedValue: $0) }
  }

  /// Reads a stored array.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> [Element] {
    var elements: [Element] = []
    try stored.forEachElement(of: Self.self, depth) {
      elements.append(try Element.readStored($0, depth: depth + 1))
    }
    return elements
  }

  /// Writes a stored array.
  public func writeStored(to writer: inout ValueWriter) throws {
    try writer.open(ValueTag.array)
    for element in self {
      let start = writer.count
      try element.writeStored(to: &writer)
      writer.closeLength(from: start)
    }
    writer.close()
  }
}

extension Set: PropertyValue where Element: PropertyValue {
  /// An array of what the elements are.
  public static var propertyType: PropertyType { .array(Element.propertyType) }

  /// ``Value/array(_:)`` in the order of the elements' stored bytes, so that equal sets are stored
  /// as equal bytes.
  public var storedValue: Value {
    let elements = map { element in (element.storedValue, bytes: element.storedBytes ?? []) }
    return .array(elements.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.0))
  }

  /// Takes a stored array; what is in it twice counts once.
  public init(storedValue: Value) throws { self = Set(try [Element](storedValue: storedValue)) }
}

extension Dictionary: PropertyValue where Key: DictionaryKey, Value: PropertyValue {
  /// A map of what the values are; by references where the keys are ids.
  public static var propertyType: PropertyType { Key._propertyType(of: Value.propertyType) }

  /// ``Value/map(_:)``.
  public var storedValue: Cambium.Value {
    .map(ValueMap(pairs: map { ($0.key._keyText, $0.value.storedValue) }))
  }

  /// Takes a stored map.
  public init(storedValue: Cambium.Value) throws {
    guard case .map(let record) = storedValue else {
      throw ValueMismatch(Self.self, found: storedValue)
    }
    self.init()
    for (name, value) in record.pairs {
      try insert(name, try Value(storedValue: value))
    }
  }

  /// Reads a stored map.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> [Key: Value] {
    var dictionary: [Key: Value] = [:]
    try stored.forEachMember(of: Self.self, depth) { name, value in
      try dictionary.insert(name, try Value.readStored(value, depth: depth + 1))
    }
    return dictionary
  }

  /// Writes a stored map.
  public func writeStored(to writer: inout ValueWriter) throws {
    let pairs = map { ($0.key._keyText, $0.value) }
    try writer.open(ValueTag.map)
    for (name, value) in pairs.sorted(by: { ByteOrder.compare($0.0, $1.0) < 0 }) {
      writer.write(name: name)
      let start = writer.count
      try value.writeStored(to: &writer)
      writer.closeLength(from: start)
    }
    writer.close()
  }

  /// Texts with different bytes can be equal in Swift; then one would be lost.
  private mutating func insert(_ name: String, _ value: Value) throws {
    guard updateValue(value, forKey: try Key(_keyText: name)) == nil else {
      throw ValueMismatch(
        reason: "the key '\(name)' is there twice, in two normal forms of Unicode")
    }
  }
}
