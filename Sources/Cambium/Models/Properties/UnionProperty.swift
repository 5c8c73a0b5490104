/// An enum with payloads, stored as a map of one member: the case's name, and its payload or null.
///
///     enum Outcome: UnionProperty {
///       case onTime, late(Int), diverted(Airport.ID)
///
///       static let cases = Cases<Outcome>(
///         Case("onTime", .onTime),
///         Case("late", Outcome.late) { if case .late(let minutes) = $0 { minutes } else { nil } },
///         Case("diverted", Outcome.diverted) { if case .diverted(let to) = $0 { to } else { nil }
///         })
///     }
///
/// The name can be read and asked for (`$0.outcome.is("late")`) without decoding the payload.
public protocol UnionProperty: PropertyValue {
  /// The cases, each of which is named once.
  static var cases: Cases<Self> { get }
}

/// One case of a ``UnionProperty``.
public struct Case<Union: UnionProperty>: Sendable {
  let name: String
  /// The payload's stored value, or nil where the union is another case.
  let payload: @Sendable (Union) -> Value?
  let write: @Sendable (Union, inout ValueWriter) throws -> Bool
  let read: @Sendable (RawSpan, Int) throws -> Union
  /// The form of the payload outside the database.
  let interchange: @Sendable () -> InterchangeShape

  /// A case without a payload.
  public init(_ name: String, _ value: Union) {
    self.name = name
    payload = { $0 == value ? .null : nil }
    write = { union, writer in
      if union == value { writer.writeNull() }
      return union == value
    }
    read = { _, _ in value }
    interchange = { .any }
  }

  /// A case with a payload.
  ///
  /// - Parameters:
  ///   - name: The name that the case is stored under.
  ///   - make: The case itself: `Outcome.late`.
  ///   - payload: The payload, or nil where the value is another case.
  public init<V: PropertyValue>(
    _ name: String, _ make: @escaping @Sendable (V) -> Union,
    _ payload: @escaping @Sendable (Union) -> V?
  ) {
    self.name = name
    self.payload = { payload($0)?.storedValue }
    write = { union, writer in
      guard let payload = payload(union) else { return false }
      try payload.writeStored(to: &writer)
      return true
    }
    read = { stored, depth in make(try V.readStored(stored, depth: depth)) }
    interchange = { .of(V.self) }
  }
}

/// The cases of a ``UnionProperty``.
public struct Cases<Union: UnionProperty>: Sendable {
  let all: [Case<Union>]

  /// Lists the cases.
  public init(_ all: Case<Union>...) { self.all = all }

  fileprivate func named(_ name: String) throws -> Case<Union> {
    guard let found = all.first(where: { ByteOrder.areEqual($0.name, name) }) else {
      throw ValueMismatch(reason: "it holds the case '\(name)', which \(Union.self) does not know")
    }
    return found
  }
}

extension UnionProperty {
  /// A map of anything.
  public static var propertyType: PropertyType { .map(.any) }

  /// ``Value/map(_:)`` with one member.
  public var storedValue: Value {
    for known in Self.cases.all {
      if let payload = known.payload(self) { return .map([known.name: payload]) }
    }
    return .null
  }

  /// Takes a map with one member, which is named like a case.
  public init(storedValue: Value) throws {
    self = try storedValue.stored().lend { try Self.readStored($0, depth: 0) }
  }

  /// Reads a map with one member, which is named like a case.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Self {
    var found: Self?
    try stored.forEachMember(of: Self.self, depth) { name, payload in
      if found != nil { throw ValueMismatch(reason: "it holds two cases of \(Self.self)") }
      found = try cases.named(name).read(payload, depth + 1)
    }
    guard let found else { throw ValueMismatch(reason: "it holds no case of \(Self.self)") }
    return found
  }

  /// Writes a map with one member.
  public func writeStored(to writer: inout ValueWriter) throws {
    try writer.open(ValueTag.map)
    for known in Self.cases.all {
      let mark = writer.count
      writer.write(name: known.name)
      let start = writer.count
      if try known.write(self, &writer) {
        writer.closeLength(from: start)
        return writer.close()
      }
      writer.cut(to: mark)
    }
    throw ValueMismatch(reason: "\(self) is none of the cases that \(Self.self) lists")
  }
}
