import Cambium

/// `cambium redo`: makes the change again that was undone last.
enum RedoCommand {
  static let command = Command(
    name: "redo", group: .change,
    summary: "makes the change again that was undone last",
    discussion: """
      It takes the newest undo back, unless a new change came after it; with --who, one of the same
      author.

      \(UndoCommands.conflicts)
      """,
    operands: [.database],
    options: [UndoCommands.who] + UndoCommands.options,
    examples: ["cambium redo shop.cambium": "after one undo too many"],
    servings: [Serving(.post, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    try UndoCommands.run(call, nothing: "there is nothing to redo") { _ in
      .redo(UndoCommands.author(call))
    }
  }
}
