import Cambium

/// The kinds of value that a field's text can be without losing anything: a set, since `12` can be
/// an integer, a number or a text. Text is always possible and not named.
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
      self = ScalarText.boolean(bytes) == nil ? [] : .boolean
    case UInt8(ascii: "n"), UInt8(ascii: "i"):
      self = ScalarText.special(bytes) == nil ? [] : .number
    default: self = []
    }
  }

  /// True for a decimal of which a double keeps only the first digits. A whole number is none: it
  /// is likely to be a name, of which every digit counts.
  static func isRoundable(_ bytes: Span<UInt8>) -> Bool {
    guard let number = NumberText(bytes), !number.isWhole else { return false }
    let value = number.double(bytes)
    return value.isFinite && (value != 0 || number.digits == 0)
  }

  private init(ofNumberOrDate bytes: Span<UInt8>) {
    if ScalarText.isShortInteger(bytes) {
      self = [.integer, .number]
    } else if let number = NumberText(bytes) {
      self = number.integer == nil ? [] : .integer
      if number.exactDouble(bytes) != nil { insert(.number) }
    } else if ScalarText.date(bytes, .day) != nil {
      self = .day
    } else if ScalarText.date(bytes, .moment) != nil {
      self = .moment
    } else {
      self = ScalarText.special(bytes) == nil ? [] : .number
    }
  }
}
