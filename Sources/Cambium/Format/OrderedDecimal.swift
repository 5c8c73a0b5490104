// A decimal in a form whose bytes ascend with it:
//
//     01 negative, 02 zero, 03 positive, 04 not a number
//     exponent of the first digit, 2 bytes, with the sign bit inverted    not for 02 and 04
//     the digits + 1 without trailing zeros, a byte each, then 00         not for 02 and 04
//
// For a negative number all bytes after the first are inverted.

import FoundationEssentials

/// A decimal number split into its parts for ordering.
struct OrderedDecimal {
  private enum Sign: UInt8 { case negative = 1, zero, positive, notANumber }

  private let sign: Sign
  private let digits: [UInt8]
  /// The power of ten of the first digit.
  private let exponent: Int16

  init(_ value: Decimal) {
    if value.isNaN {
      self.init(.notANumber, [], 0)
    } else {
      self.init(
        value.significand.magnitude.description, exponent: value.exponent,
        isNegative: value.sign == .minus)
    }
  }

  init(_ value: Int64) {
    self.init(value.magnitude.description, exponent: 0, isNegative: value < 0)
  }

  private init(_ text: String, exponent: Int, isNegative: Bool) {
    var digits = text.utf8.map { $0 - UInt8(ascii: "0") }
    let first = exponent + digits.count - 1
    while digits.last == 0 { digits.removeLast() }
    let sign: Sign = digits.isEmpty ? .zero : isNegative ? .negative : .positive
    self.init(sign, digits, Int16(clamping: first))
  }

  private init(_ sign: Sign, _ digits: [UInt8], _ exponent: Int16) {
    (self.sign, self.digits, self.exponent) = (sign, digits, exponent)
  }

  /// The integer that equals it; nil if there is none, or none of 64 bits.
  var wholeNumber: Int64? {
    if sign == .zero { return 0 }
    guard sign != .notANumber, exponent >= digits.count - 1 else { return nil }
    return truncated
  }

  /// The integers on both sides of it, clamped to 64 bits; nil if it is not a number.
  var nearWholeNumbers: ClosedRange<Int64>? {
    switch sign {
    case .notANumber: return nil
    case .zero: return 0...0
    case .negative:
      guard let truncated else { return .min ... .min }
      return (truncated > .min ? truncated - 1 : truncated)...truncated
    case .positive:
      guard let truncated else { return .max ... .max }
      return truncated...(truncated < .max ? truncated + 1 : truncated)
    }
  }

  /// Its whole part; nil if that does not fit.
  private var truncated: Int64? {
    guard exponent < 20 else { return nil }
    var value: Int64 = 0
    for place in 0..<max(0, Int(exponent) + 1) {
      let digit = Int64(place < digits.count ? digits[place] : 0)
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (next, carry) =
        sign == .negative
        ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      if overflow || carry { return nil }
      value = next
    }
    return value
  }

  /// Adds the bytes.
  func append(to bytes: inout ByteBuffer) {
    bytes.append(sign.rawValue)
    if sign == .zero || sign == .notANumber { return }
    let start = bytes.count
    bytes.append(bigEndian: UInt16(bitPattern: exponent) ^ 0x8000)
    for digit in digits { bytes.append(digit + 1) }
    bytes.append(0)
    if sign == .negative { bytes.invert(from: start) }
  }
}
