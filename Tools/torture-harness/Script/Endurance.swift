import Cambium

/// Does what a workload does while the disk fails, as an application that continues after errors,
/// and checks what the database promises to a process that stays: clear errors, reading that
/// continues, and a handle that refuses to write after an I/O error of the log. After one of the
/// state it makes a new one.
struct Endurance {
  private let run: WorkloadRun
  /// The recorder's order: the call, the error, and whether it lasts.
  private let order: String
  /// The last transaction known to be there.
  private var head: UInt64 = 0
  /// The head before the last turn that wrote something.
  private var headBefore: UInt64 = 0
  private var isPoisoned = false
  private var wasFull = false
  private var failedTurns = 0
  /// True if the only fault has struck a backup already, so that no write may fail.
  private var isSpent = false

  private static let groupCount = 4

  init(run: WorkloadRun, order: String) {
    self.run = run
    self.order = order
  }

  mutating func endure() async throws {
    guard var database = try opened() else { return }
    for turn in 0..<turns {
      if turn == turnOfReopening {
        guard let again = try reopened(database) else { return }
        database = again
      }
      try await write(database)
      do { try run.checkPosition(database) } catch is DatabaseError {}
      do { try checkReading(database) } catch let error as DatabaseError {
        try demand(error.isUncertain, "P6: reading does not go on: \(error)")
      }
      try interlude(database, turn)
    }
    try demand(
      !wasFull || !order.contains("ENOSPC:once") || failedTurns <= 1,
      "P6: \(failedTurns) turns failed, although the disk was full once")
    do { try await database.close() } catch is DatabaseError {}
  }

  /// True if the fault is reported as EIO.
  private var reportsInputOutput: Bool { ["EIO", "LATE", "LOST"].contains { order.contains($0) } }

  // MARK: Opening

  /// A migration begins late in its script, and photos are given up late.
  private var turns: Int {
    switch run.workload {
    case .migrate: 20
    case .photos, .tags: 9
    default: 6
    }
  }

  /// In *single* the log's tail may then have a long transaction, which the next one follows there:
  /// neither stores a position, for which commits go to LMDB.
  private var turnOfReopening: Int? {
    switch run.workload {
    case .create: 0
    case .single: turns / 2 + 1
    case .compaction, .erase, .migrate, .undone, .tags: turns / 2
    default: nil
    }
  }

  private mutating func opened() throws -> Database? {
    do {
      let database = try run.open()
      // On a full disk the state may stay behind the log, which has all that was acknowledged.
      let stored = try database.information().head.rawValue
      try demand(stored >= head, "P1: \(head) was acknowledged, and the head is \(stored)")
      head = try database.head.rawValue
      return database
    } catch is DatabaseError {
      return nil
    }
  }

  /// Closes and opens again, after which writing continues.
  private mutating func reopened(_ database: Database) throws -> Database? {
    do { try database.close() } catch is DatabaseError {}
    if run.workload == .compaction {
      do { try run.vacuum() } catch is DatabaseError {}
    }
    if run.workload == .erase, try !erased() { return nil }
    isPoisoned = false
    return try opened()
  }

  /// Erases, where that is the next transaction of the script.
  ///
  /// - Returns: True if it is done; otherwise the run cannot continue.
  private func erased() throws -> Bool {
    guard run.script.erasures.contains(head + 1) else { return false }
    do { try run.erase() } catch let error as DatabaseError {
      if !error.isUnknown { run.marks.failed() }
      return false
    }
    return true
  }

  // MARK: Writing

  /// Does the part of a workload that is not writing.
  private mutating func interlude(_ database: Database, _ turn: Int) throws {
    switch run.workload {
    case .rebuild where turn % 2 == 1:
      // It writes to the log as well.
      do { try database.rebuild() } catch is DatabaseError {}
    case .checkpoint: database.finishCheckpoint()
    case .compaction where turn % 2 == 1 && head > 1:
      let target = SequenceNumber(head - 1)
      do { try database.compact(upTo: target, archives: turn > 2) } catch is DatabaseError {}
    case .photos where turn % 3 == 2:
      let target = SequenceNumber(head - min(head, 3))
      do { try database.compact(upTo: target) } catch is DatabaseError {}
    case .tags where head > 0: try tag(database, turn)
    case .backup where turn == 2:
      // Transactions that the backup does not have yet are compacted.
      do { try database.compact(upTo: SequenceNumber(head)) } catch is DatabaseError {}
    case .backup where turn % 2 == 1: try backUp(database, UInt64(turn))
    default: break
    }
  }

