// Converts values to their form outside the database. Models, whose types say more, and records, of
// which only the declaration is known, share this code.

import FoundationEssentials

/// Writes records as dictionaries.
///
/// Invariants:
/// 1. A record is written once at most below each record that is asked for; `visited` has their
///    paths. ``embed(_:_:)`` keeps it.
package struct InterchangeEncoder {
  let profile: InterchangeProfile
  /// The snapshot that references are followed in; nil where they stay ids.
  let snapshot: Snapshot?
  private var visited: Set<NodePath> = []
  private var depth = 0
  /// The names of the tables that were needed.
  private var names: [ObjectIdentifier: (InterchangeTable, [InterchangeTable.Member])] = [:]

  package init(_ profile: InterchangeProfile, _ snapshot: Snapshot? = nil) {
    self.profile = profile
    self.snapshot = snapshot
  }

  /// Writes the record that a call names.
  ///
  /// - Parameters:
  ///   - table: The properties of its type.
  ///   - path: The path of the record; nil where it has none.
  ///   - value: Returns a property's value, or the id's for nil.
  /// - Returns: The record as the profile wants it.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two names would be one, what `value` throws.
  package mutating func record(
    _ table: InterchangeTable, at path: NodePath?, _ value: (Int?) throws -> Value
  ) throws -> ValueMap {
    visited = path.map { [$0] } ?? []
    depth = 0
    return try object(table, [], value)
  }

  /// Writes a record in the place of a reference to it, unless that would go too deep, or it has
  /// been written.
  mutating func embed(
    _ path: NodePath, _ body: (inout InterchangeEncoder) throws -> ValueMap?
  ) throws -> ValueMap? {
    guard case .embedded(let most) = profile.references, depth < most, !visited.contains(path)
    else { return nil }
    depth += 1
    defer { depth -= 1 }
    let isNew = visited.insert(path).inserted
    guard let record = try body(&self) else {
      if isNew { visited.remove(path) }
      return nil
    }
    return record
  }

  /// Writes a record's properties, of which `place` leads to the record.
  mutating func object(
    _ table: InterchangeTable, _ place: [String], _ value: (Int?) throws -> Value
  ) throws -> ValueMap {
    try object(try members(of: table), table, place, value)
  }

  /// The names of a table's properties, which are made once.
  mutating func members(of table: InterchangeTable) throws -> [InterchangeTable.Member] {
    if let known = names[ObjectIdentifier(table)] { return known.1 }
    let members = try table.members(profile)
    names[ObjectIdentifier(table)] = (table, members)
    return members
  }

  private mutating func object(
    _ members: [InterchangeTable.Member], _ table: InterchangeTable, _ place: [String],
    _ value: (Int?) throws -> Value
  ) throws -> ValueMap {
    var pairs: [(String, Value)] = []
    for member in members {
      // In a dotted name each part counts.
      let own = place + member.declared.split(separator: ".").map(String.init)
      switch member.content {
      case .id:
        guard profile.shows(own, isID: true) else { continue }
        let id = try outside(try value(nil), table.id, own)
        if id != .null || profile.nulls == .explicit { pairs.append((member.outside, id)) }
      case .property(let index):
        guard profile.shows(own) else { continue }
        let property = table.properties[index]
        let written = try outside(try value(index), property.shape, own)
        let isShown = written != .null || profile.nulls == .explicit || property.writesNull
        if isShown { pairs.append((member.outside, written)) }
      case .object(let inner):
        let object = try object(inner, table, own, value)
        if !object.isEmpty { pairs.append((member.outside, .map(object))) }
      }
    }
    return ValueMap(pairs: pairs)
  }

  // MARK: Values

  /// The form of a value outside the database.
  mutating func outside(
    _ value: Value, _ shape: InterchangeShape, _ place: [String]
  ) throws -> Value {
    if case .null = value { return .null }
    if let own = profile.conversion(at: place) { return try own.out(value) }
    switch (shape, value) {
    case (.optional(let inner), _): return try outside(value, inner, place)
    case (.typed(let type, let inner), _):
      if let own = profile.conversion(of: type) { return try own.out(value) }
      return try outside(value, inner, place)
    case (.reference(let reference), _):
      if let record = try reference.embed?(&self, value, place) { return .map(record) }
      return plain(value)
    case (.array(let element), .array(let elements)):
      let shape = element()
      return .array(try elements.map { try outside($0, shape, place) })
    case (.map(let element), .map(let record)):
      let shape = element()
      return .map(ValueMap(pairs: try record.pairs.map { ($0, try outside($1, shape, place)) }))
    case (.nested(let members), .map(let record)):
      return .map(try nested(record, members(), place))
    case (.union(let cases), .map(let record)):
      let shapes = cases()
      return .map(
        ValueMap(
          pairs: try record.pairs.map { name, payload in
            let shape = shapes.first { ByteOrder.areEqual($0.name, name) }?.shape ?? .any
            return (name, try outside(payload, shape, place))
          }))
    case (.json, .string(let text)) where profile.kinds == .plain:
      return try JSONReader.value(
        of: text, name: place.joined(separator: "."), isTyped: false, digits: .kept)
    default: return plain(value)
    }
  }

  private mutating func nested(
    _ record: ValueMap, _ members: [InterchangeMember], _ place: [String]
  ) throws -> ValueMap {
    var pairs: [(String, Value)] = []
    for member in members where profile.shows(place + [member.name]) {
      let stored = record[member.name]
      let value = try outside(stored ?? .null, member.shape, place + [member.name])
      // A null that is stored is not what absence reads as.
      if value != .null || profile.nulls == .explicit || stored != nil {
        pairs.append((profile.keyCase.written(member.name), value))
      }
    }
    return ValueMap(pairs: pairs)
  }

  /// The form outside of a value of which only its kind is known.
  func plain(_ value: Value) -> Value {
    if profile.kinds == .kept { return value }
    switch value {
    case .null, .bool, .string: return value
    case .integer(let number):
      let isSafe = number.magnitude <= JSONTypes.integerMax.magnitude
      return isSafe || profile.largeNumbers == .number ? value : .string(number.description)
    case .double(let number):
      return number.isFinite ? value : .string(InterchangeEncoder.text(number))
    case .decimal(let number):
      let isNumber = profile.largeNumbers == .number && !number.isNaN
      return isNumber ? value : .string(DecimalText.text(number))
    case .data(let data): return .string(data.base64EncodedString())
    case .date(let date): return plain(microseconds: date.microseconds)
    case .uuid(let uuid): return .string(uuid.uuidString.lowercased())
    case .array(let elements): return .array(elements.map(plain))
    case .map(let record): return .map(ValueMap(sorted: record.pairs.map { ($0, plain($1)) }))
    case .reference(let path): return .string(path.description)
    case .blob(let blob):
      let hash = blob.hash.map { [$0 >> 4, $0 & 15] }.joined().map { ASCII.hexDigits[Int($0)] }
      let size = Int64(exactly: blob.size).map { Value.integer($0) }
      return [
        "hash": .string(String(decoding: hash, as: UTF8.self)),
        "size": plain(size ?? .string(blob.size.description)),
      ]
    }
  }

  private static func text(_ number: Double) -> String {
    number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
  }

  private func plain(microseconds: Int64) -> Value {
    let unit: Int64
    switch profile.dates {
    case .iso8601: return .string(DateText.text(moment: microseconds))
    case .seconds: unit = 1_000_000
    case .milliseconds: unit = 1000
    }
    if microseconds % unit == 0 { return plain(.integer(microseconds / unit)) }
    let number = Double(microseconds) / Double(unit)
    // Long before and after our time a double has not the digits.
    if InterchangeMoment.microseconds(number, unit) == microseconds { return .double(number) }
    return plain(.decimal(Decimal(microseconds) / Decimal(unit)))
  }
}

/// Moments as numbers.
enum InterchangeMoment {
  /// A number of units as microseconds; nil where it is too large.
  static func microseconds(_ number: Double, _ unit: Int64) -> Int64? {
    Int64(exactly: (number * Double(unit)).rounded())
  }
}
