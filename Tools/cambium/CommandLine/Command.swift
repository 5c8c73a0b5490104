/// One command of `cambium`: all that parsing, help, completions and the man page know of it.
///
/// The commands are values in a table (``Commands``), one file each; nothing else lists them.
struct Command: Sendable {
  /// The headings of the overview.
  enum Group: String, CaseIterable, Sendable {
    case look = "Look"
    case keep = "Keep"
    case change = "Change"
    case other = "Help"
  }

  let name: String
  let group: Group
  /// One line without a full stop, for the overview.
  let summary: String
  /// Paragraphs, separated by empty lines; a paragraph whose lines are indented is kept as it is.
  let discussion: String
  /// The words after the command, in order; the database comes first.
  var operands: [Operand] = []
  var options: [Option] = []
  /// Command lines that work, and what each does.
  var examples: KeyValuePairs<String, String> = [:]
  /// True if the first Ctrl-C only sets ``Signals/isInterrupted``, which `run` then must poll.
  var stopsSafely = false
  /// The ways in which the server offers the command; none where it does not.
  var servings: [Serving] = []
  /// Runs the command. An error that it throws becomes a ``Failure``; the output is flushed
  /// afterwards.
  let run: @Sendable (Call) async throws -> Void
}

/// A word on the command line that has a place instead of a name.
struct Operand: Sendable {
  let name: String
  let kind: Kind
  let help: String
  var isOptional = false
  /// True if more of the same may follow; only the last operand can be repeated.
  var repeats = false

  init(
    _ name: String, _ kind: Kind, _ help: String, isOptional: Bool = false, repeats: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.help = help
    self.isOptional = isOptional
    self.repeats = repeats
  }
}

/// A word on the command line that has a name: `--depth 3`, or `--reverse`.
struct Option: Sendable {
  let name: String
  var letter: Character?
  /// The name of its value in the help, and the kind of the value; nil for a flag.
  var value: (name: String, kind: Kind)?
  let help: String
  /// The value where the option is not given.
  var fallback: String?
  /// True if every value counts; of other options that are given twice, only the last does.
  var repeats = false
  var isRequired = false
  /// The option and value that this one is short for.
  var meaning: (name: String, value: String)?

  /// An option with a value.
  init(
    _ name: String, letter: Character? = nil, _ valueName: String, _ kind: Kind, _ help: String,
    fallback: String? = nil, repeats: Bool = false, isRequired: Bool = false
  ) {
    self.name = name
    self.letter = letter
    value = (valueName, kind)
    self.help = help
    self.fallback = fallback
    self.repeats = repeats
    self.isRequired = isRequired
  }

  /// A flag, or a shorter way to write another option with a value.
  init(
    flag name: String, letter: Character? = nil, _ help: String,
    meaning: (name: String, value: String)? = nil
  ) {
    self.name = name
    self.letter = letter
    self.help = help
    self.meaning = meaning
  }
}

/// The kind of text that an operand or an option's value may be. The parser reads it, so that no
/// command starts with one that cannot be read.
enum Kind: Equatable, Sendable {
  /// Any text.
  case text
  /// A file, or `-` for standard input.
  case file
  /// A database's directory.
  case database
  /// The path of a node.
  case path
  /// A ``PointInTime``.
  case moment
  /// A ``MomentRange``.
  case range
  /// A ``TimeSpan``.
  case span
  case number(ClosedRange<Int>)
  case choice([String])
  /// A ``Match``, or the `+` between groups of them. A word that can be one is one, wherever it is.
  case match
  /// A regular expression.
  case pattern
  /// The name of a command or of a topic of the help.
  case subject
}

extension Command {
  /// True if the first operand is the database.
  var takesDatabase: Bool { operands.first?.kind == .database }

  /// The operands without the database.
  var otherOperands: ArraySlice<Operand> { operands.dropFirst(takesDatabase ? 1 : 0) }

  /// The operand for conditions, which are known by their form and may be anywhere.
  var filter: Operand? { operands.last.flatMap { $0.kind == .match ? $0 : nil } }

  /// The operands that are known by their place, without the database.
  var positionalOperands: ArraySlice<Operand> {
    filter == nil ? otherOperands : otherOperands.dropLast()
  }

  /// The options, and the two ways to ask for help that every command has.
  var allOptions: [Option] { options + [.help] }

  /// The synopsis, in one line.
  var usage: String {
    var words = ["cambium", name, "[OPTIONS]"]
    for option in options where option.isRequired { words.append(option.synopsis) }
    for operand in operands {
      let name = operand.repeats ? operand.name + "…" : operand.name
      words.append(operand.isOptional ? "[\(name)]" : name)
    }
    return words.joined(separator: " ")
  }
}

extension Option {
  /// The long name with its value: `--depth N`.
  var synopsis: String { value.map { "--\(name) \($0.name)" } ?? "--\(name)" }
}
