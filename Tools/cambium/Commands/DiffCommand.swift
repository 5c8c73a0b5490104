import Cambium

/// `cambium diff`: what differs between two moments.
enum DiffCommand {
  static let range = Operand(
    "A..B", .range, "the two moments, the later one may be first; see cambium help moments")
  static let path = Operand.subtree("only this node and what is below it")
  static let stat = Option(
    flag: "stat", "only how much: a line for each node below PATH, with what is below that")
  static let nameOnly = Option(flag: "name-only", "only the paths")
  static let after = Option("after", "PATH", .path, "only nodes after this one, in path order")
  static let exitCode = Option(flag: "exit-code", "exit with 1 where anything differs")

  static let command = Command(
    name: "diff", group: .look,
    summary: "tells what differs between two moments",
    discussion: """
      The changes stand in path order: `+` for what B has and A has not, `~` for what is different,
      `-` for what A has and B has not. What holds the same at both moments is not told, whatever
      happened to it in between. Long values are cut; JSON has them whole, a line for each change.
      A.. ends now, and ..B begins with the oldest moment there is: the empty database, unless the
      log was compacted.
      """,
    operands: [.database, range, path],
    options: [stat, nameOnly, after, exitCode] + Option.reading,
    examples: [
      "cambium diff air.cambium HEAD~3..HEAD": "what the last three transactions changed",
      "cambium diff air.cambium yesterday.. weather --stat": "how much, since yesterday",
    ],
    servings: [Serving(.get, scope: .paths, isPaged: true, without: [exitCode.name])], run: run)

  static func run(_ call: Call) throws {
    try checkForm(call)
    let database = try OpenDatabase.forReading(call)
    let ends = try OpenDatabase.sequences(call.value(range).range, in: database)
    let diff = try database.diff(
      from: .sequence(ends.from), to: .sequence(ends.to), under: call[path]?.path ?? .root)
    let isSame = try tell(diff, call)
    if isSame { try checkPath(diff, database, call) }
    if !isSame && call.has(exitCode) { throw Failure.silent(.negative) }
  }

  static func checkForm(_ call: Call) throws {
    if call.has(stat) && call.has(nameOnly) {
      throw Failure.usage("--stat and --name-only tell different things; choose one")
    }
  }

  /// Prints it in the form that is asked for.
  ///
  /// - Returns: True if nothing differs.
  static func tell(_ diff: some Walk<Change>, _ call: Call) throws -> Bool {
    let place = call.command.options.contains { $0.name == after.name } ? call[after]?.path : nil
    if call.has(stat) { return try tellStat(diff, after: place, call) }
    let isNames = call.has(nameOnly)
    let writer = try ListWriter(call, columns: isNames ? ["path"] : ChangeText.columns)
    let text = ChangeText(output: call.output)
    let isShort = call.format == .short
    var isSame = true
    var last = place ?? .root
    try diff.forEach { change in
      isSame = false
      if let place, change.path <= place { return }
      try call.page.turn { [("after", "/" + last.description)] }
      last = change.path
      switch (isShort, isNames) {
      case (true, false): try text.write(change)
      case (false, false): try writer.write(ChangeText.json(change))
      case (true, true): try call.output.line(call.output.shown(change.path.description))
      case (false, true): try writer.write(["path": change.path.description])
      }
    }
    try writer.finish()
    return isSame
  }

  /// Counts the changes by the node below the path that was asked for.
  ///
  ///       inserted    updated    deleted
  ///          1,200         14          0  Product
  ///              0          3          0  Order
  private static func tellStat(
    _ diff: some Walk<Change>, after place: NodePath?, _ call: Call
  ) throws -> Bool {
    var last = place ?? .root
    let writer = try ListWriter(call, columns: ["path", "inserted", "updated", "deleted"])
    let isShort = call.format == .short
    var counts = ChangeCounts(below: call[path]?.path ?? .root)
    var (total, lineCount, isSame) = (ChangeCounts.Counts(), 0, true)
    try counts.forEach(of: diff.forEach) { node, counts in
      isSame = false
      if let place, node <= place { return }
      lineCount += 1
      try call.page.turn { [("after", "/" + last.description)] }
      last = node
      total.add(counts)
      guard isShort else { return try writer.write(counts.json(node)) }
      if lineCount == 1 {
        try call.output.line(StyledLine(" inserted   updated   deleted", .metadata))
      }
      try call.output.line(line(counts, Terminal.escaped(node.description)))
    }
    try writer.finish()
    if isShort && lineCount > 1 { try call.output.line(line(total, "in all", .metadata)) }
    return isSame
  }

  private static func line(
    _ counts: ChangeCounts.Counts, _ name: String, _ role: Role? = nil
  ) -> StyledLine {
    var line = counts.line { Terminal.padded($1, to: 9, leading: true) + " " }
    line.add(" " + name, role)
    return line
  }

  /// A path where nothing was at either moment is a mistake.
  private static func checkPath(_ diff: Diff, _ database: Database, _ call: Call) throws {
    guard let path = call[path]?.path else { return }
    for sequence in [diff.from, diff.to] {
      if try database.snapshot(at: .sequence(sequence))[path].exists { return }
    }
    let root = try database.snapshot(at: .sequence(diff.to)).root
    throw try MissingNode.failure(path, below: root, call.database, verb: "is at either moment")
  }
}
