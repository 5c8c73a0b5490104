import FoundationEssentials

/// Reads texts as values, where nothing is lost.
package enum ScalarText {
  /// True if a text is certainly an integer that fits 64 bits and a double: the quick look at most
  /// texts.
  package static func isShortInteger(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0, bytes.count <= 15 else { return false }
    var index = bytes[0] == ASCII.minus ? 1 : 0
    guard index < bytes.count else { return false }
    if bytes[index] == ASCII.zero { return bytes.count == 1 }
    while index < bytes.count {
      guard ASCII.isDigit(bytes[index]) else { return false }
      index += 1
    }
    return true
  }

  /// An integer in its only form.
  package static func integer(_ bytes: Span<UInt8>) -> Int64? {
    guard isShortInteger(bytes) else { return NumberText(bytes)?.integer }
    let isNegative = bytes[0] == ASCII.minus
    var value: Int64 = 0
    var index = isNegative ? 1 : 0
    while index < bytes.count {
      value = value * 10 + Int64(bytes[index] - ASCII.zero)
      index += 1
    }
    return isNegative ? -value : value
  }

  /// A double that is written as the same number again.
  package static func number(_ bytes: Span<UInt8>) -> Double? {
    NumberText(bytes)?.exactDouble(bytes) ?? special(bytes)
  }

  /// Reads a double that is no number in JSON: `nan`, `inf` or `-inf`.
  package static func special(_ bytes: Span<UInt8>) -> Double? {
    switch bytes.count {
    case 3 where bytes.equals(nan): .nan
    case 3 where bytes.equals(infinity): .infinity
    case 4 where bytes.equals(minusInfinity): -.infinity
    default: nil
    }
  }

  /// `true` or `false`, in small letters, capitals, or with a capital first.
  package static func boolean(_ bytes: Span<UInt8>) -> Bool? {
    switch bytes.count {
    case 4: trueForms.contains { bytes.equals($0) } ? true : nil
    case 5: falseForms.contains { bytes.equals($0) } ? false : nil
    default: nil
    }
  }

  private static let nan = Array("nan".utf8)
  private static let infinity = Array("inf".utf8)
  private static let minusInfinity = Array("-inf".utf8)
  private static let trueForms = ["true", "TRUE", "True"].map { Array($0.utf8) }
  private static let falseForms = ["false", "FALSE", "False"].map { Array($0.utf8) }

  /// A date in one form, or in any. One that a value cannot hold to the microsecond is none.
  package static func date(_ bytes: Span<UInt8>, _ form: DateText.Form?) -> Date? {
    guard let found = DateText.parse(bytes), form == nil || form == found.form else { return nil }
    let date = Date(microseconds: found.microseconds)
    return date.microseconds == found.microseconds ? date : nil
  }
}

extension Span where Element == UInt8 {
  /// True if the bytes are the same as an array's.
  package func equals(_ other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }
}
