import FoundationEssentials
import LMDB
import Synchronization
import Testing

@testable import Cambium

/// A place for a database that a test opens, closes, damages and opens again.
final class Place: Sendable {
  private let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = "\(directory.path)/test.cambium"
  }

  /// Opens the database, or creates it.
  func open(_ configure: (inout Database.Options) -> Void = { _ in }) throws -> Database {
    var options = Database.Options()
    configure(&options)
    return try Database(at: path, options: options)
  }

  /// Opens the database, and closes it after `body`.
  @discardableResult
  func use<R>(
    _ configure: (inout Database.Options) -> Void = { _ in }, _ body: (Database) throws -> R
  ) throws -> R {
    let database = try open(configure)
    let result = try body(database)
    try database.close()
    return result
  }

  /// Creates a database with nodes `n/1` to `n/count`, one transaction each.
  func fill(_ count: Int64) throws {
    try use { database in
      for number in 0..<count {
        try database.write { tx in
          try tx.set(NodePath(keys: ["n", .integer(number + 1)]), to: .integer(number + 1))
        }
      }
    }
  }

  /// Opens the database once more, and checks that it is sound.
  func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try use { try CambiumTests.expectSound($0, sourceLocation: sourceLocation) }
  }

  // MARK: Files

  /// The path of the file that holds the log.
  var log: String { "\(path)/log/data.mdb" }

  /// The path of the file that holds the state.
  var state: String {
    get throws {
      let name = try names.first { $0.hasPrefix("state-") && !$0.hasSuffix(".tmp") }
      return "\(path)/\(try #require(name))/data.mdb"
    }
  }

  /// The names of everything in the database's directory.
  var names: [String] { get throws { try Files.names(in: path) } }

  /// The names of everything beside the database, and its own.
  var neighbors: [String] { get throws { try Files.names(in: directory.path) } }

  /// A path beside the database.
  func beside(_ name: String) -> String { "\(directory.path)/\(name)" }

  // MARK: Changing what is stored

  /// Changes the closed database's log behind its back, as a crash or a bad disk might.
  ///
  /// Where `keepingHead` is set the head stays as it is, which makes it look torn.
  func editLog(
    keepingHead: Bool = false, _ body: (borrowing WriteTransaction, LogTables) throws -> Void
  ) throws {
    let log = try Log(at: "\(path)/log", .init(tables: [], mapSize: 1 << 30))
    let transaction = try WriteTransaction(log.lmdb)
    var head = try log.read { try $0.head() }
    head.transaction = transaction.access.number
    if !keepingHead {
      try transaction.put(log.tables.meta, "head", MetaEntry.seal(head.stored(), name: "head"))
    }
    try body(transaction, log.tables)
    try transaction.commit()
    log.close()
  }

  /// Changes the closed database's state behind its back.
  func editState(_ body: (borrowing WriteTransaction, StateTables) throws -> Void) throws {
    let state = try State(
      at: Files.parent(of: self.state), generation: 0, .init(tables: [], mapSize: 1 << 30))
    let transaction = try WriteTransaction(state.environment)
    try body(transaction, state.tables)
    try transaction.commit()
    state.environment.close()
  }

  /// The log's mark of the state, while the database is closed.
  var mark: StateMark? {
    get throws {
      let log = try Log(at: "\(path)/log", .init(tables: [], mapSize: 1 << 30))
      defer { log.close() }
      return try log.read { try $0.stateMark() }
    }
  }

  /// Changes the log's mark of the state.
  func setMark(_ change: (inout StateMark) -> Void) throws {
    var mark = try #require(try mark)
    change(&mark)
    try editLog { try $0.put($1.meta, "state", MetaEntry.seal(mark.stored(), name: "state")) }
  }

  /// Makes the state look like one that was in use when the system stopped.
  func distrust() throws {
    try setMark {
      $0.isClean = false
      $0.boot = "another"
    }
  }

  /// Appends a record to the closed database's log, and not to its state.
  func appendToLog(_ node: NodePath, _ value: Value) throws {
    let log = try Log(at: "\(path)/log", .init(tables: [], mapSize: 1 << 30))
    try log.append(node, value)
    log.close()
  }

  /// Flips a bit of a record in the closed database's log.
  func damageRecord(_ sequence: SequenceNumber) throws {
    try editLog { transaction, tables in
      let key = LogTables.recordKey(sequence, part: 0)
      let stored = try key.lend { try transaction.access.get(tables.records, $0) { $0.array() } }
      var record = try #require(stored)
      record[record.count / 2] ^= 4
      try key.lend { key in try record.lend { try transaction.put(tables.records, key, $0) } }
    }
  }

  /// Every file below the database's directory, with its size and modification time; of LMDB's
  /// locks, which each opening writes to, the name and size.
  func listing() throws -> [String] {
    let files = FileManager.default
    return try files.subpathsOfDirectory(atPath: path).sorted().map { name in
      let attributes = try files.attributesOfItem(atPath: "\(path)/\(name)")
      let named = "\(name) \(attributes[.size] ?? 0)"
      return name.hasSuffix("/lock.mdb") ? named : "\(named) \(attributes[.modificationDate] ?? 0)"
    }
  }
}

extension Database {
  /// Appends a record to the log alone, as a crash between the two commits leaves it.
  func appendToLog(_ node: NodePath, _ value: Value) throws {
    try directory.log.append(node, value)
  }
}

extension Log {
  fileprivate func append(_ node: NodePath, _ value: Value) throws {
    var (head, format) = try read { (try $0.head(), try $0.format()) }
    var operations = OperationWriter()
    operations.write(.set(node, Content(kind: .scalar, bytes: try value.stored())))
    head.time += 1
    head.clock = head.clock.next(microseconds: head.time)
    let record = TransactionRecord(
      sequence: head.sequence.next, clock: head.clock, time: head.time, origin: format.origin,
      metadata: [:], operations: operations, previous: head.link)
    head.sequence = record.sequence
    head.link = record.link
    try write(head: head) { try $0.append(record) }
  }
}

extension WriteTransaction {
  func put(_ table: Table, _ key: String, _ value: [UInt8]) throws {
    try Array(key.utf8).lend { key in try value.lend { try put(table, key, $0) } }
  }
}

extension MetaEntry {
  static func seal(_ value: [UInt8], name: String) -> [UInt8] {
    seal(value, name: Array(name.utf8))
  }
}

/// The diagnostics that a database reported.
final class Heard: Sendable {
  private let all = Mutex<[Diagnostic]>([])

  func add(_ diagnostic: Diagnostic) { all.withLock { $0.append(diagnostic) } }

  /// The reason for each rebuild of the state.
  var rebuilds: [String] {
    all.withLock { all in
      all.compactMap { if case .stateRebuilt(let reason) = $0 { reason } else { nil } }
    }
  }

  /// The number of flushes that failed.
  var flushes: Int {
    all.withLock { all in
      all.count { if case .flushFailed = $0 { true } else { false } }
    }
  }

  /// The records of the log that were found damaged, each time.
  var damaged: [SequenceNumber] {
    all.withLock { all in
      all.compactMap { if case .logDamaged(let record, _, _) = $0 { record } else { nil } }
    }
  }

  /// The transactions that were stored and could not be read, each time.
  var unread: [SequenceNumber] {
    all.withLock { all in
      all.compactMap { if case .stateUpdateFailed(_, let head, _) = $0 { head } else { nil } }
    }
  }

  /// The reason for each failure to make or use a checkpoint.
  var failures: [String] {
    all.withLock { all in
      all.compactMap { if case .checkpointFailed(let reason) = $0 { reason } else { nil } }
    }
  }
}
