// Sums of decimals without intermediate rounding: a whole number in units of 10^-128, the least
// decimal. The result is rounded once, to the 38 digits that a decimal is guaranteed to hold.

import FoundationEssentials

/// A sum of decimals, exact whatever was added and removed.
struct DecimalSum: Hashable, Sendable {
  private var finite = WideInteger()
  private var notNumbers: UInt64 = 0
  private static let scale = 128
  private static let digitsMax = 38

  /// An empty sum.
  init() {}

  /// Adds a value.
  mutating func add(_ value: Decimal) { change(value, isRemoval: false) }

  /// Removes a value that was added.
  mutating func remove(_ value: Decimal) { change(value, isRemoval: true) }

  /// Adds another sum.
  mutating func add(_ other: DecimalSum) {
    finite.add(other.finite)
    notNumbers &+= other.notNumbers
  }

  /// Adds a whole number.
  mutating func add(_ value: Int128) {
    finite.add(
      DecimalSum.product(value.magnitude, exponent: DecimalSum.scale), negated: value < 0)
  }

  private mutating func change(_ value: Decimal, isRemoval: Bool) {
    if value.isNaN {
      notNumbers &+= isRemoval ? .max : 1
      return
    }
    let digits = UInt128(value.significand.magnitude.description) ?? 0
    let number = DecimalSum.product(digits, exponent: value.exponent + DecimalSum.scale)
    finite.add(number, negated: (value.sign == .minus) != isRemoval)
  }

  /// `digits` · 10^`exponent`.
  private static func product(_ digits: UInt128, exponent: Int) -> WideInteger {
    var limbs = [UInt64(truncatingIfNeeded: digits), UInt64(truncatingIfNeeded: digits >> 64)]
    for _ in 0..<max(exponent, 0) {
      var carry: UInt64 = 0
      for index in limbs.indices {
        let (high, low) = limbs[index].multipliedFullWidth(by: 10)
        let (sum, overflow) = low.addingReportingOverflow(carry)
        limbs[index] = sum
        carry = high + (overflow ? 1 : 0)
      }
      if carry > 0 { limbs.append(carry) }
    }
    var number = WideInteger()
    for (index, limb) in limbs.enumerated() where limb != 0 { number.add(limb, 0, at: index) }
    return number
  }

  /// The sum, rounded once to 38 digits, halves to the even one; not a number while it includes a
  /// value that is not a number.
  var value: Decimal {
    if notNumbers > 0 { return .nan }
    var digits = DecimalSum.digits(finite.magnitudeFromZero)
    var exponent = -DecimalSum.scale
    DecimalSum.round(&digits, &exponent)
    while exponent < 0, digits.count > 1, digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    let text = digits.map { String($0) }.joined()
    return Decimal(string: "\(finite.isNegative ? "-" : "")\(text)e\(exponent)") ?? .nan
  }

  /// The decimal digits, the highest first; at least one.
  private static func digits(_ limbs: [UInt64]) -> [UInt8] {
    var limbs = limbs
    var digits: [UInt8] = []
    while let top = limbs.lastIndex(where: { $0 != 0 }) {
      limbs.removeSubrange((top + 1)...)
      var rest: UInt64 = 0
      for index in limbs.indices.reversed() {
        (limbs[index], rest) = UInt64(10).dividingFullWidth((rest, limbs[index]))
      }
      digits.append(UInt8(rest))
    }
    return digits.isEmpty ? [0] : digits.reversed()
  }

  private static func round(_ digits: inout [UInt8], _ exponent: inout Int) {
    guard digits.count > digitsMax else { return }
    let cut = digits[digitsMax...]
    exponent += cut.count
    let first = cut.first ?? 0
    let isAbove = first > 5 || first == 5 && cut.dropFirst().contains { $0 > 0 }
    let isHalf = first == 5 && !isAbove
    digits.removeSubrange(digitsMax...)
    guard isAbove || isHalf && digits[digitsMax - 1] % 2 == 1 else { return }
    var index = digitsMax - 1
    while index >= 0, digits[index] == 9 {
      digits[index] = 0
      index -= 1
    }
    if index >= 0 { digits[index] += 1 } else { digits.insert(1, at: 0) }
  }
}

extension DecimalSum {
  /// Adds the stored form: the number of NaNs (varint), then the sum of the other values.
  func append(to bytes: inout [UInt8]) {
    bytes.append(varint: notNumbers)
    finite.append(to: &bytes)
  }

  /// Reads the stored form.
  init(_ bytes: RawSpan, at offset: inout Int) throws {
    notNumbers = try bytes.varint(at: &offset)
    finite = try WideInteger(bytes, at: &offset)
  }
}
