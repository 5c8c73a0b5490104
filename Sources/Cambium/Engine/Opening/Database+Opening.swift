// Creating, opening, and rebuilding the state.

import FoundationEssentials
import LMDB

extension Database {
  /// Opens the directory, or creates it.
  static func openDirectory(_ path: String, _ options: Options) throws -> OpenDirectory {
    if !Files.exists(path) {
      guard options.createIfMissing, !options.readOnly else {
        throw DatabaseError.noDatabase(path: path)
      }
      do { try create(path, options) } catch {
        // Another process may have created it in the meantime.
        guard LogFile(of: path).exists else { throw error }
      }
    }
    guard Files.isDirectory(path) else {
      let kind = Files.isLink(path) ? "a symbolic link that leads nowhere" : "a file"
      throw DatabaseError.unsupported(
        path: path, reason: "it is \(kind); a database is a directory")
    }
    guard Files.isFile(LogFile(of: path).path) else {
      let isSomething = Files.isLink("\(path)/log") || LogFile(of: path).exists
      throw DatabaseError.unsupported(
        path: path,
        reason: isSomething
          ? "its log is a link, a pipe or a directory, and none is followed in a database"
          : "it holds no log, so it is not a database")
    }
    return try OpenDirectory(path: path, options: options)
  }

  /// Creates a database under a temporary name, and renames it when it is complete and durable, so
  /// that a crash at any point leaves either nothing or all of it (H2).
  ///
  /// - Parameters:
  ///   - path: The database's directory.
  ///   - options: The options of the database.
  ///   - fill: Fills the log, which is a new one unless `prepare` has put one there.
  ///   - prepare: Puts files into the directory before, which has an empty one for the log, and
  ///     syncs all but those of the log.
  /// - Throws: Any error that a body throws; nothing is left then.
  static func create(
    _ path: String, _ options: Options, fill: ((Log) throws -> Void)? = nil,
    prepare: ((_ directory: String) throws -> Void)? = nil
  ) throws {
    let parent = Files.parent(of: path)
    guard Files.isDirectory(parent) else { throw DatabaseError.noDatabase(path: parent) }
    let temporary = temporaryPath(path, ".")
    let claim = try ClaimedDirectory(
      creating: temporary, options.isPrivate ? .ownerOnly : .byUmask)
    defer { withExtendedLifetime(claim) {} }
    do {
      try Files.createDirectory("\(temporary)/log")
      try prepare?(temporary)
      try fillLog("\(temporary)/log", options, fill)
      for path in [LogFile(of: temporary).path, "\(temporary)/log", temporary] {
        try Files.sync(path)
      }
      try Files.rename(temporary, to: path)
    } catch {
      try? Files.removeDirectory(temporary)
      throw error
    }
    do {
      try Files.sync(parent)
    } catch {
      // A filled database gives up its name before it is removed, since one of which a part is left
      // looks like a damaged one. An empty one may have been opened by others by now.
      if fill != nil, (try? Files.rename(path, to: temporary)) != nil {
        try? Files.removeDirectory(temporary)
      }
      throw error
    }
  }

  private static func fillLog(
    _ path: String, _ options: Options, _ fill: ((Log) throws -> Void)?
  ) throws {
    let log = try Log(
      at: path, options.environment(readOnly: false))
    let origin = UUID(uuid: try options.randomBytes(16).lend { try $0.uuid(at: 0) }.uuid)
    try log.amend { try $0.setFormat(FormatEntry(origin: origin, created: options.now)) }
    try fill?(log)
  }

  /// Finds a state that can be trusted, or makes one; then brings it up to the log.
  func prepareState(_ progress: ProgressHandler?) throws {
    let mark = try directory.log.read { try $0.stateMark() }
    // Its creator may have been killed between renaming it and making the name durable.
    if mark == nil, !directory.isReadOnly, Files.isWritable(Files.parent(of: path)) {
      try Files.sync(Files.parent(of: path))
    }
    if let reason = try reasonToRebuild(mark) {
      if directory.isReadOnly {
        throw DatabaseError.readOnly(
          reason: "\(path) cannot be written, and its state must be rebuilt first: \(reason)")
      }
      // Not looked at again: a sync that has failed succeeds the next time, without what was lost.
      try rebuild(because: reason, progress, insteadOf: mark?.generation)
    }
    if directory.stateInUse.isPartial { return }
    sweepLeftovers()
    try bringUpToDate(progress)
  }

  /// The reason why the state cannot be used as it is, or nil.
  private func reasonToRebuild(_ mark: StateMark?) throws -> String? {
    guard let mark else { return "there is none" }
    try mark.checkKnown(path)
    if mark.fold < StateMark.foldNumber { return "an earlier version of Cambium made it" }
    guard Files.isFile("\(path)/\(State.directory(mark.generation))/data.mdb") else {
      return "its directory is missing"
    }
    guard directory.trust.covers(mark) else {
      return "the system was started or the file system mounted since it was written"
    }
    do { try directory.trust.syncUnlessInUse(mark) } catch let error as StorageError {
      return "the system could not write it to the disk: \(error)"
    }
    do {
      // Read first: a compaction that continues meanwhile is then behind the state's position.
      let baseline = try directory.log.read { try $0.baseline() }
      let state = try directory.state(of: mark)
      let transaction = try ReadTransaction(state.environment, tables: [])
      let reader = StateReader(access: transaction.access, tables: state.tables)
      let head = try directory.log.read { try $0.head() }
      let applied = try reader.head().applied
      if applied > head.sequence {
        return try hasLostTail(mark, at: head.sequence) ? nil : "it is ahead of the log"
      }
      if applied < baseline.sequence { return "what follows it in the log is compacted" }
      // Reads the catalog's names, which every snapshot needs.
      _ = try directory.snapshot(at: .now)
      return nil
    } catch let error where Database.isDamage(error) {
      return DatabaseError.reason(of: error)
    } catch let error as StorageError where [.missing, .notRegular].contains(error.kind) {
      return DatabaseError.reason(of: error)
    }
  }

