import Synchronization

/// Brings the changes of commits to the live queries that they concern; one for each open
/// directory, made on first use.
///
///     commits of this process ──ChangeObservers──┐
///                                                ├──▶ GuardIndex ──▶ mailboxes ──▶ waiting tasks
///     commits of others ─────────log, history────┘
///
/// It works on the thread that commits, on a queue for large commits, or on a thread that looks for
/// commits of other processes, and reads nothing that it was handed. While there are no mailboxes
/// it observes nothing.
///
/// Invariants:
/// 1. Each commit is routed once, in order: the observers of changes are called by one thread at a
///    time, the backlog is taken under the lock under which it is routed, and numbers that were not
///    handed over are read from the log first.
/// 2. A mailbox has every change that a guard of it lets through, from its start on, or it has lost
///    everything up to that commit.
/// 3. Nobody is resumed under the lock.
final class LiveRouter: Sendable {
  // The directory holds the router. A router whose directory is gone has nothing to route.
  private weak let directory: OpenDirectory?
  private let routing = Mutex(Routing())
  /// The number of bulk writes under way, which live queries wait for. It is changed under the lock
  /// of the routing.
  private let holdCount = Atomic(0)
  private let backlog = Mutex(RoutingBacklog())
  /// Routes large commits.
  private let queue: any WorkQueue

  private init(_ directory: OpenDirectory) {
    self.directory = directory
    queue = directory.options.background.makeQueue("cambium.routing")
  }

  /// The router of a database's directory.
  static func of(_ database: Database) -> LiveRouter {
    let directory = database.directory
    return directory.feed.observers.slots.object(ObjectIdentifier(LiveRouter.self)) {
      LiveRouter(directory)
    }
  }

  // MARK: Live queries

  /// Registers a live query. It gets every commit from now on that its guards let through, until it
  /// is removed.
  ///
  /// - Throws: As ``Database/snapshot(at:)``.
  /// - Complexity: O(log *n*) for each key and range of the guards.
  func add(_ guards: [LiveGuard]) throws -> LiveMailbox {
    let directory = try openDirectory
    // It is of a moment before the observation begins, so that nothing is missed.
    let snapshot = try directory.snapshot(at: .now)
    let names = try snapshot.names
    let (mailbox, isFirst) = routing.withLock { routing in
      let isFirst = routing.observation == nil
      if isFirst {
        routing.begin(after: snapshot.sequence, directory.stateInUse.generation)
        routing.observation = directory.feed.observers.observe(observer)
      }
      let mailbox = routing.add(guards, names)
      if holdCount.load(ordering: .relaxed) > 0 { mailbox.hold() }
      return (mailbox, isFirst)
    }
    if isFirst { directory.feed.watch() }
    if directory.feed.isClosed { stir() }
    return mailbox
  }

  /// Changes the guards of a live query. They count from the moment on up to which it has taken its
  /// changes, so that a commit since is not missed.
  ///
  /// - Complexity: O(log *n*) for each key and range that differs, and a look at the commits since
  ///   that moment.
  func replace(_ guards: [LiveGuard], of mailbox: LiveMailbox) {
    let names = directory?.stateInUse.catalog ?? Catalog()
    resume { $0.replace(guards, of: mailbox, names) }
  }

  /// Changes some guards of a live query, as those of a window that has moved. As
  /// ``replace(_:of:)``, which it equals where few of many guards differ.
  ///
  /// - Parameters:
  ///   - removing: Guards as they were given, or points of them.
  ///   - adding: Guards, or further points of those that there are.
  ///   - mailbox: The live query's.
  /// - Complexity: O(log *n*) for each key and range, and a look at the commits since the moment up
  ///   to which the live query has taken its changes.
  func edit(removing: [LiveGuard], adding: [LiveGuard], of mailbox: LiveMailbox) {
    let names = directory?.stateInUse.catalog ?? Catalog()
    resume { $0.edit(removing: removing, adding: adding, of: mailbox, names) }
  }

