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
    options: [follow, .limit, .reverse, .since, .until] + Option.reading,
    examples: ["cambium history air.cambium weather/JFK -n 3": "its newest three versions"],
    servings: [Serving(.get, scope: .paths, rootOnly: [follow.name], isPaged: true)], run: run)

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
    var last: SequenceNumber?
    while left > 0, let step = try cursor.next() {
      try call.page.turn { next(after: last ?? .zero, left: left, call) }
      last = step.transaction.sequence
      left -= 1
      isEmpty = false
      if call.format == .short {
        try call.output.line(text.line(step.transaction))
        try ChangeText(output: call.output, indent: 2).write(step)
      } else {
        try writer.write(json(step, call), cells: step.new.map { ["value": $0] } ?? [:])
      }
    }
    let isWhole = !call.has(.since) && !call.has(.until)
    guard isEmpty && isWhole else { return try writer.finish() }
    throw try MissingNode.failure(
      path, below: database.snapshot().root, call.database, verb: "is or was")
  }

  /// The history in the order that is asked for; where only the newest are, it starts with the
  /// oldest of them.
  private static func history(
    of path: NodePath, _ database: Database, _ call: Call
  ) throws -> History {
    let scope: History.Scope = call.has(follow) ? .nodeThroughMoves : .node
    let after = try call[.since].map { try OpenDatabase.sequence($0.moment, in: database) }
    let upTo = try call[.until].map { try OpenDatabase.sequence($0.moment, in: database) }
    let history = try database.history(of: path, scope, after: after, upTo: upTo)
    if call.has(.reverse) { return history.reversed() }
    guard var left = call[.limit]?.number else { return history }
    var oldest = try database.head.next
    var newest = try history.reversed().makeCursor()
    while left > 0, let step = try newest.next() {
      left -= 1
      oldest = step.transaction.sequence
    }
    return try database.history(
      of: path, scope, after: max(oldest.previous, after ?? .zero), upTo: upTo)
  }

  /// The parameters for the versions that follow one.
  private static func next(
    after last: SequenceNumber, left: Int, _ call: Call
  ) -> Page.End.Changes {
    call.has(.reverse)
      ? [("until", "\(last.previous)"), ("limit", call.has(.limit) ? "\(left)" : nil)]
      : [("since", "\(last)"), ("limit", call.has(.limit) ? "\(left)" : nil)]
  }

  private static func json(_ step: HistoryStep, _ call: Call) -> JSONLine {
    let origin = step.origin.flatMap { $0.isWithin(call.scope) ? $0 : nil }
    return [
      "sequence": step.transaction.sequence, "time": step.transaction.time,
      "metadata": step.transaction.metadata, "path": step.path.description,
      "movedFrom": origin?.description, "exists": step.kind != .went, "old": step.old,
      "new": step.new,
    ]
  }

  private static let columns = ["sequence", "time", "metadata", "exists", "value"]
}
