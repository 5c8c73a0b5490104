/// `cambium put`: sets the value of a node.
enum PutCommand {
  static let value = Operand(
    "VALUE", .text, "the value as JSON, or - to read it from standard input")
  static let text = Option(flag: "text", "VALUE is text, not JSON")

  static let command = Command(
    name: "put", group: .change,
    summary: "sets the value of a node",
    discussion: """
      Creates the node, and the database where there is none. A JSON object becomes a record and
      replaces all properties; `cambium patch` changes some.
      """,
    operands: [.database, .path, value],
    options: [text] + Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      .init("cambium put team.cambium users/ada '{\"name\": \"Ada\", \"born\": 1815}'", "a record"),
      .init(
        "cambium put team.cambium motto --text 'Festina lente' --actor anna --reason typo",
        "text, with who and why"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("put")
  }
}
