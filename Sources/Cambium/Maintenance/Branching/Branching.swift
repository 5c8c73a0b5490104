// Making a branch: a writable database that has the same past as another, up to a moment.
//
//     shop.cambium/                            trial.cambium/
//       log/          ── shared blocks, or a copy; then cut after the moment ──▶  log/
//       baseline-<n>/ ── a second name for the same file ──────────────────────▶  baseline-<n>/
//       checkpoint-<n>/    likewise, if it is not newer than the moment           checkpoint-<n>/
//       state-<g>/    ── shared blocks, or a copy, if it is not newer ─────────▶  state-1/
//
// Files that never change get a second name. The log and the state are written in place, so they
// cannot: they share blocks where the file system does that (btrfs, XFS, bcachefs), in a time that
// does not depend on their size, and are copied elsewhere. From then on neither database knows of
// the other, and either may be written, compacted, erased from or removed.

import FoundationEssentials
import LMDB

extension Database {
  /// Makes a writable database with the same past as this one, up to a moment.
  ///
  ///     try database.branch(at: .tag("release"), to: "trial.cambium")
  ///     let trial = try Database(at: "trial.cambium")
  ///
  /// Both have the same transactions up to the moment, with their numbers, times, links and
  /// history; what is written to either afterwards is its own, under an origin of its own.
  /// ``diff(with:under:)`` compares them, and `merge` takes over the changes of one into the other.
  /// Tags up to the moment, the retention policy, blobs and the archive are taken along, positions
  /// of consumers are not. An erasure here does not reach the branch.
  ///
  /// - Parameters:
  ///   - moment: The last moment of the common past; now by default.
  ///   - path: The place of the branch, where there must be nothing. It appears only when it is
  ///     complete and durable.
  /// - Returns: The newest transaction of the common past.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where something is at the path, or inside a write,
  ///   ``DatabaseError/noDatabase(path:)`` where its parent is missing,
  ///   ``DatabaseError/noSuchMoment(reason:)``, ``DatabaseError/compacted(oldest:)``,
  ///   ``DatabaseError/busy(reason:)`` while the database is being compacted,
  ///   ``DatabaseError/full(reason:)``. Nothing is left then.
  /// - Complexity: On a file system that shares blocks a few flushes, and the removal of the
  ///   records after the moment, while writers wait for the sharing alone; on others a copy of the
  ///   log and of the state beside readers and writers. A branch of an earlier moment folds its
  ///   state when it is first opened, from the newest checkpoint before the moment.
  @discardableResult
  public func branch(at moment: Moment = .now, to path: String) throws -> SequenceNumber {
    let path = Database.located(path)
    try Database.checkIsNew(path)
    return try translating {
      try compaction().whileNothingIsDropped {
        var branching = try Branching(of: self, upTo: try snapshot(at: moment).sequence)
        try Database.create(
          path, directory.options, fill: { try branching.cut($0) },
          prepare: { try branching.copyFiles(to: $0) })
        return branching.last
      }
    }
  }
}

/// A branch that is being made in a directory without a name.
private struct Branching {
  /// The newest transaction of the common past.
  let last: SequenceNumber
  private let database: Database
  private let directory: OpenDirectory
  private let baselines: [BaselineMark]
  /// The checkpoint that the branch has.
  private var checkpoint: CheckpointMark?
  /// True if the branch has a state, which is not newer than the moment.
  private var hasState = false

  /// The generation of the branch's first state.
  private static let generation: UInt64 = 1
  /// The records that are removed in one commit.
  private static let stepRecords: UInt64 = 4096

  init(of database: Database, upTo last: SequenceNumber) throws {
    self.database = database
    self.last = last
    directory = database.directory
    baselines = try directory.log.read { [try $0.baseline(), try $0.archiveStart()] }
  }

  // MARK: Files

  /// Puts the files of the branch into its directory.
  mutating func copyFiles(to place: String) throws {
    for name in Set(baselines.filter { $0.sequence > .zero }.map(Baseline.directory)) {
      try share(name, in: place)
    }
    try shareCheckpoint(in: place)
    let state = "\(place)/\(State.directory(Branching.generation))"
    try Files.createDirectory(state)
    if try !sharesBlocks(log: "\(place)/log", state: state) {
      // The state first: what the log has besides is folded when the branch is opened.
      try EnvironmentCopy(of: directory.currentState().environment, to: "\(state)/data.mdb").run()
      try directory.log.copy(
        to: "\(place)/log", directory.options.environment(readOnly: false))
    }
    hasState = try isUsable(state)
    if !hasState { return try Files.removeDirectory(state) }
    try Files.sync("\(state)/data.mdb")
    try Files.sync(state)
  }

