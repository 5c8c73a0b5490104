/// `cambium __paths`: what the completions of shells ask for.
enum PathsCommand {
  static let word = Operand(
    "WORD", .text, "the words of a command line, the last one not complete", isOptional: true,
    repeats: true)

  static let command = Command(
    name: "__paths", group: .other,
    summary: "lists the paths that the last word of a command line can become",
    discussion: """
      One a line; none where no path is wanted there, or the database cannot be read. Of a word such
      as `--into=users/a`, only what can stand after the =.
      """,
    operands: [word],
    examples: ["cambium __paths -- get air.cambium weather/J": "what the node can be"],
    run: run)

  static func run(_ call: Call) throws {
    let words = call.all(word).map(\.text)
    guard let last = words.last else { return }
    let completion = LineCompletion(commands: Commands.all, here: .current())
    for path in completion.paths(after: words.dropLast(), last) { try call.output.line(path) }
  }
}
