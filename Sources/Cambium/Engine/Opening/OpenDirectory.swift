import FoundationEssentials
import LMDB
import Synchronization

/// The parts of one open database directory, and the connections between them.
///
///     name.cambium/
///       log/            the log: the only precious part
///       state-<n>/      generation n of the state, folded from the log
///       part-<n>.tmp/   the part of the state that a damaged log gives, while a process reads it
///       write.lock      the lock at which writers of several processes queue
///       wake            a newly applied sequence number, for observers in other processes
///
/// Invariants:
/// 1. A state is opened only if it can be trusted; see ``StateTrust``.
/// 2. That mark is durable before the first write to a state.
/// 3. The state's position never passes the log's head. Checked when a state is opened.
final class OpenDirectory: Sendable {
  let path: String
  let options: Database.Options
  let log: Log
  let format: FormatEntry
  let lock: FileLock?
  let feed: ChangeFeed
  let ages: SnapshotAges
  /// Decides which states can be used as they are.
  let trust: StateTrust
  /// The app's hooks and rules about changes of records.
  let guards = Mutex(RecordGuards())
  /// Makes ids and records' times.
  let generators: Generators
  /// The state in use, and its newest catalog.
  let stateInUse = StateInUse()
  /// Positions of consumers that are stored with the next commit.
  let positions = KeptPositions()

  init(path: String, options: Database.Options) throws {
    self.path = path
    self.options = options
    generators = Generators(options)
    let isReadOnly = options.readOnly || !Files.isWritable(path)
    let boot = options.systemStart ?? Platform.bootIdentity()
    let mount = options.mountIdentity ?? Platform.mountIdentity(of: path)
    try Log.checkEnd(at: "\(path)/log", boot: boot, mount: mount)
    log = try Log(
      at: "\(path)/log", options.environment(readOnly: isReadOnly, isInUse: true),
      records: options.stepSizes.records,
      tail: options.tailSizes)
    try log.check()
    let generation: UInt64
    (format, generation) = try log.read { (try $0.format(), try $0.stateMark()?.generation ?? 0) }
    trust = StateTrust(
      path: path, boot: boot, mount: mount, firstGeneration: generation)
    lock = isReadOnly ? nil : try FileLock(path: "\(path)/write.lock")
    feed = try ChangeFeed(
      applied: .zero, path: "\(path)/wake", options, isReadOnly: isReadOnly)
    ages = SnapshotAges(limit: options.snapshotAgeMax, report: options.diagnostics)
  }

  var isReadOnly: Bool { lock == nil }

  func report(_ diagnostic: Diagnostic) { options.diagnostics?(diagnostic) }

  // MARK: The state

  /// The state in use, for a reader of a moment: its file has each visible commit up to that.
  func currentState(for moment: Moment = .now) throws -> State {
    let state = try latestState()
    try state.settle(in: self, for: moment)
    return state
  }

  /// The state in use; another process may have published a new generation since.
  func latestState() throws -> State {
    let newest = try log.newestCommit
    if let known = stateInUse.state(comparedAt: newest) { return known }
    guard let mark = try log.read({ try $0.stateMark() }) else {
      throw DatabaseError.corrupt(reason: "the log does not say which state belongs to it")
    }
    return try state(of: mark, comparedAt: newest)
  }

  /// The state of a mark, opened if it is not the one in use.
  func state(of mark: StateMark, comparedAt transaction: UInt64 = 0) throws -> State {
    if let known = stateInUse.state(mark.generation, comparedAt: transaction) { return known }
    try mark.checkKnown(path)
    guard trust.covers(mark), mark.fold == StateMark.foldNumber else {
      throw DatabaseError.closed(reason: "the state must be rebuilt; close and open the database")
    }
    return try stateInUse.adopt(mark.generation) {
      try openState(State.directory(mark.generation), mark.generation, isInUse: true)
    }
  }

  /// Opens a generation, to use it from now on or only while it is made.
  func openState(_ name: String, _ generation: UInt64, isInUse: Bool = false) throws -> State {
    try State(
      at: "\(path)/\(name)", generation: generation,
      options.environment(readOnly: isReadOnly, isInUse: isInUse),
      deferredBytes: isInUse ? options.stepSizes.deferredBytes : 0)
  }

  // MARK: Reading

