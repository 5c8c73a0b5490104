import Cambium

/// `cambium verify`: whether every stored byte is what was written.
enum VerifyCommand {
  static let pages = Option(
    flag: "pages", "walk the pages only; DB may then be any file or directory of LMDB")

  static let replay = Option(
    flag: "replay", "fold the log twice more, and compare: does it always give the same?")

  static let command = Command(
    name: "verify", group: .keep,
    summary: "checks every checksum, and that the log gives this state",
    discussion: """
      Reads all pages, the whole log and the whole state, and folds the log again in a scratch place
      to compare. The digest is that of all nodes: databases with the same history have the same.
      Exits with 0 where all is sound, and with 4 where something is damaged, after saying what and
      where.

      With --replay the log is folded twice, in steps of different sizes, and the two results must
      have the same digest. DB may also be a backup: all of it is read, and what it holds is said.

      With --pages no database is opened: each file is read page by page, without LMDB, which would
      die of a damaged one. No program may write to a foreign file meanwhile.
      """,
    operands: [.database],
    options: [pages, replay, .wait, .progress, .quiet] + Option.output(.short, .json, .jsonPretty)
      + [.color],
    examples: [
      "cambium verify air.cambium": "check everything",
      "cambium verify air.cambium --replay": "does folding it always give the same?",
      "cambium verify /mnt/b/air.backup": "is the backup sound, and what does it hold?",
      "cambium verify --pages other/data.mdb": "is this file of LMDB sound?",
    ],
    stopsSafely: true,
    servings: [Serving(.post, isObject: true, without: [pages.name], name: verifyJob)], run: run)

  /// The name of the work that the server begins, and does not wait for.
  static let verifyJob = "verify"

  static func run(_ call: Call) throws {
    if call.served == nil && Database.isBackup(call.database) { return try verifyBackup(call) }
    if call.has(pages) { return try verifyPages(call) }
    let start = ContinuousClock.now
    let verification: Verification
    do {
      verification = try verify(call)
    } catch DatabaseError.corrupt(let reason) {
      // So much is damaged that not everything could be looked at.
      let name = Shell.quoted(call.database)
      throw Failure.corrupt(
        "\(call.database) is damaged: \(reason)",
        hint: "`cambium replay \(name)` mends the state; `cambium repair \(name)` says what can be "
          + "saved of a damaged log")
    }
    let time = ContinuousClock.now - start
    try call.output.report(json(verification)) {
      try write(verification, time, call.database, call.output)
    }
    if !verification.isSound { throw failure(verification, call) }
  }

  private static func verify(_ call: Call) throws -> Verification {
    let database = try OpenDatabase.forReading(call)
    return try ProgressBar.showing(call) {
      try database.verify(replaying: call.has(replay), progress: $0)
    }
  }

  private static func write(
    _ verification: Verification, _ time: Duration, _ path: String, _ output: Output
  ) throws {
    let isSound = verification.isSound
    let words = isSound ? "is sound" : isBehindAlone(verification) ? "is behind" : "is damaged"
    try output.verdict(Terminal.escaped(path), words, isSound: isSound)
    try output.table(entries(verification, time), indent: 2)
    for finding in verification.findings {
      try output.finding(finding.part, finding.description)
    }
  }

  /// True if nothing is wrong but that the state cannot be brought up to the log.
  private static func isBehindAlone(_ verification: Verification) -> Bool {
    verification.behind > 0 && verification.findings.count == 1
  }

  /// The report's lines on what was read; of a damaged database only the parts that were reached.
  private static func entries(_ verification: Verification, _ time: Duration) -> Entries {
    let counts = [
      ("pages", verification.pages), ("records", verification.records),
      ("operations", verification.operations), ("nodes", verification.nodes),
    ].filter { $0.1 > 0 || verification.isSound }
    let width = counts.map { Quantity.count($0.1).utf8.count }.max() ?? 0
    let entries = counts.map { name, count in
      (name, Terminal.padded(Quantity.count(count), to: width, leading: true))
    }
    let isSound = verification.isSound
    let (replays, behind) = (verification.replays, verification.behind)
    let rest: Entries = [
      "digest": isSound ? ValueText.hexadecimal(verification.digest) : nil,
      "replays": replays > 0 && isSound ? "\(replays), each with that digest" : nil,
      "erased": verification.unvouched > 0
        ? "\(verification.unvouched) records, by an erasure that this log does not reach" : nil,
      "behind": behind > 0 && isSound
        ? "\(Quantity.count(behind, "transaction")), which the next opening for writing folds in; "
          + "nothing is lost" : nil, "time": Quantity.seconds(time),
    ]
    return Entries(entries) + rest
  }

  private static func failure(_ verification: Verification, _ call: Call) -> Failure {
    let findings = verification.findings
    let name = Shell.quoted(call.database)
    let isRepairable = findings.allSatisfy(\.isRepairable)
    return Failure.corrupt(
      findings.count == 1
        ? "\(findings[0].part): \(findings[0])" : "\(findings.count) things are damaged",
      hint: isRepairable
        ? "`cambium replay \(name)` makes the state again from the log"
        : "`cambium restore BACKUP NEWDB` where there is a backup; else `cambium repair \(name)` "
          + "says what can be saved")
  }

  private static func json(_ verification: Verification) -> JSONLine {
    [
      "sound": verification.isSound, "pages": verification.pages, "records": verification.records,
      "operations": verification.operations, "nodes": verification.nodes,
      "unvouched": verification.unvouched > 0 ? verification.unvouched : nil,
      "behind": verification.behind > 0 ? verification.behind : nil,
      "replays": verification.replays > 0 ? UInt64(verification.replays) : nil,
      "digest": verification.isSound ? ValueText.hexadecimal(verification.digest) : nil,
      "findings": verification.findings.map {
        ["part": $0.part, "description": $0.description, "repairable": $0.isRepairable] as JSONLine
      },
    ]
  }
}
