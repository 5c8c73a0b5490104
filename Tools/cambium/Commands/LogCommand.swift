import Cambium

/// `cambium log`: the transactions, newest last.
enum LogCommand {
  static let path = Operand.subtree("only transactions that changed this node or one below it")

  static let oneline = Option(flag: "oneline", "only the number, and why")
  static let stat = Option(flag: "stat", "with how many nodes it changed, below each node of PATH")
  static let patch = Option(flag: "patch", letter: "p", "with each change, old and new")

  static let archived = Option(
    flag: "archived", "begin with the oldest transaction that compaction has archived")

  static let command = Command(
    name: "log", group: .look,
    summary: "lists transactions, newest last",
    discussion: """
      Each has its sequence number, the time it was recorded, how many operations it made, who made
      it and why, the rest of its metadata, and the names of its events after a `!`. With --patch
      its changes follow, as `cambium show` tells them. Exits with 1 where none matches.

      It begins at the horizon, if the log was compacted; with --archived, or with a moment before
      that, it begins in the archive, where there is one. Of archived transactions --patch tells the
      operations: their values before are gone.

      A script that reads what is new each time it runs names a --cursor-file: the first run tells
      everything, each other one what came since.
      """,
    operands: [.database, path, .matches],
    options: [.limit, .reverse, .since, .until, .grep, .caseSensitive, oneline, stat, patch] + [
      archived, .cursorFile, .afterCursor, .showCursor,
    ] + Option.reading,
    examples: [
      "cambium log air.cambium -n 5": "the newest five",
      "cambium log air.cambium weather --since yesterday": "what changed a subtree since yesterday",
      "cambium log air.cambium actor=anna op=delete -p": "what anna deleted",
      "cambium log air.cambium -g 'JFK|EWR' --stat": "what touched one of two words",
      "cambium log air.cambium --cursor-file seen --json": "what is new since the last time",
      "cambium log air.cambium -o table --fields sequence,time": "as a table",
      "cambium log air.cambium --json | jq .metadata.author": "for programs",
    ],
    servings: [
      Serving(
        .get, scope: .changes, rootOnly: [archived.name], isPaged: true,
        without: [Option.cursorFile, .afterCursor, .showCursor].map(\.name))
    ], run: run)

  /// The largest number of transactions that are looked at for a page.
  private static let pageReach: UInt64 = 100_000

  static func run(_ call: Call) throws {
    let detail = try detail(call)
    let cursor = try LogCursor(call)
    let database = try OpenDatabase.forReading(call)
    let under = call[path]?.path ?? .root
    let start = cursor.position.map { PointInTime.sequence($0.rawValue) }
    var stretch = try LogStretch(
      database, under: under, since: start ?? call[.since]?.moment,
      until: call[.until]?.moment, archived: call.has(archived), isStrict: call.isScoped)
    let isCutOff = try start == nil && !call.has(.since) && stretch.isCutOff
    stretch.filter = try CommitFilter(call, database)
    let isReversed = call.has(.reverse)
    let limit = call[.limit]?.number ?? .max
    if !isReversed && limit < .max { try stretch.keepNewest(limit) }
    let isPart = call.page.size != nil && stretch.narrow(to: pageReach, reversed: isReversed)
    let teller = CommitTeller(
      call: call, detail: detail, under: under, text: CommitText(upTo: stretch.upTo),
      list: try CommitTeller.list(call, detail))
    var (count, last) = (0, stretch.before(reversed: isReversed))
    try stretch.forEach(reversed: isReversed) { commit in
      if isReversed && count == limit { return false }
      try call.page.turn { next(after: last, stretch, left: limit - count, call) }
      (count, last) = (count + 1, commit.sequence)
      try teller.tell(commit)
      return true
    }
    if isPart && count < limit {
      let last = isReversed ? stretch.after.next : stretch.upTo
      throw Page.End(changes: next(after: last, stretch, left: limit - count, call))
    }
    try teller.finish()
    if isCutOff, try stretch.isCutOff, call.format == .short {
      try tellOfHorizon(database)
    }
    try cursor.finish(max(stretch.upTo, cursor.position ?? .zero), call.output)
    guard count == 0 else { return }
    if call.format == .short {
      System.note("no transaction matches")
    }
    throw Failure.silent(.negative)
  }

  /// The parameters for the transactions that follow one.
  private static func next(
    after last: SequenceNumber, _ stretch: LogStretch, left: Int, _ call: Call
  ) -> Page.End.Changes {
    let isReversed = call.has(.reverse)
    let limit = call.has(.limit) ? "\(left)" : nil
    if isReversed {
      return [("until", "\(last.previous)"), ("limit", limit)]
    }
    // The newest ones were chosen already, so that later transactions must not come in.
    return limit == nil
      ? [("since", "\(last)")]
      : [("since", "\(last)"), ("until", "\(stretch.end)"), ("limit", nil)]
  }

  /// Says that there was more, so that nobody takes the output for the whole log.
  private static func tellOfHorizon(_ database: Database) throws {
    let horizon = try database.horizon
    let isArchived = try database.archiveHorizon < horizon
    let more = isArchived ? "; --archived tells those that are archived, too" : ""
    System.note("transactions up to \(horizon) were compacted\(more)")
  }

  private static func detail(_ call: Call) throws -> CommitTeller.Detail {
    let details: [(option: Option, detail: CommitTeller.Detail)] = [
      (oneline, .oneLine), (stat, .stat), (patch, .patch(first: .max)),
    ]
    let chosen = details.filter { call.has($0.option) }
    if chosen.count > 1 {
      let names = chosen.map { "--\($0.option.name)" }.joined(separator: " and ")
      throw Failure.usage("\(names) tell different things; choose one")
    }
    return chosen.first?.detail ?? .line
  }
}
