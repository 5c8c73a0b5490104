// Sums of doubles without intermediate rounding: a fixed-point number that holds every double, in
// units of 2^-1074, the least one. Adding is exact, so values can be removed again, in any order;
// the result is rounded once. (Kulisch's accumulator; only the part that is in use is kept.)

/// A sum of doubles, exact whatever was added and removed.
///
/// Invariants:
/// 1. The stored form depends only on the values included, not on their history. Proved by the
///    tests, which compare it after random histories.
struct ExactSum: Hashable, Sendable {
  /// The sum of the finite values.
  private var finite = WideInteger()
  private var notNumbers: UInt64 = 0
  private var infinities: UInt64 = 0
  private var negativeInfinities: UInt64 = 0

  /// An empty sum.
  init() {}

  /// Adds a value.
  @inline(__always)
  mutating func add(_ value: Double) { change(value, isRemoval: false) }

  /// Removes a value that was added.
  @inline(__always)
  mutating func remove(_ value: Double) { change(value, isRemoval: true) }

  /// Adds another sum.
  mutating func add(_ other: ExactSum) {
    finite.add(other.finite)
    notNumbers &+= other.notNumbers
    infinities &+= other.infinities
    negativeInfinities &+= other.negativeInfinities
  }

  /// Adds a whole number.
  mutating func add(_ value: Int128) {
    let low = UInt64(truncatingIfNeeded: value)
    let high = Int64(truncatingIfNeeded: value >> 64)
    let (place, shift) = (1074 / 64, 1074 % 64)
    finite.add(low << shift, low >> (64 - shift), at: place)
    finite.add(
      UInt64(bitPattern: high << shift), UInt64(bitPattern: high >> (64 - shift)), at: place + 1)
  }

  @inline(__always)
  private mutating func change(_ value: Double, isRemoval: Bool) {
    let exponent = Int(value.exponentBitPattern)
    if exponent == 0x7FF { return changeSpecial(value, isRemoval: isRemoval) }
    let digits = value.significandBitPattern | (exponent == 0 ? 0 : 1 << 52)
    let bit = max(exponent - 1, 0)
    let isNegative = (value.sign == .minus) != isRemoval
    let number = Int128(isNegative ? -Int64(digits) : Int64(digits)) << Int128(bit % 64)
    finite.add(
      UInt64(truncatingIfNeeded: number), UInt64(truncatingIfNeeded: number >> 64), at: bit / 64)
  }

  private mutating func changeSpecial(_ value: Double, isRemoval: Bool) {
    let step: UInt64 = isRemoval ? .max : 1
    if value.isNaN {
      notNumbers &+= step
    } else if value > 0 {
      infinities &+= step
    } else {
      negativeInfinities &+= step
    }
  }

  /// The sum, rounded once to the nearest double, halves to the even one. A term that is infinite
  /// or not a number makes the sum so while it is included.
  var value: Double {
    if notNumbers > 0 || infinities > 0 && negativeInfinities > 0 { return .nan }
    if infinities > 0 { return .infinity }
    if negativeInfinities > 0 { return -.infinity }
    let magnitude = ExactSum.rounded(finite.magnitudeFromZero)
    return finite.isNegative ? -magnitude : magnitude
  }

  /// A number in units of 2^-1074, as a double.
  private static func rounded(_ limbs: [UInt64]) -> Double {
    guard let top = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
    let highest = top * 64 + 63 - limbs[top].leadingZeroBitCount
    // The unchanged bits are the stored form of a small double.
    if highest <= 52 { return Double(bitPattern: limbs[0]) }
    let last = highest - 52
    var digits = bits(of: limbs, from: last)
    let half = bit(limbs, last - 1)
    if half && (digits & 1 == 1 || hasBits(limbs, below: last - 1)) { digits += 1 }
    // The leading one, and the carry of the rounding, add to the exponent.
    if last >= 2047 { return .infinity }
    let pattern = UInt64(last) << 52 + digits
    return pattern >= 0x7FF << 52 ? .infinity : Double(bitPattern: pattern)
  }

  private static func bit(_ limbs: [UInt64], _ index: Int) -> Bool {
    limbs[index / 64] >> UInt64(index % 64) & 1 == 1
  }

  /// The 53 bits from a place on, which are the highest ones.
  private static func bits(of limbs: [UInt64], from start: Int) -> UInt64 {
    let (index, shift) = (start / 64, UInt64(start % 64))
    let high = index + 1 < limbs.count && shift > 0 ? limbs[index + 1] << (64 - shift) : 0
    return limbs[index] >> shift | high
  }

  private static func hasBits(_ limbs: [UInt64], below end: Int) -> Bool {
    let (index, shift) = (end / 64, UInt64(end % 64))
    return limbs[..<index].contains { $0 != 0 } || limbs[index] & (1 << shift - 1) != 0
  }
}

// MARK: The stored form

extension ExactSum {
  private var isFinite: Bool { notNumbers == 0 && infinities == 0 && negativeInfinities == 0 }

  /// Adds the stored form: 0 or 1, then, for 1, the numbers of NaNs, infinities and negative
  /// infinities (varints); then the sum of the other values.
  func append(to bytes: inout [UInt8]) {
    bytes.append(isFinite ? 0 : 1)
    if !isFinite {
      for count in [notNumbers, infinities, negativeInfinities] { bytes.append(varint: count) }
    }
    finite.append(to: &bytes)
  }

  /// Reads the stored form.
  init(_ bytes: RawSpan, at offset: inout Int) throws {
    let flag = try bytes.load(UInt8.self, at: offset)
    offset += 1
    guard flag <= 1 else { throw DatabaseError.corrupt(reason: "a stored sum is not one") }
    if flag == 1 {
      notNumbers = try bytes.varint(at: &offset)
      infinities = try bytes.varint(at: &offset)
      negativeInfinities = try bytes.varint(at: &offset)
    }
    finite = try WideInteger(bytes, at: &offset)
  }
}
