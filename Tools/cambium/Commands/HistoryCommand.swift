import Cambium

/// `cambium history`: every version of one node.
enum HistoryCommand {
  static let follow = Option(flag: "follow", "go on where the node was before it was moved")

  static let command = Command(
    name: "history", group: .look,
    summary: "lists the versions of a node, newest last",
    discussion: """
      Each has the transaction that made it, its time and metadata, and what it changed: `+` where
      the node came, `~` where it became different, `-` where it went, `=` where it was written
      again as it was. Of a property of a record only the changes are listed. What changed below a
      node is told by `cambium log`, and who set each property by `cambium blame`.
      """,
    operands: [.database, .path],
    options: [follow, .limit, .reverse] + Option.reading,
    examples: ["cambium history air.cambium weather/JFK -n 3": "its newest three versions"],
    run: run)

  static func run(_ call: Call) throws {
    let path = call.value(.path).path
    let database = try OpenDatabase.forReading(call)
    if path.isRoot {
      throw Failure.usage(
        "the root has no versions of its own", hint: "`cambium log` lists what changed below it")
    }
    let writer = try ListWriter(
      call, columns: columns, further: ["path", "movedFrom", "old", "new"])
    let text = CommitText(upTo: try database.head)
    var cursor = try history(of: path, database, call).makeCursor()
    var left = call[.limit]?.number ?? .max
    var isEmpty = left > 0
    while left > 0, let step = try cursor.next() {
      left -= 1
      isEmpty = false
      if call.format == .short {
        try call.output.line(text.line(step.transaction))
        try ChangeText(output: call.output, indent: 2).write(step)
      } else {
        try writer.write(json(step), cells: step.new.map { ["value": $0] } ?? [:])
      }
    }
    guard isEmpty else { return try writer.finish() }
    throw try MissingNode.failure(
      path, below: database.snapshot().root, call.database, verb: "is or was")
  }

  /// The history in the order that is asked for; where only the newest are, it starts with the
  /// oldest of them.
  private static func history(
    of path: NodePath, _ database: Database, _ call: Call
  ) throws -> History {
    let scope: History.Scope = call.has(follow) ? .nodeThroughMoves : .node
    let history = try database.history(of: path, scope)
    if call.has(.reverse) { return history.reversed() }
    guard var left = call[.limit]?.number else { return history }
    var oldest = try database.head.next
    var newest = try history.reversed().makeCursor()
    while left > 0, let step = try newest.next() {
      left -= 1
      oldest = step.transaction.sequence
    }
    return try database.history(of: path, scope, after: oldest.previous)
  }

  private static func json(_ step: HistoryStep) -> JSONLine {
    [
      "sequence": step.transaction.sequence, "time": step.transaction.time,
      "metadata": step.transaction.metadata, "path": step.path.description,
      "movedFrom": step.origin?.description, "exists": step.kind != .went, "old": step.old,
      "new": step.new,
    ]
  }

  private static let columns = ["sequence", "time", "metadata", "exists", "value"]
}
