import FoundationEssentials

/// A node's value before and after a transaction.
public struct Change: Hashable, Sendable {
  /// The node's path; for a move, there is a change for each of the two places. Where the path of a
  /// property was asked for, it is that path.
  public let path: NodePath
  /// The value before, or nil where the node was not there or had no value of its own.
  public let old: Value?
  /// The value after, or nil where the node is gone or has no value of its own.
  public let new: Value?
}

/// One committed transaction, as observers see it.
public struct Commit: Sendable {
  /// Its place in the log.
  public let sequence: SequenceNumber
  /// The time of the commit; never before that of an earlier one.
  public let time: Date
  /// The database that wrote it.
  public let origin: UUID
  /// The metadata given to `write`, such as who wrote and why.
  public let metadata: [String: String]
  /// The number of its operations, definitions of names included.
  public let operationCount: Int
  /// True if an erasure has since taken operations out of it.
  public let isErased: Bool
  /// The application's own events, in order; empty where only a part of the tree was requested.
  public let events: [Event]

  /// True if it was read from the archive: then ``operations()`` says what it did, but the values
  /// before and after are no longer there.
  public var isArchived: Bool { archived != nil }

  let directory: OpenDirectory
  /// The operations of an archived transaction.
  let archived: [UInt8]?
  private let touched: [Touched]

  /// The changes, in path order. An archived transaction's cannot be read:
  /// ``DatabaseError/compacted(oldest:)`` says so.
  public var changes: Changes {
    Changes(directory: directory, sequence: sequence, touched: touched)
  }

  /// The changes within a path.
  package func changes(within path: NodePath) -> Changes { changes.clipped(to: path) }

  /// Only what lies within `under` counts as touched.
  init(
    _ record: TransactionRecord, _ directory: OpenDirectory, under: NodePath,
    isArchived: Bool = false
  ) throws {
    archived = isArchived ? record.operations : nil
    sequence = record.sequence
    time = Date(microseconds: record.time)
    origin = record.origin
    metadata = record.metadata
    operationCount = Int(record.operationCount)
    isErased = record.isErased
    self.directory = directory
    let (found, events) = try Touched.collect(record.operations, under: under)
    self.events = events
    touched = try found.filter { touched in
      // Only the history knows what became of a property that was asked for.
      if !touched.isUncertain || isArchived { return true }
      var cursor = Changes(directory: directory, sequence: record.sequence, touched: [touched])
        .makeCursor()
      return try cursor.next() != nil
    }
  }

  /// True if it touched nothing within the path asked for, and logged no events.
  var isEmpty: Bool { touched.isEmpty && events.isEmpty }
}

/// The changes of a transaction, in path order, read when asked for.
///
/// Nothing is stored for it: the values before and after are read from the tree and its history, as
/// of the transaction before and of this one.
public struct Changes: Walk {
  let directory: OpenDirectory
  let sequence: SequenceNumber
  let touched: [Touched]
  /// The transaction, if it is still open.
  var running: RunningTransaction?

  /// The changes within a path.
  func clipped(to path: NodePath) -> Changes {
    Changes(
      directory: directory, sequence: sequence,
      touched: touched.compactMap { $0.clipped(to: path, of: path.parent) }, running: running)
  }

  /// Starts a walk.
  ///
  /// - Returns: The walk, at its start; nothing is read yet.
  /// - Complexity: O(log n) for each change; memory in proportion to the depth.
  public func makeCursor() -> ChangeCursor { ChangeCursor(self) }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (Change) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<Change> {
    WalkBatches(running == nil ? directory : nil, of: makeCursor)
  }
}

/// A walk over changes. It renews its snapshot as it goes, so that a slow one does not keep pages
/// alive, except inside one moved or removed subtree.
public struct ChangeCursor: ~Copyable, WalkCursor {
  private let touched: [Touched]
  private var index = 0
  private var differences: Differences

  init(_ changes: Changes) {
    touched = changes.touched
    if let running = changes.running {
      differences = Differences(
        from: Snapshot(running, asOf: running.sequence.previous), to: Snapshot(running))
    } else {
      differences = Differences(
        changes.directory, from: changes.sequence.previous, to: changes.sequence)
    }
  }

  /// The next change, or nil after the last.
  ///
  /// - Returns: The change; a node whose value is unchanged is skipped.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``.
  public mutating func next() throws -> Change? {
    let touched = touched
    var index = index
    defer { self.index = index }
    return try differences.next {
      defer { index += 1 }
      return index < touched.count ? touched[index] : nil
    }
  }
}

