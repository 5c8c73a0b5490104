import Cambium

/// `cambium revert`: takes a stretch of transactions back.
enum RevertCommand {
  static let stretch = Operand(
    "A..B", .range, "takes back what came after A, up to B; see cambium help moments")

  static let command = Command(
    name: "revert", group: .change,
    summary: "takes a stretch of transactions back, by a new one",
    discussion: """
      What came after A, up to and including B, is taken back in one transaction. With B the newest
      transaction everything is then as it was at A.

      \(UndoCommands.conflicts)
      """,
    operands: [.database, stretch],
    options: UndoCommands.options,
    examples: [
      "cambium revert shop.cambium tag:before-import..HEAD": "everything since the tag",
      "cambium revert shop.cambium 41..57 --dry-run": "what taking back 42 to 57 changes",
    ],
    servings: [Serving(.post, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    try UndoCommands.run(call, nothing: "the stretch is empty") { database in
      let ends = try OpenDatabase.sequences(call.value(stretch).range, in: database)
      if ends.from > ends.to {
        throw Failure.usage(
          "the stretch begins with \(ends.from), after its end, \(ends.to)",
          hint: "the earlier moment comes first: \(ends.to)..\(ends.from)")
      }
      return .stretch(after: ends.from, upTo: ends.to)
    }
  }
}