  /// Gives a file that never changes a second name.
  private func share(_ name: String, in place: String) throws {
    try Files.createDirectory("\(place)/\(name)")
    try Files.share("\(directory.path)/\(name)/data.mdb", as: "\(place)/\(name)/data.mdb")
    try Files.sync("\(place)/\(name)/data.mdb")
    try Files.sync("\(place)/\(name)")
  }

  /// Shares the newest checkpoint, if it is of use.
  private mutating func shareCheckpoint(in place: String) throws {
    guard let mark = try directory.log.read({ try $0.checkpoint() }), mark.sequence <= last,
      mark.fold == StateMark.foldNumber
    else { return }
    let name = Checkpoint.directory(mark.sequence)
    do {
      try share(name, in: place)
      checkpoint = mark
    } catch let error as StorageError where error.kind == .missing {
      // A newer one has taken its place in the meantime.
      try Files.removeDirectory("\(place)/\(name)")
    }
  }

  /// Shares the blocks of log and state at one moment between two writes.
  ///
  /// - Returns: False where the file system cannot.
  private func sharesBlocks(log: String, state: String) throws -> Bool {
    if directory.isReadOnly { return false }
    return try database.writer.exclusively {
      let source = try directory.currentState().environment.path
      try directory.log.emptyTail()
      guard try Files.clone("\(directory.log.path)/data.mdb", to: "\(log)/data.mdb") else {
        return false
      }
      if try Files.clone("\(source)/data.mdb", to: "\(state)/data.mdb") { return true }
      // Neither, since both are of one moment.
      try Files.remove("\(log)/data.mdb")
      return false
    }
  }

  /// True if a copied state is not newer than the moment.
  private func isUsable(_ copy: String) throws -> Bool {
    let options = directory.options.environment(readOnly: false)
    let state = try State(at: copy, generation: Branching.generation, options)
    defer { state.environment.close() }
    return try state.applied() <= last
  }

  // MARK: The log

  /// Makes a copied log end at the moment, and the branch's own.
  func cut(_ log: Log) throws {
    var sequence = try log.read { try $0.head().sequence }
    while sequence > last {
      let first = SequenceNumber(
        max(last.rawValue, sequence.rawValue - min(sequence.rawValue, Branching.stepRecords)))
      let head = try head(at: first, in: log)
      try log.write(head: head) { writer in
        var removed = sequence
        while removed > first {
          _ = try writer.removeRecord(removed)
          removed = removed.previous
        }
      }
      sequence = first
    }
    try log.write(head: try head(at: last, in: log), writeEntries)
  }

  private func head(at sequence: SequenceNumber, in log: Log) throws -> LogHead {
    try log.read { reader in
      let baseline = try reader.baseline()
      var head = LogHead(baseline)
      if sequence > baseline.sequence { head.advance(to: try reader.record(sequence)) }
      return head
    }
  }

  /// Removes the entries that are not about the common past, and names the files that there are.
  private func writeEntries(_ writer: borrowing LogWriter) throws {
    for name in try writer.reader.entryNames() where try isOthers(name, writer.reader) {
      try writer.removeEntry(name)
    }
    try writer.setCheckpoint(checkpoint)
    guard hasState else { return }
    try writer.setStateMark(
      StateMark(
        generation: Branching.generation, isClean: true, boot: directory.trust.boot,
        mount: directory.trust.mount))
  }

  /// True for an entry that is not about the common past: the marks of the other's state and tail,
  /// its consumers and cursors, and tags of what came later.
  private func isOthers(_ name: String, _ reader: LogReader) throws -> Bool {
    if name.hasPrefix("tag/") { return try reader.number(name) ?? 0 > last.rawValue }
    return name == "state" || name == "tail" || name.hasPrefix("consumer/")
      || name.hasPrefix("cursor/") || name.hasPrefix(LogNotes.prefix)
  }
}
