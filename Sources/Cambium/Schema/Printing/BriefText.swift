import FoundationEssentials

/// Writes values until the text is long enough, and then how much is left out: the work does not
/// depend on how large the values are.
struct BriefText {
  private(set) var text = ""

  /// No element is begun behind so many bytes.
  private static let bytesMax = 400
  /// The characters that are shown of a text.
  private static let textMax = 100

  mutating func append(_ value: Value) {
    switch value {
    case .null, .bool, .integer, .double: text += value.literal
    case .string(let string): append(quoting: string)
    case .data(let data): text += "\(data.count) bytes"
    case .date(let date): text += date.literalText
    case .uuid(let uuid): text += uuid.uuidString.lowercased()
    case .decimal(let number): text += "\(number)"
    case .array(let elements): list("[", elements, "]") { $0.append($1) }
    case .map(let record):
      list("{", record.pairs, "}") {
        $0.text += "\(ConditionText.name($1.0)): "
        $0.append($1.1)
      }
    case .reference(let path): text += path.description
    case .blob(let blob): text += blob.description
    }
  }

  mutating func append(_ name: String, to new: Value?) {
    text += "\(ConditionText.name(name)): "
    if let new { append(new) } else { text += "nil" }
  }

  mutating func append(_ name: String, from old: Value?, to new: Value?) {
    text += "\(ConditionText.name(name)): "
    if let old { append(old) } else { text += "nil" }
    text += " → "
    if let new { append(new) } else { text += "nil" }
  }

  private mutating func append(quoting string: String) {
    let start = string.unicodeScalars.prefix(BriefText.textMax)
    let isCut = start.endIndex < string.endIndex
    text += ConditionText.quoted(String(start)) + (isCut ? "…" : "")
  }

  /// Writes elements with commas between them.
  mutating func list<Element>(
    _ open: String, _ elements: [Element], _ close: String,
    _ body: (inout BriefText, Element) -> Void
  ) {
    text += open
    for (index, element) in elements.enumerated() {
      if index > 0 { text += ", " }
      if text.utf8.count >= BriefText.bytesMax {
        text += "… \(elements.count - index) more"
        break
      }
      body(&self, element)
    }
    text += close
  }
}
