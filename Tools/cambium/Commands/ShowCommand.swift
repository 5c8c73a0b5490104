import Cambium

/// `cambium show`: one transaction, with what it changed.
enum ShowCommand {
  static let command = Command(
    name: "show", group: .look,
    summary: "shows a transaction: each change, old and new",
    discussion: """
      The changes stand in path order: `+` for what is new, `~` for what is different, `-` for
      what is gone. Long values are cut; JSON has them whole, a line for each change.
      """,
    operands: [.database, .moment],
    options: Option.output(.short, .json) + [.wait, .noPager, .color],
    examples: [
      .init("cambium show air.cambium HEAD", "the newest transaction"),
      .init("cambium show air.cambium 4711", "by its sequence number"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    let commit = try OpenDatabase.commit(invocation.value(.moment).moment, of: database)
    if invocation.format == .json {
      return try commit.changes.forEach { change in
        try output.line(ChangeText.json(change, commit.sequence))
      }
    }
    try CommitText.heading(commit, output)
    let text = ChangeText(output: output)
    var isFirst = true
    try commit.changes.forEach { change in
      if isFirst { try output.line() }
      isFirst = false
      try text.write(change)
    }
  }
}