  /// Has every commit concern a live query, until its guards are changed: it is run again after
  /// each.
  func watch(_ mailbox: LiveMailbox) { resume { $0.watch(mailbox) } }

  /// Ends a live query; nothing of it is left.
  func remove(_ mailbox: LiveMailbox) {
    let ended = routing.withLock { routing in
      routing.remove(mailbox)
      if !routing.isEmpty { return Int?.none }
      _ = backlog.withLock { $0.takeAll() }
      return routing.end()
    }
    if let ended { directory?.feed.observers.stop(ended) }
    for waiter in mailbox.stir(isClosing: true) { waiter.resume() }
  }

  /// Has live queries wait, though commits concern them, until as many calls of ``release()``
  /// follow.
  func hold() {
    routing.withLock { routing in
      holdCount.add(1, ordering: .relaxed)
      routing.hold()
    }
  }

  /// Ends one ``hold()``.
  func release() {
    resume { routing in
      if holdCount.subtract(1, ordering: .relaxed).newValue == 0 { routing.release() }
    }
  }

  // MARK: Moments

  /// Returns once everything up to a visible moment has been routed.
  ///
  /// - Throws: ``DatabaseError/closed(reason:)``.
  func advance(to sequence: SequenceNumber) throws {
    let isThere = routing.withLock { $0.observation == nil || $0.routed >= sequence }
    if isThere { return }
    // A large commit need not wait for the queue.
    resume { route(backlog.withLock { $0.takeAll() }, &$0) }
    let feed = try openDirectory.feed
    feed.advance(to: sequence)
    feed.observers.finish(upTo: sequence)
    // The delivery may have begun before anything was observed.
    reach(sequence)
  }

  private var openDirectory: OpenDirectory {
    get throws {
      guard let directory else { throw DatabaseError.closed(reason: "the database is closed") }
      return directory
    }
  }

  // MARK: Observing

  private var observer: ChangeObservers.Observer {
    ChangeObservers.Observer(
      take: { [weak self] in self?.take($0) }, reach: { [weak self] in self?.reach($0) },
      stir: { [weak self] in self?.stir() })
  }

  /// Takes a commit of this process, and routes it, or leaves it to the queue.
  private func take(_ committed: CommittedChanges) {
    switch backlog.withLock({ $0.add(committed) }) {
    case .now: resume { route(backlog.withLock { $0.takeAll() }, &$0) }
    case .onQueue: queue.run { [weak self] in self?.routeOnQueue() }
    case .waiting: break
    }
  }

  private func routeOnQueue() {
    resume { route(backlog.withLock { $0.takeAll(isQueue: true) }, &$0) }
  }

  /// Routes commits that were not handed on, after those that wait.
  private func reach(_ sequence: SequenceNumber) {
    guard let directory else { return }
    resume { routing in
      route(backlog.withLock { $0.takeAll() }, &routing)
      routing.read(upTo: sequence, in: directory)
    }
  }

  /// Routes commits of this process, each after those before it.
  private func route(_ commits: [CommittedChanges], _ routing: inout Routing) {
    guard let directory else { return }
    for committed in commits {
      routing.read(upTo: committed.sequence.previous, in: directory)
      routing.route(committed, in: directory)
    }
  }

  /// Lets all live queries see that the database is closed, or lags behind. The routing's own reads
  /// may be what has noticed a lag, so that is told later, without their lock.
  private func stir() {
    if directory?.feed.isClosed ?? true { return resume { $0.stir(isClosing: true) } }
    queue.run { [weak self] in self?.resume { $0.stir(isClosing: false) } }
  }

  /// Changes the routing, then resumes those that have something now.
  private func resume(after body: (inout Routing) -> Void) {
    let woken = routing.withLock { routing in
      body(&routing)
      return routing.takeWoken()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Traps unless the index finds for a change what a look at every guard finds.
  func checkIndex(_ change: RecordChange) {
    routing.withLock { $0.checkIndex(change) }
  }
}
