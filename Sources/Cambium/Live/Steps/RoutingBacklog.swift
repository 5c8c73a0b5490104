/// The commits that were handed to a router and that it has not routed yet.
///
/// A small commit is routed by the thread that commits, so that no other has to wake up before the
/// queries that it concerns do. Routing a large one would hold up the next commit, and is left to a
/// queue; so are the commits behind it. A backlog that grows faster than the queue works it off is
/// worked off by the thread that commits, so that it stays bounded.
///
/// Invariant: its commits are in order, and come after all that were taken.
struct RoutingBacklog: ~Copyable {
  /// The most changes that a commit may have to be routed by the thread that commits.
  static let smallCount = 64
  /// The most changes, and bytes of records, that wait.
  static let (countMax, bytesMax) = (16_384, 16 << 20)

  /// The way to route what waits.
  enum Way {
    /// At once, by the thread that commits.
    case now
    /// By the queue, which must be told.
    case onQueue
    /// By the queue, which knows.
    case waiting
  }

  private var commits: [CommittedChanges] = []
  private var changeCount = 0
  private var byteCount = 0
  /// True while the queue is to come.
  private var isScheduled = false

  /// Adds the next commit.
  mutating func add(_ committed: CommittedChanges) -> Way {
    commits.append(committed)
    changeCount += committed.changes.count
    if changeCount <= RoutingBacklog.smallCount { return .now }
    byteCount += committed.changes.byteCount
    if changeCount > RoutingBacklog.countMax || byteCount > RoutingBacklog.bytesMax { return .now }
    defer { isScheduled = true }
    return isScheduled ? .waiting : .onQueue
  }

  /// Takes what waits.
  ///
  /// - Parameter isQueue: True if the queue takes it, which is then to be told again.
  /// - Returns: The commits, in order.
  mutating func takeAll(isQueue: Bool = false) -> [CommittedChanges] {
    if isQueue { isScheduled = false }
    (changeCount, byteCount) = (0, 0)
    defer { commits = [] }
    return commits
  }
}
