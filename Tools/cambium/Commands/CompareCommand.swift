import Cambium

/// `cambium compare`: what differs between two databases that share a past.
enum CompareCommand {
  static let other = Operand("OTHER", .file, "a branch of the database, or its origin")

  static let command = Command(
    name: "compare", group: .look,
    summary: "tells what differs between a database and a branch of it",
    discussion: """
      The changes lead from DB to OTHER, in path order: `+` for what only OTHER has, `~` for what is
      different, `-` for what only DB has. Only what either has touched since the common past is
      looked at. `cambium merge DB OTHER --dry-run` tells what a merge would take over.
      """,
    operands: [.database, other, DiffCommand.path],
    options: [DiffCommand.stat, DiffCommand.nameOnly, DiffCommand.exitCode] + Option.reading,
    examples: ["cambium compare shop.cambium trial.cambium --stat": "how much differs"],
    run: run)

  static func run(_ call: Call) throws {
    try DiffCommand.checkForm(call)
    let database = try OpenDatabase.forReading(call)
    let branch = try OpenDatabase.other(call, call.value(other).text)
    let diff = try database.diff(with: branch, under: call[DiffCommand.path]?.path ?? .root)
    let isSame = try DiffCommand.tell(diff, call)
    if !isSame && call.has(DiffCommand.exitCode) { throw Failure.silent(.negative) }
  }
}
