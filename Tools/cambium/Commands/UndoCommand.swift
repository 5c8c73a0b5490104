import Cambium

/// `cambium undo`: takes a transaction back.
enum UndoCommand {
  static let moment = Operand(
    "REV", .moment, "the transaction; the newest that is not undone yet", isOptional: true)
  static let group = Option(
    flag: "group", "all transactions with the same metadata “group”, where it is the newest of them"
  )

  static let command = Command(
    name: "undo", group: .change,
    summary: "takes a transaction back, by a new one",
    discussion: """
      Without REV it takes back the newest change that is not undone yet, so that calling it again
      goes on to the one before. `cambium redo` goes the other way.

      \(UndoCommands.conflicts)
      """,
    operands: [.database, moment],
    options: [group, UndoCommands.who] + UndoCommands.options,
    examples: [
      "cambium undo shop.cambium": "the newest change",
      "cambium undo shop.cambium 4711 --dry-run": "what taking back one would change",
      "cambium undo shop.cambium --who anna --reason 'wrong order'": "the newest of Anna's",
    ],
    servings: [Serving(.post, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    try UndoCommands.run(call, nothing: "there is nothing to undo") { database in
      let isGroup = call.has(group)
      guard let moment = call[moment]?.moment else {
        return .newest(UndoCommands.author(call), wholeGroup: isGroup)
      }
      if call.has(UndoCommands.who) {
        throw Failure.usage("--who looks for the newest transaction, and REV names one already")
      }
      let sequence = try OpenDatabase.commit(moment, of: database).sequence
      return .transaction(sequence, wholeGroup: isGroup)
    }
  }
}
