import Cambium

/// `cambium history`: every version of one node.
enum HistoryCommand {
  static let command = Command(
    name: "history", group: .look,
    summary: "lists the versions of a node, newest last",
    discussion: """
      Each has the transaction that made it, its time and metadata, and what it changed: `+` where
      the node came, `~` where it became different, `-` where it went, `=` where it was written
      again as it was. Of a property of a record only the changes are listed. What changed below a
      node is told by `cambium log`.
      """,
    operands: [.database, .path],
    options: [.limit, .reverse] + Option.output(.short, .json, .csv) + [.wait, .noPager, .color],
    examples: [.init("cambium history air.cambium weather/JFK -n 3", "its newest three versions")],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let path = invocation.value(.path).path
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    if path.isRoot {
      throw Failure(
        .usage, "usage", "the root has no versions of its own",
        hint: "`cambium log` lists what changed below it")
    }
    let tell = try teller(invocation, output, upTo: database.head)
    var history = try NodeHistory(database, path)
    var left = invocation[.limit]?.number ?? .max
    var found: [SequenceNumber] = []
    var isEmpty = true
    while left > 0, let version = try history.next() {
      left -= 1
      isEmpty = false
      if invocation.has(.reverse) {
        try tell(version, try database.commit(version.sequence))
      } else {
        found.append(version.sequence)
      }
    }
    if isEmpty && left > 0 {
      throw try MissingNode.failure(
        path, below: database.snapshot().root, invocation.database, verb: "is or was")
    }
    for sequence in found.reversed() {
      try tell(try history.version(sequence), try database.commit(sequence))
    }
  }

  /// What writes a version in the format that is asked for.
  private static func teller(
    _ invocation: Invocation, _ output: Output, upTo newest: SequenceNumber
  ) throws -> (NodeHistory.Version, Commit) throws -> Void {
    switch invocation.format {
    case .short:
      let text = CommitText(upTo: newest)
      return { version, commit in
        try output.line(text.line(commit, withCount: false))
        try ChangeText(output: output, indent: 2).write(version)
      }
    case .json:
      let path = invocation.value(.path).text
      return { try output.line(json($0, $1, path)) }
    case .csv:
      var bytes: [UInt8] = []
      csv.appendHeader(to: &bytes)
      try output.write(bytes: bytes)
      return { version, commit in
        bytes.removeAll(keepingCapacity: true)
        csv.append(record(version, commit), to: &bytes)
        try output.write(bytes: bytes)
      }
    }
  }

  private static func json(
    _ version: NodeHistory.Version, _ commit: Commit, _ path: String
  ) -> JSONLine {
    var line = JSONLine()
    line.add("sequence", commit.sequence.rawValue)
    line.add("time", commit.time)
    line.add("metadata", commit.metadata)
    line.add("path", path)
    line.add("exists", version.new.isThere)
    line.add("old", ifPresent: version.old.value)
    line.add("new", ifPresent: version.new.value)
    return line
  }

  private static let csv = CSVWriter(
    columns: ["sequence", "time", "metadata", "exists", "value"].map { CSVColumn(name: $0) })

  private static func record(_ version: NodeHistory.Version, _ commit: Commit) -> Record {
    var record: Record = [
      "sequence": .integer(Int64(clamping: commit.sequence.rawValue)), "time": .date(commit.time),
      "metadata": .map(CommitText.metadata(commit)), "exists": .bool(version.new.isThere),
    ]
    record["value"] = version.new.value
    return record
  }
}
