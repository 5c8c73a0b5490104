import Cambium

/// `cambium delete`: removes a node and what is below it, or the records that pass a condition.
enum DeleteCommand {
  static let condition = Operand(
    "where CONDITION", .text, "only the records below PATH that pass; see cambium help query",
    isOptional: true, repeats: true)

  static let command = Command(
    name: "delete", group: .change,
    summary: "removes a node and all below it, or records by a condition",
    discussion: """
      The past stays: `cambium get --at` still finds what was there, and `cambium restore
      --removed-at` brings it back. Exits with 3 where there is nothing to remove.

      With a condition, as `cambium query` has them, PATH is a collection, and its records that pass
      are removed in one transaction. Exits with 1 where none does.
      """,
    operands: [.database, .path, condition],
    options: [.dryRun] + Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium delete team.cambium users/ada --reason 'left the team'": "with the reason",
      "cambium delete air.cambium flights where 'delay is null and year < 2014' --dry-run":
        "how many would that be?",
    ],
    servings: [Serving(.post, scope: .query, isObject: true)], run: run)

  static func run(_ call: Call) throws {
    let path = call.value(.path).path
    let database = try OpenDatabase.forWriting(call)
    if let query = try Changing.clauses(.path, condition, call), try !isNode(path, database, call) {
      return try Changing.answering {
        try Changing.records(call, database, query, "deleted") { tx, path in try tx.remove(path) }
      }
    }
    var count: UInt64 = 0
    let sequence = try Changing.make(call, database) { tx in
      if call.has(.dryRun) { count = try nodes(tx[path]) }
      if try tx.remove(path) { return }
      throw try MissingNode.failure(path, below: tx[.root], call.database)
    } telling: {
      try Changing.tell($0, $1)
    }
    if let sequence { return try Changing.tell(sequence, call) }
    try call.output.report(["path": path.description, "nodes": count]) {
      let rest = count > 1 ? ", \(Quantity.count(count)) nodes" : ""
      try call.output.line("\(Terminal.escaped(path.description)) would be removed\(rest)")
    }
  }

  /// The number of nodes that a node is, with all below it.
  private static func nodes(_ node: Node) throws -> UInt64 {
    var count: UInt64 = 0
    var nodes = try node.descendants()
    while try nodes.next() != nil { count += 1 }
    return count
  }

  /// True if the path alone is what is to be removed: its key has spaces.
  private static func isNode(
    _ path: NodePath, _ database: Database, _ call: Call
  ) throws -> Bool {
    guard call.all(condition).isEmpty else { return false }
    return try database.snapshot()[path].exists
  }
}
