/// The bytes that have a meaning in CSV and JSON, by name.
package enum ASCII {
  package static let tab: UInt8 = 0x09
  package static let lineFeed: UInt8 = 0x0A
  package static let carriageReturn: UInt8 = 0x0D
  package static let space: UInt8 = 0x20
  package static let quote: UInt8 = 0x22
  package static let dollar: UInt8 = 0x24
  package static let plus: UInt8 = 0x2B
  package static let comma: UInt8 = 0x2C
  package static let minus: UInt8 = 0x2D
  package static let point: UInt8 = 0x2E
  package static let slash: UInt8 = 0x2F
  package static let zero: UInt8 = 0x30
  package static let nine: UInt8 = 0x39
  package static let colon: UInt8 = 0x3A
  package static let backslash: UInt8 = 0x5C

  /// True if a byte is a decimal digit.
  package static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= nine }

  /// The value of a hexadecimal digit, or nil.
  package static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }

  /// The lower-case hexadecimal digits.
  package static let hexDigits = Array("0123456789abcdef".utf8)
}
