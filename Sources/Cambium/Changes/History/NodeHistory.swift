/// The history of a node or a subtree: a description that reads nothing until it is walked.
///
///     var history = try database.history(of: "users/ada").reversed().makeCursor()
///     while let step = try history.next() {
///       print(step.transaction.sequence, step.transaction.metadata, step.old, step.new)
///     }
public struct History: Walk, Refinable {
  /// The part of the tree that a history follows.
  public enum Scope: Sendable {
    /// The path, whichever node is there: through removals, and all that came in their place.
    case node
    /// The node that is at the path, also where it was before it was moved there.
    case nodeThroughMoves
    /// The path and everything below it.
    case subtree
  }

  let directory: OpenDirectory
  let path: NodePath
  let scope: Scope
  let after: SequenceNumber
  let upTo: SequenceNumber
  private(set) var isReversed = false

  /// The newest first; twice is the oldest first again.
  public func reversed() -> History {
    changed { $0.isReversed.toggle() }
  }

  /// Starts a walk.
  ///
  /// - Returns: The walk. It holds no snapshot between its steps, so it may be slow.
  /// - Throws: As ``HistoryCursor/next()``.
  /// - Complexity: O(1); with ``Scope/nodeThroughMoves`` and the oldest first, the node's moves are
  ///   looked for here.
  public func makeCursor() throws -> HistoryCursor { try translating { try HistoryCursor(self) } }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (HistoryStep) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<HistoryStep> {
    WalkBatches(directory, of: makeCursor)
  }
}

/// A step in the history of a node: the change that one transaction made to it.
public struct HistoryStep: Hashable, Sendable {
  /// The effect of a transaction on a node.
  public enum Kind: Hashable, Sendable {
    /// It was not there before.
    case came
    /// It holds something else than before.
    case changed
    /// It was written again, and holds what it held.
    case rewritten
    /// It is not there any more.
    case went
  }

  /// The transaction.
  public let transaction: TransactionInfo
  /// The effect on the node.
  public let kind: Kind
  /// Its path, and its values before and after.
  public let change: Change
  /// Where the node was before, if the transaction moved it and moves are followed.
  public let origin: NodePath?

  /// The node's path after the transaction.
  public var path: NodePath { change.path }
  /// The value before; nil where the node was not there or had no value of its own.
  public var old: Value? { change.old }
  /// The value after; nil where the node is gone or has no value of its own.
  public var new: Value? { change.new }
}

/// A walk over a history, on one thread. Its memory does not depend on how long the history is.
public struct HistoryCursor: ~Copyable, WalkCursor {
  private var node: NodeSteps?
  private var subtree: SubtreeSteps?

  init(_ history: History) throws {
    if history.scope == .subtree {
      node = nil
      subtree = SubtreeSteps(history)
    } else {
      node = try NodeSteps(history)
      subtree = nil
    }
  }

  /// The next step, or nil after the last.
  ///
  /// - Returns: The step.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``;
  ///   ``DatabaseError/compacted(oldest:)`` where the horizon has passed the walk.
  /// - Complexity: of a node, one lookup in history and one read of the transaction's record;
  ///   O(log *v*) lookups for each level of the path, of *v* versions, with the first of each 64
  ///   steps, and where the node, or one above it, came or went. Of a subtree, one read of each
  ///   record that is passed.
  public mutating func next() throws -> HistoryStep? {
    try translating {
      if let step = try node?.next() { return step }
      return try subtree?.next()
    }
  }
}

/// The steps of one node, from the versions and removals on the way to it.
///
/// While the node stays where it is, its versions are walked in stretches of some, each through one
/// snapshot. The transactions that put or took away it, or one above it, are looked at one by one.
private struct NodeSteps {
  private let directory: OpenDirectory
  private let isReversed: Bool
  private var infos: TransactionInfos
  /// The periods still to come, found as they are needed.
  private var older: PathPeriods
  /// All periods still to come, the oldest last, where the steps go forward.
  private var newer: [PathPeriod] = []
  private var stretch: PathPeriod?
  /// The next step is before this transaction; or after it, forward.
  private var place: UInt64 = 0
  /// Steps that were found already, the next one last.
  private var found: [HistoryStep] = []

