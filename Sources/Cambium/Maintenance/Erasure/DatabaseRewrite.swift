import LMDB

/// A database that is made again from fresh files, in a directory of its own, until they take the
/// place of those that it has.
struct DatabaseRewrite {
  let path: String
  private let options: Database.Options
  private let claim: ClaimedDirectory
  /// The log as it is, and the one that is made.
  let old: Log
  let new: Log

  /// Begins to rewrite the database in a directory.
  init(_ path: String, _ options: Database.Options) throws {
    self.path = path
    self.options = options
    claim = try ClaimedDirectory(creating: Database.temporaryPath("\(path)/erase", "-"))
    try Files.createDirectory("\(claim.path)/log")
    old = try Log(at: "\(path)/log", options.environment(readOnly: false))
    new = try Log(at: "\(claim.path)/log", options.environment(readOnly: false))
  }

  /// Closes both logs, and removes what was made and not published.
  func cleanUp() {
    old.close()
    new.close()
    try? Files.removeDirectory(claim.path)
  }

  /// The sizes of the data files in the database's directory, and of those that were made.
  var bytesInUse: UInt64 { DatabaseRewrite.bytes(in: path) }
  var bytesMade: UInt64 { DatabaseRewrite.bytes(in: claim.path) }

  /// A state in the directory that is being made: empty, or what a baseline holds.
  func state(
    _ name: String, from baseline: BaselineMark, in directory: String? = nil
  ) throws -> State {
    let place = "\(claim.path)/\(name)"
    try Files.createDirectory(place)
    let options = options.environment(readOnly: false)
    try Baseline.makeState(from: baseline, of: directory ?? claim.path, in: place, options)
    let state = try State(at: place, generation: 0, options)
    try state.makeRoomForChanges()
    return state
  }

  /// Copies tags, positions, the policy and all else that is not about the rewritten files.
  func copyEntries(_ head: LogHead) throws {
    let (names, mark) = try old.read { (try $0.entryNames(), try $0.stateMark()) }
    try new.write(head: head) { writer in
      for name in names where !DatabaseRewrite.isLeftOut(name) {
        try old.read { log in
          _ = try log.entry(name) { try writer.setEntry(name, $0.array()) }
        }
      }
      try writer.setStateMark(
        StateMark(
          generation: (mark?.generation ?? 0) + 1, isClean: true,
          boot: options.systemStart ?? Platform.bootIdentity(),
          mount: options.mountIdentity ?? Platform.mountIdentity(of: path)))
    }
  }

  /// True for what the rewritten files have of their own, and for notes: an answer that is kept for
  /// a repeated request may hold what is erased.
  private static func isLeftOut(_ name: String) -> Bool {
    name.hasPrefix(LogNotes.prefix)
      || [
        "format", "head", "state", "checkpoint", "tail", BaselineMark.name,
        BaselineMark.archiveName,
      ]
      .contains(name)
  }

  // MARK: Publishing

  /// Gives everything its name. The log comes last: with it all the rest counts, and what it does
  /// not name any more is swept.
  ///
  /// - Parameter sequence: The transaction whose outcome is unknown where the last step fails.
  /// - Throws: ``DatabaseError/busy(reason:)`` where another process has the database open: nothing
  ///   has changed then; ``DatabaseError/outcomeUnknown(_:)``.
  func publish(_ sequence: SequenceNumber) throws {
    let (generation, marks) = try new.read { log in
      (try log.stateMark()?.generation ?? 1, [try log.baseline(), try log.archiveStart()])
    }
    try old.amend { try $0.removeEntry("tail") }
    old.close()
    new.close()
    let (file, made) = (LogFile(of: path), LogFile(of: claim.path))
    if let finding = try made.walkPages().findings.first {
      throw DatabaseError.corrupt(reason: "the new log is damaged: \(finding)")
    }
    try file.checkUnused()
    for mark in Set(marks.filter { $0.sequence > .zero }.map(Baseline.directory)) {
      try move(mark, to: mark)
    }
    try move("state", to: State.directory(generation))
    try Files.sync(path)
    try file.replace(with: made.path)
    do {
      try Files.sync("\(path)/log")
      try sweep(keeping: Set(marks.map(Baseline.directory) + [State.directory(generation)]))
      try Files.sync(path)
    } catch {
      // It may be done, and what is left is removed when the database is opened, since its names
      // are not in the log any more.
      throw DatabaseError.outcomeUnknown(sequence)
    }
  }

  /// Moves a directory that was made to its place; what a crash has left there goes.
  private func move(_ name: String, to target: String) throws {
    let target = "\(path)/\(target)"
    if Files.exists(target) { try Files.removeDirectory(target) }
    try Files.sync("\(claim.path)/\(name)/data.mdb")
    try Files.sync("\(claim.path)/\(name)")
    try Files.rename("\(claim.path)/\(name)", to: target)
  }

  private func sweep(keeping kept: Set<String>) throws {
    for name in Files.names(in: path, startingWith: "")
    where UnusedDirectories.isNamedByLog(name) && !kept.contains(name) {
      try Files.removeDirectory("\(path)/\(name)")
    }
  }

  /// The sizes of the data files in a directory's directories.
  private static func bytes(in path: String) -> UInt64 {
    Files.names(in: path, startingWith: "").reduce(0) {
      $0 + Files.size(of: "\(path)/\($1)/data.mdb")
    }
  }
}
