/// A pattern for a whole text: `*` stands for any text, `?` for one character, and `\` takes away
/// what the next character means.
struct Glob: Hashable, Sendable {
  private enum Part: Hashable {
    case anyText
    case anyCharacter
    case character(Character)
  }

  private let parts: [Part]

  init(_ text: some StringProtocol) {
    var parts: [Part] = []
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "*": if parts.last != .anyText { parts.append(.anyText) }
      case "?": parts.append(.anyCharacter)
      case "\\": parts.append(.character(rest.popFirst() ?? "\\"))
      default: parts.append(.character(character))
      }
    }
    self.parts = parts
  }

  /// True if a whole text matches the pattern.
  ///
  /// Where a character does not fit, the newest `*` takes one more: that is enough, since whatever
  /// an earlier one could take, the newest can too.
  func matches(_ text: String) -> Bool {
    let characters = Array(text)
    var (part, index) = (0, 0)
    var retry: (part: Int, index: Int)?
    while index < characters.count || part < parts.count {
      if part < parts.count, parts[part] == .anyText {
        retry = (part, index)
        part += 1
      } else if part < parts.count, index < characters.count, fits(parts[part], characters[index]) {
        part += 1
        index += 1
      } else if let last = retry, last.index < characters.count {
        retry = (last.part, last.index + 1)
        (part, index) = (last.part + 1, last.index + 1)
      } else {
        return false
      }
    }
    return true
  }

  private func fits(_ part: Part, _ character: Character) -> Bool {
    part == .anyCharacter || part == .character(character)
  }
}
