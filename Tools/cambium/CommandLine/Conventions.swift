/// The operands and options that mean the same in every command.
extension Operand {
  static let database = Operand(
    "DB", .database, "the database's directory; else $CAMBIUM_DB, else . if it holds a database",
    isOptional: true)
  static let path = Operand("PATH", .path, "the node, as in users/ada")
  static let moment = Operand("REV", .moment, "the moment; see cambium help moments")

  /// The transactions to print; see ``CommitFilter``.
  static let matches = Operand(
    "FIELD=VALUE", .match, "only transactions of which this holds; see cambium help filters",
    isOptional: true, repeats: true)

  /// The part of the tree that a command is limited to.
  static func subtree(_ help: String) -> Operand { Operand("PATH", .path, help, isOptional: true) }
}

extension Option {
  static let help = Option(flag: "help", letter: "h", "everything about the command; -h is shorter")
  static let quiet = Option(flag: "quiet", letter: "q", "print nothing but errors")
  static let noPager = Option(flag: "no-pager", "do not page the output on a terminal")
  static let color = Option(
    "color", "WHEN", .choice(["auto", "always", "never"]), "when to use colours", fallback: "auto")
  static let progress = Option(
    "progress", "WHEN", .choice(["auto", "always", "never", "json"]),
    "when to show progress on standard error; json is a line a second", fallback: "auto")
  static let wait = Option(
    "wait", "DURATION", .span, "how long to wait for another writer", fallback: "5s")

  static let cursorFile = Option(
    "cursor-file", "FILE", .file,
    "begin after the transaction whose number FILE holds, and keep the last one there")
  static let afterCursor = Option(
    "after-cursor", "N", .number(0...Int.max), "begin after transaction N")
  static let showCursor = Option(
    flag: "show-cursor", "end with the number of the last transaction that was looked at")

  static let dryRun = Option(flag: "dry-run", "say what would be done, and do nothing")
  static let yes = Option(flag: "yes", letter: "y", "do not ask")

  static let at = Option("at", "REV", .moment, "as it was then; see cambium help moments")
  static let since = Option(
    "since", letter: "S", "REV", .moment, "only what came after this moment")
  static let until = Option(
    "until", letter: "U", "REV", .moment, "only what came up to this moment")
  static let limit = Option("limit", letter: "n", "N", .number(0...Int.max), "only the newest N")
  static let grep = Option(
    "grep", letter: "g", "REGEX", .pattern,
    "only transactions that changed a path or value in which this is found")
  static let caseSensitive = Option(
    flag: "case-sensitive",
    "with --grep, tell capitals apart; a REGEX with a capital does so anyway")
  static let reverse = Option(flag: "reverse", letter: "r", "newest first")

  /// The author, the reason and the condition of a change: every command that changes has them.
  static let change: [Option] = [.actor, .reason, .ifSequence, .wait]
  static let actor = Option(
    "actor", "NAME", .text, "who makes the change, which is kept; else $CAMBIUM_ACTOR")
  static let reason = Option("reason", "TEXT", .text, "why, kept with the change")
  static let ifSequence = Option(
    "if-seq", "N", .number(0...Int.max), "only if transaction N is still the newest")

  /// Options of commands that print a list: every form, and which fields of it.
  static let list =
    output(.short, .table, .json, .jsonPretty, .jsonArray, .csv, .tsv, .markdown) + [
      fields, noHeader, null, safe,
    ]
  /// Options of commands that print a list which may be long.
  static let reading = list + [.wait, .noPager, .color]
  static let fields = Option(
    "fields", "NAME[,NAME…]", .text, "only these fields, in this order; not for short")
  static let noHeader = Option(flag: "no-header", "csv, tsv, markdown, table: no line of names")
  static let null = Option("null", "TEXT", .text, "csv, tsv, markdown, table: for what is absent")
  static let safe = Option(
    flag: "safe", "csv, tsv: a ' before a text that a spreadsheet would run as a formula")

  /// `--output` with the formats that a command knows, the default first, and `--json`.
  static func output(_ formats: OutputFormat...) -> [Option] {
    let names = formats.map(\.rawValue)
    var options = [
      Option(
        "output", letter: "o", "FORMAT", .choice(names),
        "the form of what is printed; json means JSON lines",
        fallback: names.first)
    ]
    if names.contains("json") && names.count > 1 {
      options.append(
        Option(flag: "json", "the same as -o json", meaning: ("output", "json")))
    }
    return options
  }
}

/// The form in which results are rendered; it never changes the results.
enum OutputFormat: String, Sendable {
  /// For people.
  case short
  /// JSON lines: one value a line.
  case json
  /// RFC 4180, with a header.
  case csv
  /// The further forms of lists; see ``ListWriter``.
  case table, tsv, markdown
  case jsonPretty = "json-pretty"
  case jsonArray = "json-array"

  var isJSON: Bool { self == .json || self == .jsonPretty || self == .jsonArray }
}
