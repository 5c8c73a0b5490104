// The changes at all paths that a pattern describes: the feed of commits, read change by change.

/// A change at a path that a ``PathPattern`` describes.
public struct PathChange: Hashable, Sendable {
  /// The path, and the values before and after. A property has a path of its own here.
  public let change: Change
  /// The transaction that made it; nil for what was there already when the observer started.
  public let transaction: TransactionInfo?

  /// The path of the node, or of the property.
  public var path: NodePath { change.path }
  /// The value before; nil where there was none.
  public var old: Value? { change.old }
  /// The value after; nil where there is none.
  public var new: Value? { change.new }
}

extension PathChange: CustomStringConvertible, CustomDebugStringConvertible {
  /// The change, and the transaction if there is one: `users/ada/name: nil → "Ada", transaction 12
  /// of 2013-01-01T10:00:00Z by ada`.
  public var description: String {
    [change.description, transaction?.description].compactMap(\.self).joined(separator: ", ")
  }

  /// Both in full.
  public var debugDescription: String {
    [change.debugDescription, transaction?.debugDescription].compactMap(\.self)
      .joined(separator: ", ")
  }
}

/// The changes at all paths that a pattern describes, one after the other; see
/// ``Database/changes(at:after:startsWithPresent:)``.
public struct PathChanges: AsyncSequence, Sendable {
  /// One change.
  public typealias Element = PathChange

  let database: Database
  let pattern: PathPattern
  let after: SequenceNumber
  let startsWithPresent: Bool

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The position of an observer.
  public struct Iterator: AsyncIteratorProtocol {
    private let changes: PathChanges
    private var commits: Commits.Iterator?
    private var present: WalkBatches<Node>?
    private var commit: (info: TransactionInfo, changes: WalkBatches<Change>)?
    private var waiting: ArraySlice<PathChange> = []

    fileprivate init(_ changes: PathChanges) { self.changes = changes }

    /// The next change, or nil when the task is cancelled or the database closed.
    ///
    /// - Throws: As ``Commits/Iterator/next()``, and ``DatabaseError/compacted(oldest:)`` where the
    ///   horizon has passed the observer.
    public mutating func next() async throws -> PathChange? {
      while !Task.isCancelled {
        if let change = waiting.popFirst() { return change }
        if commits == nil {
          try begin()
        } else if let nodes = try present?.next() {
          if nodes.isEmpty { present = nil }
          for node in nodes { take(Change(node.path, nil, try node.ownValue), nil) }
        } else if let (info, batches) = commit {
          let changes = try batches.next()
          if changes.isEmpty { commit = nil }
          for change in changes { take(change, info) }
        } else {
          guard let next = try await commits?.next() else { return nil }
          commit = (TransactionInfo(next), try next.changes.makeBatches())
        }
      }
      return nil
    }

    private mutating func begin() throws {
      let (database, prefix) = (changes.database, changes.pattern.prefix)
      var after = changes.after
      if changes.startsWithPresent {
        let snapshot = try database.snapshot()
        let node = snapshot[prefix]
        if try node.ownValue == nil { take(Change(prefix, nil, try node.value), nil) }
        present = WalkBatches(database.directory) { try node.descendants() }
        after = snapshot.sequence
      }
      commits = database.changes(after: after, under: prefix).makeAsyncIterator()
    }

    /// Takes a node's change: as a whole where its path matches, else property by property.
    private mutating func take(_ change: Change, _ info: TransactionInfo?) {
      let keys = change.path.keys
      let pattern = changes.pattern
      if pattern.matches(keys) {
        if change.old != change.new {
          waiting.append(PathChange(change: change, transaction: info))
        }
        return
      }
      let (old, new) = (change.old?.record, change.new?.record)
      for name in Set(old?.names ?? []).union(new?.names ?? []).sorted() {
        let (before, after) = (old?[name], new?[name])
        guard before != after, let key = try? Key(name), pattern.matches(keys + [key]) else {
          continue
        }
        waiting.append(
          PathChange(
            change: Change(change.path.appending(key), before, after), transaction: info))
      }
    }
  }
}

extension Change {
  fileprivate init(_ path: NodePath, _ old: Value?, _ new: Value?) {
    self.path = path
    self.old = old
    self.new = new
  }
}

extension Value {
  fileprivate var record: ValueMap? { if case .map(let record) = self { record } else { nil } }
}

extension ValueMap {
  fileprivate var names: [String] { members.map(\.name) }
}

extension TransactionInfo {
  fileprivate init(_ commit: Commit) {
    sequence = commit.sequence
    time = commit.time
    origin = commit.origin
    metadata = commit.metadata
  }
}

extension Database {
  /// Observes all paths that a pattern describes: each change of any process, none left out.
  ///
  ///     for try await change in database.changes(at: "users/*/name") {
  ///       print(change.path, change.old ?? .null, change.new ?? .null)
  ///     }
  ///
  /// A record that the pattern describes is one change; a property is one where the pattern reaches
  /// it and not its record. So `users/*` gives users, `users/*/*` their properties and children.
  ///
  /// - Parameters:
  ///   - pattern: The paths.
  ///   - after: The last transaction seen; nil starts with the next one.
  ///   - startsWithPresent: True to get what is there now first, as changes without a transaction
  ///     whose `old` is nil. It cannot be asked for together with `after`, which then counts not.
  ///     The present moment is held until all of it was taken.
  /// - Returns: The changes, without end.
  /// - Complexity: as ``changes(after:under:)`` below the pattern's ``PathPattern/prefix``; the
  ///   present, a walk over everything there. In memory are 256 changed nodes at a time.
  public func changes(
    at pattern: PathPattern, after: SequenceNumber? = nil, startsWithPresent: Bool = false
  ) -> PathChanges {
    PathChanges(
      database: self, pattern: pattern, after: after ?? (try? head) ?? directory.feed.applied,
      startsWithPresent: startsWithPresent)
  }
}
