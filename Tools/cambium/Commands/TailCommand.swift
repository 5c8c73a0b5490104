/// `cambium tail`: transactions as they are committed, in any process.
enum TailCommand {
  static let path = Operand.subtree("only transactions that changed this node or one below it")
  static let recent = Option(
    "limit", letter: "n", "N", .number(0...Int.max), "start with the newest N there are",
    fallback: "10")

  static let command = Command(
    name: "tail", group: .look,
    summary: "follows the transactions as they are committed",
    discussion: "Runs until Ctrl-C. None is left out, and none comes twice.",
    operands: [.database, path],
    options: [recent] + Option.output(.short, .json) + [.color],
    examples: [
      .init("cambium tail air.cambium weather", "what happens below a node"),
      .init("cambium tail air.cambium -n 0 --json | jq .sequence", "for programs, from now on"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) async throws {
    throw Failure.unfinished("tail")
  }
}
