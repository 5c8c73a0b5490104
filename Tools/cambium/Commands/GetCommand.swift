/// `cambium get`: the value of one node.
enum GetCommand {
  static let command = Command(
    name: "get", group: .look,
    summary: "prints the value of a node",
    discussion: """
      A property of a record has a path too: users/ada/name. Exits with 3 where there is nothing.
      """,
    operands: [.database, .path],
    options: [.at] + Option.output(.short, .json) + [.color],
    examples: [
      .init("cambium get air.cambium airlines/UA", "as it is"),
      .init("cambium get air.cambium weather/JFK --at \"2 hours ago\"", "as it was"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("get")
  }
}
