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
  /// One record is erased between writes, compactions and checkpoints.
  case erase
  /// Bodies throw, parts of transactions are undone, and positions are kept for the next commit.
  case undone
  /// Records share photos, and compaction gives up those to which nothing refers.
  case photos
  /// Moments are tagged, the rest is archived in several segments, and the state is rebuilt.
  case tags
  /// The database is backed up between writes and compactions, and restored.
  case backup
  /// The declaration of a collection changes between writes, and its records are migrated.
  case migrate
  /// Commits are flushed later: in the background, when that is asked for, and at the end.
  case soon
  /// Two processes write to one database.
  case pair

  /// The number of processes that it takes.
  var processes: Int { self == .pair ? 2 : 1 }

  /// True if it makes new states itself.
  var rebuilds: Bool { self == .rebuild || self == .tags }

  /// The script of its writes, with one transaction more for the checker.
  func script(seed: UInt64, _ sizes: Sizes) -> Script {
    switch self {
    case .create: Script(seed: seed, .small, count: 8, sizes)
    case .large: Script(seed: seed, .large, count: 10, sizes)
    case .group: Script(seed: seed, .small, count: 26, sizes)
    case .erase: Script(seed: seed, .photos, count: 22, erasures: [4, 9], sizes)
    case .undone, .tags: Script(seed: seed, .staff, count: 22, sizes)
    case .photos: Script(seed: seed, .photos, count: 22, sizes)
    case .migrate: Script(seed: seed, .migrating, count: 26, sizes)
    default: Script(seed: seed, .small, count: 22, sizes)
    }
  }
}