  /// A snapshot of the present or the past.
  func snapshot(at moment: Moment) throws -> Snapshot {
    try checkLag(for: moment)
    for _ in 0..<8 {
      do {
        return try snapshot(of: try currentState(for: moment), at: moment)
      } catch let error where error.isOfGoneState && !feed.isClosed {
        // A rebuild has replaced the generation that was just looked up.
      }
    }
    return try snapshot(of: try currentState(for: moment), at: moment)
  }

  /// A snapshot of one state: the one in use, or one that is folded for comparison.
  func snapshot(of state: State, at moment: Moment) throws -> Snapshot {
    let transaction = try ReadTransaction(state.environment, tables: state.tables.read)
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let head = try reader.head()
    var catalog = stateInUse.catalog(of: state)
    if !catalog.isUpToDate(head) {
      try reader.complete(&catalog, to: head)
      stateInUse.remember(catalog, of: state)
    }
    let sequence = try resolve(moment, applied: head.applied)
    let access = transaction.access
    if sequence == head.applied {
      return Snapshot(
        access, ages.ticket(sequence, consume transaction), state, catalog, self,
        sequence: sequence, moment: nil, zones: nil)
    }
    let horizon = try log.read { try $0.horizon() }
    return Snapshot(
      access, ages.ticket(sequence, consume transaction), state, catalog, self,
      sequence: sequence, moment: sequence.rawValue,
      zones: ViewedZones(zones: state.arrivalZones, horizon: horizon.rawValue))
  }

  /// Reads the horizon after the state's view was taken: history is cut only once the horizon is
  /// stored, so a view of a cut state finds it.
  private func resolve(_ moment: Moment, applied: SequenceNumber) throws -> SequenceNumber {
    switch moment {
    case .now: return applied
    case .sequence(let sequence):
      if sequence < applied { try log.read { try $0.checkReachable(sequence) } }
      guard sequence <= applied else {
        throw DatabaseError.noSuchMoment(
          reason: "transaction \(sequence) is not there; the newest is \(applied)")
      }
      return sequence
    case .tag(let name):
      guard let sequence = try log.read({ try $0.tag(name) }) else {
        throw DatabaseError.noSuchMoment(reason: "there is no tag '\(name)'")
      }
      if sequence < applied { try log.read { try $0.checkReachable(sequence) } }
      return min(sequence, applied)
    case .time(let date): return min(try sequence(at: date), applied)
    }
  }

  // MARK: Writing

  /// The state in use, after its mark records durably that it is written to from now on. If writing
  /// it has failed, a new generation replaces it; the writer's turn and lock must be held. A
  /// transaction that never commits needs no mark: LMDB writes at most to pages that are free.
  func prepareState(
    commits: Bool = true
  ) throws -> (state: State, head: LogHead, horizon: SequenceNumber) {
    let start = try log.kept.newest(of: log)
    guard var mark = start.mark else {
      throw DatabaseError.corrupt(reason: "the log does not say which state belongs to it")
    }
    var state = try state(of: mark)
    if let failure = state.environment.health.failure, failure.kind != .closed {
      mark = try replaceGeneration(mark, start.head, because: failure)
      state = try self.state(of: mark)
    }
    if !commits { return (state, start.head, start.horizon) }
    // One that is not clean names a trusted mount, which the processes that have it open keep
    // mounted.
    if mark.isClean {
      mark.isClean = false
      mark.boot = trust.boot
      mark.mount = trust.mount
      try publish(mark)
    }
    stateInUse.noteWriting()
    return (state, start.head, start.horizon)
  }
}

extension Database.Options {
  /// The options that both environments are opened with. In a database in memory, the files of
  /// environments in use are unlinked.
  func environment(readOnly: Bool, isInUse: Bool = false) -> Environment.Options {
    var options = Environment.Options(
      tables: [], mapSize: mapSize, mapSizeMax: sizeMax, readOnly: readOnly)
    options.acceptsNetworkFileSystem = acceptsNetworkFileSystem
    options.isAnonymous = isTemporary && isInUse
    options.readingError = { DatabaseError($0) }
    return options
  }
}

extension Error {
  /// True if it means that a state was closed or removed.
  fileprivate var isOfGoneState: Bool {
    switch self {
    case let error as StorageError: error.kind == .closed || error.kind == .missing
    case let damage as FileDamage: damage.storageError.kind == .missing
    default: false
    }
  }
}