  /// Tags each third transaction, and archives or rebuilds after the others.
  private func tag(_ database: Database, _ turn: Int) throws {
    do {
      switch turn % 3 {
      case 0: try run.tag(head, database)
      case 1: try run.archive(database)
      default: try database.rebuild()
      }
    } catch is DatabaseError {}
  }

  /// Backs up and restores. A call that fails with the only fault that there is succeeds
  /// afterwards.
  private mutating func backUp(_ database: Database, _ turn: UInt64) throws {
    let run = run
    try attempt { try run.backUp(database) }
    if turn == 3 { try attempt { try run.backUpToFile(database) } }
    guard let held = try? BackupChecker.stretches(of: BackupPlaces(run.path).directory),
      let oldest = held.first?.lowerBound, let newest = held.last?.upperBound
    else { return }
    let moment = turn == 3 ? oldest : newest
    try attempt { try run.restore(turn, upTo: moment) }
  }

  private mutating func attempt(_ body: () throws -> Void) throws {
    do { try body() } catch let error as DatabaseError {
      // A log whose meta page could not be written is of no use until it is opened again.
      let hasPassed = order.contains(":once") && !error.isUncertain
      guard hasPassed, !isSpent, failedTurns == 0 else { return }
      isSpent = true
      do { try body() } catch let again as DatabaseError {
        throw Violation("P6: a backup fails with \(error), and again with \(again)")
      }
    }
  }

  /// Writes, and checks how that ended: in order, and not after an I/O error on the same handle.
  private mutating func write(_ database: Database) async throws {
    let outcomes = await outcomes(database)
    let before = head
    for number in outcomes.compactMap({ try? $0.get() }).sorted() {
      try demand(!isPoisoned, "P6: a write succeeded after an I/O error on the same handle")
      try demand(
        number == head + 1 || run.workload == .pair && number > head,
        "P2: \(number) was written after \(head)")
      (head, headBefore) = (number, before)
    }
    var hasFailed = false
    for case .failure(let error) in outcomes {
      guard let error = error as? DatabaseError else { throw error }
      hasFailed = true
      isPoisoned = isPoisoned || reportsInputOutput && error.isOfLog
      if case .full = error { wasFull = true }
      if !error.isUnknown { run.marks.failed() }
    }
    failedTurns += hasFailed ? 1 : 0
    try demand(!isSpent || !hasFailed, "P6: a write fails after a backup did: \(outcomes)")
  }

  private func outcomes(_ database: Database) async -> [Result<UInt64, any Error>] {
    guard run.workload == .group else { return [Result { try run.write(database) }] }
    return await withTaskGroup(of: Result<UInt64, any Error>.self) { [run] tasks in
      for _ in 0..<Endurance.groupCount {
        tasks.addTask {
          do { return .success(try await run.asyncWrite(database)) } catch {
            return .failure(error)
          }
        }
      }
      return await tasks.reduce(into: []) { $0.append($1) }
    }
  }

  /// Checks that what was acknowledged can be seen; where the log had room for it and the state had
  /// not, that this is said, and that what came before can be seen. A write whose outcome is
  /// unknown may be seen.
  private func checkReading(_ database: Database) throws {
    let seen: UInt64
    do {
      seen = try database.head.rawValue
      try demand(seen >= head, "P6: \(seen) is seen of \(head), and nothing is said")
    } catch DatabaseError.stateBehind(let applied, let stored, _) {
      try demand(stored.rawValue >= head, "P6: \(stored) is said to be stored of \(head)")
      try demand(applied.rawValue >= headBefore, "P6: \(applied) is seen of \(head)")
      return try Checker(script: run.script).compare(
        database, at: applied.rawValue, isPresent: false)
    }
    // Another process may write on meanwhile.
    let isPresent = run.workload != .pair
    try Checker(script: run.script).compare(database, at: seen, isPresent: isPresent)
  }
}

extension DatabaseError {
  /// True if the operating system failed to write the log.
  fileprivate var isOfLog: Bool {
    switch self {
    case .ioFailure(let reason): reason.contains("/log: ")
    case .outcomeUnknown: true
    default: false
    }
  }

  /// True if the outcome is unknown, or LMDB's meta page could not be written: then LMDB refuses
  /// everything, reading too, until the database is opened again.
  fileprivate var isUncertain: Bool {
    let signs = ["MDB_PANIC", "meta page could not be written"]
    return isUnknown || signs.contains { "\(self)".contains($0) }
  }

  /// True if the write may have been stored.
  fileprivate var isUnknown: Bool { if case .outcomeUnknown = self { true } else { false } }
}