/// A walk over the differences between two moments at places that may have changed, in the order of
/// the places. It renews its snapshots as it goes.
struct Differences: ~Copyable {
  private static let renewal = 256

  private let from: PlacedMoment
  private let to: PlacedMoment
  private var isRenewed = true
  private var count = 0
  private var old: Snapshot?
  private var new: Snapshot?
  private var subtree: SubtreeChanges?

  /// The differences of two moments, each in a database.
  init(from: PlacedMoment, to: PlacedMoment) {
    self.from = from
    self.to = to
  }

  init(_ directory: OpenDirectory, from: SequenceNumber, to: SequenceNumber) {
    self.init(
      from: PlacedMoment(directory: directory, sequence: from),
      to: PlacedMoment(directory: directory, sequence: to))
  }

  /// The differences of two snapshots, which are kept.
  init(from old: Snapshot, to new: Snapshot) {
    self.init(
      from: PlacedMoment(directory: old.directory, sequence: old.sequence),
      to: PlacedMoment(directory: new.directory, sequence: new.sequence))
    (self.old, self.new, isRenewed) = (old, new, false)
  }

  /// The next change, or nil after the last place; `place` gives the next one, and is asked when
  /// the one before has no more changes.
  mutating func next(_ place: () throws -> Touched?) throws -> Change? {
    while true {
      if let change = try subtree?.next() { return change }
      subtree = nil
      guard let touched = try place() else { return nil }
      if isRenewed && count % Differences.renewal == 0 { try renew() }
      count += 1
      guard let old, let new else { return nil }
      if touched.isSubtree {
        subtree = try SubtreeChanges(
          old[touched.path], new[touched.path], mayBeProperty: touched.mayBeProperty)
      } else if let change = try Differences.change(
        old[touched.path], new[touched.path], mayBeProperty: touched.mayBeProperty)
      {
        return change
      }
    }
  }

  private mutating func renew() throws {
    old = try translating { try from.snapshot() }
    new = try translating { try to.snapshot() }
  }

  fileprivate static func change(_ old: Node, _ new: Node, mayBeProperty: Bool = false) throws
    -> Change?
  {
    let before = mayBeProperty ? try old.value : try old.ownValue
    let after = mayBeProperty ? try new.value : try new.ownValue
    return before == after ? nil : Change(path: new.path, old: before, new: after)
  }
}

/// A moment in one of several databases.
struct PlacedMoment {
  let directory: OpenDirectory
  let sequence: SequenceNumber

  func snapshot() throws -> Snapshot { try directory.snapshot(at: .sequence(sequence)) }
}

/// The differences of one subtree at two moments: both are walked in path order, side by side.
private struct SubtreeChanges: ~Copyable {
  private var olds: DescendantCursor
  private var news: DescendantCursor
  private var old: Node?
  private var new: Node?
  private let newSnapshot: Snapshot
  private let oldSnapshot: Snapshot
  /// The subtree's own path, where it may be a property's and has not been looked at yet.
  private var top: NodePath?

  init(_ old: Node, _ new: Node, mayBeProperty: Bool) throws {
    top = mayBeProperty ? new.path : nil
    var olds = try old.descendants()
    var news = try new.descendants()
    (self.old, self.new) = (try olds.next(), try news.next())
    self.olds = olds
    self.news = news
    oldSnapshot = old.snapshot
    newSnapshot = new.snapshot
  }

  mutating func next() throws -> Change? {
    if let change = try topChange() { return change }
    while let path = smallest {
      let before = old?.path == path ? old : nil
      let after = new?.path == path ? new : nil
      if before != nil { old = try olds.next() }
      if after != nil { new = try news.next() }
      let change = try Differences.change(
        before ?? oldSnapshot[path], after ?? newSnapshot[path])
      if let change { return change }
    }
    return nil
  }

  /// The change of the top, be it node or property.
  private mutating func topChange() throws -> Change? {
    guard let path = top else { return nil }
    top = nil
    if old?.path == path { old = try olds.next() }
    if new?.path == path { new = try news.next() }
    return try Differences.change(oldSnapshot[path], newSnapshot[path], mayBeProperty: true)
  }

  private var smallest: NodePath? {
    guard let old else { return new?.path }
    guard let new else { return old.path }
    return min(old.path, new.path)
  }
}

extension RunningTransaction {
  /// The changes that the transaction has made so far, and its events.
  func record() throws -> (changes: Changes, events: [Event]) {
    try use()
    let (touched, events) = try Touched.collect(operations.bytes, under: .root)
    let changes = Changes(
      directory: directory, sequence: sequence, touched: touched, running: self)
    return (changes, events)
  }
}
