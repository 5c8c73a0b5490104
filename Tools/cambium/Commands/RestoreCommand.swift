import Cambium

/// `cambium restore`: makes a new database of a backup, as it was at any moment.
enum RestoreCommand {
  static let backup = Operand("BACKUP", .file, "the directory or the file of the backup")
  static let target = Operand("NEWDB", .file, "the database to make; nothing may be there")
  static let at = Option("at", "REV", .moment, "as it was then; see cambium help moments")

  static let command = Command(
    name: "restore", group: .keep,
    summary: "makes a new database of a backup",
    discussion: """
      All of the backup is read and checked first. Then NEWDB gets its transactions up to --at, and
      is verified. An existing database is never written: make a new one, look at it, and rename it.
      Ctrl-C before NEWDB is verified leaves nothing, or says that it is there.

      Where the backup is damaged, --at can still name a moment before the damage.
      `cambium verify BACKUP` says which moments there are.

      With --removed-at it needs no backup: a node of a database that transaction REV removed comes
      back with all below it, as a new transaction. `cambium log DB PATH` says which one that was.

        cambium restore [OPTIONS] --removed-at REV [DB] PATH
      """,
    operands: [backup, target],
    options: [at, RestoreNodeCommand.offered, .progress, .quiet] + Option.output(.short, .json) + [
      .color
    ],
    examples: [
      "cambium restore /mnt/b/shop.backup shop.cambium": "after the disk was lost",
      "cambium restore /mnt/b/shop.backup rescue.cambium --at '2026-11-20 13:58:40'":
        "as it was before the mistake",
      "cambium restore shop.cambium orders/17 --removed-at HEAD": "what was just deleted",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let (source, path) = (call.value(backup).text, call.value(target).text)
    try ReplayCommand.checkTarget(path)
    Signals.deferInterrupts()
    let start = ContinuousClock.now
    let bar = ProgressBar(call, unit: "")
    defer { bar.finish() }
    let progress = bar.handler
    try explaining(source) {
      let moment = try moment(call[at]?.moment, of: source, progress)
      try Database.restore(source, to: path, upTo: moment, progress: progress)
    }
    let (database, verification) = try verified(path, progress)
    defer { try? database.close() }
    bar.finish()
    if let finding = verification.findings.first {
      throw Failure.corrupt("\(path) was restored, but is damaged: \(finding)")
    }
    try report(database, verification, ContinuousClock.now - start, call.output)
  }

  /// Opens what was restored, which folds its state, and verifies it.
  private static func verified(
    _ path: String, _ progress: @escaping ProgressHandler
  ) throws -> (Database, Verification) {
    do {
      let database = try OpenDatabase.existing(path, progress)
      return (database, try database.verify(progress: progress))
    } catch is CancellationError {
      throw Failure.partial(
        "\(path) is restored, but was not verified",
        hint: "`cambium verify \(Shell.quoted(path))` does that")
    }
  }

  private static func moment(
    _ moment: PointInTime?, of source: String, _ progress: @escaping ProgressHandler
  ) throws -> Moment {
    switch moment {
    case nil, .head(back: 0)?: return .now
    case .sequence(let number)?: return .sequence(SequenceNumber(number))
    case .tag(let name)?: return .tag(name)
    case .date(let date)?: return .time(date)
    case .head(let back)?:
      let newest = try Database.checkBackup(source, progress: progress).newest
      if newest.rawValue >= UInt64(back) {
        return .sequence(SequenceNumber(newest.rawValue - UInt64(back)))
      }
      throw DatabaseError.noSuchMoment(
        reason: "HEAD~\(back) would be too early; the newest transaction is \(newest)")
    }
  }

  /// Says it of the backup, where the engine's words are for a database.
  private static func explaining(_ source: String, _ body: () throws -> Void) throws {
    let verify = "`cambium verify \(Shell.quoted(source))`"
    do { try body() } catch DatabaseError.noSuchMoment(let reason) {
      throw Failure(
        .missing, "no_such_moment", "no such moment: \(reason)",
        hint: "\(verify) says which moments there are")
    } catch DatabaseError.corrupt(let reason) {
      throw Failure.corrupt(
        reason, hint: "\(verify) says what is damaged; --at restores a moment before the damage")
    } catch DatabaseError.noDatabase {
      if let failure = Failure.unreadable(source) { throw failure }
      throw Failure(.missing, "no_backup", "no backup at \(source)", hint: "check the path")
    } catch DatabaseError.unsupported(_, let reason) {
      throw Failure(
        .unsupported, "unsupported", "\(source) cannot be restored: \(reason)",
        hint: "name a backup, as `cambium backup` makes it")
    }
  }

  private static func report(
    _ database: Database, _ verification: Verification, _ time: Duration, _ output: Output
  ) throws {
    if output.isQuiet { return }
    let (oldest, newest) = (try database.horizon, try database.head)
    let digest = ValueText.hexadecimal(verification.digest)
    let json: JSONLine = [
      "database": database.path, "oldest": oldest, "newest": newest, "nodes": verification.nodes,
      "digest": digest, "seconds": time.seconds,
    ]
    try output.report(json) {
      let name = StyledLine(Terminal.escaped(database.path), .heading)
      try output.line(StyledLine("restored ") + name + " as of tx \(newest), and verified it")
      let entries: Entries = [
        "nodes": Quantity.count(verification.nodes),
        "oldest": oldest > .zero ? "tx \(oldest), from a baseline" : nil, "digest": digest,
        "time": Quantity.seconds(time),
      ]
      try output.table(entries, indent: 2)
    }
  }
}
