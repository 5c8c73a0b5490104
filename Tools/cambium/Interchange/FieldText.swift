import Cambium
import FoundationEssentials

/// What kinds of value a field's text can be without losing anything: a set, since `12` can be an
/// integer, a number or a text. Text is always possible and not named.
struct FieldTypes: OptionSet {
  let rawValue: UInt8

  static let integer = FieldTypes(rawValue: 1)
  static let number = FieldTypes(rawValue: 2)
  static let boolean = FieldTypes(rawValue: 4)
  static let day = FieldTypes(rawValue: 8)
  static let moment = FieldTypes(rawValue: 16)
  static let all: FieldTypes = [.integer, .number, .boolean, .day, .moment]

  init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension FieldTypes {
  /// Looks at a field's text.
  init(of bytes: Span<UInt8>) {
    switch bytes.isEmpty ? 0 : bytes[0] {
    case ASCII.zero...ASCII.nine, ASCII.minus: self.init(ofNumberOrDate: bytes)
    case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"):
      self = FieldText.boolean(bytes) == nil ? [] : .boolean
    case UInt8(ascii: "n"), UInt8(ascii: "i"):
      self = FieldText.special(bytes) == nil ? [] : .number
    default: self = []
    }
  }

  private init(ofNumberOrDate bytes: Span<UInt8>) {
    if FieldText.isShortInteger(bytes) {
      self = [.integer, .number]
    } else if let number = NumberText(bytes) {
      self = number.integer == nil ? [] : .integer
      if number.exactDouble(bytes) != nil { insert(.number) }
    } else if FieldText.date(bytes, .day) != nil {
      self = .day
    } else if FieldText.date(bytes, .moment) != nil {
      self = .moment
    } else {
      self = FieldText.special(bytes) == nil ? [] : .number
    }
  }
}

/// Reads fields as values.
enum FieldText {
  /// Whether a text is certainly an integer that fits 64 bits and a double: the quick look at most
  /// fields.
  static func isShortInteger(_ bytes: Span<UInt8>) -> Bool {
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
  static func integer(_ bytes: Span<UInt8>) -> Int64? {
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
  static func number(_ bytes: Span<UInt8>) -> Double? {
    NumberText(bytes)?.exactDouble(bytes) ?? special(bytes)
  }

  /// What is no number in JSON, as it is written here.
  static func special(_ bytes: Span<UInt8>) -> Double? {
    switch bytes.count {
    case 3 where bytes.equals(nan): .nan
    case 3 where bytes.equals(infinity): .infinity
    case 4 where bytes.equals(minusInfinity): -.infinity
    default: nil
    }
  }

  /// `true` or `false`, in small letters, capitals, or with a capital first.
  static func boolean(_ bytes: Span<UInt8>) -> Bool? {
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
  static func date(_ bytes: Span<UInt8>, _ form: DateText.Form?) -> Date? {
    guard let found = DateText.parse(bytes), form == nil || form == found.form else { return nil }
    let date = Date(microseconds: found.microseconds)
    return date.microseconds == found.microseconds ? date : nil
  }
}

extension Span where Element == UInt8 {
  /// Whether the bytes are these.
  func equals(_ other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }
}