  /// Notes that the log's newest records are lost, if a state that can be trusted has more of them
  /// than the tail.
  private func hasLostTail(_ mark: StateMark, at head: SequenceNumber) throws -> Bool {
    guard !mark.isClean, try directory.log.read({ try $0.tailMark() }) != nil else { return false }
    directory.log.damage.note(
      head.next,
      "the log's tail does not hold it any more; `cambium rebuild` goes on without it")
    reportDamage(readable: head)
    return true
  }

  /// Folds in the records after the state's position; rebuilds the state if that reveals damage.
  private func bringUpToDate(_ progress: ProgressHandler?) throws {
    let generation = try directory.log.read { try $0.stateMark()?.generation }
    do { try bringUpToDate() } catch let error
      where !directory.isReadOnly && Database.isDamage(error)
    {
      try rebuild(because: DatabaseError.reason(of: error), progress, insteadOf: generation)
    }
  }

  /// True if an error means that stored bytes are wrong.
  static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as DatabaseError: error.isDamage
    case let error as StorageError: error.isDamage
    case is FileDamage: true
    default: false
    }
  }

  private func bringUpToDate() throws {
    let head = try directory.log.read { try $0.head().sequence }
    let applied = try directory.adoptVisible()
    guard applied < head else { return }
    if try awaitOthers(until: head) { return }
    if directory.isReadOnly { return directory.report(.stateBehind(applied: applied, head: head)) }
    let sound = try directory.log.read { try $0.lastSound(after: applied, upTo: head) }
    if sound < head { reportDamage(readable: sound) }
    if sound == applied { return }
    do {
      try writer.exclusively {
        // With the lock held no writer is between the two commits: a crash has left this state
        // behind, or damage has. LMDB might crash when writing to damaged pages.
        try checkPages(of: try directory.currentState())
        try directory.usingReserve {
          _ = try WriteGroup.begin(in: directory, catchingUpTo: sound < head ? sound : nil).commit()
        }
      }
    } catch let error where OpenDirectory.isFull(error) {
      // The moment of the state's position can be read without writing.
      return directory.report(.stateBehind(applied: applied, head: head))
    }
    try directory.publishVisible()
  }

  /// Waits for a process that has the state open as well, whose newest commits may reach the file
  /// a moment later; see State+Deferring.swift.
  ///
  /// - Returns: False if a transaction is still not visible.
  private func awaitOthers(until head: SequenceNumber) throws -> Bool {
    let end = ContinuousClock.now + SettleJob.delay * 4
    while try directory.adoptVisible() < head {
      if try !directory.currentState().environment.isShared || .now > end { return false }
      usleep(5000)
    }
    return true
  }

  private func reportDamage(readable: SequenceNumber) {
    guard let found = directory.log.damage.found else { return }
    directory.report(.logDamaged(found.sequence, readable: readable, reason: found.reason))
  }

  private func checkPages(of state: State) throws {
    if let finding = try state.environment.walkPages().findings.first {
      throw DatabaseError.corrupt(reason: "the state is damaged: \(finding)")
    }
  }

  // MARK: Rebuilding

  /// Drops the state and folds the log again.
  ///
  /// Readers continue meanwhile, on the old state. Writers of all processes wait, as long as their
  /// ``Options/busyTimeout`` allows.
  ///
  /// - Parameter progress: Called about ten times a second, on this thread; false cancels.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` with the number of the record if the log is
  ///   damaged, `CancellationError`. The old state stays in use then.
  /// - Complexity: about 1 µs for each operation in the log if keys ascend, up to 5 µs if they come
  ///   in random order; memory does not depend on their number.
  public func rebuild(progress: ProgressHandler? = nil) throws {
    try translating { try rebuild(because: nil, progress) }
  }

  /// Rebuilds for a reason, or on request. If there is a reason, another process may have rebuilt
  /// it in the meantime, unless the generation that was found damaged is still in use.
  func rebuild(
    because reason: String?, _ progress: ProgressHandler?, insteadOf damaged: UInt64? = nil
  ) throws {
    try writer.exclusively {
      let (head, mark) = try directory.log.readNewest { (try $0.head(), try $0.stateMark()) }
      // Another process may have done it while this one waited for its turn.
      if reason != nil, mark?.generation != damaged, try reasonToRebuild(mark) == nil { return }
      let made = try directory.makeGeneration(
        after: mark, head, isRecovery: reason != nil, progress)
      if case .partial(let partial, let generation, _) = made {
        directory.stateInUse.use(try PartialState(directory, from: partial, generation))
      }
    }
    if directory.stateInUse.isPartial {
      return reportDamage(readable: try directory.adoptVisible())
    }
    if let reason, try head > .zero { directory.report(.stateRebuilt(reason: reason)) }
    try directory.publishVisible()
  }
}

extension StorageError {
  /// True if stored bytes are wrong. LMDB reports a reader that has read damage as a bad
  /// transaction.
  fileprivate var isDamage: Bool { kind == .corrupt || kind == .badTransaction }
}
