import Cambium

/// `cambium update`: changes properties of the records that pass a condition.
enum UpdateCommand {
  static let clauses = Operand(
    "CLAUSES", .text, "where CONDITION set NAME=VALUE, …; see cambium help query",
    isOptional: true, repeats: true)

  static let command = Command(
    name: "update", group: .change,
    summary: "changes properties of records by a condition",
    discussion: """
      PATH is a collection. Each of its records that passes the condition, or each one where there
      is no condition, gets the values after set, all of them in one transaction. CLAUSES are

          where CONDITION set NAME = VALUE, NAME = VALUE …       (or set … where CONDITION)

      with conditions and values as in `cambium query`. A property that is set to null is taken out.

      --dry-run says how many records that would be. Exits with 1 where none passes.
      """,
    operands: [.database, .path, clauses],
    options: [.dryRun] + Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium update air.cambium flights where 'carrier = \"UA\"' set 'carrier = \"UAL\"'":
        "one property of some records",
      "cambium update air.cambium flights set 'checked = null' --dry-run": "how many are there?",
    ],
    servings: [Serving(.post, scope: .query, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    guard let text = try Changing.clauses(.path, clauses, call) else {
      throw Failure.usage(
        "there is nothing to set", hint: "add set NAME=VALUE; `cambium help update` has examples")
    }
    try Changing.answering {
      let update = try UpdateDescription(parsing: text)
      let values = update.changes.map { ($0.name, $0.value == .null ? nil : $0.value) }
      let database = try OpenDatabase.forWriting(call)
      try Changing.records(call, database, update.query.description, "updated") { tx, path in
        try tx.update(path, values)
      }
    }
  }
}
