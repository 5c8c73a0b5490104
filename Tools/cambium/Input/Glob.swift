import Cambium

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
  func matches(_ text: String) -> Bool {
    let characters = Array(text)
    return Wildcards.match(parts.count, characters.count) {
      parts[$0] == .anyText
    } fits: { part, index in
      parts[part] == .anyCharacter || parts[part] == .character(characters[index])
    }
  }
}