/// One thing that a workload does.
enum Act: Sendable {
  case open, close
  /// Opens, and makes a checkpoint after almost every write from then on.
  case openCheckpointing
  /// So many transactions, one after the other.
  case write(Int)
  /// So many async writes at a time.
  case writeTogether(Int)
  case rebuild, checkpoint, vacuum, erase, sync
  case compact(upTo: SequenceNumber, archives: Bool = false)
  /// Archives all but the newest transactions and what tags keep.
  case archive
  /// Tags a transaction, or removes its tag.
  case tag(UInt64), untag(UInt64)
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
        .open, .write(2), .compact(upTo: 5, archives: true), .close,
        .openCheckpointing, .write(1), .checkpoint, .write(1), .close, .erase,
        .open, .write(2),
      ]
    case .undone: [.open, .write(4), .writeTogether(5), .write(2), .close, .open, .write(4)]
    case .photos:
      [
        .open, .write(6), .compact(upTo: 3), .write(3), .compact(upTo: 6), .close,
        .open, .write(3), .compact(upTo: 9), .write(2),
      ]
    case .tags:
      [
        .open, .write(4), .tag(3), .write(2), .rebuild, .archive, .write(3), .tag(8), .untag(3),
        .close, .open, .archive, .rebuild, .write(2), .archive, .tag(10), .untag(8), .archive,
        .write(1),
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
    case .soon:
      [.open, .write(4), .sync, .write(3), .close, .open, .write(5), .sync, .write(3)]
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
  /// The options that it opens with.
  private let options: Database.Options
  /// The position that the open database keeps for the next commit.
  private let kept = ScriptClock()
  /// The newest transaction that was written.
  private let written = ScriptClock()

  /// Records get the script's times if `hasTimes` is true, and otherwise the system's.
  init(
    workload: Workload, script: Script, path: String, marks: MarkWriter,
    options: Database.Options, hasTimes: Bool = true
  ) {
    (self.workload, self.script, self.path, self.marks) = (workload, script, path, marks)
    var options = options
    if hasTimes { options.clock = { [times = script.times] in times.now } }
    self.options = options
  }

  private var places: BackupPlaces { BackupPlaces(path) }

  /// Does the acts, one after the other.
  func run(_ acts: [Act]) async throws {
    var database: Database?
    for act in acts {
      switch (act, database) {
      case (.open, nil): database = try open()
      case (.openCheckpointing, nil): database = try open(checkpoints: true)
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
      for _ in 0..<count {
        if workload == .undone { tasks.addTask { try await asyncUndone(database) } }
        tasks.addTask { _ = try await asyncWrite(database) }
      }
      try await tasks.waitForAll()
    }
  }

  private func perform(_ act: Act, _ database: Database) throws {
    switch act {
    case .write(let count): for _ in 0..<count { try write(database) }
    case .close:
      try database.close()
      markFlushed()
    case .sync:
      try database.sync()
      markFlushed()
    case .rebuild: try database.rebuild()
    case .checkpoint: database.finishCheckpoint()
    case .compact(let target, let archives): try database.compact(upTo: target, archives: archives)
    case .backUp: try backUp(database)
    case .backUpToFile: try backUpToFile(database)
    case .restore(let number, let sequence): try restore(number, upTo: sequence)
    case .archive: try archive(database)
    case .tag(let number): try tag(number, database)
    case .untag(let number): try untag(number, database)
    case .open, .openCheckpointing, .vacuum, .erase, .writeTogether:
      throw Failure("\(act), and the database is open")
    }
  }

  func open(checkpoints: Bool = false) throws -> Database {
    var options = options
    if checkpoints { options.checkpointGrowth = 1 }
    let database = try Database(at: path, options: options)
    marks.created()
    kept.set(0)
    return database
  }

  func vacuum() throws {
    try Database.vacuum(at: path, options: options)
  }

  /// Erases, and marks that as a transaction.
  func erase() throws {
    marks.submitted()
    let erasure = try Database.erase(Staff.erased, at: path, options: options)
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

  /// Archives what the newest two transactions and tags do not keep.
  func archive(_ database: Database) throws {
    var retention = Retention(transactions: 2)
    retention.archives = true
    try database.compact(keeping: retention)
  }

  /// Tags a transaction, and marks that.
  func tag(_ number: UInt64, _ database: Database) throws {
    marks.tagging(number)
    try database.tag(TagMarks.name(number), at: .sequence(SequenceNumber(number)))
    marks.tagged(number)
  }

  /// Removes the tag of a transaction, and marks that.
  func untag(_ number: UInt64, _ database: Database) throws {
    marks.untagging(number)
    try database.removeTag(TagMarks.name(number))
    marks.untagged(number)
  }

  /// Writes one transaction, and marks it.
  ///
  /// - Returns: Its number.
  @discardableResult
  func write(_ database: Database) throws -> UInt64 {
    if workload == .undone {
      try keepPosition(database)
      try undone(database)
    }
    marks.submitted()
    let sequence = try script.writeNext(database)
    if workload == .soon {
      marks.written(sequence)
      written.set(sequence)
    } else {
      marks.acknowledged(sequence)
    }
    return sequence
  }

  /// Marks that all which was written is on the disk.
  private func markFlushed() {
    if workload == .soon { marks.acknowledged(written.number) }
  }

  /// Keeps the head as a consumer's position, once for each opening and head.
  private func keepPosition(_ database: Database) throws {
    guard let head = try? database.head.rawValue, head > kept.number else { return }
    marks.kept(head)
    try database.consumer(Script.keeper).advance(to: SequenceNumber(head))
    kept.set(head)
  }

  /// The position that must be kept still, or stored.
  func checkPosition(_ database: Database) throws {
    if workload != .undone { return }
    let position = try database.consumer(Script.keeper).position().rawValue
    try demand(
      position >= kept.number, "P6: position \(kept.number) was kept, and now it is \(position)")
  }

  /// Does the next transaction, and then throws; nothing may be left of it.
  private func undone(_ database: Database) throws {
    do {
      try database.write { tx in
        try script.perform(tx)
        throw Step.Undone()
      }
    } catch is Step.Undone {} catch is DatabaseError {}
  }

  private func asyncUndone(_ database: Database) async throws {
    do {
      try await database.write { tx in
        try script.perform(tx)
        throw Step.Undone()
      }
    } catch is Step.Undone {}
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
