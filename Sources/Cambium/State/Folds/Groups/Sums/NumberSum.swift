// The sum of a property: whole numbers, doubles and decimals, each summed exactly in its own way,
// combined when the result is read.
//
//     bits u8: 1 integers, 2 doubles, 4 decimals | per kind present: count (varint), sum
//
// The sum of integers is two's complement with the shortest sign extension: length u8,
// little-endian.

import FoundationEssentials

/// A sum of stored values, exact whatever was added and removed; only numbers count.
struct NumberSum: Hashable, Sendable {
  private var integers: Int128 = 0
  private var integerCount: UInt64 = 0
  private var doubles = ExactSum()
  private var doubleCount: UInt64 = 0
  private var decimals = DecimalSum()
  private var decimalCount: UInt64 = 0

  /// An empty sum.
  init() {}

  /// The count of numbers included.
  var count: UInt64 { integerCount &+ doubleCount &+ decimalCount }

  /// Adds a stored value.
  @inline(__always)
  mutating func add(_ stored: RawSpan) throws { try change(stored, isRemoval: false) }

  /// Removes a stored value that was added.
  @inline(__always)
  mutating func remove(_ stored: RawSpan) throws { try change(stored, isRemoval: true) }

  /// Adds another sum; it may have had more removed than added, if this one makes up for that.
  mutating func add(_ other: NumberSum) {
    integers += other.integers
    integerCount &+= other.integerCount
    doubles.add(other.doubles)
    doubleCount &+= other.doubleCount
    decimals.add(other.decimals)
    decimalCount &+= other.decimalCount
  }

  @inline(__always)
  private mutating func change(_ stored: RawSpan, isRemoval: Bool) throws {
    if stored.byteCount == 0 { return }
    let step: UInt64 = isRemoval ? .max : 1
    switch try stored.load(UInt8.self, at: 0) {
    case ValueTag.integer1...ValueTag.integer8:
      let value = Int128(try OrderedBytes.integer(stored, try stored.load(UInt8.self, at: 0)))
      integers += isRemoval ? -value : value
      integerCount &+= step
    case ValueTag.double:
      let value = Double(bitPattern: try stored.load(UInt64.self, at: 1))
      if isRemoval { doubles.remove(value) } else { doubles.add(value) }
      doubleCount &+= step
    case ValueTag.decimal:
      guard case .decimal(let value) = try Value(stored) else { return }
      if isRemoval { decimals.remove(value) } else { decimals.add(value) }
      decimalCount &+= step
    default: break
    }
  }

  /// The sum, or nil if there are no numbers: an integer if all are and it fits, a double if any
  /// is, otherwise a decimal. Doubles and decimals together give a double.
  var value: Value? {
    if count == 0 { return nil }
    if doubleCount > 0 { return .double(double) }
    if decimalCount == 0, let integer = Int64(exactly: integers) { return .integer(integer) }
    return .decimal(decimal)
  }

  /// The mean, or nil if there are no numbers: a decimal if any is and none is a double, otherwise
  /// a double.
  var average: Value? {
    if count == 0 { return nil }
    if decimalCount > 0 && doubleCount == 0 { return .decimal(decimal / Decimal(count)) }
    return .double(double / Double(count))
  }

  private var double: Double {
    var sum = doubles
    sum.add(integers)
    if decimalCount > 0 { sum.add(Double("\(decimals.value)") ?? .nan) }
    return sum.value
  }

  private var decimal: Decimal {
    var sum = decimals
    sum.add(integers)
    return sum.value
  }
}

// MARK: The stored form

extension NumberSum {
  /// Adds the stored form.
  func append(to bytes: inout [UInt8]) {
    bytes.append(
      (integerCount > 0 ? 1 : 0) | (doubleCount > 0 ? 2 : 0) | (decimalCount > 0 ? 4 : 0))
    if integerCount > 0 {
      bytes.append(varint: integerCount)
      NumberSum.append(integers, to: &bytes)
    }
    if doubleCount > 0 {
      bytes.append(varint: doubleCount)
      doubles.append(to: &bytes)
    }
    if decimalCount > 0 {
      bytes.append(varint: decimalCount)
      decimals.append(to: &bytes)
    }
  }

  private static func append(_ number: Int128, to bytes: inout [UInt8]) {
    let bits = number == 0 ? 0 : 129 - (number < 0 ? ~number : number).leadingZeroBitCount
    let count = (bits + 7) / 8
    bytes.append(UInt8(count))
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }

  /// Reads the stored form.
  init(_ bytes: RawSpan, at offset: inout Int) throws {
    let kinds = try bytes.load(UInt8.self, at: offset)
    offset += 1
    guard kinds < 8 else { throw DatabaseError.corrupt(reason: "a stored sum is not one") }
    if kinds & 1 != 0 {
      integerCount = try bytes.varint(at: &offset)
      integers = try NumberSum.number(bytes, &offset)
    }
    if kinds & 2 != 0 {
      doubleCount = try bytes.varint(at: &offset)
      doubles = try ExactSum(bytes, at: &offset)
    }
    if kinds & 4 != 0 {
      decimalCount = try bytes.varint(at: &offset)
      decimals = try DecimalSum(bytes, at: &offset)
    }
  }

  private static func number(_ bytes: RawSpan, _ offset: inout Int) throws -> Int128 {
    let count = Int(try bytes.load(UInt8.self, at: offset))
    guard count <= 16 else { throw DatabaseError.corrupt(reason: "a stored sum is too large") }
    let digits = try bytes.array(offset + 1, count)
    offset += 1 + count
    let start: Int128 = (digits.last ?? 0) >> 7 == 1 ? -1 : 0
    return digits.reversed().reduce(start) { $0 << 8 | Int128($1) }
  }
}
