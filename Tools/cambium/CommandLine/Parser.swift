import Cambium

/// Understands a command line by the table of commands.
///
///     argv ──▶ command ──▶ options, operands (texts) ──▶ which operand is which ──▶ Invocation
///              by name     --name=value, -n5, -rq, --    the database may be left    every text
///                                                        out                         read
///
/// A word that starts with `-` and a digit is a value, not an option: `-5`, `-10m`.
struct Parser: Sendable {
  let commands: [Command]
  let here: Surroundings

  /// Reads the arguments after the program's name.
  ///
  /// - Throws: A ``Failure`` with exit code 2 that says how it should have been written.
  func parse(_ arguments: [String]) throws(Failure) -> Invocation {
    let (command, rest) = try command(arguments)
    do {
      var words = Words(command: command, rest: rest[...])
      try words.read()
      if let isFull = words.asksForHelp { return help(command, isFull: isFull) }
      return try invocation(command, words)
    } catch {
      var failure = error
      if failure.exit != .usage { throw failure }
      failure.usage = command.usage
      failure.hint = failure.hint ?? "`cambium \(command.name) -h` lists its options"
      throw failure
    }
  }

  /// True if errors must be printed as JSON too, asked when the command line could not be
  /// understood.
  static func wantsJSON(_ arguments: [String]) -> Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.contains { option in
      ["--json", "-ojson", "--output=json"].contains { option.hasPrefix($0) }
    }
      || zip(options, options.dropFirst()).contains {
        ["-o", "--output"].contains($0.0) && $0.1.hasPrefix("json")
      }
  }
}

/// The command.
extension Parser {
  /// Takes the command's name; options before it are as good as options after it.
  private func command(_ arguments: [String]) throws(Failure) -> (Command, rest: [String]) {
    var position = 0
    while position < arguments.count, Words.isOption(arguments[position]) {
      position += takesNextWord(arguments[position]) ? 2 : 1
    }
    if position < arguments.count {
      var rest = arguments
      let name = rest.remove(at: position)
      return (try named(name, rest), rest)
    }
    if arguments.contains("--version") { return (try named("version", []), []) }
    return (try named("help", []), arguments.filter { !["-h", "--help"].contains($0) })
  }

  private func takesNextWord(_ word: String) -> Bool {
    commands.flatMap(\.options).contains { option in
      option.value != nil && (word == "--" + option.name || word == option.letter.map { "-\($0)" })
    }
  }

  /// The command of a name; of two, the second only where the words have all that it requires.
  private func named(_ name: String, _ words: [String]) throws(Failure) -> Command {
    let found = commands.filter { $0.name == name }
    let second = found.dropFirst().first { command in
      command.options.filter(\.isRequired).allSatisfy { option in
        words.contains { $0 == "--" + option.name || $0.hasPrefix("--\(option.name)=") }
      }
    }
    if let command = second ?? found.first { return command }
    throw unknown(name)
  }

  private func unknown(_ name: String) -> Failure {
    var failure = Failure(.usage, "unknown_command", "there is no command “\(name)”")
    failure.usage = Help.usage
    if here.looksLikeDatabase(name) {
      failure.hint = "the command comes first, as in `cambium info \(Shell.quoted(name))`"
    } else if let nearest = Suggestion.nearest(to: name, in: commands.map(\.name)) {
      failure.hint = "did you mean `cambium \(nearest)`?"
    } else {
      failure.hint = "`cambium help` lists the commands"
    }
    return failure
  }

  /// `CMD --help` is `help CMD`, and `CMD -h` is `help --short CMD`.
  private func help(_ command: Command, isFull: Bool) -> Invocation {
    var arguments = [HelpCommand.subject.name: [Argument(text: command.name, reading: .text)]]
    if !isFull { arguments["--" + HelpCommand.short.name] = [Argument(text: "", reading: .text)] }
    return Invocation(command: HelpCommand.command, database: "", arguments: arguments)
  }
}

/// The arguments.
extension Parser {
  private func invocation(_ command: Command, _ words: Words) throws(Failure) -> Invocation {
    let filter = command.filter
    var texts = words.operands.filter { filter == nil || !Match.isMatch($0) }[...]
    let database = try takeDatabase(command, &texts)
    var arguments = try assign(texts, to: command.positionalOperands)
    if let filter {
      arguments.merge(
        try assign(words.operands.filter(Match.isMatch)[...], to: [filter]), uniquingKeysWith: +)
    }
    for option in command.options {
      let texts = words.values[option.name] ?? here.fallback(of: option).map { [$0] } ?? []
      if texts.isEmpty && option.isRequired {
        throw Failure.usage("\(option.synopsis) is missing")
      }
      guard !texts.isEmpty else { continue }
      let label = "--" + option.name
      arguments[label] = try texts.map { text throws(Failure) in
        try option.value?.kind.read(text, label, here) ?? Argument(text: text, reading: .text)
      }
    }
    return Invocation(command: command, database: database, arguments: arguments)
  }

  /// Takes the database if the first operand names it. It does where there are more operands
  /// than the rest can be, or it can be nothing else, or there is no default.
  private func takeDatabase(
    _ command: Command, _ operands: inout ArraySlice<String>
  ) throws(Failure) -> String {
    guard command.takesDatabase else { return "" }
    let others = command.positionalOperands
    let required = others.count { !$0.isOptional }
    let capacity = others.contains(where: \.repeats) ? Int.max : others.count
    if let first = operands.first {
      let isNamed =
        operands.count > capacity || here.looksLikeDatabase(first)
        || operands.count > required && here.defaultDatabase == nil
      if isNamed { return try Kind.database.read(operands.removeFirst(), "DB", here).text }
    }
    if let database = here.defaultDatabase { return database }
    throw Failure.usage(
      "no database is named",
      hint: "name one as DB, set CAMBIUM_DB, or change to the directory of one")
  }

  private func assign(
    _ texts: ArraySlice<String>, to operands: ArraySlice<Operand>
  ) throws(Failure) -> [String: [Argument]] {
    var texts = texts
    var arguments: [String: [Argument]] = [:]
    for operand in operands {
      guard !texts.isEmpty else {
        if operand.isOptional {
          arguments[operand.name] = fallback(operand)
          break
        }
        throw Failure.usage("\(operand.name) is missing: \(operand.help)")
      }
      let taken = texts.prefix(operand.repeats ? texts.count : 1)
      texts = texts.dropFirst(taken.count)
      arguments[operand.name] = try taken.map { text throws(Failure) in
        try operand.kind.read(text, operand.name, here)
      }
    }
    if let extra = texts.first {
      throw Failure.usage("“\(extra)” is one operand too many")
    }
    return arguments
  }

  /// A path that is left out is the node where paths start, unless that is the root.
  private func fallback(_ operand: Operand) -> [Argument]? {
    guard operand.kind == .path, !here.base.isRoot else { return nil }
    return [Argument(text: "/" + here.base.description, reading: .path(here.base))]
  }
}
