import Cambium

/// Writes while the disk fails, as an application that goes on after errors, and checks what the
/// database promises to a process that stays: clear errors, reading that goes on, and a handle that
/// refuses to write after an I/O error.
struct Endurance {
  let run: WorkloadRun
  /// What the recorder was told to do: the call, the error, and whether it lasts.
  let order: String

  private static let writes = 6

  func endure() throws {
    guard let database = try opened() else { return }
    var head = try database.head.rawValue
    var isPoisoned = false
    var isUncertain = false
    for _ in 0..<Endurance.writes {
      do {
        let number = try write(database)
        try demand(!isPoisoned, "P6: a write succeeded after an I/O error on the same handle")
        try demand(number == head + 1, "P2: \(number) was written after \(head)")
        head = number
      } catch let error as DatabaseError {
        isPoisoned = isPoisoned || order.contains("EIO") && error.isInputOutput
        isUncertain = isUncertain || error.isUncertain
        if !error.isUnknown { run.marks.failed() }
      }
      do { try checkReading(database, atLeast: head) } catch let error as DatabaseError {
        try demand(error.isUncertain, "P6: reading does not go on: \(error)")
        isUncertain = true
      }
    }
    try demand(
      isUncertain || !order.contains("ENOSPC:once") || head >= UInt64(Endurance.writes - 1),
      "P6: only \(head) writes succeeded, although the disk was full once")
    do { try database.close() } catch is DatabaseError {}
  }

  private func opened() throws -> Database? {
    do { return try run.open() } catch is DatabaseError { return nil }
  }

  private func write(_ database: Database) throws -> UInt64 {
    run.marks.submitted()
    let number = try database.write { tx in
      try run.script.perform(tx)
      return tx.sequence.rawValue
    }
    run.marks.acknowledged(number)
    return number
  }

  /// What could be seen can be seen. A write whose outcome is unknown may show.
  private func checkReading(_ database: Database, atLeast head: UInt64) throws {
    let seen = try database.head.rawValue
    try demand(seen >= head || seen + 1 == head, "P6: \(seen) is seen of \(head)")
    try Checker(script: run.script).compare(database, at: seen, isPresent: true)
  }
}

extension DatabaseError {
  /// Whether the operating system failed to read or write.
  fileprivate var isInputOutput: Bool {
    switch self {
    case .ioFailure, .outcomeUnknown: true
    default: false
    }
  }

  /// Whether LMDB's meta page could not be written: then LMDB refuses everything, reading too,
  /// until the database is opened again.
  fileprivate var isUncertain: Bool { isUnknown || "\(self)".contains("MDB_PANIC") }

  /// Whether the write may have been stored.
  fileprivate var isUnknown: Bool { if case .outcomeUnknown = self { true } else { false } }
}
