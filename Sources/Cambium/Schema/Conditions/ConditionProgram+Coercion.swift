// Constants as they are compared with values of a declared type.

import FoundationEssentials

extension Value {
  /// The constant as a property of some type is compared with it: what a text says, where the
  /// property holds moments, UUIDs or decimals.
  func coerced(to type: PropertyType?) -> Value {
    switch (type, self) {
    case (.date, .string(let text)): DateLiteral.read(text).map { .date($0) } ?? self
    case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) } ?? self
    case (.decimal, .string(let text)): Decimal(string: text).map { .decimal($0) } ?? self
    case (.decimal, .double(let number)) where number.isFinite:
      Decimal(string: number.description).map { .decimal($0) } ?? self
    default: self
    }
  }
}

/// Moments as conditions write them: as ``DateText`` does, also without seconds.
enum DateLiteral {
  /// Reads a moment; nil where the text is none.
  static func read(_ text: String) -> Date? {
    var bytes = Array(text.utf8)
    if let day = bytes.firstIndex(where: { $0 == UInt8(ascii: "T") || $0 == ASCII.space }) {
      // Behind `T05:00`.
      let seconds = day + 6
      if bytes.count == seconds || bytes.count > seconds && bytes[seconds] != ASCII.colon {
        bytes.insert(contentsOf: ":00".utf8, at: seconds)
      }
    }
    return DateText.parse(bytes.span).map { Date(microseconds: $0.microseconds) }
  }

  /// A moment that ``read(_:)`` reads.
  static func text(_ date: Date) -> String {
    var text: [UInt8] = []
    DateText.append(moment: date.microseconds, to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}
