// Following the log: without end, or up to a point.

import LMDB

/// The transactions after a position, without end: an observer awaits the next one.
///
///     for try await commit in database.changes(after: seen, under: "users") {
///       try commit.changes.forEach { print($0.path, $0.old, $0.new) }
///     }
///
/// None is left out, none comes twice, and they come in order. Whoever was away asks for the number
/// after the last one seen. Cancelling the task ends the sequence; closing the database does, too.
public struct Commits: AsyncSequence, Sendable {
  /// One transaction.
  public typealias Element = Commit

  let directory: OpenDirectory
  let after: SequenceNumber
  let under: NodePath

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(commits: self, position: after) }

  /// The position of an observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let commits: Commits
    fileprivate var position: SequenceNumber

    /// The next transaction that touches the path, or nil when the task is cancelled or the
    /// database closed. It awaits a transaction that is not there yet; reading one takes the
    /// calling thread.
    ///
    /// - Returns: The transaction.
    /// - Throws: ``DatabaseError/corrupt(reason:)``; the position stays before that record.
    ///   ``DatabaseError/stateBehind(applied:head:reason:)`` as long as the next transaction is
    ///   stored and cannot be read; it comes as soon as it can, to the next call or to a new
    ///   iterator that continues after the last transaction seen.
    public mutating func next() async throws -> Commit? {
      let directory = commits.directory
      while !Task.isCancelled && !directory.feed.isClosed {
        guard position < directory.feed.applied else {
          if let lag = directory.feed.lag, lag.head > position { throw lag.error }
          await directory.feed.wait(past: position)
          continue
        }
        let commit = try directory.commit(position.next, under: commits.under)
        position = position.next
        if !commit.isEmpty || commits.under.isRoot { return commit }
      }
      return nil
    }
  }
}

/// A walk over transactions of the past, in either direction. It holds no snapshot, so it may be
/// slow.
public struct CommitCursor: ~Copyable, WalkCursor {
  private let directory: OpenDirectory
  private let under: NodePath
  private let isReversed: Bool
  private var low: UInt64
  private var high: UInt64
  private var archive: ArchiveReader?

  init(
    _ directory: OpenDirectory, after: SequenceNumber, upTo: SequenceNumber, under: NodePath,
    isReversed: Bool,
    readsArchive: Bool = false
  ) {
    self.directory = directory
    archive = readsArchive ? ArchiveReader(directory) : nil
    self.under = under
    self.isReversed = isReversed
    let isEmpty = upTo <= after
    low = isEmpty ? 1 : after.rawValue + 1
    high = isEmpty ? 0 : upTo.rawValue
  }

  /// The next transaction that touches the path, or nil after the last.
  ///
  /// - Returns: The transaction.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` naming the record; the next call passes it over.
  /// - Complexity: one read of each record that is passed.
  public mutating func next() throws -> Commit? {
    while low <= high {
      let sequence = SequenceNumber(isReversed ? high : low)
      if isReversed { high -= 1 } else { low += 1 }
      let commit = try directory.commit(sequence, under: under, &archive)
      if !commit.isEmpty || under.isRoot { return commit }
    }
    return nil
  }
}

extension OpenDirectory {
  /// A transaction of the past, from the archive where that may be read and has it.
  func commit(
    _ sequence: SequenceNumber, under: NodePath, _ archive: inout ArchiveReader?
  ) throws -> Commit {
    do {
      return try commit(sequence, under: under)
    } catch DatabaseError.compacted(let oldest) {
      guard archive != nil, let record = try translating({ try archive?.record(sequence) }) else {
        throw DatabaseError.compacted(oldest: oldest)
      }
      return try Commit(record, self, under: under, isArchived: true)
    }
  }

  /// A transaction of the past.
  func commit(_ sequence: SequenceNumber, under: NodePath) throws -> Commit {
    try translating {
      let record = try log.read { log in
        try log.checkReachable(sequence.previous)
        return try log.record(sequence)
      }
      return try Commit(record, self, under: under)
    }
  }
}

extension Database {
  /// Observes transactions: those after a position, then each new one, of any process.
  ///
  /// - Parameters:
  ///   - after: The last transaction seen; nil starts with the next one, zero with the first.
  ///   - under: Only transactions that touch this node or something below it, or that remove, move
  ///     or restore a subtree in which it lies; for the path of a property, those that change it.
  ///     ``Commit/changes`` are limited to it, and an application's events come only with the root.
  /// - Returns: A sequence without end.
  /// - Complexity: for each transaction, one read of its record; a new one arrives within 1 ms in
  ///   this process and 50 ms in another.
  public func changes(after: SequenceNumber? = nil, under: NodePath = .root) -> Commits {
    Commits(
      directory: directory, after: after ?? (try? head) ?? directory.feed.applied, under: under)
  }

  /// A transaction of the past.
  ///
  /// - Parameters:
  ///   - sequence: From 1 up to the ``head``.
  ///   - readsArchive: True to read one before the ``horizon`` from the archive.
  /// - Returns: The transaction, with what it changed to be read on demand.
  /// - Throws: ``DatabaseError/noSuchMoment(reason:)``, ``DatabaseError/corrupt(reason:)``,
  ///   ``DatabaseError/compacted(oldest:)``.
  public func commit(_ sequence: SequenceNumber, readsArchive: Bool = false) throws -> Commit {
    let head = try head
    guard sequence > .zero, sequence <= head else {
      throw DatabaseError.noSuchMoment(
        reason: "transaction \(sequence) is not there; there are 1 to \(head)")
    }
    var archive = readsArchive ? ArchiveReader(directory) : nil
    return try directory.commit(sequence, under: .root, &archive)
  }

  /// The moment after which transactions can be read: the ``horizon``, or where the archive has
  /// transactions before that, the moment before the oldest of them.
  ///
  /// - Throws: As ``horizon``.
  public var archiveHorizon: SequenceNumber {
    get throws { try translating { try directory.log.read { try $0.archiveHorizon() } } }
  }

  /// Walks transactions of the past.
  ///
  /// - Parameters:
  ///   - after: Only transactions after this one; nil begins with the oldest that is left.
  ///   - upTo: Up to and including this one; the newest by default.
  ///   - under: Only transactions that touch this node or something below it, as in
  ///     ``changes(after:under:)``.
  ///   - reversed: From the newest to the oldest.
  ///   - readsArchive: True to read transactions before the ``horizon`` from the archive, as far as
  ///     it reaches. They have all but their ``Commit/changes``.
  /// - Returns: The walk.
  /// - Throws: As ``snapshot(at:)``.
  /// - Complexity: one read of each record that is passed; an archived one is read with its whole
  ///   segment, of 256 KiB and more, once.
  public func commits(
    after: SequenceNumber? = nil, upTo: SequenceNumber? = nil, under: NodePath = .root,
    reversed: Bool = false, readsArchive: Bool = false
  ) throws -> CommitCursor {
    let head = try head
    let oldest = try readsArchive ? archiveHorizon : horizon
    return CommitCursor(
      directory, after: after ?? oldest, upTo: min(upTo ?? head, head), under: under,
      isReversed: reversed, readsArchive: readsArchive)
  }
}
