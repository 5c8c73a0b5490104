import Cambium

/// `cambium diff`: what differs between two moments.
enum DiffCommand {
  static let range = Operand(
    "A..B", .range, "the two moments, the later one may be first; see cambium help moments")
  static let path = Operand.subtree("only this node and what is below it")
  static let stat = Option(
    flag: "stat", "only how much: a line for each node below PATH, with what is below that")
  static let nameOnly = Option(flag: "name-only", "only the paths")
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
    options: [stat, nameOnly, exitCode] + Option.reading,
    examples: [
      .init("cambium diff air.cambium HEAD~3..HEAD", "what the last three transactions changed"),
      .init("cambium diff air.cambium yesterday.. weather --stat", "how much, since yesterday"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    if invocation.has(stat) && invocation.has(nameOnly) {
      throw Failure.usage("--stat and --name-only tell different things; choose one")
    }
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    let ends = try OpenDatabase.sequences(invocation.value(range).range, in: database)
    let diff = try database.diff(
      from: .sequence(ends.from), to: .sequence(ends.to), under: invocation[path]?.path ?? .root)
    let isSame = try tell(diff, invocation, output)
    if isSame { try checkPath(diff, database, invocation) }
    if !isSame && invocation.has(exitCode) { throw Failure.silent(.negative) }
  }

  /// Prints it in the form that is asked for.
  ///
  /// - Returns: True if nothing differs.
  private static func tell(
    _ diff: Diff, _ invocation: Invocation, _ output: Output
  ) throws -> Bool {
    let writer = try ListWriter(invocation, output, columns: columns(invocation))
    var stat = invocation.has(stat) ? DiffStat(invocation, output, writer) : nil
    let text = ChangeText(output: output)
    let isShort = invocation.format == .short
    var isSame = true
    try diff.forEach { change in
      isSame = false
      if stat != nil { return try stat?.add(change) ?? () }
      switch (isShort, invocation.has(nameOnly)) {
      case (true, false): try text.write(change)
      case (false, false): try writer.write(ChangeText.json(change), ChangeText.record(change))
      case (true, true): try output.line(output.shown(change.path.description))
      case (false, true):
        var line = JSONLine()
        line.add("path", change.path.description)
        try writer.write(line, ["path": .string(change.path.description)])
      }
    }
    try stat?.finish()
    if !isShort { try writer.finish() }
    return isSame
  }

  private static func columns(_ invocation: Invocation) -> [String] {
    if invocation.has(stat) { return ["path", "inserted", "updated", "deleted"] }
    return invocation.has(nameOnly) ? ["path"] : ChangeText.columns
  }

  /// A path where nothing was at either moment is a mistake.
  private static func checkPath(
    _ diff: Diff, _ database: Database, _ invocation: Invocation
  ) throws {
    guard let path = invocation[path]?.path else { return }
    for sequence in [diff.from, diff.to] {
      if try database.snapshot(at: .sequence(sequence))[path].exists { return }
    }
    let root = try database.snapshot(at: .sequence(diff.to)).root
    throw try MissingNode.failure(
      path, below: root, invocation.database, verb: "is at either moment")
  }
}

/// Counts changes by the node below the path that was asked for. The changes come in path order, so
/// only one node's are kept.
///
///       inserted    updated    deleted
///          1,200         14          0  Product
///              0          3          0  Order
private struct DiffStat {
  private struct Counts {
    var inserted = 0
    var updated = 0
    var deleted = 0

    mutating func add(_ other: Counts) {
      inserted += other.inserted
      updated += other.updated
      deleted += other.deleted
    }
  }

  private static let columns = 9

  private let output: Output
  private let writer: ListWriter
  private let isShort: Bool
  private let depth: Int
  private var path: Path?
  private var counts = Counts()
  private var total = Counts()
  private var lineCount = 0

  init(_ invocation: Invocation, _ output: Output, _ writer: ListWriter) {
    self.output = output
    self.writer = writer
    isShort = invocation.format == .short
    depth = (invocation[DiffCommand.path]?.path.depth ?? 0) + 1
  }

  mutating func add(_ change: Change) throws {
    let place = Path(keys: change.path.keys.prefix(depth))
    if place != path {
      try tell()
      path = place
    }
    if change.old == nil {
      counts.inserted += 1
    } else if change.new == nil {
      counts.deleted += 1
    } else {
      counts.updated += 1
    }
  }

  /// Prints the last node, and the sum of several.
  mutating func finish() throws {
    try tell()
    if isShort && lineCount > 1 { try tell(total, "in all", .metadata) }
  }

  private mutating func tell() throws {
    guard let path else { return }
    if !isShort {
      var line = JSONLine()
      line.add("path", path.description)
      line.add("inserted", counts.inserted)
      line.add("updated", counts.updated)
      line.add("deleted", counts.deleted)
      try writer.write(
        line,
        [
          "path": .string(path.description), "inserted": .integer(Int64(counts.inserted)),
          "updated": .integer(Int64(counts.updated)), "deleted": .integer(Int64(counts.deleted)),
        ])
    } else {
      if lineCount == 0 {
        try output.line(StyledLine(" inserted   updated   deleted", .metadata))
      }
      try tell(counts, Terminal.escaped(path.description), nil)
    }
    lineCount += 1
    total.add(counts)
    counts = Counts()
  }

  private func tell(_ counts: Counts, _ name: String, _ role: Role?) throws {
    var line = StyledLine()
    let columns: [(count: Int, role: Role)] = [
      (counts.inserted, .inserted), (counts.updated, .updated), (counts.deleted, .deleted),
    ]
    for (count, role) in columns {
      let text = Quantity.count(count)
      line.add(
        Terminal.padded(text, to: DiffStat.columns, leading: true) + " ", count > 0 ? role : nil)
    }
    line.add(" " + name, role)
    try output.line(line)
  }
}
