/// The words that a shell can offer where one is wanted.
enum Offer: Equatable, Sendable {
  case nothing
  case words([String])
  case files
  case folders
  /// The paths of the nodes in the database.
  case paths
}

extension Kind {
  /// The words that are allowed here, as far as the table knows.
  var offer: Offer {
    switch self {
    case .text, .range, .span, .number, .match, .pattern: .nothing
    case .path: .paths
    case .file: .files
    case .database: .folders
    case .moment: .words(["HEAD", "now", "today", "yesterday"])
    case .choice(let names): .words(names)
    case .subject: .words(Commands.all.map(\.name) + Topic.all.map(\.name))
    }
  }
}

extension Command {
  /// The offers for its operands, each once. All are offered, since the database may be left out,
  /// so that the operand of a word is not known before all words are there.
  var offers: [Offer] {
    operands.map(\.kind.offer).reduce(into: []) { offers, offer in
      if offer != .nothing && !offers.contains(offer) { offers.append(offer) }
    }
  }
}

extension Option {
  /// As it is written: `--limit`, and `-n`.
  var spellings: [String] { ["--" + name] + (letter.map { ["-\($0)"] } ?? []) }
}
