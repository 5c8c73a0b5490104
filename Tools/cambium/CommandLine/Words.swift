/// The first pass over a command's arguments: which words are options, their values, or operands.
struct Words {
  let command: Command
  var rest: ArraySlice<String>
  /// The texts given for each option, by its long name.
  private(set) var values: [String: [String]] = [:]
  private(set) var operands: [String] = []
  /// Set by `--help` (true) and `-h` (false); nothing after them is read.
  private(set) var asksForHelp: Bool?

  /// True if a word is one or more options: it starts with `-`, and is neither `-` nor a number.
  static func isOption(_ word: String) -> Bool {
    guard word.first == "-", let second = word.dropFirst().first else { return false }
    return !("0"..."9").contains(second)
  }

  mutating func read() throws(Failure) {
    while asksForHelp == nil, let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        return
      } else if !Words.isOption(word) {
        operands.append(word)
      } else if word.hasPrefix("--") {
        try readLong(word.dropFirst(2))
      } else {
        try readLetters(word.dropFirst())
      }
    }
  }

  /// `name` or `name=value`.
  private mutating func readLong(_ word: Substring) throws(Failure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = command.allOptions.first(where: { $0.name == name }) else {
      throw unknown("--" + name)
    }
    try add(option, as: "--" + name, attached: parts.count == 2 ? String(parts[1]) : nil)
    if option.name == Option.help.name { asksForHelp = true }
  }

  /// Letters of flags, of which the last may have a value: `rn5`, or `rn` and the next word.
  private mutating func readLetters(_ word: Substring) throws(Failure) {
    var letters = word
    while asksForHelp == nil, let letter = letters.popFirst() {
      guard let option = command.allOptions.first(where: { $0.letter == letter }) else {
        throw unknown("-\(letter)")
      }
      let hasValue = option.value != nil && !letters.isEmpty
      try add(option, as: "-\(letter)", attached: hasValue ? String(letters) : nil)
      if hasValue { return }
      if option.name == Option.help.name { asksForHelp = false }
    }
  }

  private mutating func add(
    _ option: Option, as written: String, attached: String?
  ) throws(Failure) {
    let name = option.meaning?.name ?? option.name
    let text = try value(of: option, as: written, attached: attached)
    if option.repeats {
      values[name, default: []].append(text)
    } else {
      values[name] = [text]
    }
  }

  private mutating func value(
    of option: Option, as written: String, attached: String?
  ) throws(Failure) -> String {
    guard let value = option.value else {
      if attached == nil { return option.meaning?.value ?? "" }
      throw Failure.usage("\(written) takes no value")
    }
    if let attached { return attached }
    if let next = rest.first, !next.hasPrefix("--") { return rest.removeFirst() }
    throw Failure.usage(
      "\(written) needs a value: \(value.name)",
      hint: rest.first.map { "where the value is “\($0)”, write --\(option.name)=\($0)" })
  }

  private func unknown(_ written: String) -> Failure {
    let failure = Failure(.usage, "unknown_option", "\(command.name) has no option \(written)")
    let names = command.allOptions.map { "--" + $0.name }
    guard let nearest = Suggestion.nearest(to: written, in: names) else { return failure }
    var suggestion = failure
    suggestion.hint = "did you mean \(nearest)?"
    return suggestion
  }
}
