/// `cambium history`: every version of one node.
enum HistoryCommand {
  static let command = Command(
    name: "history", group: .look,
    summary: "lists the versions of a node, newest last",
    discussion: "Each has the transaction that made it, its time and metadata, and the value.",
    operands: [.database, .path],
    options: [.limit, .reverse] + Option.output(.short, .json, .csv) + [.noPager, .color],
    examples: [.init("cambium history air.cambium weather/JFK -n 3", "its newest three versions")],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("history")
  }
}
