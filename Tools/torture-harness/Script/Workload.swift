import Cambium
import FoundationEssentials
import LMDB

/// Something that an application does to a database, from creating it on, in a process of its own.
/// Its writes follow from a seed; how its threads interleave does not.
enum Workload: String, CaseIterable, Codable, Sendable {
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
  func script(seed: UInt64, _ sizes: Sizes) -> Script {
    switch self {
    case .create: Script(seed: seed, .small, count: 8, sizes)
    case .large: Script(seed: seed, .large, count: 10, sizes)
    case .group: Script(seed: seed, .small, count: 26, sizes)
    case .erase: Script(seed: seed, .small, count: 22, erasures: [4, 9], sizes)
    case .migrate: Script(seed: seed, .migrating, count: 26, sizes)
    default: Script(seed: seed, .small, count: 22, sizes)
    }
  }
}

/// One thing that a workload does.
enum Act: Sendable {
  case open, close
  /// So many transactions, one after the other.
  case write(Int)
  /// So many async writes at a time.
  case writeTogether(Int)
  case rebuild, checkpoint, vacuum, erase
  case compact(upTo: SequenceNumber, archives: Bool = false)
  case backUp, backUpToFile
  /// Into the database of that number.
  case restore(UInt64, upTo: UInt64)
}

extension Workload {
  /// The acts, in order. Where the last is not to close, the process ends as an application that
  /// crashes does.
  var acts: [Act] {
    switch self {
    case .create: [.open, .close, .open, .write(2), .close]
    case .single: [.open, .write(8), .close, .open, .write(8)]
    case .group: [.open, .writeTogether(8), .writeTogether(8), .writeTogether(8), .close]
    case .large: [.open, .write(8), .close]
    case .rebuild:
      [.open, .write(6), .rebuild, .write(4), .rebuild, .close, .open, .write(4)]
    case .checkpoint: [.open] + repeatElement([.write(1), .checkpoint], count: 8).joined()
    case .compaction:
      [
        .open, .write(5), .compact(upTo: 3), .write(2), .close, .vacuum,
        .open, .write(2), .compact(upTo: 7, archives: true), .write(2), .compact(upTo: 10),
        .write(1),
      ]
    case .erase:
      [
        .open, .write(3), .close, .erase,
        .open, .write(2), .compact(upTo: 5, archives: true), .write(2), .close, .erase,
        .open, .write(2),
      ]
    // The backup's third part begins a new stretch, since what came next is compacted by then.
    case .backup:
      [
        .open, .write(4), .backUp, .write(3), .backUp, .restore(1, upTo: 7), .write(2),
        .compact(upTo: 8), .write(2), .backUp, .restore(2, upTo: 10), .restore(3, upTo: 3),
        .backUpToFile,
      ]
    // Closes in the middle of the migration, and compacts what its first batches were.
    case .migrate:
      [.open, .write(11), .close, .open, .write(5), .compact(upTo: 13), .write(9)]
    case .pair: [.open, .write(9), .close]
    }
  }
}

/// Runs a workload in this process, and marks what it hands over and what is acknowledged.
struct WorkloadRun: Sendable {
  let workload: Workload
  let script: Script
  let path: String
  let marks: MarkWriter
  let options: Database.Options

  private var places: BackupPlaces { BackupPlaces(path) }

  /// Does the acts, one after the other.
  func run(_ acts: [Act]) async throws {
    var database: Database?
    for act in acts {
      switch (act, database) {
      case (.open, nil): database = try open()
      case (.vacuum, nil): try vacuum()
      case (.erase, nil): try erase()
      case (.writeTogether(let count), let opened?): try await write(count, togetherTo: opened)
      case (_, let opened?):
        try perform(act, opened)
        if case .close = act { database = nil }
      case (_, nil): throw Failure("\(act), and no database is open")
      }
    }
    withExtendedLifetime(database) {}
  }

  private func write(_ count: Int, togetherTo database: Database) async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<count { tasks.addTask { _ = try await asyncWrite(database) } }
      try await tasks.waitForAll()
    }
  }

  private func perform(_ act: Act, _ database: Database) throws {
    switch act {
    case .write(let count): for _ in 0..<count { try write(database) }
    case .close: try database.close()
    case .rebuild: try database.rebuild()
    case .checkpoint: database.finishCheckpoint()
    case .compact(let target, let archives): try database.compact(upTo: target, archives: archives)
    case .backUp: try backUp(database)
    case .backUpToFile: try backUpToFile(database)
    case .restore(let number, let sequence): try restore(number, upTo: sequence)
    case .open, .vacuum, .erase, .writeTogether: throw Failure("\(act), and the database is open")
    }
  }

  func open() throws -> Database {
    let database = try Database(at: path, options: options)
    marks.created()
    return database
  }

  func vacuum() throws {
    try Database.vacuum(at: path, options: options)
  }

  /// Erases, and marks that as a transaction.
  func erase() throws {
    marks.submitted()
    let erasure = try Database.erase(Script.lastPath, at: path, options: options)
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
      options: options)
    marks.restored(number)
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
}

extension Database.Options {
  /// Options with room for everything that is written here.
  static var roomy: Database.Options {
    var options = Database.Options()
    options.mapSize = 1 << 30
    return options
  }
}
