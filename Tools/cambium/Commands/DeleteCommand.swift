import Cambium

/// `cambium delete`: removes a node and what is below it.
enum DeleteCommand {
  static let command = Command(
    name: "delete", group: .change,
    summary: "removes a node and all below it",
    discussion: """
      The past stays: `cambium get --at` still finds what was there. Exits with 3 where there is
      nothing to remove.
      """,
    operands: [.database, .path],
    options: Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium delete team.cambium users/ada --reason 'left the team'": "with the reason"
    ],
    run: run)

  static func run(_ call: Call) throws {
    let path = call.value(.path).path
    try Changing.run(call) { tx in
      if try tx.remove(path) { return }
      throw try MissingNode.failure(path, below: tx[.root], call.database)
    }
  }
}
