/// `cambium tree`: the nodes below one, drawn as a tree.
enum TreeCommand {
  static let path = Operand.subtree("the node to start at; else the root")
  static let depth = Option("depth", "N", .number(0...Int.max), "how many levels to show")

  static let command = Command(
    name: "tree", group: .look,
    summary: "draws the nodes below one",
    discussion: """
      Where a node has more children than there is room for, it says how many are left out;
      `cambium export` writes all.
      """,
    operands: [.database, path],
    options: [depth, .at] + Option.output(.short, .json) + [.noPager, .color],
    examples: [
      .init("cambium tree air.cambium --depth 1", "the collections"),
      .init("cambium tree src.cambium repo/Sources --at HEAD~10", "a subtree ten transactions ago"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("tree")
  }
}
