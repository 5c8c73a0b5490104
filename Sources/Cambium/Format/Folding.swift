import CUTF8Proc

/// Makes texts comparable that differ only in case, or in diacritics as well.
///
/// Unicode's case folding and decomposition, by utf8proc; plain ASCII is done here.
enum Folding {
  /// Adds a text's bytes in the form compared under a collation.
  @inline(__always)
  static func append<Sink: ByteSink & ~Copyable>(
    _ text: RawSpan, _ collation: Collation, to bytes: inout Sink
  ) {
    if collation == .binary { return bytes.append(text) }
    if text.isASCII { return appendLowercased(text, to: &bytes) }
    bytes.append(array: folded(text, collation))
  }

  /// A text in the form compared under a collation.
  static func folded(_ text: String, _ collation: Collation) -> String {
    if collation == .binary { return text }
    var bytes: [UInt8] = []
    Array(text.utf8).lend { append($0, collation, to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func appendLowercased<Sink: ByteSink & ~Copyable>(
    _ text: RawSpan, to bytes: inout Sink
  ) {
    text.forEachByte { byte in
      let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      bytes.append(isCapital ? byte | 0x20 : byte)
    }
  }

  /// The folded bytes; the unchanged bytes if they are not UTF-8, which is never stored.
  private static func folded(_ text: RawSpan, _ collation: Collation) -> [UInt8] {
    var options = UTF8PROC_STABLE.rawValue | UTF8PROC_CASEFOLD.rawValue
    options |=
      collation == .ignoringCase
      ? UTF8PROC_COMPOSE.rawValue : UTF8PROC_DECOMPOSE.rawValue | UTF8PROC_STRIPMARK.rawValue
    return mapped(text, options) ?? text.array()
  }

  /// The bytes of a text in Unicode's composed form (NFC).
  static func composed(_ text: RawSpan) -> [UInt8] {
    if text.isASCII { return text.array() }
    return mapped(text, UTF8PROC_STABLE.rawValue | UTF8PROC_COMPOSE.rawValue) ?? text.array()
  }

  /// A text as mapped by utf8proc; nil if it is not UTF-8.
  static func mapped(_ text: RawSpan, _ options: UInt32) -> [UInt8]? {
    var result: UnsafeMutablePointer<UInt8>?
    let count = unsafe text.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      return unsafe utf8proc_map(
        start, bytes.count, &result, utf8proc_option_t(rawValue: options))
    }
    defer { unsafe free(result) }
    guard count >= 0, let start = unsafe result else { return nil }
    return unsafe Array(UnsafeBufferPointer(start: start, count: count))
  }
}
