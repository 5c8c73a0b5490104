/// `cambium info`: what a database holds, and how large it is.
enum InfoCommand {
  static let command = Command(
    name: "info", group: .look,
    summary: "says what a database holds: transactions, nodes, bytes, consumers",
    discussion: "Reads a few pages, whatever the size of the database.",
    operands: [.database],
    options: Option.output(.short, .json) + [.color],
    examples: [.init("cambium info air.cambium", "an overview")],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("info")
  }
}
