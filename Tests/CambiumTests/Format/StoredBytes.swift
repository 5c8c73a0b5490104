// Bytes as the tests of the format write them: in hexadecimal, with a comment for each field.

@testable import Cambium

extension [UInt8] {
  /// Bytes from hexadecimal digits. White space is left out, and what follows `;` in a line.
  init(hex text: String) {
    var digits: [UInt8] = []
    for line in text.split(separator: "\n") {
      for character in line.prefix(while: { $0 != ";" }) where !character.isWhitespace {
        guard let digit = character.hexDigitValue else {
          preconditionFailure("\(character) is no hexadecimal digit")
        }
        digits.append(UInt8(digit))
      }
    }
    precondition(digits.count.isMultiple(of: 2), "half a byte in \(text)")
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The bytes in hexadecimal.
  var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// A copy with one byte changed.
  func changing(_ index: Int, by mask: UInt8) -> [UInt8] {
    var copy = self
    copy[index] ^= mask
    return copy
  }
}

extension Value {
  /// The value of some stored bytes.
  static func decoded(_ bytes: [UInt8]) throws -> Value { try bytes.lend { try Value($0) } }
}
