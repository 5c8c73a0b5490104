import Cambium

/// The reason why a point in time or a duration could not be read, and the byte.
struct GrammarError: Error, Equatable {
  let text: String
  let offset: Int
  let reason: String
}

/// Reads a short text from left to right; what every small grammar of the command line needs.
struct TextReader {
  let text: String
  private let bytes: [UInt8]
  private(set) var offset = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  var isAtEnd: Bool { offset == bytes.count }

  var next: UInt8? { isAtEnd ? nil : bytes[offset] }

  var isAtDigit: Bool { next.map(ASCII.isDigit) ?? false }

  /// Takes a word if it comes next.
  mutating func take(_ word: String) -> Bool {
    guard bytes[offset...].starts(with: word.utf8) else { return false }
    offset += word.utf8.count
    return true
  }

  /// Takes bytes as long as they satisfy a condition.
  mutating func take(while condition: (UInt8) -> Bool) -> String {
    let end = bytes[offset...].firstIndex { !condition($0) } ?? bytes.count
    defer { offset = end }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }

  mutating func digits() -> String { take(while: ASCII.isDigit) }

  mutating func letters() -> String {
    take { !ASCII.isDigit($0) && !" +-:.~@/".utf8.contains($0) }
  }

  /// A whole number of exactly so many digits, within a range.
  mutating func number(
    digits count: Int, in range: ClosedRange<Int>, called name: String
  ) throws(GrammarError) -> Int {
    let digits = bytes[offset...].prefix(count)
    guard digits.count == count, digits.allSatisfy(ASCII.isDigit),
      let value = Int(String(decoding: digits, as: UTF8.self)), range.contains(value)
    else {
      throw error("\(name) is \(count) digits, \(range.lowerBound) to \(range.upperBound)")
    }
    offset += count
    return value
  }

  func error(_ reason: String, at offset: Int? = nil) -> GrammarError {
    GrammarError(text: text, offset: offset ?? self.offset, reason: reason)
  }

  func expectEnd() throws(GrammarError) {
    if !isAtEnd { throw error("nothing more is expected here") }
  }
}
