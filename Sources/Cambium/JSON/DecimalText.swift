import FoundationEssentials

/// Decimal numbers as text, with all their digits.
///
///     digits without an exponent where the point is within or near them: 12.5, 0.05, 7
///     digits and an exponent otherwise: 1e-40, 15e20; and NaN
package enum DecimalText {
  /// The largest number of zeros that are put before the digits, rather than an exponent after
  /// them.
  private static let zerosMax = 6

  /// A decimal number's text.
  package static func text(_ value: Decimal) -> String {
    if value.isNaN { return "NaN" }
    let sign = value.sign == .minus ? "-" : ""
    let digits = value.significand.magnitude.description
    let point = digits.utf8.count + value.exponent
    if value.exponent == 0 { return sign + digits }
    if value.exponent > 0 || point < -zerosMax { return "\(sign)\(digits)e\(value.exponent)" }
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    return "\(sign)\(digits.prefix(point)).\(digits.dropFirst(point))"
  }

  /// Reads a decimal number; nil where it is none, or where a `Decimal` cannot hold all digits.
  package static func parse(_ bytes: Span<UInt8>) -> Decimal? {
    if bytes.equals(notANumber) { return .nan }
    guard NumberText(bytes) != nil else { return nil }
    var digits: UInt128 = 0
    var exponent = 0
    var isFraction = false
    var index = bytes[0] == ASCII.minus ? 1 : 0
    while index < bytes.count, bytes[index] | 0x20 != UInt8(ascii: "e") {
      if bytes[index] == ASCII.point {
        isFraction = true
      } else {
        let (tens, overflow) = digits.multipliedReportingOverflow(by: 10)
        let (sum, carry) = tens.addingReportingOverflow(UInt128(bytes[index] - ASCII.zero))
        if overflow || carry { return nil }
        digits = sum
        if isFraction { exponent -= 1 }
      }
      index += 1
    }
    guard let written = writtenExponent(bytes, index) else { return nil }
    return decimal(isNegative: bytes[0] == ASCII.minus, digits, exponent + written)
  }

  private static func writtenExponent(_ bytes: Span<UInt8>, _ start: Int) -> Int? {
    guard start < bytes.count else { return 0 }
    let text = String(
      decoding: ((start + 1)..<bytes.count).map { bytes[$0] }, as: UTF8.self)
    guard let exponent = Int(text), abs(exponent) < 1000 else { return nil }
    return exponent
  }

  private static func decimal(isNegative: Bool, _ digits: UInt128, _ exponent: Int) -> Decimal? {
    guard exponent >= -128, exponent <= 127, let significand = Decimal(string: String(digits))
    else { return nil }
    let decimal = Decimal(
      sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
    // Of digits that end with zeros these go to the exponent, which may not have the room.
    return decimal.isNaN ? nil : decimal
  }

  private static let notANumber = Array("NaN".utf8)
}
