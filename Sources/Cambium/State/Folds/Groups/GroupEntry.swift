// One group of a view. Stored:
//
//     number of records (varint) | per sum: NumberSum | per property of the group: length (varint),
//     value
//
// Equal values are stored in one form, so that the entry does not depend on the record that came
// first.

import FoundationEssentials

/// A group's aggregates.
struct GroupEntry {
  /// The number of records.
  var count: UInt64 = 0
  var sums: [NumberSum]
  /// The stored values of the group's properties.
  var values: [[UInt8]]

  /// An empty group.
  init(_ plan: GroupsPlan, values: [[UInt8]]) {
    sums = Array(repeating: NumberSum(), count: plan.sums.count)
    self.values = values
  }

  /// Reads a stored entry.
  init(_ plan: GroupsPlan, _ bytes: RawSpan) throws {
    var offset = 0
    count = try bytes.varint(at: &offset)
    sums = []
    for _ in plan.sums { sums.append(try NumberSum(bytes, at: &offset)) }
    values = []
    for _ in plan.by { values.append(bytes.extracting(try bytes.part(at: &offset)).array()) }
  }

  /// The stored form.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: count)
    for sum in sums { sum.append(to: &bytes) }
    for value in values {
      bytes.append(varint: UInt64(value.count))
      bytes += value
    }
    return bytes
  }

  /// Adds the records of another entry of the group.
  mutating func add(_ other: GroupEntry) {
    count += other.count
    for index in sums.indices { sums[index].add(other.sums[index]) }
  }

  /// Adds a record, or removes it.
  mutating func change(_ plan: GroupsPlan, _ record: RawSpan, isRemoval: Bool) throws {
    count &+= isRemoval ? .max : 1
    if sums.isEmpty { return }
    let table = try RecordTable(record)
    for (index, property) in plan.sums.enumerated() {
      try property.value(of: record, table) { value in
        isRemoval ? try sums[index].remove(value) : try sums[index].add(value)
      }
    }
  }
}

/// The group that a record is in.
struct GroupPlace: Equatable {
  /// The bytes that order and distinguish groups.
  var order: [UInt8] = []

  /// The group of a record.
  init(_ by: [ViewProperty], _ record: RawSpan) throws {
    if by.isEmpty { return }
    let table = try RecordTable(record)
    var bytes = ByteBuffer(capacity: 64)
    for property in by {
      try property.value(of: record, table) { try property.appendOrder(of: $0, to: &bytes) }
    }
    order = bytes.array()
  }

  /// The group with certain values, by their ordered bytes.
  init(order: [UInt8]) { self.order = order }

  /// The stored values of a record's group, each in the one form of all equal values.
  static func values(_ by: [ViewProperty], _ record: RawSpan) throws -> [[UInt8]] {
    if by.isEmpty { return [] }
    let table = try RecordTable(record)
    return try by.map { property in
      try property.value(of: record, table) { value in
        value.byteCount == 0
          ? [ValueTag.null] : try Value(value).inOneForm(property.type).stored()
      }
    }
  }
}

extension Value {
  /// The form that represents all values that compare as equal.
  func inOneForm(_ type: PropertyType) -> Value {
    switch self {
    case .integer(let number):
      if case .decimal = type { return .decimal(Decimal(number).compact) }
      return self
    case .double(let number):
      if number.isNaN { return .double(.nan) }
      return Int64(exactly: number).map { .integer($0) } ?? self
    case .decimal(let number):
      return number.isNaN ? .decimal(.nan) : .decimal(number.compact)
    case .string(let text):
      guard case .reference = type, let key = try? Cambium.Key(text) else { return self }
      switch key {
      case .integer(let integer): return Value.integer(integer)
      case .uuid(let uuid): return Value.uuid(uuid)
      case .text: return self
      }
    default: return self
    }
  }
}

extension Decimal {
  /// The same number without zeros after its last digit.
  fileprivate var compact: Decimal {
    var digits = Array(significand.magnitude.description)
    var exponent = exponent
    while digits.count > 1, digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    if digits == ["0"] { return 0 }
    let sign = sign == .minus ? "-" : ""
    return Decimal(string: "\(sign)\(String(digits))e\(exponent)") ?? self
  }
}
