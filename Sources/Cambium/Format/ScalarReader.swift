// Reading UTF-8 scalar by scalar without making a String of it.

extension RawSpan {
  /// The scalar at a place, and its length in bytes; invalid UTF-8 counts as U+FFFD.
  func scalar(at offset: Int) throws -> (scalar: Unicode.Scalar, count: Int) {
    let first = try load(UInt8.self, at: offset)
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, first < 0xF5, offset + count <= byteCount else { return ("\u{FFFD}", 1) }
    var value = UInt32(first) & (0x7F >> UInt32(count))
    for index in 1..<count {
      let byte = try load(UInt8.self, at: offset + index)
      guard byte & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    guard let scalar = Unicode.Scalar(value) else { return ("\u{FFFD}", 1) }
    return (scalar, count)
  }
}
