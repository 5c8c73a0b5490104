// Conversion of constants for comparison with values of a declared type.

import FoundationEssentials

extension Value {
  /// The constant in the form in which a property of some type is compared with it: a text is
  /// parsed if the property holds moments, UUIDs or decimals.
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

/// Moments as written in conditions: like those of ``DateText``, but seconds may be omitted.
enum DateLiteral {
  /// Reads a moment; nil if the text is not one.
  static func read(_ text: String) -> Date? {
    var bytes = Array(text.utf8)
    if let day = bytes.firstIndex(where: { $0 == UInt8(ascii: "T") || $0 == ASCII.space }) {
      // After `T05:00`.
      let seconds = day + 6
      if bytes.count == seconds || bytes.count > seconds && bytes[seconds] != ASCII.colon {
        bytes.insert(contentsOf: ":00".utf8, at: seconds)
      }
    }
    return DateText.parse(bytes.span).map { Date(microseconds: $0.microseconds) }
  }

  /// A moment in the form that ``read(_:)`` reads.
  static func text(_ date: Date) -> String { DateText.text(moment: date.microseconds) }
}
