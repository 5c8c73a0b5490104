// The entries of a difference in a line, for whoever looks for the cause of a violation.

import Cambium

extension LiveDiff {
  /// The entries, with positions and causes.
  var words: String {
    var words: [String] = []
    for deletion in deletions {
      words.append("-\(deletion.position) \(brief(deletion.element)) (\(deletion.cause))")
    }
    for insertion in insertions {
      words.append("+\(insertion.position) \(brief(insertion.element)) (\(insertion.cause))")
    }
    for move in moves { words.append("\(move.from)>\(move.to) \(brief(move.element))") }
    for update in updates {
      words.append(
        "\(update.before)~\(update.after) \(brief(update.old)) => \(brief(update.new))"
          + " \(update.properties.map(\.name)) (\(update.cause))")
    }
    return words.isEmpty ? "no entry" : words.joined(separator: "; ")
  }
}

/// An element in words: of a record its key and its values.
func brief<Element>(_ element: Element) -> String {
  guard let record = element as? DynamicRecord else { return "\(element)" }
  let values = record.values.members.map { "\($0.name) \(brief($0.value))" }
  return "\(record.path){\(values.joined(separator: " "))}"
}

private func brief(_ value: Value) -> String {
  switch value {
  case .null: "null"
  case .integer(let number): "\(number)"
  case .double(let number): "\(number)"
  case .decimal(let number): "\(number)d"
  case .bool(let truth): "\(truth)"
  case .string(let text): "\"\(text)\""
  case .array(let elements): "\(elements.map { brief($0) })"
  default: "\(value)"
  }
}