  private static let foundMax = 64
  private static let bytesMax = 1 << 20

  init(_ history: History) throws {
    directory = history.directory
    isReversed = history.isReversed
    infos = TransactionInfos(history.directory)
    older = PathPeriods(
      directory: history.directory, path: history.path, first: history.after.rawValue + 1,
      last: history.upTo.rawValue, followsMoves: history.scope == .nodeThroughMoves)
    if !isReversed { while let next = try older.next() { newer.append(next) } }
  }

  mutating func next() throws -> HistoryStep? {
    while true {
      if let step = found.popLast() { return step }
      if stretch == nil { try begin() }
      guard let stretch else { return nil }
      if try findVersions(in: stretch) { continue }
      guard let sequence = try candidate(in: stretch) else {
        self.stretch = nil
        continue
      }
      place = sequence
      if let step = try step(SequenceNumber(sequence), stretch) { return step }
    }
  }

  private mutating func begin() throws {
    stretch = isReversed ? try older.next() : newer.popLast()
    if let stretch { place = isReversed ? stretch.last + 1 : stretch.first - 1 }
  }

  /// The next transaction of a period that can have changed the node.
  private func candidate(in stretch: PathPeriod) throws -> UInt64? {
    if isReversed {
      guard place > stretch.first else { return nil }
      let last = try trace(stretch.path, place - 1).last
      return last >= stretch.first ? last : nil
    }
    if stretch.origin != nil && place < stretch.first { return stretch.first }
    guard place < stretch.last, let next = try trace(stretch.path, place).next else { return nil }
    return next <= stretch.last ? next : nil
  }

  private func trace(_ path: NodePath, _ moment: UInt64) throws -> PathTrace {
    try PathTrace(path, asOf: moment, directory)
  }

  // MARK: Versions

  /// Walks some of the node's versions, as long as it stays in its place, and moves the place.
  ///
  /// - Returns: False if the next transaction puts it there, or takes it away.
  private mutating func findVersions(in stretch: PathPeriod) throws -> Bool {
    let moment = isReversed ? place - 1 : place
    guard moment >= stretch.first, moment <= stretch.last else { return false }
    let trace = try trace(stretch.path, moment)
    let first = max(trace.placed, stretch.first)
    let last = min(trace.displaced.map { $0 - 1 } ?? .max, stretch.last)
    if isReversed ? moment <= first : moment >= last { return false }
    guard var walk = try VersionWalk(trace, asOf: moment) else { return false }
    place = isReversed ? first + 1 : last
    while let change = try isReversed ? walk.older(after: first) : walk.newer(before: last + 1) {
      if let step = try step(change, stretch) { found.append(step) }
      if found.count == NodeSteps.foundMax || walk.bytesCount > NodeSteps.bytesMax {
        place = change.sequence.rawValue
        break
      }
    }
    found.reverse()
    return true
  }

  /// The step that a change from one version to the next is.
  private mutating func step(
    _ change: VersionWalk.Change, _ stretch: PathPeriod
  ) throws -> HistoryStep? {
    guard change.old.isKnown && change.new.isKnown else {
      return try step(change.sequence, stretch)
    }
    return HistoryStep(
      transaction: try infos.info(change.sequence),
      kind: change.old.value == change.new.value ? .rewritten : .changed,
      change: Change(path: stretch.path, old: change.old.value, new: change.new.value), origin: nil)
  }

  // MARK: Single transactions

