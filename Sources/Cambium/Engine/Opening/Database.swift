import FoundationEssentials
import LMDB
import Synchronization

/// An event-sourced database in a directory.
///
/// Every write is a transaction of operations appended to a log, durable when `write` returns
/// unless ``Options/durability`` says otherwise. The tree of nodes, its history and everything else
/// that can be read is folded from that log.
///
///     let database = try Database(at: "shop.cambium")
///     try database.write { tx in try tx.set("users/ada", to: ["name": "Ada"]) }
///     let name = try database.read { try $0["users/ada"]["name"] }
///
/// One value serves all threads of a process; a second for the same directory is refused. Several
/// processes may have it open, read and write. Readers never wait for a writer.
public final class Database: Sendable {
  /// The options for opening a database.
  public struct Options: Sendable {
    /// True to create a missing database.
    public var createIfMissing = true
    /// True to refuse writing. A directory that cannot be written is opened this way in any case.
    /// If its state is behind the log, reads show the moment of the state's position.
    public var readOnly = false
    /// The time that a write waits for other writers before it throws
    /// ``DatabaseError/busy(reason:)``.
    public var busyTimeout = Duration.seconds(5)
    /// The number of async writes that may wait; one more throws ``DatabaseError/busy(reason:)``.
    public var queueLength = 4096
    /// The time that a snapshot may be held before it is reported, once, when a write begins.
    public var snapshotAgeMax = Duration.seconds(30)
    /// The address space to reserve at first for each of log and state, in bytes; it grows
    /// automatically. If the system refuses, less is reserved.
    public var mapSize = 1 << 38
    /// The most bytes that log and state may each grow to.
    public var sizeMax = 1 << 42
    /// The growth of the log, in bytes before compression, that makes a checkpoint due in the
    /// background, once it is also a quarter of the state's size. A checkpoint is a copy of the
    /// state on disk, from which a recovery after a crash of the system starts. 64 MiB take about a
    /// second to fold again. Nil makes none, and a recovery folds the whole log.
    public var checkpointGrowth: Int? = 64 << 20
    /// The losses that a transaction survives from the moment at which `write` returns.
    public var durability = Durability.full
    /// True to accept a network or FUSE file system, on which several machines must not use the
    /// database at the same time, and durability depends on that file system.
    public var acceptsNetworkFileSystem = false
    /// True if only its owner can access a newly created database: directories of mode 0700, files
    /// of 0600. Otherwise its directory follows the umask of the process. Everything created in it
    /// later, by any process, has the permissions of the directory; so does a backup of a private
    /// database.
    public var isPrivate = false
    /// Takes events that an app may want to log; called on the thread that noticed them.
    public var diagnostics: (@Sendable (Diagnostic) -> Void)?
    /// Takes the cost of each query after its answer; called on the thread of the query. Nothing is
    /// measured if it is nil.
    public var queryTrace: (@Sendable (QueryTrace) -> Void)?
    /// The time of day; nil for the system's. See ``makeReproducible(seed:from:)``.
    public var clock: (@Sendable () -> Date)?
    /// The random numbers, for ids, salts and the database's own id; nil for the system's, which
    /// are unpredictable.
    public var random: (@Sendable () -> UInt64)?

