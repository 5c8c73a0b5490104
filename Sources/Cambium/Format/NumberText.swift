#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// A decimal number as CSV and JSON write it, and its lossless conversions.
//
//     -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
//
// The text is split once into sign, digits and exponent; the integer, the double, and the
// exactness of the double follow from these.

package struct NumberText: Equatable {
  /// True if there is a minus.
  package private(set) var isNegative = false
  /// The first 19 digits, from the first that is not 0, as a number.
  package private(set) var digits: UInt64 = 0
  /// Ten to this power times `digits` is the number, as long as no digit was left out.
  package private(set) var exponent = 0
  /// True if digits other than 0 follow the first 19.
  package private(set) var isCut = false
  /// True if there is neither a point nor an exponent.
  package private(set) var isWhole = true

  /// Splits a text into its parts; nil if it is not such a number.
  package init?(_ bytes: Span<UInt8>) {
    guard let end = parse(bytes), end == bytes.count else { return nil }
  }

  /// Returns the index after the number, or nil.
  private mutating func parse(_ bytes: Span<UInt8>) -> Int? {
    var index = 0
    if index < bytes.count, bytes[index] == ASCII.minus {
      isNegative = true
      index += 1
    }
    let first = index
    parseDigits(bytes, &index, fraction: false)
    guard index > first, bytes[first] != ASCII.zero || index == first + 1 else { return nil }
    if index < bytes.count, bytes[index] == ASCII.point {
      index += 1
      isWhole = false
      let start = index
      parseDigits(bytes, &index, fraction: true)
      if index == start { return nil }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      guard parseExponent(bytes, &index) else { return nil }
    }
    return index
  }

  private mutating func parseDigits(_ bytes: Span<UInt8>, _ index: inout Int, fraction: Bool) {
    while index < bytes.count, ASCII.isDigit(bytes[index]) {
      let digit = UInt64(bytes[index] - ASCII.zero)
      if digits < NumberText.digitsRoom {
        digits = digits * 10 + digit
        if fraction { exponent -= 1 }
      } else {
        if digit != 0 { isCut = true }
        if !fraction { exponent += 1 }
      }
      index += 1
    }
  }

  private mutating func parseExponent(_ bytes: Span<UInt8>, _ index: inout Int) -> Bool {
    index += 1
    let isNegative = index < bytes.count && bytes[index] == ASCII.minus
    if isNegative || (index < bytes.count && bytes[index] == ASCII.plus) { index += 1 }
    let start = index
    var value = 0
    while index < bytes.count, ASCII.isDigit(bytes[index]) {
      value = min(value * 10 + Int(bytes[index] - ASCII.zero), NumberText.exponentMax)
      index += 1
    }
    exponent += isNegative ? -value : value
    return index > start
  }

  /// A number below this can take one more digit in 64 bits.
  private static let digitsRoom: UInt64 = 1_000_000_000_000_000_000
  /// An exponent this large is too large or too small for a double, whatever the digits.
  private static let exponentMax = 1_000_000_000
}

extension NumberText {
  /// The number, if it is written as an integer that fits 64 bits; `-0` is zero.
  package var integer: Int64? {
    guard isWhole, !isCut, exponent == 0 else { return nil }
    return isNegative ? Int64(exactly: -Int128(digits)) : Int64(exactly: digits)
  }

  /// The nearest double; infinite where the number is too large.
  ///
  /// Up to 2⁵³ times or through a power of ten that a double holds exactly, one rounding is the
  /// correct rounding (W. Clinger, How to read floating point numbers accurately, 1990); the rest
  /// is left to the standard library.
  package func double(_ bytes: Span<UInt8>) -> Double {
    guard !isCut, digits <= 1 << 53, abs(exponent) < NumberText.powers.count else {
      return Double(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)) ?? .nan
    }
    let magnitude =
      exponent < 0
      ? Double(digits) / NumberText.powers[-exponent]
      : Double(digits) * NumberText.powers[exponent]
    return isNegative ? -magnitude : magnitude
  }

  /// The double that keeps every digit of this number: written with as many digits, it is the same
  /// again. Nil if there is none.
  ///
  /// That holds for all numbers of up to 15 digits, and for longer ones that were doubles when they
  /// were written, either in the shortest form or, as some tools do, always with 17 digits:
  /// `48.053808600000004` for 48.0538086.
  package func exactDouble(_ bytes: Span<UInt8>) -> Double? {
    if let value = shortestDouble(bytes) { return value }
    let value = double(bytes)
    guard value.isFinite, !isCut else { return nil }
    return isSame(as: NumberText.text(value, digits: digits.description.utf8.count)) ? value : nil
  }

  /// The double whose shortest form is this number, so that the double alone reproduces it. Nil if
  /// there is none.
  func shortestDouble(_ bytes: Span<UInt8>) -> Double? {
    let value = double(bytes)
    if !isCut, digits < 1_000_000_000_000_000, abs(exponent) < 250 { return value }
    guard value.isFinite, !isCut else { return nil }
    return isSame(as: value.description) ? value : nil
  }

  private func isSame(as text: String) -> Bool {
    NumberText(Array(text.utf8).span).map { $0.reduced == reduced } ?? false
  }

  /// A double rounded to some digits, as printf(3) writes it.
  private static func text(_ value: Double, digits: Int) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let count = unsafe withVaList([Int32(digits - 1), value]) {
      unsafe vsnprintf(&text, text.count, "%.*e", $0)
    }
    return String(
      decoding: text.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Digits without zeros at the end, and the exponent to match: equal for equal numbers.
  private var reduced: (isNegative: Bool, digits: UInt64, exponent: Int) {
    var (digits, exponent) = (digits, exponent)
    while digits != 0, digits % 10 == 0 { (digits, exponent) = (digits / 10, exponent + 1) }
    return (isNegative, digits, digits == 0 ? 0 : exponent)
  }

  /// The powers of ten that a double holds exactly.
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
    1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// Adds a finite double in the shortest form that reads back as the same, always with a point or
  /// an exponent, so that it stays a double: `12.0`, `-0.0`, `1e-05`.
  package static func append(_ value: Double, to output: inout [UInt8]) {
    output.append(contentsOf: value.description.utf8)
  }

  /// Adds an integer.
  package static func append(_ value: Int64, to output: inout [UInt8]) {
    var rest = value.magnitude
    if value < 0 { output.append(ASCII.minus) }
    let start = output.count
    var digitCount = 1
    var power: UInt64 = 10
    while digitCount < 19, rest >= power { (digitCount, power) = (digitCount + 1, power * 10) }
    output.append(contentsOf: repeatElement(ASCII.zero, count: digitCount))
    for index in (start..<(start + digitCount)).reversed() {
      output[index] += UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }
}
