import Cambium
import FoundationEssentials
import Simulation

/// Lets memory run out at one allocation after the other: where a library asks for it, the call
/// gives an error, and everything goes on; where Swift does, the process ends, and what it leaves
/// opens. `quota` is the number of allocations of each kind.
struct Shortages {
  let setting: Setting
  let checker: Checker

  func run(_ cases: Cases) throws {
    let folder = setting.recording.dropLast("recording".count)
    let text = String(decoding: System.read("\(folder)totals"), as: UTF8.self)
    let totals = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard totals.count >= 2 else { throw Failure("the recorder has counted no allocations") }
    var random = SeededGenerator(seed: setting.seed, 71)
    for (whose, total) in [("libraries", totals[0]), ("all", totals[1])] {
      for number in Array(1...max(total, 1)).sample(setting.quota, &random).sorted() {
        if cases.isOver { return }
        cases.next("allocation \(number) of \(whose)") { try check(number, whose) }
      }
    }
  }

  private func check(_ number: Int, _ whose: String) throws {
    let run = try RecordedRun(setting, in: "\(setting.directory)/run")
    // Printing where a process ended takes seconds.
    let orders = ["TORTURE_MEMORY": "\(number):\(whose)", "SWIFT_BACKTRACE": "enable=no"]
    let end = try run.run("starve", orders)
    if whose == "libraries" {
      try demand(end == .exited(0), "the process ended with \(end): \(run.output)")
    } else if end == .killed(14) {
      throw Violation("the process hung: \(run.output)")
    }
    if !run.marks.isCreated, !System.exists(run.database) { return }
    var checker = checker
    checker.mayRebuild = setting.workload == .rebuild
    try checker.check(run.database, run.marks)
  }
}

/// Does what a workload does, and reads with patterns, verifies and copies besides, in a process in
/// which one allocation fails: errors must be errors, and what fails must succeed when it is tried
/// again.
struct Starvation {
  let run: WorkloadRun
  private var head: UInt64 = 0

  private static let turns = 5

  init(run: WorkloadRun) { self.run = run }

  mutating func starve() throws {
    var database = try twice { [run] in try run.open() }
    for turn in 0..<Starvation.turns {
      database = try write(database)
      try read(database)
      if turn % 2 == 1 { try maintain(database, turn) }
    }
    try twice { [database] in
      let findings = try database.verify().findings
      try demand(findings.isEmpty, "P3: a sound database is said to be damaged: \(findings)")
    }
    do { try database.close() } catch is DatabaseError {}
  }

  /// Writes; where that fails, opens again and goes on, since an error may refuse more writes.
  ///
  /// - Returns: The database to go on with.
  private mutating func write(_ database: Database) throws -> Database {
    do {
      head = try run.write(database)
      return database
    } catch let error as DatabaseError {
      if case .outcomeUnknown = error {} else { run.marks.failed() }
      if case .corrupt = error { throw Violation("P3: want of memory is called damage: \(error)") }
    }
    do { try database.close() } catch is DatabaseError {}
    let again = try run.open()
    let stored = try again.head.rawValue
    try demand(stored >= head, "P1: \(head) was acknowledged, and the head is \(stored)")
    head = try run.write(again)
    return again
  }

  /// Reads everything, with a pattern that backtracks.
  private func read(_ database: Database) throws {
    try twice { [run, head] in
      try Checker(script: run.script).compare(database, at: head, isPresent: true)
      // Backtracking is PCRE2's; the linear patterns are the engine's own.
      _ = try database.records("bulk where q matches /w(o)rd?.*\\1/ | count").fetch()
    }
  }

  private func maintain(_ database: Database, _ turn: Int) throws {
    try twice { [head] in
      _ = try database.compact(upTo: SequenceNumber(head - 1), archives: true)
    }
    let places = BackupPlaces(run.path)
    try twice { try database.backUp(to: places.directory) }
    try twice { _ = try BackupChecker.stretches(of: places.directory) }
    // From the archive.
    try twice { [head] in
      System.remove(places.copy)
      try database.replay(to: places.copy, until: SequenceNumber(head - 1))
    }
    if turn == 3 { try twice { try database.rebuild() } }
  }

  /// Calls; where that fails for want of memory, once more.
  @discardableResult
  private func twice<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as DatabaseError {
      if case .corrupt = error { throw Violation("P3: want of memory is called damage: \(error)") }
    } catch is QueryError {}
    return try body()
  }
}