  /// The step of a transaction, or nil where it left the node alone.
  private mutating func step(
    _ sequence: SequenceNumber, _ stretch: PathPeriod
  ) throws -> HistoryStep? {
    let origin = sequence.rawValue == stretch.first ? stretch.origin : nil
    let old = try directory.snapshot(at: .sequence(sequence.previous))[origin ?? stretch.path]
    let new = try directory.snapshot(at: .sequence(sequence))[stretch.path]
    let change = Change(path: stretch.path, old: try old.value, new: try new.value)
    let kind = try HistoryStep.Kind(existed: old.exists, exists: new.exists, change)
    let isWritten = try origin != nil || new.modified == sequence
    guard let kind, kind != .rewritten || isWritten else { return nil }
    return HistoryStep(
      transaction: try infos.info(sequence), kind: kind, change: change,
      origin: kind == .came ? nil : origin)
  }
}

extension HistoryStep.Kind {
  /// Nil where nothing was there and nothing is.
  fileprivate init?(existed: Bool, exists: Bool, _ change: Change) {
    switch (existed, exists) {
    case (false, false): return nil
    case (false, true): self = .came
    case (true, false): self = .went
    case (true, true): self = change.old == change.new ? .rewritten : .changed
    }
  }
}

/// The steps of all nodes of a subtree: the changes of each transaction, in path order.
private struct SubtreeSteps: ~Copyable {
  private let directory: OpenDirectory
  private var commits: CommitCursor
  private var changes: ChangeCursor?
  private var infos: TransactionInfos
  private var sequence = SequenceNumber.zero

  init(_ history: History) {
    directory = history.directory
    infos = TransactionInfos(history.directory)
    commits = CommitCursor(
      history.directory, after: history.after, upTo: history.upTo, under: history.path,
      isReversed: history.isReversed)
  }

  mutating func next() throws -> HistoryStep? {
    while true {
      if let change = try changes?.next() { return try step(change) }
      guard let commit = try commits.next() else { return nil }
      sequence = commit.sequence
      changes = commit.changes.makeCursor()
    }
  }

  private mutating func step(_ change: Change) throws -> HistoryStep {
    let existed = try change.old != nil || exists(change.path, at: sequence.previous)
    let exists = try change.new != nil || exists(change.path, at: sequence)
    return HistoryStep(
      transaction: try infos.info(sequence),
      kind: HistoryStep.Kind(existed: existed, exists: exists, change) ?? .changed,
      change: change, origin: nil)
  }

  private func exists(_ path: NodePath, at sequence: SequenceNumber) throws -> Bool {
    try directory.snapshot(at: .sequence(sequence))[path].exists
  }
}

extension Database {
  /// The history of a node or of a subtree, the oldest transaction first.
  ///
  ///     try database.history(of: "users/ada").forEach { step in
  ///       print(step.transaction.sequence, step.transaction.time, step.kind, step.new ?? .null)
  ///     }
  ///
  /// A node is followed through its removals and returns, and so is a path of a property. A value
  /// that was written again as it was is a step of its node, and none of a property or of a
  /// subtree.
  ///
  /// - Parameters:
  ///   - path: The node, which need not be there any more; the root has no value, so only its
  ///     subtree has a history.
  ///   - scope: The path, its present node through its moves, or the whole subtree.
  ///   - after: Only what came after this transaction; nil begins with the oldest that is left.
  ///   - upTo: Only what came up to and including this one; the newest by default.
  /// - Returns: The history, not read yet; any thread may walk it.
  /// - Throws: As ``snapshot(at:)``; ``DatabaseError/compacted(oldest:)`` where `after` is before
  ///   the ``horizon``.
  /// - Complexity: O(1); walking costs what ``HistoryCursor/next()`` says.
  public func history(
    of path: NodePath, _ scope: History.Scope = .node, after: SequenceNumber? = nil,
    upTo: SequenceNumber? = nil
  ) throws -> History {
    let (head, horizon) = (try head, try horizon)
    if let after, after < horizon { throw DatabaseError.compacted(oldest: horizon) }
    return History(
      directory: directory, path: path, scope: scope, after: after ?? horizon,
      upTo: min(upTo ?? head, head))
  }
}
