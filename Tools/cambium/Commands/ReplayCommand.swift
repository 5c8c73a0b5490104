import Cambium
import FoundationEssentials

/// `cambium replay`: folds the log again, in place or into a new database.
enum ReplayCommand {
  static let target = Option("to", "NEWDB", .file, "make a new database from the log instead")
  static let until = Option(
    "until", letter: "U", "REV", .moment, "the last transaction of the new database")

  static let command = Command(
    name: "replay", group: .keep,
    summary: "rebuilds the state from the log, here or in a new database",
    discussion: """
      Only the log is precious; the tree, its history and all else is made from it. Without --to,
      the state is dropped and made again. With --to, a new database gets the same log, up to
      --until, and this one is only read. Ctrl-C leaves everything as it was.
      """,
    operands: [.database],
    options: [target, until, .wait, .progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium replay air.cambium": "make the state again",
      "cambium replay air.cambium --to rescue.cambium --until -10m":
        "the database of ten minutes ago",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    if let path = call[target]?.text {
      try replay(to: path, call)
    } else if call.has(until) {
      throw Failure.usage(
        "--until is for a new database, and --to is missing",
        hint: "the past is not taken from a database: make another with --to NEWDB")
    } else {
      try replayInPlace(call)
    }
  }

  // MARK: In place

  private static func replayInPlace(_ call: Call) throws {
    let start = ContinuousClock.now
    let (database, isRebuilt) = try OpenDatabase.forReplaying(call)
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    // Where the state was missing or damaged, opening has made it.
    if !isRebuilt { try database.rebuild(progress: bar.handler) }
    try report("replayed", database.path, database, ContinuousClock.now - start, bar, call.output)
  }

  /// The number of operations in the log.
  private static func operationCount(of database: Database, _ bar: ProgressBar) throws -> Int {
    var count = 0
    let head = try database.head
    var commits = try database.commits()
    while let commit = try commits.next() {
      count += commit.operationCount
      if !bar.update("count", commit.sequence.rawValue, of: head.rawValue) {
        throw Failure.stopped()
      }
    }
    return count
  }

  // MARK: Into a new database

  private static func replay(to path: String, _ call: Call) throws {
    try checkTarget(path)
    let start = ContinuousClock.now
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    let source = try OpenDatabase.forReading(call)
    let last = try OpenDatabase.recordedSequence(call[until]?.moment, in: source)
    try source.replay(to: path, until: last, progress: bar.handler)
    let copy = try OpenDatabase.existing(path, bar.handler)
    defer { try? copy.close() }
    try report("made", path, copy, ContinuousClock.now - start, bar, call.output)
  }

  static func checkTarget(_ path: String, name: String = "NEWDB") throws {
    if FileManager.default.fileExists(atPath: path) {
      throw Failure(
        .refused, "exists", "\(path) exists already", hint: "choose another name for \(name)")
    }
    try OpenDatabase.checkFolder(of: path)
  }

  // MARK: The report

  private static func report(
    _ verb: String, _ path: String, _ database: Database, _ time: Duration, _ bar: ProgressBar,
    _ output: Output
  ) throws {
    let operations = try operationCount(of: database, bar)
    let transactions = try database.head
    bar.finish()
    if output.isQuiet { return }
    let json: JSONLine = [
      "database": path, "transactions": transactions, "operations": operations,
      "seconds": time.seconds,
    ]
    try output.report(json) {
      let rate = Quantity.short(Double(operations) / max(time.seconds, 1e-6))
      try output.line(
        "\(verb) \(Terminal.escaped(path)): \(Quantity.count(transactions.rawValue)) transactions, "
          + "\(Quantity.count(operations)) operations in \(Quantity.seconds(time)), "
          + "\(rate) operations/s")
    }
  }
}
