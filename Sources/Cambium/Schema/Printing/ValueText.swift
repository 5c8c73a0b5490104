// Values as they are printed. `debugDescription` is the whole value in the query language, where it
// can be read back; `description` is the value at a glance: cut, and without the words that only
// say of what kind it is.
//
// | Value | `description` | `debugDescription` |
// |---|---|---|
// | text | `Ada`; inside of others `"Ada"` | `"Ada"` |
// | date | `2013-01-01T10:00:00Z` | `date("2013-01-01T10:00:00Z")` |
// | bytes | `12 bytes` | `data("3q2+7w==")` |
// | reference | `airlines/UA` | `path("airlines/UA")` |
// | blob | `blob of 70312 bytes` | `blob("hash in base64", 70312)` |
// | array | `[1, 2, … 998 more]` | all of it |
// | map | `{born: 1815, name: "Ada"}` | `{"born": 1815, "name": "Ada"}` |

import FoundationEssentials

extension Value: CustomStringConvertible, CustomDebugStringConvertible {
  /// The value at a glance, in one line unless it is a text with more: `Ada`, `1815`,
  /// `{born: 1815, name: "Ada"}`.
  ///
  /// A text is given as it is. Of arrays, maps and the texts in them, what is long is cut.
  public var description: String {
    if case .string(let text) = self { return text }
    return brief
  }

  /// The whole value in one line, in the query language: `"Ada"`, `date("2013-01-01T10:00:00Z")`.
  public var debugDescription: String { literal }

  /// The value at a glance, with a text in quotes.
  var brief: String {
    var text = BriefText()
    text.append(self)
    return text.text
  }
}

extension ValueMap: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The members at a glance: `{born: 1815, name: "Ada"}`. What is long is cut.
  public var description: String { Value.map(self).brief }

  /// All members, in the query language: `{"born": 1815, "name": "Ada"}`.
  public var debugDescription: String { Value.map(self).literal }

  /// The members by their names.
  public var customMirror: Mirror {
    Mirror(
      self, children: pairs.map { (label: $0.0, value: $0.1 as Any) }, displayStyle: .dictionary)
  }
}

extension Blob: CustomStringConvertible, CustomDebugStringConvertible {
  /// Its size: `blob of 70312 bytes`.
  public var description: String { "blob of \(size) bytes" }

  /// Its hash and size: `blob("hash in base64", 70312)`.
  public var debugDescription: String { Value.blob(self).literal }
}

extension Value? {
  /// The value at a glance, or `nil`.
  var briefOrNil: String { map(\.brief) ?? "nil" }

  /// The whole value, or `nil`.
  var literalOrNil: String { map(\.literal) ?? "nil" }
}

extension ValueMap {
  /// Their differences at a glance: `{born: 1815 → 1816, died: nil → 1852}`.
  func difference(to new: ValueMap) -> String {
    let added = new.pairs.map(\.0).filter { self[$0] == nil }
    let changes = (pairs.map(\.0) + added).sorted { ByteOrder.compare($0, $1) < 0 }
      .map { (name: $0, old: self[$0], new: new[$0]) }.filter { $0.old != $0.new }
    var text = BriefText()
    text.list("{", changes, "}") { text, change in
      text.append(change.name, from: change.old, to: change.new)
    }
    return text.text
  }
}

extension Date {
  /// The moment in UTC, `2013-01-01T10:00:00Z`, with a fraction where it has one.
  var literalText: String { DateLiteral.text(self) }
}
