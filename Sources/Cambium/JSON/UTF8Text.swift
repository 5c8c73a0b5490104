/// Finds bytes that are not UTF-8, and says where: the standard library only reports that there are
/// some.
package enum UTF8Text {
  /// The index of the first byte of `bytes[range]` that is not part of well-formed UTF-8, or nil.
  ///
  /// Well-formed is what Unicode's table 3-7 says: no overlong forms, no surrogates, nothing above
  /// U+10FFFF.
  package static func firstInvalidIndex(in bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound {
      if bytes[index] < 0x80 {
        index += 1
        continue
      }
      guard let length = sequenceLength(bytes, index, range.upperBound) else { return index }
      index += length
    }
    return nil
  }

  /// The length of the well-formed sequence of several bytes that starts at `index`, or nil.
  private static func sequenceLength(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) -> Int? {
    let lead = bytes[index]
    let length =
      switch lead {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 0
      }
    guard length > 0, length <= end - index, secondBytes(after: lead).contains(bytes[index + 1])
    else { return nil }
    for offset in 2..<max(2, length) where bytes[index + offset] & 0xC0 != 0x80 { return nil }
    return length
  }

  private static func secondBytes(after lead: UInt8) -> ClosedRange<UInt8> {
    switch lead {
    case 0xE0: 0xA0...0xBF
    case 0xED: 0x80...0x9F
    case 0xF0: 0x90...0xBF
    case 0xF4: 0x80...0x8F
    default: 0x80...0xBF
    }
  }
}
