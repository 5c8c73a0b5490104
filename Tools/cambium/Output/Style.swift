/// Colours, by meaning. None is the only sign of it: a `+`, a `~` or a `-` goes with it.
enum Role: String, Sendable {
  case inserted = "32"
  case updated = "33"
  case deleted = "31"
  case moved = "36"
  case heading = "1"
  case metadata = "2"
}

/// The decision, made once, to colour text or leave it plain.
struct Style: Sendable {
  let isColoured: Bool

  static let plain = Style(isColoured: false)

  /// Decides as users of other tools expect.
  ///
  /// - Parameters:
  ///   - choice: `--color`: `always`, `never`, or `auto`.
  ///   - isTerminal: True if the text goes to a terminal.
  ///   - environment: `NO_COLOR` and `TERM=dumb` turn colours off, `CLICOLOR_FORCE` on.
  init(choice: String, isTerminal: Bool, environment: [String: String]) {
    switch choice {
    case "always": isColoured = true
    case "never": isColoured = false
    default:
      if !environment["NO_COLOR", default: ""].isEmpty {
        isColoured = false
      } else if !["", "0"].contains(environment["CLICOLOR_FORCE", default: ""]) {
        isColoured = true
      } else {
        isColoured = isTerminal && environment["TERM"] != "dumb"
      }
    }
  }

  private init(isColoured: Bool) { self.isColoured = isColoured }

  /// The text in the colour of its role.
  func callAsFunction(_ role: Role, _ text: String) -> String {
    isColoured ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }
}
