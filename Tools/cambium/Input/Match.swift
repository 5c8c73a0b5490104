import Cambium

/// One condition of a filter, as journalctl writes it: `actor=anna`, `path=users/*`.
///
///     match = field "=" glob
///     field = "actor" | "reason" | "origin" | "tx" | "tag" | "event" | "op" | "path" | name
struct Match: Hashable, Sendable {
  /// The part of a transaction or change that is compared.
  enum Field: Hashable, Sendable {
    /// The author, as `cambium log` shows it.
    case actor
    /// The reason, as `cambium log` shows it.
    case reason
    case origin
    case sequence
    case tag
    case event
    /// The effect of a change: insert, update, or delete.
    case kind
    /// The path of a change.
    case path
    /// Metadata of that name.
    case metadata(String)

    /// True if it belongs to a change, not to its transaction.
    var isOfChange: Bool { self == .kind || self == .path }
  }

  /// The fields with names of their own.
  static let fields: KeyValuePairs<String, Field> = [
    "actor": .actor, "reason": .reason, "origin": .origin, "tx": .sequence, "tag": .tag,
    "event": .event, "op": .kind, "path": .path,
  ]

  /// The names of the effects that a change can have.
  static let kinds = ["insert", "update", "delete"]

  let field: Field
  let value: Glob

  /// True if a word is a condition, or the `+` between groups of them: it starts with a name and =.
  static func isMatch(_ word: String) -> Bool {
    guard word != "+", let end = word.firstIndex(of: "=") else { return word == "+" }
    return end != word.startIndex && !word[..<end].contains("/")
  }

  init(_ text: String) throws(GrammarError) {
    guard let end = text.firstIndex(of: "="), end != text.startIndex else {
      throw GrammarError(
        text: text, offset: 0, reason: "a condition is written FIELD=VALUE, as in actor=anna")
    }
    let name = String(text[..<end])
    let value = text[text.index(after: end)...]
    field = Match.fields.first { $0.key == name }?.value ?? .metadata(name)
    self.value = Glob(value)
    if field == .kind, !Match.kinds.contains(where: self.value.matches) {
      throw GrammarError(
        text: text, offset: name.utf8.count + 1,
        reason: "what a change does is one of \(Match.kinds.joined(separator: ", "))")
    }
  }
}
