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
      .init("cambium show air.cambium HEAD", "the newest transaction"),
      .init("cambium show air.cambium 4711", "by its sequence number"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    let moment = invocation.value(.moment).moment
    let commit = try OpenDatabase.commit(moment, of: database, readsArchive: true)
    if invocation.format.isJSON { return try writeJSON(commit, invocation, output) }
    let writer = try ListWriter(invocation, output, columns: ChangeText.columns)
    guard invocation.format == .short else {
      try commit.changes.forEach { try writer.write(ChangeText.json($0)) }
      return try writer.finish()
    }
    try CommitText.heading(commit, output)
    if commit.isArchived {
      try output.line()
      return try OperationText.write(commit, output)
    }
    let text = ChangeText(output: output)
    var isFirst = true
    try commit.changes.forEach { change in
      if isFirst { try output.line() }
      isFirst = false
      try text.write(change)
    }
  }

  /// One object, as `cambium log --patch` writes it.
  private static func writeJSON(
    _ commit: Commit, _ invocation: Invocation, _ output: Output
  ) throws {
    let detail = CommitTeller.Detail.patch(first: .max)
    let teller = CommitTeller(
      output: output, format: invocation.format, detail: detail, database: invocation.database,
      list: try CommitTeller.list(invocation, output, detail))
    try teller.tell(commit)
    try teller.finish()
  }
}
