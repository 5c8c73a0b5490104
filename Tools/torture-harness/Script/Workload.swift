import Cambium
import FoundationEssentials
import LMDB

/// Something that an application does to a database, from creating it on, in a process of its own.
/// Its writes follow from a seed; how its threads interleave does not.
enum Workload: String, CaseIterable, Sendable {
  /// Creates a database, closes and opens it again.
  case create
  /// One write after the other, with a pause in the middle during which the database is closed.
  case single
  /// Many async writes at a time, which are committed in groups.
  case group
  /// Transactions of many pages between small ones.
  case large
  /// The state is rebuilt between writes.
  case rebuild
  /// A checkpoint is made after almost every write.
  case checkpoint
  /// The log's old end is dropped, then archived, between writes; in the middle free pages are
  /// given back.
  case compaction
  /// The values of each transaction at one place are erased between writes and compactions.
  case erase
  /// The database is backed up between writes and compactions, and restored.
  case backup
  /// The declaration of a collection changes between writes, and its records are migrated.
  case migrate
  /// Two processes write to one database.
  case pair

  /// The number of processes that it takes.
  var processes: Int { self == .pair ? 2 : 1 }

  /// The script of its writes, with one transaction more for the checker.
  func script(seed: UInt64) -> Script {
    switch self {
    case .create: Script(seed: seed, .small, count: 8)
    case .large: Script(seed: seed, .large, count: 10)
    case .group: Script(seed: seed, .small, count: 26)
    case .erase: Script(seed: seed, .small, count: 22, erasures: [4, 9])
    case .migrate: Script(seed: seed, .migrating, count: 26)
    default: Script(seed: seed, .small, count: 22)
    }
  }
}

/// Runs a workload in this process, and marks what it hands over and what is acknowledged.
struct WorkloadRun: Sendable {
  let workload: Workload
  let script: Script
  let path: String
  let marks: MarkWriter

  private var places: BackupPlaces { BackupPlaces(path) }

  func run() async throws {
    switch workload {
    case .create: try create()
    case .single: try single()
    case .group: try await group()
    case .large: try writeAll(8)
    case .rebuild: try rebuild()
    case .checkpoint: try checkpoint()
    case .compaction: try compaction()
    case .erase: try eraseTwice()
    case .backup: try backup()
    case .migrate: try migrate()
    case .pair: try writeAll(9)
    }
  }

  func open(checkpointGrowth: Int? = nil) throws -> Database {
    let database = try Database(at: path, options: options(checkpointGrowth: checkpointGrowth))
    marks.created()
    return database
  }

  func vacuum() throws {
    try Database.vacuum(at: path, options: options())
  }

  /// Erases, and marks that as a transaction.
  func erase() throws {
    marks.submitted()
    let erasure = try Database.erase(Script.lastPath, at: path, options: options())
    marks.acknowledged(erasure.sequence.rawValue)
  }

  /// Adds to the backup, and marks what it holds then.
  func backUp(_ database: Database) throws {
    try database.backUp(to: places.directory)
    marks.backedUp(try BackupChecker.stretches(of: places.directory))
  }

  /// Backs up to one file, and marks it.
  func backUpToFile(_ database: Database) throws {
    let newest = try database.backUp(toFile: places.file).newest.rawValue
    _ = try BackupChecker.stretches(of: places.file)
    marks.inOneFile(newest)
  }

  /// Restores a moment of the backup into a database with a number, and marks that.
  func restore(_ number: UInt64, upTo sequence: UInt64) throws {
    marks.restoring(number, sequence)
    try Database.restore(
      places.directory, to: places.restored(number), upTo: .sequence(SequenceNumber(sequence)),
      options: options())
    marks.restored(number)
  }

  private func options(checkpointGrowth: Int? = nil) -> Database.Options {
    var options = Database.Options()
    options.checkpointGrowth = checkpointGrowth
    options.mapSize = 1 << 30
    options.busyTimeout = .seconds(20)
    options.buildsIndexesLater = workload == .migrate
    return options
  }

  /// Writes one transaction, and marks it.
  ///
  /// - Returns: Its number.
  @discardableResult
  func write(_ database: Database) throws -> UInt64 {
    marks.submitted()
    let sequence = try script.writeNext(database)
    marks.acknowledged(sequence)
    return sequence
  }

  /// As ``write(_:)``, without blocking.
  @discardableResult
  func asyncWrite(_ database: Database) async throws -> UInt64 {
    marks.submitted()
    let sequence = try await database.write { tx in
      try script.perform(tx)
      return tx.sequence.rawValue
    }
    marks.acknowledged(sequence)
    return sequence
  }

  private func write(_ count: Int, to database: Database) throws {
    for _ in 0..<count { try write(database) }
  }

  // MARK: The workloads

  private func create() throws {
    let database = try open()
    try database.close()
    let again = try open()
    try write(2, to: again)
    try again.close()
  }

  private func single() throws {
    let database = try open()
    try write(8, to: database)
    try database.close()
    let again = try open()
    try write(8, to: again)
    // The process ends without closing, as an application that crashes does.
    withExtendedLifetime(again) {}
  }

  private func group() async throws {
    let database = try open()
    for _ in 0..<3 {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for _ in 0..<8 { tasks.addTask { _ = try await asyncWrite(database) } }
        try await tasks.waitForAll()
      }
    }
    try await database.close()
  }

  /// Nothing but so many writes.
  func writeAll(_ count: Int) throws {
    let database = try open()
    try write(count, to: database)
    try database.close()
  }

  private func rebuild() throws {
    let database = try open()
    try write(6, to: database)
    try database.rebuild()
    try write(4, to: database)
    try database.rebuild()
    try database.close()
    let again = try open()
    try write(4, to: again)
  }

  private func compaction() throws {
    let database = try open()
    try write(5, to: database)
    try database.compact(upTo: 3)
    try write(2, to: database)
    try database.close()
    try vacuum()
    let again = try open()
    try write(2, to: again)
    try again.compact(upTo: 7, archives: true)
    try write(2, to: again)
    try again.compact(upTo: 10)
    try write(again)
    withExtendedLifetime(again) {}
  }

  private func eraseTwice() throws {
    let database = try open()
    try write(3, to: database)
    try database.close()
    try erase()
    let again = try open()
    try write(2, to: again)
    try again.compact(upTo: 5, archives: true)
    try write(2, to: again)
    try again.close()
    try erase()
    let last = try open()
    try write(2, to: last)
    withExtendedLifetime(last) {}
  }

  /// The backup's third part begins a new stretch, since what came next is compacted by then.
  private func backup() throws {
    let database = try open()
    try write(4, to: database)
    try backUp(database)
    try write(3, to: database)
    try backUp(database)
    try restore(1, upTo: 7)
    try write(2, to: database)
    try database.compact(upTo: 8)
    try write(2, to: database)
    try backUp(database)
    try restore(2, upTo: 10)
    try restore(3, upTo: 3)
    try backUpToFile(database)
    withExtendedLifetime(database) {}
  }

  /// Closes in the middle of the migration, and compacts what its first batches were.
  private func migrate() throws {
    let database = try open()
    try write(11, to: database)
    try database.close()
    let again = try open()
    try write(5, to: again)
    try again.compact(upTo: 13)
    try write(9, to: again)
    withExtendedLifetime(again) {}
  }

  private func checkpoint() throws {
    let database = try open(checkpointGrowth: 1)
    for _ in 0..<8 {
      try write(database)
      database.finishCheckpoint()
    }
    withExtendedLifetime(database) {}
  }
}
