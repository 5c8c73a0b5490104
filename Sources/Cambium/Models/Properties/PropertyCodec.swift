// A stored form that a schema names for one property, in the place of that of the property's type.
//
//     Measurement 2.5 kg ──encode──▶ 2500.0 ──▶ record
//                        ◀──decode──        ◀──

/// The stored form of a property's values: how it is made, and how it is read.
///
///     struct Grams: PropertyCodec {
///       let guarantee = CodecGuarantee.order
///       func encode(_ mass: Measurement<UnitMass>) -> Double {
///         mass.converted(to: .grams).value
///       }
///       func decode(_ grams: Double) -> Measurement<UnitMass> {
///         Measurement(value: grams, unit: .grams)
///       }
///     }
///
/// A line of a schema names it for a property, ``Coded``. A type whose values are stored in one way
/// everywhere conforms to ``PropertyValue`` itself.
public protocol PropertyCodec<Value>: Sendable {
  /// The type of the property, without its optional.
  associatedtype Value: Equatable & Sendable
  /// The type that is stored, which is no optional.
  associatedtype Stored: PropertyValue

  /// The relation of the stored forms to the values, on which conditions, orderings and indexes
  /// rely.
  var guarantee: CodecGuarantee { get }

  /// Makes the stored form of a value.
  ///
  /// - Throws: Any error, where the value has none; it is reported with the record's path and the
  ///   property, and nothing is stored.
  func encode(_ value: Value) throws -> Stored

  /// Makes the value of a stored form.
  ///
  /// - Throws: Any error, where it is the form of no value; it is reported with the record's path
  ///   and the property.
  func decode(_ stored: Stored) throws -> Value
}

extension PropertyCodec {
  /// A codec that writes this one's form and also reads another one's, of the same stored type.
  ///
  ///     Coded(\.color, by: HexColor().reading(NamedColor()))       // "#FF0000", formerly "red"
  ///
  /// Several are tried in their order. While records may hold either form, stored forms say nothing
  /// about the order or the equality of values: the guarantee is ``CodecGuarantee/nothing``. Once a
  /// migration has rewritten all records, name this codec alone. A former form of another stored
  /// type is a matter of ``Coded/was(_:as:_:)``.
  ///
  /// - Parameter older: The codec that reads what this one cannot decode.
  /// - Returns: The codec of both.
  public func reading<Older: PropertyCodec>(_ older: Older) -> FallbackCodec<Self, Older>
  where Older.Value == Value, Older.Stored == Stored {
    FallbackCodec(newer: self, older: older)
  }
}

/// A codec that writes one form and reads two; see ``PropertyCodec/reading(_:)``.
public struct FallbackCodec<Newer: PropertyCodec, Older: PropertyCodec>: PropertyCodec
where Newer.Value == Older.Value, Newer.Stored == Older.Stored {
  fileprivate let newer: Newer
  fileprivate let older: Older

  /// ``CodecGuarantee/nothing``, since records may hold either form.
  public var guarantee: CodecGuarantee { .nothing }

  /// Makes the newer form.
  public func encode(_ value: Newer.Value) throws -> Newer.Stored { try newer.encode(value) }

  /// Reads the newer form, or else the older one; the error is the newer one's.
  public func decode(_ stored: Newer.Stored) throws -> Newer.Value {
    do { return try newer.decode(stored) } catch {
      guard let value = try? older.decode(stored) else { throw error }
      return value
    }
  }
}

/// A codec whose type is not known.
final class PropertyCoding: Sendable {
  let guarantee: CodecGuarantee
  /// The codec's type.
  let name: String
  /// The type that is stored, with and without its optional.
  private let storedTypes: [ObjectIdentifier]
  private let form: @Sendable (Any) throws -> Value
  private let content: @Sendable (Value) throws -> Any

  init<C: PropertyCodec>(_ codec: C) {
    guarantee = codec.guarantee
    name = "\(C.self)"
    storedTypes = [ObjectIdentifier(C.Stored.self), ObjectIdentifier(C.Stored?.self)]
    form = { value in
      // A property without a value is stored as one without a codec is.
      guard let value = value as? C.Value else { return .null }
      return try codec.encode(value).storedValue
    }
    content = { try codec.decode(try C.Stored(storedValue: $0)) }
  }

  /// The value of a stored form that is not null.
  func value<V>(_ stored: Value, as type: V.Type) throws -> V {
    guard let value = try content(stored) as? V else { throw ValueMismatch(type, found: stored) }
    return value
  }

  /// The stored form of a value of the property; null for nil.
  func stored(_ value: Any) throws -> Value { try form(value) }

  /// True if values are stored as a type.
  func stores(_ type: Any.Type) -> Bool { storedTypes.contains(ObjectIdentifier(type)) }
}

extension PropertyCodec {
  /// The stored form, where an error is a value that cannot be stored.
  fileprivate func write(_ value: Value, to writer: inout ValueWriter) throws {
    let stored: Stored
    do { stored = try encode(value) } catch {
      throw ValueMismatch(reason: "it cannot be encoded by \(Self.self): \(error)")
    }
    try stored.writeStored(to: &writer)
  }

  fileprivate func read(_ stored: RawSpan, _ depth: Int) throws -> Value {
    let form = try Stored.readStored(stored, depth: depth)
    do { return try decode(form) } catch {
      throw ValueMismatch(reason: "it cannot be decoded by \(Self.self): \(error)")
    }
  }
}

extension PropertyShape {
  /// The shape of a property that a codec stores.
  init<C: PropertyCodec>(by codec: C) {
    self.init(
      C.Value.self, storedAs: C.Stored.self, isNullable: false,
      read: { try codec.read($0, $1) }, write: { try codec.write($0, to: &$1) },
      isAbsent: { _ in false }, value: { (try? codec.encode($0).storedValue) ?? .null })
  }

  /// The same where the property can be nil, of which the codec knows nothing.
  init<C: PropertyCodec>(optionalBy codec: C) {
    self.init(
      C.Value?.self, storedAs: C.Stored.self, isNullable: true,
      read: { stored, depth in
        try stored.load(UInt8.self, at: 0) == ValueTag.null ? nil : codec.read(stored, depth)
      },
      write: { value, writer in
        if let value { try codec.write(value, to: &writer) } else { writer.writeNull() }
      },
      isAbsent: { $0 == nil },
      value: { value in value.flatMap { try? codec.encode($0).storedValue } ?? .null })
  }
}
