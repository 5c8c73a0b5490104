import FoundationEssentials

/// The constants of conditions that are written as a call: `date("2013-01-31")`.
enum ConstantForm: String {
  case date, uuid, decimal, data, path, blob, nan

  /// The constant that a text in brackets means; nil for none, and for what is no text.
  func value(_ text: String) -> Value? {
    switch self {
    case .date: DateLiteral.read(text).map { .date($0) }
    case .uuid: UUID(uuidString: text).map { .uuid($0) }
    case .decimal: ConstantForm.decimal(text).map { .decimal($0) }
    case .data: Data(base64Encoded: text).map { .data($0) }
    case .path: (try? NodePath(text)).map { .reference($0) }
    case .blob, .nan: nil
    }
  }

  /// Foundation's own parser stops at the first invalid character, and returns the number so far.
  private static func decimal(_ text: String) -> Decimal? {
    if text == "NaN" { return .nan }
    guard NumberText(Array(text.utf8).span) != nil else { return nil }
    return Decimal(string: text)
  }

  /// The constant in an error's words.
  var noun: String {
    switch self {
    case .date: "moment; write it as 2013-01-31 or 2013-01-31T17:00:00Z"
    case .uuid: "UUID"
    case .decimal: "decimal number"
    case .data: "data in base 64"
    default: "path"
    }
  }
}
