import Cambium
import FoundationEssentials
import Synchronization

/// Opens the database that a command names, as every command does it.
///
/// - A command that only reads never creates one. Transactions that a crash kept out of the state
///   are folded in where the directory can be written; where it cannot, standard error says how old
///   the shown state is.
/// - Where the state must be rebuilt first, a bar shows how far that is, and Ctrl-C ends it.
/// - Whoever must wait for another writer waits as long as `--wait` says.
///
/// The call closes what it has opened when it ends.
enum OpenDatabase {
  /// Opens a database for a command that only reads.
  ///
  /// - Throws: ``DatabaseError``; ``Failure`` after Ctrl-C.
  static func forReading(_ call: Call) throws -> Database {
    let reports = Reports()
    let database = try open(call, creating: false, reports)
    if !call.isQuiet { reports.tell(about: call.database) }
    return database
  }

  /// Opens a database for a command that writes, and creates it where it is missing and that is
  /// wanted.
  ///
  /// - Throws: ``DatabaseError``; ``Failure`` after Ctrl-C.
  static func forWriting(_ call: Call, creating: Bool = false) throws -> Database {
    try open(call, creating: creating, Reports())
  }

  /// Opens a database, and returns true as well if its state was rebuilt on the way.
  static func forReplaying(_ call: Call) throws -> (database: Database, isRebuilt: Bool) {
    let reports = Reports()
    let database = try open(call, creating: false, reports)
    return (database, reports.isRebuilt)
  }

  /// Checks that a database can be made at a path: the folder around it must be there.
  static func checkFolder(of path: String) throws(Failure) {
    let parent = URL(filePath: path).deletingLastPathComponent()
    if FileManager.default.fileExists(atPath: parent.path) { return }
    throw Failure(
      .missing, "no_folder", "\(path) cannot be made: the folder around it does not exist",
      hint: "make the folder first")
  }

  /// Opens a database that was made a moment ago.
  static func existing(_ path: String, _ progress: @escaping ProgressHandler) throws -> Database {
    var options = Database.Options()
    options.createIfMissing = false
    return try Database(at: path, options: options, progress: progress)
  }

  /// Opens a second database, which the command only reads.
  static func other(_ call: Call, _ path: String) throws -> Database {
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    return call.keep(try existing(path, bar.handler))
  }

  private static func open(_ call: Call, creating: Bool, _ reports: Reports) throws -> Database {
    if let served = call.served { return served.database }
    if creating { try checkFolder(of: call.database) }
    var options = call.databaseOptions
    options.createIfMissing = creating
    options.diagnostics = { reports.add($0) }
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    let database = try Database(at: call.database, options: options) { step in
      Signals.deferInterrupts()
      return bar.handler(step)
    }
    if !call.command.stopsSafely { try Signals.stopDeferring() }
    return call.keep(database)
  }
}

/// The diagnostics that the database reported while it was opened.
private final class Reports: Sendable {
  private struct Notes {
    var rebuildReason: String?
    var behind: (applied: SequenceNumber, head: SequenceNumber)?
    var damaged: (record: SequenceNumber, readable: SequenceNumber)?
  }

  private let notes = Mutex(Notes())

  /// True if the state was rebuilt.
  var isRebuilt: Bool { notes.withLock { $0.rebuildReason != nil } }

  func add(_ diagnostic: Diagnostic) {
    notes.withLock { notes in
      switch diagnostic {
      case .stateRebuilt(let reason): notes.rebuildReason = reason
      case .stateBehind(let applied, let head): notes.behind = (applied, head)
      case .logDamaged(let record, let readable, _): notes.damaged = (record, readable)
      case .snapshotHeld, .checkpointFailed, .compactionFailed, .indexBuildFailed,
        .projectionFailed, .stateUpdateFailed, .flushFailed, .clockLeapt, .clockBehind,
        .scrubFoundDamage:
        break
      }
    }
  }

  /// Says it on standard error.
  func tell(about path: String) {
    let name = Terminal.escaped(path)
    let notes = notes.withLock { $0 }
    if let reason = notes.rebuildReason {
      System.note("the state of \(name) was rebuilt: \(Terminal.escaped(reason))")
    }
    if let damaged = notes.damaged {
      System.note(
        "record \(damaged.record) of the log of \(name) is damaged, so this shows "
          + "transaction \(damaged.readable), and nothing can be written; `cambium repair` says "
          + "what can be saved")
    }
    if let behind = notes.behind {
      System.note(
        "\(name) cannot be written, so this shows transaction \(behind.applied) although "
          + "\(behind.head) is the newest")
    }
  }
}
