// Divides the bytes of one CSV record into fields, after RFC 4180.
//
//     record = field *("," field) (LF / CRLF / end of input), or with another delimiter
//     field  = plain / quoted
//     plain  = any bytes but the delimiter, " CR LF, perhaps none
//     quoted = " any bytes, a quote doubled "
//
// A scan is a function of the bytes alone: where they end too early it says so, and is repeated
// once there are more. Nothing is copied.

import Cambium

/// Where a field's bytes are, without the quotes around it.
struct CSVExtent {
  enum Quoting: UInt8 {
    /// As it is.
    case plain
    /// In quotes.
    case quoted
    /// In quotes, with doubled quotes in it.
    case doubled
  }

  let start: Int
  let end: Int
  let quoting: Quoting

  var range: Range<Int> { start..<end }
}

/// A text that stands for an absent field, besides nothing, such as `NA`.
struct AbsentMark: Equatable, Sendable {
  /// No mark.
  static let none = AbsentMark(bytes: [])

  let bytes: [UInt8]

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Takes a text without commas, quotes and line ends; nil for any other.
  init?(_ text: String) {
    bytes = Array(text.utf8)
    if CSVScanner.needsQuotes(text.utf8) { return nil }
  }
}

/// The fields of one record.
struct CSVRow {
  /// The input around the record.
  let bytes: [UInt8]
  /// Where the fields are.
  let fields: [CSVExtent]
  /// The text that stands for an absent field, besides nothing.
  let absent: AbsentMark

  /// True if a field is absent: without quotes, and empty or the mark for it.
  func isAbsent(_ column: Int) -> Bool {
    let field = fields[column]
    if field.quoting != .plain { return false }
    if field.start == field.end { return true }
    return field.end - field.start == absent.bytes.count
      && bytes.span.extracting(field.range).equals(absent.bytes)
  }

  func isQuoted(_ column: Int) -> Bool { fields[column].quoting != .plain }

  /// A field's text, with doubled quotes made single.
  func text(_ column: Int) -> String {
    let field = fields[column]
    guard field.quoting == .doubled else {
      return String(decoding: bytes[field.range], as: UTF8.self)
    }
    var single: [UInt8] = []
    var previousIsQuote = false
    for byte in bytes[field.range] {
      previousIsQuote = byte == ASCII.quote && !previousIsQuote
      if byte != ASCII.quote || previousIsQuote { single.append(byte) }
    }
    return String(decoding: single, as: UTF8.self)
  }
}

/// Finds the fields of one record after the other.
struct CSVScanner {
  enum Outcome: Equatable {
    /// The record ends here.
    case record(next: Int)
    /// The bytes end before the record does.
    case incomplete
    /// The bytes are not CSV, from here on.
    case bad(at: Int, Problem)
  }

  enum Problem: Equatable {
    case quoteInside
    case afterQuote(UInt8)
    case unclosed
    case carriageReturn
    case encoding
  }

  /// The fields, up to `fieldsMax`.
  private(set) var fields: [CSVExtent] = []
  /// The number of fields in the record.
  private(set) var count = 0
  /// The place where the first surplus field starts.
  private(set) var surplus: Int?
  /// The number of fields that are kept.
  var fieldsMax: Int
  /// The byte between fields.
  let delimiter: UInt8
  /// No byte above it ends a plain field.
  private let bound: UInt8

  /// All bytes of the record, or-ed: below 0x80 if it is ASCII.
  private var seen: UInt8 = 0
  private var index = 0

  init(fieldsMax: Int, delimiter: UInt8 = ASCII.comma) {
    self.fieldsMax = fieldsMax
    self.delimiter = delimiter
    bound = max(delimiter, ASCII.quote)
  }

  /// True if a text can be a field only in quotes.
  static func needsQuotes(_ text: String.UTF8View) -> Bool {
    text.contains {
      $0 <= ASCII.comma
        && ($0 == ASCII.comma || $0 == ASCII.quote || $0 == ASCII.lineFeed
          || $0 == ASCII.carriageReturn)
    }
  }

  /// Scans the record that starts at `start`. Bytes up to `end` are input; `isLast` says whether it
  /// ends there.
  mutating func scan(_ bytes: Span<UInt8>, from start: Int, to end: Int, isLast: Bool) -> Outcome {
    fields.removeAll(keepingCapacity: true)
    (count, surplus, seen, index) = (0, nil, 0, start)
    while true {
      let isQuoted = index < end && bytes[index] == ASCII.quote
      let outcome =
        isQuoted ? scanQuoted(bytes, end, isLast: isLast) : scanPlain(bytes, end, isLast: isLast)
      if let outcome { return outcome }
      if index == end { return isLast ? finished(bytes, start, end) : .incomplete }
      if bytes[index] == delimiter {
        index += 1
      } else {
        return endOfLine(bytes, start, end, isLast: isLast)
      }
    }
  }

  /// Scans up to the byte after the field.
  private mutating func scanPlain(_ bytes: Span<UInt8>, _ end: Int, isLast: Bool) -> Outcome? {
    let start = index
    var position = index
    var seen = seen
    while position < end {
      let byte = bytes[position]
      seen |= byte
      if byte <= bound {
        if byte == delimiter || byte == ASCII.lineFeed || byte == ASCII.carriageReturn { break }
        if byte == ASCII.quote { return .bad(at: position, .quoteInside) }
      }
      position += 1
    }
    (self.seen, index) = (seen, position)
    add(CSVExtent(start: start, end: position, quoting: .plain))
    return nil
  }

  /// Scans up to the byte after the closing quote.
  private mutating func scanQuoted(_ bytes: Span<UInt8>, _ end: Int, isLast: Bool) -> Outcome? {
    let open = index
    var quoting = CSVExtent.Quoting.quoted
    index += 1
    while true {
      while index < end, bytes[index] != ASCII.quote {
        seen |= bytes[index]
        index += 1
      }
      if index == end { return isLast ? .bad(at: open, .unclosed) : .incomplete }
      index += 1
      guard index < end, bytes[index] == ASCII.quote else { break }
      quoting = .doubled
      index += 1
    }
    add(CSVExtent(start: open + 1, end: index - 1, quoting: quoting))
    guard index < end else { return isLast ? nil : .incomplete }
    switch bytes[index] {
    case delimiter, ASCII.lineFeed, ASCII.carriageReturn: return nil
    case let byte: return .bad(at: index, .afterQuote(byte))
    }
  }

  private mutating func add(_ field: CSVExtent) {
    count += 1
    if count <= fieldsMax {
      fields.append(field)
    } else if surplus == nil {
      surplus = field.quoting == .plain ? field.start : field.start - 1
    }
  }

  private mutating func endOfLine(
    _ bytes: Span<UInt8>, _ start: Int, _ end: Int, isLast: Bool
  ) -> Outcome {
    if bytes[index] == ASCII.carriageReturn {
      guard index + 1 < end else { return isLast ? .bad(at: index, .carriageReturn) : .incomplete }
      guard bytes[index + 1] == ASCII.lineFeed else { return .bad(at: index, .carriageReturn) }
      index += 1
    }
    return finished(bytes, start, index + 1)
  }

  private func finished(_ bytes: Span<UInt8>, _ start: Int, _ next: Int) -> Outcome {
    if seen >= 0x80, let bad = UTF8Text.firstInvalidIndex(in: bytes, start..<next) {
      return .bad(at: bad, .encoding)
    }
    return .record(next: next)
  }
}
