import Cambium
import Synchronization

/// Opens the database that a command names, as every command does it.
///
/// - A command that only reads never creates one. What a crash kept from the state is folded in,
///   where the directory can be written; where it cannot, standard error says how old what is shown
///   is.
/// - Where the state must be rebuilt first, a bar shows how far that is, and Ctrl-C ends it.
/// - Whoever must wait for another writer waits as long as `--wait` says.
///
/// Close what is opened: `defer { try? database.close() }`. A database that nobody uses any more is
/// closed early, even while a commit of it is still read.
enum OpenDatabase {
  /// Opens a database for a command that only reads.
  ///
  /// - Throws: ``DatabaseError``; ``Failure`` after Ctrl-C.
  static func forReading(_ invocation: Invocation) throws -> Database {
    let reports = Reports()
    let database = try open(invocation, creating: false, reports)
    try reports.tell(about: database, isQuiet: invocation.isQuiet)
    return database
  }

  /// Opens a database for a command that writes, and creates it where it is missing and that is
  /// wanted.
  ///
  /// - Throws: ``DatabaseError``; ``Failure`` after Ctrl-C.
  static func forWriting(_ invocation: Invocation, creating: Bool = false) throws -> Database {
    try open(invocation, creating: creating, Reports())
  }

  /// Opens a database, and tells whether its state was rebuilt on the way.
  static func forReplaying(
    _ invocation: Invocation
  ) throws -> (database: Database, isRebuilt: Bool) {
    let reports = Reports()
    let database = try open(invocation, creating: false, reports)
    return (database, reports.rebuildReason != nil)
  }

  private static func open(
    _ invocation: Invocation, creating: Bool, _ reports: Reports
  ) throws -> Database {
    var options = Database.Options()
    options.createIfMissing = creating
    options.busyTimeout = invocation.patience
    options.diagnostics = { reports.add($0) }
    let bar = ProgressBar(invocation, unit: "transactions")
    defer { bar.finish() }
    let database = try Database(at: invocation.database, options: options) { step in
      Signals.deferInterrupts()
      return bar.update(step.phase, step.done, of: step.total)
    }
    if !invocation.command.stopsSafely { try Signals.stopDeferring() }
    return database
  }
}

/// What the database reported while it was opened.
private final class Reports: Sendable {
  private let reason = Mutex<String?>(nil)

  /// Why the state was rebuilt, or could not be brought up to the log.
  var rebuildReason: String? { reason.withLock { $0 } }

  func add(_ diagnostic: Diagnostic) {
    if case .stateRebuilt(let text) = diagnostic { reason.withLock { $0 = text } }
  }

  /// Says it on standard error.
  func tell(about database: Database, isQuiet: Bool) throws {
    guard !isQuiet, let reason = rebuildReason else { return }
    let information = try database.information()
    let name = Terminal.escaped(database.path)
    if information.applied < information.head {
      System.complain(
        "cambium: \(name) cannot be written, so this shows transaction \(information.applied) "
          + "although \(information.head) is the newest\n")
    } else {
      System.complain(
        "cambium: the state of \(name) was rebuilt: \(Terminal.escaped(reason))\n")
    }
  }
}
