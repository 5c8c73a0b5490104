import Cambium

/// `cambium restore --removed-at`: brings back a node that a transaction removed.
enum RestoreNodeCommand {
  private static let help = "bring back the node PATH, which this transaction removed"
  static let removedAt = Option("removed-at", "REV", .moment, help, isRequired: true)
  /// The same, as the other `restore` lists it.
  static let offered = Option("removed-at", "REV", .moment, help)

  static let command = Command(
    name: RestoreCommand.command.name, group: .keep,
    summary: "brings back a node that was removed", discussion: RestoreCommand.command.discussion,
    operands: [.database, .path],
    options: [removedAt] + Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    servings: [Serving(.post, scope: .paths, isObject: true, name: "restore-node")], run: run)

  static func run(_ call: Call) throws {
    let database = try OpenDatabase.forWriting(call)
    let sequence = try OpenDatabase.commit(call.value(removedAt).moment, of: database).sequence
    let path = call.value(.path).path
    try Changing.run(call, database) { tx in try tx.restore(path, removedAt: sequence) }
  }
}
