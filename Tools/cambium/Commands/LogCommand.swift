/// `cambium log`: the transactions, newest last.
enum LogCommand {
  static let path = Operand.subtree("only transactions that changed this node or one below it")

  static let command = Command(
    name: "log", group: .look,
    summary: "lists transactions, newest last",
    discussion: """
      Each has its sequence number, the time it was recorded, its metadata, and how many
      operations it made. `cambium show` tells what they changed.
      """,
    operands: [.database, path],
    options: [.limit, .reverse, .since, .until] + Option.output(.short, .json, .csv) + [
      .noPager, .color,
    ],
    examples: [
      .init("cambium log air.cambium -n 5", "the newest five"),
      .init(
        "cambium log air.cambium weather --since yesterday",
        "what changed a subtree since yesterday"),
      .init("cambium log air.cambium --json | jq .metadata.author", "for programs"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("log")
  }
}
