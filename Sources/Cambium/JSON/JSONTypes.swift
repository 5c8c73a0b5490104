import FoundationEssentials

/// The form of values that JSON lacks: objects whose first name starts with one `$`.
///
/// | Value | JSON |
/// |---|---|
/// | null, bool, string, array | as in JSON |
/// | integer, −2⁵³ to 2⁵³ | `42`; never a point or an exponent |
/// | integer, other | `{"$integer": "9223372036854775807"}`, since other tools read numbers as
/// doubles |
/// | double | `12.0`, `1e-05`, `-0.0`: always a point or an exponent |
/// | double, not finite | `{"$double": "inf"}`, `"-inf"`, `"nan"`, or the bits of another NaN:
/// `"0x7ff8000000000001"` |
/// | data | `{"$data": "3q2+7w=="}`, base64 |
/// | date | `{"$date": "2013-01-01T10:00:00.25Z"}` |
/// | UUID | `{"$uuid": "0190163d-8694-739b-aea5-966c26f8ad91"}` |
/// | decimal | `{"$decimal": "12.5"}`, `"1e-40"`, `"NaN"` |
/// | reference | `{"$reference": "users/ada"}` |
/// | blob | `{"$blob": "<64 hexadecimal digits>", "size": 1048576}` |
/// | map | an object; a name that starts with `$` gets one more `$` in front |
///
/// Whatever value is written, reading gives the same value again. A name with one `$` that is not
/// in the table is an error when types are read, so that the table can grow. A reader that is not
/// typed takes all names as they are.
package enum JSONTypes {
  /// The largest integer that every JSON reader keeps.
  package static let integerMax: Int64 = 1 << 53

  /// Writes a value that needs an object.
  package static func append(_ name: String, _ text: some StringProtocol, to output: inout [UInt8])
  {
    output.append(contentsOf: "{\"$\(name)\":".utf8)
    JSONText.append(text, to: &output)
    output.append(UInt8(ascii: "}"))
  }

  /// Reads the rest of an object up to its end; its first name, which starts with `$`, comes next.
  package static func read(_ tokens: inout JSONTokens) throws(InputError) -> Value {
    let nameOffset = try tokens.nextOffset()
    let name = try tokens.text("a name")
    guard let expected = forms[name] else {
      throw tokens.error(at: nameOffset, unknown(name), hint: hint)
    }
    try tokens.punctuation(ASCII.colon)
    let textOffset = try tokens.nextOffset()
    let text = try tokens.text("\(expected) in quotes")
    let value = name == "$blob" ? try blob(text, &tokens) : value(name, text)
    guard let value else {
      throw tokens.error(
        at: textOffset, "expected \(expected), found \(InputError.excerpt(text.utf8))")
    }
    try tokens.punctuation(UInt8(ascii: "}"))
    return value
  }

  /// The reason why a name with one `$` is refused.
  package static func unknown(_ name: String) -> String {
    "expected the name of a type, such as $date, found \(InputError.excerpt(name.utf8))"
  }

  /// The hint that goes with that error.
  package static let hint = "a name that starts with $ is written with $$"

  /// The names, and descriptions of their values.
  private static let forms: [String: String] = [
    "$integer": "an integer of 64 bits",
    "$double": "nan, inf, -inf or the bits of a NaN",
    "$data": "base64",
    "$date": "an ISO 8601 date",
    "$uuid": "a UUID",
    "$decimal": "a decimal number of up to 38 digits",
    "$reference": "a path",
    "$blob": "64 hexadecimal digits",
  ]

  private static func value(_ name: String, _ text: String) -> Value? {
    let bytes = Array(text.utf8)
    switch name {
    case "$integer": return ScalarText.integer(bytes.span).map { .integer($0) }
    case "$double": return double(text).map { .double($0) }
    case "$data": return Data(base64Encoded: text).map { .data($0) }
    case "$date":
      return DateText.parse(bytes.span).map { .date(Date(microseconds: $0.microseconds)) }
    case "$uuid": return UUID(uuidString: text).map { .uuid($0) }
    case "$decimal": return DecimalText.parse(bytes.span).map { .decimal($0) }
    case "$reference": return (try? NodePath(text)).map { .reference($0) }
    default: return nil
    }
  }

  private static func double(_ text: String) -> Double? {
    switch text {
    case "nan": return .nan
    case "inf": return .infinity
    case "-inf": return -.infinity
    default:
      guard text.utf8.count == 18, text.hasPrefix("0x"),
        text.utf8.dropFirst(2).allSatisfy({ ASCII.hexDigit($0) != nil }),
        let bits = UInt64(text.dropFirst(2), radix: 16)
      else { return nil }
      let value = Double(bitPattern: bits)
      return value.isNaN ? value : nil
    }
  }

  /// Reads `, "size": n` after the digits.
  private static func blob(
    _ text: String, _ tokens: inout JSONTokens
  ) throws(InputError) -> Value? {
    guard let hash = hash(text) else { return nil }
    try tokens.punctuation(ASCII.comma)
    let nameOffset = try tokens.nextOffset()
    guard try tokens.text("\"size\"") == "size" else {
      throw tokens.error(at: nameOffset, "expected \"size\" after the digits of a blob")
    }
    try tokens.punctuation(ASCII.colon)
    let sizeOffset = try tokens.nextOffset()
    guard let size = UInt64(try tokens.word("a size in bytes")) else {
      throw tokens.error(at: sizeOffset, "expected a size in bytes")
    }
    return .blob(Blob(hash: hash, size: size))
  }

  /// Reads the digits of a hash.
  static func hash(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap(ASCII.hexDigit)
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
