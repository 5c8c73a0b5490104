import Cambium

/// `cambium log`: the transactions, newest last.
enum LogCommand {
  static let path = Operand.subtree("only transactions that changed this node or one below it")

  static let command = Command(
    name: "log", group: .look,
    summary: "lists transactions, newest last",
    discussion: """
      Each has its sequence number, the time it was recorded, how many operations it made, who made
      it and why, the rest of its metadata, and the names of its events after a `!`. `cambium show`
      tells what it changed. Exits with 1 where none matches.
      """,
    operands: [.database, path],
    options: [.limit, .reverse, .since, .until] + Option.output(.short, .json, .csv) + [
      .wait, .noPager, .color,
    ],
    examples: [
      .init("cambium log air.cambium -n 5", "the newest five"),
      .init(
        "cambium log air.cambium weather --since yesterday",
        "what changed a subtree since yesterday"),
      .init("cambium log air.cambium --json | jq .metadata.author", "for programs"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    var stretch = try LogStretch(
      database, under: invocation[path]?.path ?? .root, since: invocation[.since]?.moment,
      until: invocation[.until]?.moment)
    if let count = invocation[.limit]?.number { try stretch.keepNewest(count) }
    let tell = try teller(invocation, output, upTo: stretch.upTo)
    var isEmpty = true
    try stretch.forEach(reversed: invocation.has(.reverse)) { commit in
      isEmpty = false
      try tell(commit)
    }
    guard isEmpty else { return }
    if invocation.format == .short {
      System.complain("cambium: no transaction matches\n")
    }
    throw Failure.silent(.negative)
  }

  /// What writes a transaction in the format that is asked for.
  private static func teller(
    _ invocation: Invocation, _ output: Output, upTo newest: SequenceNumber
  ) throws -> (Commit) throws -> Void {
    switch invocation.format {
    case .json: return { try output.line(CommitText.json($0)) }
    case .csv:
      var bytes: [UInt8] = []
      CommitText.csv.appendHeader(to: &bytes)
      try output.write(bytes: bytes)
      return { commit in
        bytes.removeAll(keepingCapacity: true)
        CommitText.csv.append(CommitText.record(commit), to: &bytes)
        try output.write(bytes: bytes)
      }
    case .short:
      let text = CommitText(upTo: newest)
      return { try output.line(text.line($0)) }
    }
  }
}