    /// The directory that holds a database which is removed when it is closed.
    var container: ClaimedDirectory?
    var isTemporary: Bool { container != nil }
    /// The identity of the mount; nil for the system's. Tests set another.
    package var mountIdentity: String?
    /// The system start to open in; nil for this one. The torture harness simulates later ones.
    package var systemStart: String?
    /// The interval at which a process checks if compaction is worthwhile, and the bytes of records
    /// that must be droppable.
    package var compactionLook = (every: Duration.seconds(1), bytes: 4 << 20)
    /// Called with the time that each step of background work held the writer's turn, with its
    /// commit.
    package var stepTook: (@Sendable (_ step: String, Duration) -> Void)?
    /// The number of records above which a collection is declared in steps, while others write.
    package var declaredAtOnce = 2000
    /// True if indexes and views that a transaction declares or drops are built and emptied in the
    /// background as well.
    package var buildsIndexesLater = false
    /// The bytes that the background scrub reads per second; more if a round would take longer than
    /// a day. 0 turns it off; ``Database/scrub(progress:)`` can still be called.
    public var scrubBytesPerSecond = 1 << 20
    /// The time that the scrub waits after opening, and then before each part; nil turns it off.
    package var scrubPause: (first: Duration, later: Duration)? = (.seconds(10), .seconds(1))
    /// The sizes of the steps in which the database works.
    package var stepSizes = StepSizes()
    /// True if leaps of ``clock`` are delayed like those of the system's clock.
    package var holdsLeaps = false
    /// True if values may refer to blobs that are not stored, as they could in earlier versions.
    package var refersLoosely = false
    /// The execution of background work.
    package var background: any BackgroundWork = DispatchWork()

    /// Makes the default options.
    public init() {}
  }

  let directory: OpenDirectory
  let writer: Writer
  /// The background jobs.
  var jobs: Jobs { writer.jobs }

  /// The path of the directory.
  public var path: String { directory.path }

  /// Opens a database, or creates it; waits if the state must be rebuilt.
  ///
  /// If a damaged log makes it impossible to rebuild the whole state, the part before the damage
  /// can be read, nothing can be written, and ``Diagnostic/logDamaged(_:readable:reason:)`` reports
  /// it.
  ///
  /// - Parameters:
  ///   - path: The directory, by custom `name.cambium`.
  ///   - options: The options to open it with.
  ///   - progress: Called during a rebuild about ten times a second, on this thread; false cancels.
  /// - Throws: ``DatabaseError``: `noDatabase`, `unsupported`, `alreadyOpen`, `corrupt`,
  ///   `readOnly`, `misuse` for ``Durability/memory``, and `CancellationError` if `progress`
  ///   returned false. Nothing is changed then.
  /// - Complexity: under 1 ms whatever the size once the first pages are in memory; a recovery
  ///   takes 1 to 5 µs for each operation that came after the newest checkpoint.
  public init(
    at path: String, options: Options = Options(), progress: ProgressHandler? = nil
  ) throws {
    if options.durability == .memory, !options.isTemporary {
      throw DatabaseError.misuse(
        reason: "a database in a directory is not one in memory; Database.inMemory() makes one")
    }
    let path = Database.located(path)
    let directory = try naming(path) { try Database.openDirectory(path, options) }
    self.directory = directory
    writer = Writer(directory)
    for job in Database.jobsAbove(self) { jobs.register(job) }
    directory.feed.setLook { [weak directory] in try? directory?.snapshot(at: .now).sequence }
    try translating { try prepareState(progress) }
    if directory.isReadOnly || directory.stateInUse.isPartial { return }
    jobs.start()
  }

  deinit { try? close() }

  /// Opens a database without blocking the caller's thread; cancelling the task cancels a rebuild.
  ///
  /// - Parameters:
  ///   - path: The directory, by custom `name.cambium`.
  ///   - options: The options to open it with.
  ///   - progress: As in ``init(at:options:progress:)``, on another thread.
  /// - Returns: The database.
  /// - Throws: As ``init(at:options:progress:)``.
  public static func open(
    at path: String, options: Options = Options(), progress: ProgressHandler? = nil
  ) async throws -> Database {
    let queue = options.background.makeQueue("cambium.open")
    return try await BlockingWork.run(on: queue) { isCancelled in
      try Database(at: path, options: options) { !isCancelled() && (progress?($0) ?? true) }
    }
  }

