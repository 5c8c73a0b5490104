import Cambium

/// `cambium compact`: drops what a policy does not keep, or says what that would be.
enum CompactCommand {
  static let keep = Option("keep", "DURATION", .span, "keep the transactions of so long a time")
  static let keepLast = Option(
    "keep-last", "N", .number(0...Int.max), "keep the newest N transactions")
  static let archive = Option(
    flag: "archive", "seal dropped transactions into segments, from which `restore` can read")
  static let policy = Option(
    flag: "policy", "store what to keep in the database, for each program that writes to it")
  static let keepAll = Option(flag: "keep-all", "with --policy: keep everything from now on")

  static let command = Command(
    name: "compact", group: .keep,
    summary: "drops the old end of the history",
    discussion: """
      Keeps the transactions of --keep and those of --keep-last, whichever are more; without them,
      what the database's policy says. What came before is replaced by the state as of that moment:
      the present stays as it is, and so does everything after the new horizon; a moment before it
      answers that it was compacted. Consumers that have not come so far hold it back, and so do
      tags.

      --dry-run says what would be dropped, and how many bytes the rest takes. Without it, a
      terminal is asked first; elsewhere --yes is needed. Others may read and write meanwhile, and
      what is broken off goes on with the next `compact`, or with the next program that writes.

      With --policy it only stores what to keep; each program that writes then drops the rest
      itself, bit by bit.
      """,
    operands: [.database],
    options: [keep, keepLast, archive, policy, keepAll, .dryRun, .yes, .wait, .progress, .quiet]
      + Option.output(.short, .json, .jsonPretty) + [.color],
    examples: [
      "cambium compact shop.cambium --keep 90d --dry-run": "what would that save?",
      "cambium compact shop.cambium --keep 90d --archive --yes": "keep the rest compressed",
      "cambium compact shop.cambium --policy --keep 30d": "from now on, by itself",
    ],
    stopsSafely: true,
    servings: [
      Serving(
        .get, isObject: true, without: [archive, policy, keepAll, .yes].map(\.name),
        fixed: [Option.dryRun.name], summary: "says what dropping the old end would save")
    ], run: run)

  static func run(_ call: Call) throws {
    if call.has(policy) { return try store(call) }
    if call.has(keepAll) {
      throw Failure.usage("--keep-all is for --policy; nothing would be dropped")
    }
    let database = try OpenDatabase.forWriting(call)
    let retention = try retention(call) ?? database.retention()
    guard !retention.keepsEverything else {
      throw Failure.usage(
        "nothing says what to keep, and the database keeps everything",
        hint: "say it with --keep 90d or --keep-last 1000")
    }
    // An interrupted compaction has dropped its transactions as far as anybody can see; only their
    // bytes are left.
    let isUnfinished = try database.isCompactionUnfinished
    let plan = try ProgressBar.showing(call) {
      try database.planCompaction(keeping: retention, measures: call.has(.dryRun), progress: $0)
    }
    if call.has(.dryRun) || plan.transactions == 0 && !isUnfinished {
      return try call.output.report(json(plan)) { try tell(plan, "would drop", call.output) }
    }
    if plan.transactions > 0 {
      try Consent.ask(to: "drop \(Quantity.count(plan.transactions, "transaction")) for good", call)
    }
    try compact(database, retention, call)
  }

  private static func compact(_ database: Database, _ retention: Retention, _ call: Call) throws {
    do {
      let done = try ProgressBar.showing(call) {
        try database.compact(keeping: retention, progress: $0)
      }
      try call.output.report(json(done)) { try tell(done, "dropped", call.output) }
    } catch is CancellationError {
      throw Failure.partial(
        "stopped half-way; what was dropped until then is dropped",
        hint: "`cambium compact \(Shell.quoted(call.database))` with the same options goes on"
      )
    }
  }

  /// The retention that the options ask for; nil where they ask for none.
  private static func retention(_ call: Call) throws -> Retention? {
    let transactions = call[keepLast]?.number
    let duration = call[keep]?.duration
    if transactions == nil && duration == nil {
      if !call.has(archive) { return nil }
      throw Failure.usage(
        "--archive needs --keep or --keep-last", hint: "say what stays: --keep 90d --archive")
    }
    var retention = Retention(transactions: transactions.map { UInt64($0) }, duration: duration)
    retention.archives = call.has(archive)
    return retention
  }

  private static func store(_ call: Call) throws {
    let retention = try retention(call)
    if (retention == nil) != call.has(keepAll) {
      throw Failure.usage(
        "--policy needs --keep, --keep-last, or --keep-all alone",
        hint: "say it as in --policy --keep 90d")
    }
    let database = try OpenDatabase.forWriting(call)
    try database.setRetention(retention ?? Retention())
    if !call.isQuiet { try call.output.line("from now on: \(try database.retention().text)") }
  }

  // MARK: The report

  private static func tell(_ plan: Compaction, _ verb: String, _ output: Output) throws {
    if plan.transactions == 0 {
      let isDone = verb == "dropped"
      return try output.line(isDone ? "finished what was broken off" : "nothing to drop")
    }
    let kept = plan.head.rawValue - plan.oldHorizon.rawValue
    try output.line(
      "\(verb) \(Quantity.count(plan.transactions)) of \(Quantity.count(kept)) transactions: "
        + "\(Quantity.bytes(plan.bytesBefore)) → \(Quantity.bytes(plan.bytesAfter))")
    try output.line(
      "  what was before tx \(plan.horizon) "
        + "\(verb == "dropped" ? "now answers" : "would answer") “compacted”"
        + (plan.archives ? ", and can be restored from the archive" : ""))
  }

  private static func json(_ plan: Compaction) -> JSONLine {
    [
      "oldHorizon": plan.oldHorizon, "horizon": plan.horizon, "head": plan.head,
      "transactions": plan.transactions, "archives": plan.archives, "bytesBefore": plan.bytesBefore,
      "bytesAfter": plan.bytesAfter,
    ]
  }
}

extension Retention {
  /// The policy for people.
  var text: String {
    if keepsEverything { return "everything is kept" }
    var parts: [String] = []
    if let transactions { parts.append("the newest \(Quantity.count(transactions))") }
    if let duration { parts.append("those of \(TimeSpan.text(duration))") }
    return "of the transactions, \(parts.joined(separator: " and ")) are kept"
      + (archives ? "; the others are archived" : "")
  }
}
