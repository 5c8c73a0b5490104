import Cambium
import FoundationEssentials

/// `cambium repair`: what is wrong with a log, and a new database of what is sound in it.
enum RepairCommand {
  static let cut = Option(flag: "cut", "keep the transactions before the first that is damaged")
  static let salvage = Option(
    flag: "salvage", "keep every sound transaction; a note stands in for each that is lost")
  static let target = Option("to", "NEWDB", .file, "the database to make")
  static let latest = Option(
    "latest", "TIME", .moment, "no transaction is to be later; mends what a wrong clock has done")

  static let command = Command(
    name: "repair", group: .keep,
    summary: "says what is wrong with a log, makes a new database of the rest",
    discussion: """
      Without options it reads the log, says what is wrong and what can be done, and exits with 4
      where something is. It reads the file itself, so it also works where the database cannot be
      opened. With --cut or --salvage it makes the database NEWDB. DB is never written.

      --cut keeps the transactions before the first that is damaged, and nothing after it.
      --salvage keeps those after it as well, under their numbers. Where one is lost, `cambium show`
      shows its number without changes, and the reason. A transaction that cannot be applied without
      one that is lost, such as a new property of a node that is not there, is lost, too; and what
      can be applied may differ from what it once was.

      A clock that was wrong may have given transactions times that are still to come. Those after
      them have the same, since times never go back. With --latest now they all get the present time
      in NEWDB, and the rest stays as it is.

      Only the log needs this. Where only the state is damaged, `cambium replay` makes it again.
      """,
    operands: [.database],
    options: [cut, salvage, target, latest, .wait, .progress, .quiet] + Option.output(.short, .json)
      + [.color],
    examples: [
      "cambium repair air.cambium": "what is wrong?",
      "cambium repair air.cambium --cut --to rescue.cambium": "only what came before the damage",
      "cambium repair air.cambium --salvage --to rescue.cambium": "all that can be saved",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    guard let method = try method(call) else { return try examine(call) }
    guard let path = call[target]?.text else {
      throw Failure.usage(
        "--\(method.rawValue) makes a new database, and --to is missing",
        hint: "the damaged one stays as it is: name another with --to NEWDB")
    }
    try repair(by: method, to: path, call)
  }

  private static func method(_ call: Call) throws -> LogRepair? {
    switch (call.has(cut), call.has(salvage)) {
    case (true, true): throw Failure.usage("--cut and --salvage exclude each other")
    case (true, false): return .cut
    case (false, true): return .salvage
    case (false, false):
      if !call.has(target) { return nil }
      throw Failure.usage("--to needs --cut or --salvage")
    }
  }

  // MARK: Looking

  private static func examine(_ call: Call) throws {
    let found = try unreadable(call) {
      try ProgressBar.showing(call) {
        try Database.examineLog(at: call.database, options: call.databaseOptions, progress: $0)
      }
    }
    try call.output.report(json(found)) { try write(found, call.database, call.output) }
    if !found.isSound { throw failure(found, call) }
  }

  private static func write(_ found: LogExamination, _ path: String, _ output: Output) throws {
    let isSound = found.isSound
    try output.verdict(
      "the log of \(Terminal.escaped(path))", isSound ? "is sound" : "is damaged",
      isSound: isSound)
    let entries: Entries = [
      "newest": "tx \(found.head)", "sound": Quantity.count(found.records),
      "lost": isSound ? nil : Quantity.count(found.lostCount),
      "blobs lost": isSound || found.blobsLost == 0 ? nil : "\(found.blobsLost)",
    ]
    try output.table(entries, indent: 2)
    for text in found.findings { try output.finding("log", text) }
    try write(found.lost, of: found.lostCount, output)
  }

  private static func write(
    _ lost: [LogExamination.Lost], of count: UInt64, _ output: Output
  ) throws {
    for record in lost { try output.finding("tx \(record.sequence)", record.reason) }
    let more = count - UInt64(lost.count)
    if more > 0 { try output.line("  … and \(Quantity.count(more)) more") }
  }

  private static func failure(_ found: LogExamination, _ call: Call) -> Failure {
    let name = Shell.quoted(call.database)
    let isTail = found.sound.rawValue + found.lostCount == found.head.rawValue
    let salvage =
      isTail ? "" : "; `cambium repair \(name) --salvage --to NEWDB` keeps what comes after, too"
    return Failure.corrupt(
      "the log is damaged",
      hint: "`cambium restore BACKUP NEWDB` where there is a backup; else "
        + "`cambium repair \(name) --cut --to NEWDB` keeps transactions 1 to "
        + "\(found.sound)\(salvage)")
  }

  /// Says what is left to do where not even the tables can be found.
  private static func unreadable<R>(_ call: Call, _ body: () throws -> R) throws -> R {
    do { return try body() } catch DatabaseError.corrupt(let reason) {
      throw Failure.corrupt(
        "the log of \(call.database) cannot be read: \(reason)",
        hint: "`cambium restore BACKUP NEWDB` where there is a backup; nothing can be saved from "
          + "this file")
    }
  }

  // MARK: Making

  private static func repair(by method: LogRepair, to path: String, _ call: Call) throws {
    try ReplayCommand.checkTarget(path)
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    let options = call.databaseOptions
    let bound = try bound(call)
    let repaired = try unreadable(call) {
      try Database.repair(
        call.database, by: method, to: path, latest: bound, options: options,
        progress: bar.handler)
    }
    try Database(at: path, options: options, progress: bar.handler).close()
    bar.finish()
    try call.output.report(json(repaired, path)) { try write(repaired, path, call.output) }
  }

  private static func write(_ repaired: RepairedLog, _ path: String, _ output: Output) throws {
    try output.line(
      "made \(Terminal.escaped(path)): \(Quantity.count(repaired.kept)) transactions kept, "
        + "\(Quantity.count(repaired.lostCount)) lost; the newest is tx \(repaired.head)")
    if repaired.blobsLost > 0 { try output.line("  \(repaired.blobsLost) blobs are left out") }
    try write(repaired.lost, of: repaired.lostCount, output)
  }

  private static func bound(_ call: Call) throws -> Date? {
    switch call[latest]?.moment {
    case nil: return nil
    case .head(back: 0)?: return Date()
    case .date(let date)?: return date
    case .sequence?, .tag?, .head?:
      throw Failure.usage("--latest is a time, such as now or '2026-11-20 13:58'")
    }
  }

  private static func json(_ found: LogExamination) -> JSONLine {
    [
      "sound": found.isSound, "head": found.head, "records": found.records, "cut": found.sound,
      "lostCount": found.lostCount, "lost": found.lost.map(json), "blobsLost": found.blobsLost,
      "findings": found.findings,
    ]
  }

  private static func json(_ repaired: RepairedLog, _ path: String) -> JSONLine {
    [
      "database": path, "head": repaired.head, "kept": repaired.kept,
      "lostCount": repaired.lostCount, "lost": repaired.lost.map(json),
      "blobsLost": repaired.blobsLost,
    ]
  }

  private static func json(_ lost: LogExamination.Lost) -> JSONLine {
    ["tx": lost.sequence, "reason": lost.reason]
  }
}
