/// `cambium show`: one transaction, with what it changed.
enum ShowCommand {
  static let command = Command(
    name: "show", group: .look,
    summary: "shows a transaction: each change, old and new",
    discussion: """
      The changes stand in path order: `+` for what is new, `~` for what is different, `-` for
      what is gone.
      """,
    operands: [.database, .moment],
    options: Option.output(.short, .json) + [.noPager, .color],
    examples: [
      .init("cambium show air.cambium HEAD", "the newest transaction"),
      .init("cambium show air.cambium 4711", "by its sequence number"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("show")
  }
}
