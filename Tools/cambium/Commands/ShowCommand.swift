import Cambium

/// `cambium show`: one transaction, with what it changed.
enum ShowCommand {
  static let command = Command(
    name: "show", group: .look,
    summary: "shows a transaction: each change, old and new",
    discussion: """
      The changes stand in path order: `+` for what is new, `~` for what is different, `-` for
      what is gone. Long values are cut; JSON has them whole, in one object with all that is known
      of the transaction; tables have a row for each change.

      Of a transaction that compaction has archived the operations are told: the values that it met
      are not there any more. `cambium replay DB --to NEW --until REV` makes a database of that
      time.
      """,
    operands: [.database, .moment],
    options: Option.reading,
    examples: [
      "cambium show air.cambium HEAD": "the newest transaction",
      "cambium show air.cambium 4711": "by its sequence number",
    ],
    servings: [Serving(.get, scope: .changes, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    let database = try OpenDatabase.forReading(call)
    let moment = call.value(.moment).moment
    let commit = try call.visible(
      OpenDatabase.commit(moment, of: database, readsArchive: !call.isScoped), database)
    if call.format.isJSON { return try writeJSON(commit, call) }
    let writer = try ListWriter(call, columns: ChangeText.columns)
    guard call.format == .short else {
      try commit.changes.forEach { try writer.write(ChangeText.json($0)) }
      return try writer.finish()
    }
    try CommitText.heading(commit, call.output)
    if commit.isArchived {
      try call.output.line()
      return try OperationText.write(commit, call.output)
    }
    let text = ChangeText(output: call.output)
    var isFirst = true
    try commit.changes.forEach { change in
      if isFirst { try call.output.line() }
      isFirst = false
      try text.write(change)
    }
  }

  /// One object, as `cambium log --patch` writes it.
  private static func writeJSON(_ commit: Commit, _ call: Call) throws {
    let detail = CommitTeller.Detail.patch(first: .max)
    let list = try CommitTeller.list(call, detail)
    let teller = CommitTeller(call: call, detail: detail, list: list)
    try teller.tell(commit)
    try teller.finish()
  }
}