  /// Closes the database and syncs the state, so that opening after a system start needs no
  /// rebuild.
  ///
  /// Waiting writes fail with ``DatabaseError/closed(reason:)`` and observers end. Snapshots that
  /// are held stay readable, except for blobs; until they are released, the directory cannot be
  /// opened again in this process. A second call does nothing. In async code this form is for a
  /// `defer`, which cannot await.
  ///
  /// - Throws: ``DatabaseError`` if the last sync fails; the database is closed anyway, and no
  ///   transaction is lost but such as ``Durability/soon(within:)`` lets a loss of power take.
  public func close() throws {
    if directory.feed.isClosed { return }
    directory.feed.close()
    // Some jobs write to the state, which is about to be marked clean.
    jobs.close()
    defer {
      writer.close()
      directory.stateInUse.release(forGood: true)
      directory.log.close()
      if let container = directory.options.container { try? Files.removeDirectory(container.path) }
    }
    if directory.isReadOnly || directory.options.isTemporary { return }
    let outcome = Result { try closeState() }
    try translating { try directory.log.sync() }
    try outcome.get()
  }

  /// Stores what the log does not have yet, and marks the state as one that can be trusted.
  private func closeState() throws {
    // If the log is damaged nothing can be stored; consumers get some transactions again.
    if directory.log.damage.found == nil { try writer.flush() }
    guard directory.stateInUse.hasWritten else { return }
    do {
      try writer.exclusively { try translating { try directory.markClean() } }
    } catch DatabaseError
      .full
    {
      // This does no harm: after the next start of the system the state is rebuilt.
    }
  }

  /// The newest visible transaction of any process; zero in an empty database. Reading it throws as
  /// ``snapshot(at:)`` does.
  public var head: SequenceNumber { get throws { try read { $0.sequence } } }

  // MARK: Writing

  /// Commits the changes that `body` makes: all of them, or none.
  ///
  ///     try database.write { tx in try tx.set("users/ada/name", to: "Ada") }
  ///
  /// - Parameters:
  ///   - metadata: Texts to store with the transaction, such as its reason and source.
  ///   - actor: The person or program that makes the change; stored in the metadata as `actor`.
  ///   - expecting: The head that the caller saw; any write since makes this one fail with
  ///     ``DatabaseError/conflict(_:expected:found:)``.
  ///   - body: Makes the changes, on the calling thread. It must not call `write` again.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws, or ``DatabaseError``. Either way nothing was stored,
  ///   except after ``DatabaseError/outcomeUnknown(_:)``.
  /// - Complexity: O(*k* log *n*) for *k* changes in a database of *n* nodes, plus one durable
  ///   flush (0.1 to 10 ms); put many small changes into one call.
  @discardableResult
  public func write<R>(
    metadata: [String: String] = [:], actor: String? = nil, expecting: SequenceNumber? = nil,
    _ body: (borrowing Database.Transaction) throws -> R
  ) throws -> R {
    var result: R?
    var afterCommit: [@Sendable () -> Void] = []
    var outcome: Result<Void, any Error> = .success(())
    try withoutActuallyEscaping(body) { body in
      try writer.run(
        WriteJob(
          id: 0, metadata: metadata.signed(by: actor), expecting: expecting,
          body: {
            result = try body($0)
            afterCommit = $0.running.draft.afterCommit
          }, finish: { outcome = $0 }))
    }
    try outcome.get()
    // The turn is over, so these may write.
    for body in afterCommit { body() }
    guard let result else { throw DatabaseError.misuse(reason: "the write did not run") }
    return result
  }

