/// `cambium help`: what the table says, for a reader.
enum HelpCommand {
  static let subject = Operand(
    "NAME", .subject, "a command or a topic; else the overview", isOptional: true)
  static let short = Option(flag: "short", "only the usage and the options")

  static let command = Command(
    name: "help", group: .other,
    summary: "explains a command or a topic",
    discussion:
      "`cambium COMMAND --help` is the same, and `cambium COMMAND -h` the same as with --short.",
    operands: [subject],
    options: [short, .noPager, .color],
    examples: [
      "cambium help import": "a command",
      "cambium help moments": "how a moment is written",
    ],
    run: run)

  static func run(_ call: Call) throws {
    let help = Help(
      commands: Commands.all, style: call.output.style, columns: min(call.output.columns, 100))
    guard let name = call[subject]?.text else { return try call.output.write(help.overview()) }
    if let command = help.commands.first(where: { $0.name == name }) {
      try call.output.write(call.has(short) ? help.short(command) : help.full(command))
    } else if let topic = help.topics.first(where: { $0.name == name }) {
      try call.output.write(help.page(topic))
    } else {
      let names = help.commands.map(\.name) + help.topics.map(\.name)
      let nearest = Suggestion.nearest(to: name, in: names)
      throw Failure(
        .usage, "unknown_topic", "there is no help on “\(name)”",
        hint: nearest.map { "did you mean `cambium help \($0)`?" }
          ?? "`cambium help` lists what there is")
    }
  }
}
