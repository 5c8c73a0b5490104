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
    examples: [.init("cambium history air.cambium weather/JFK -n 3", "its newest three versions")],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let path = invocation.value(.path).path
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    if path.isRoot {
      throw Failure.usage(
        "the root has no versions of its own", hint: "`cambium log` lists what changed below it")
    }
    let writer = try ListWriter(
      invocation, output, columns: columns, further: ["path", "movedFrom", "old", "new"])
    let text = CommitText(upTo: try database.head)
    var cursor = try history(of: path, database, invocation).makeCursor()
    var left = invocation[.limit]?.number ?? .max
    var isEmpty = left > 0
    while left > 0, let step = try cursor.next() {
      left -= 1
      isEmpty = false
      if invocation.format == .short {
        try output.line(text.line(step.transaction))
        try ChangeText(output: output, indent: 2).write(step)
      } else {
        try writer.write(json(step), record(step))
      }
    }
    guard isEmpty else { return try writer.finish() }
    throw try MissingNode.failure(
      path, below: database.snapshot().root, invocation.database, verb: "is or was")
  }

  /// The history in the order that is asked for; where only the newest are, it starts with the
  /// oldest of them.
  private static func history(
    of path: Path, _ database: Database, _ invocation: Invocation
  ) throws -> History {
    let scope: History.Scope = invocation.has(follow) ? .nodeThroughMoves : .node
    let history = try database.history(of: path, scope)
    if invocation.has(.reverse) { return history.reversed() }
    guard var left = invocation[.limit]?.number else { return history }
    var oldest = try database.head.next
    var newest = try history.reversed().makeCursor()
    while left > 0, let step = try newest.next() {
      left -= 1
      oldest = step.transaction.sequence
    }
    return try database.history(of: path, scope, after: oldest.previous)
  }

  private static func json(_ step: HistoryStep) -> JSONLine {
    var line = JSONLine()
    line.add("sequence", step.transaction.sequence.rawValue)
    line.add("time", step.transaction.time)
    line.add("metadata", step.transaction.metadata)
    line.add("path", step.path.description)
    if let origin = step.origin { line.add("movedFrom", origin.description) }
    line.add("exists", step.kind != .went)
    line.add("old", ifPresent: step.old)
    line.add("new", ifPresent: step.new)
    return line
  }

  private static let columns = ["sequence", "time", "metadata", "exists", "value"]

  private static func record(_ step: HistoryStep) -> Record {
    let transaction = step.transaction
    var record: Record = [
      "sequence": .integer(Int64(clamping: transaction.sequence.rawValue)),
      "time": .date(transaction.time),
      "metadata": .map(CommitText.metadata(transaction.metadata)),
      "exists": .bool(step.kind != .went),
    ]
    record["value"] = step.new
    return record
  }
}
