// A value of several properties inside a model. As a property of its own it is flattened: each of
// its properties is one of the record, under a dotted name. Inside an optional, an array or a
// dictionary it is stored as a map.

import Synchronization

/// A value type whose properties are stored as properties of the model that holds it, by dotted
/// names: `place.latitude`. Each can be indexed, queried and updated by itself.
///
///     struct Place: Nested { var latitude = 0.0, longitude = 0.0 }
///
/// Inside an optional, an array or a dictionary it is stored as a map, which queries take as one
/// value.
public protocol Nested: PropertyValue, MemberSource
where Members == Self, OptionalMembers == NoMembers {
  /// Makes a value with the initial value of every property.
  init()
}

extension Nested {
  /// The members of the owner, in whose record the properties are stored.
  public static var members: MemberList { MemberList(core: nil) }

  /// A map of anything.
  public static var propertyType: PropertyType { .map(.any) }

  /// ``Value/map(_:)``.
  public var storedValue: Value {
    var record = ValueMap()
    let shape = NestedShape.of(Self.self)
    for property in shape.properties where shape.stores(property, of: self) {
      record[property.name] = property.isAbsent(in: self) ? .null : property.value(in: self)
    }
    return .map(record)
  }

  /// Takes a stored map; properties that it does not have are as they are initially.
  public init(storedValue: Value) throws {
    self = try storedValue.stored().lend { try Self.readStored($0, depth: 0) }
  }

  /// Reads a stored map.
  public static func readStored(_ stored: RawSpan, depth: Int) throws -> Self {
    var value = Self()
    let shape = try NestedShape.of(Self.self).checked()
    try stored.forEachMember(of: Self.self, depth) { name, bytes in
      guard let property = shape.properties.first(where: { ByteOrder.areEqual($0.name, name) })
      else { return }
      try property.read(bytes, depth: depth + 1, into: &value)
    }
    return value
  }

  /// Writes a stored map.
  public func writeStored(to writer: inout ValueWriter) throws {
    let shape = try NestedShape.of(Self.self).checked()
    try writer.open(ValueTag.map)
    for property in shape.inNameOrder where shape.stores(property, of: self) {
      writer.write(name: property.name)
      let start = writer.count
      try property.write(from: self, to: &writer)
      writer.closeLength(from: start)
    }
    writer.close()
  }
}

/// The properties of one nested type, found once. Inside a map nothing is flattened any further.
final class NestedShape: Sendable {
  let properties: [DiscoveredProperty]
  let inNameOrder: [DiscoveredProperty]
  /// Where the properties lie that are nil initially, so that nil need not be stored.
  private let absentInitially: Set<Int>
  private let problem: String?

  private static let known = Mutex<[ObjectIdentifier: NestedShape]>([:])

  /// The shape of a type.
  static func of<N: Nested>(_ type: N.Type) -> NestedShape {
    let key = ObjectIdentifier(type)
    if let shape = known.withLock({ $0[key] }) { return shape }
    // Outside the lock, since `init` is the app's code.
    let shape = NestedShape(of: N())
    known.withLock { $0[key] = shape }
    return shape
  }

  private init<N: Nested>(of template: N) {
    let discovery = Discovery(of: template, flattens: false)
    properties = discovery.properties
    absentInitially = Set(properties.filter { $0.isAbsent(in: template) }.map(\.offset))
    inNameOrder = properties.sorted { ByteOrder.compare($0.name, $1.name) < 0 }
    problem = discovery.problem ?? discovery.unstorable.first?.reason
  }

  /// True if a property's value is stored in the map.
  func stores<N: Nested>(_ property: DiscoveredProperty, of value: N) -> Bool {
    !absentInitially.contains(property.offset) || !property.isAbsent(in: value)
  }

  /// Itself, where all can be stored.
  func checked() throws -> NestedShape {
    if let problem { throw DatabaseError.misuse(reason: problem) }
    return self
  }
}