  /// Commits the changes that `body` makes, without blocking the caller's thread.
  ///
  /// Writes that wait at the same time are committed together, with one flush for all of them.
  ///
  /// - Parameters:
  ///   - metadata: Texts to store with the transaction.
  ///   - actor: The person or program that makes the change; stored in the metadata as `actor`.
  ///   - expecting: The head that the caller saw.
  ///   - body: Makes the changes, on another thread. It is not async: the writer waits for it.
  /// - Returns: The value that `body` returns.
  /// - Throws: As the synchronous `write`; `CancellationError` if the task was cancelled before
  ///   the body started, ``DatabaseError/busy(reason:)`` at once if ``Options/queueLength``
  ///   writes wait.
  /// - Complexity: as the synchronous `write`, with the flush shared by up to 1,024 bodies.
  @discardableResult
  public func write<R: Sendable>(
    metadata: [String: String] = [:], actor: String? = nil, expecting: SequenceNumber? = nil,
    _ body: @escaping @Sendable (borrowing Database.Transaction) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    let id = writer.nextID()
    let result = WriteResult<R>()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        writer.enqueue(
          WriteJob(
            id: id, metadata: metadata.signed(by: actor), expecting: expecting,
            body: {
              result.set(try body($0), $0.running.draft.afterCommit)
            },
            finish: { outcome in
              continuation.resume(with: outcome)
            }))
        if Task.isCancelled { writer.cancel(id) }
      }
    } onCancel: {
      writer.cancel(id)
    }
    // The task takes the value itself, so that the writer goes on to others.
    let (value, afterCommit) = try result.get()
    for body in afterCommit { body() }
    return value
  }

  // MARK: Reading

  /// Lends a snapshot.
  ///
  /// - Parameters:
  ///   - moment: The moment to read; now by default.
  ///   - body: Reads, on the calling thread. Its result should not hold the snapshot or a node of
  ///     it, which would keep its pages alive.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; ``DatabaseError/noSuchMoment(reason:)``,
  ///   ``DatabaseError/closed(reason:)``, ``DatabaseError/busy(reason:)`` if there are 1,024
  ///   readers already.
  /// - Complexity: about 1 µs to begin; a time of day costs O(log n) lookups in the log in
  ///   addition.
  public func read<R>(at moment: Moment = .now, _ body: (Snapshot) throws -> R) throws -> R {
    try translating { try body(try snapshot(at: moment)) }
  }

  /// Holds a snapshot; release it soon.
  ///
  /// - Parameter moment: The moment to read; now by default. A time before the first transaction is
  ///   the empty database.
  /// - Returns: The snapshot, which any thread may read.
  /// - Throws: As ``read(at:_:)``.
  /// - Complexity: as ``read(at:_:)``.
  public func snapshot(at moment: Moment = .now) throws -> Snapshot {
    if directory.feed.isClosed { throw DatabaseError.closed(reason: "the database is closed") }
    return try translating { try directory.snapshot(at: moment) }
  }

  /// The last transaction at or before a time of day; zero before the first.
  ///
  /// - Parameters:
  ///   - date: The time, by the clock of the process that wrote; recorded times never go back. If a
  ///     wrong clock has given the newest transaction a time in the future, the present time is the
  ///     newest moment.
  ///   - readsArchive: True to search the archive for a time before the ``horizon``.
  /// - Returns: The transaction's sequence number.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``,
  ///   ``DatabaseError/compacted(oldest:)``.
  /// - Complexity: O(log n) lookups in the log.
  public func sequence(at date: Date, readsArchive: Bool = false) throws -> SequenceNumber {
    try translating {
      do {
        return try directory.sequence(at: date)
      } catch DatabaseError.compacted where readsArchive {
        return try directory.archivedSequence(at: date.microseconds)
      }
    }
  }

  /// A number stored with ``Database/Transaction/saveCursor(_:_:)``.
  package func cursor(_ name: String) throws -> UInt64? {
    try translating { try directory.log.read { try $0.number("cursor/\(name)") } }
  }
}

/// Holds the result of an async write's body until its commit.
private final class WriteResult<R: Sendable>: Sendable {
  private let state = Mutex<(value: R, afterCommit: [@Sendable () -> Void])?>(nil)

  func set(_ value: R, _ afterCommit: [@Sendable () -> Void]) {
    state.withLock { $0 = (value, afterCommit) }
  }

  func get() throws -> (value: R, afterCommit: [@Sendable () -> Void]) {
    guard let state = state.withLock({ $0 }) else {
      throw DatabaseError.misuse(reason: "the write did not run")
    }
    return state
  }
}
