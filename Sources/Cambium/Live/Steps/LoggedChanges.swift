// The changes of records that were not handed on, read from the log and the history.
//
//     transaction record n ──▶ touched paths ──▶ the records as of n - 1 and as of n
//
// It is so for commits of other processes, and for subtrees that are removed, restored or moved as
// a whole, of which only the top is handed on. Only collections that live queries are concerned
// with are looked at.

/// Reads changes as of the moments around a commit, through one view of the state.
struct LoggedChanges {
  /// The most records that are looked at for one commit, since a writer may wait.
  static let recordsMax = 1024
  /// The most commits that are read at once.
  static let commitsMax = 256
  /// The most changes that are read at once.
  static let changesMax = 8192

  private let directory: OpenDirectory
  private let index: GuardIndex
  /// It pins the history from its moment on.
  private let snapshot: Snapshot

  /// Opens the view; `start` is the moment before the first commit, and visible.
  ///
  /// - Throws: ``DatabaseError/compacted(oldest:)``, ``DatabaseError/closed(reason:)``.
  init(_ directory: OpenDirectory, _ index: GuardIndex, after start: SequenceNumber) throws {
    self.directory = directory
    self.index = index
    snapshot = try directory.snapshot(at: .sequence(start))
  }

  /// The names and declarations, at least as of the newest commit that is visible.
  var names: Catalog { get throws { try snapshot.names } }

  /// The changes of a transaction of which nothing was handed on.
  func commit(_ sequence: SequenceNumber) throws -> RoutedCommit {
    let operations = try directory.log.read { try $0.record(sequence) }.operations
    var commit = RoutedCommit(sequence: sequence, isPartial: true)
    if try LoggedChanges.declares(operations) {
      commit.lost = .everything
      return commit
    }
    let touched = try Touched.collect(operations, under: .root).touched
    var run = try Run(self, commit)
    for place in touched {
      if place.isSubtree { try run.readSubtree(place.path) } else { try run.readRecord(place.path) }
    }
    return run.commit
  }

  private static func declares(_ operations: [UInt8]) throws -> Bool {
    var reader = OperationReader(operations)
    while let operation = try reader.next() {
      if case .declare = operation { return true }
    }
    return false
  }

  /// The changes of a transaction of this process, with those of the records in the subtrees at
  /// some paths, which are in path order and apart.
  func commit(_ committed: CommittedChanges, subtrees: [NodePath]) throws -> RoutedCommit {
    var commit = RoutedCommit(sequence: committed.sequence, isPartial: true)
    commit.changes = committed.changes.filter { !$0.path.isWithin(anyOf: subtrees) }
    var run = try Run(self, commit)
    for path in subtrees { try run.readSubtree(path) }
    return run.commit
  }

  // MARK: Reading

  /// The reading of one commit.
  private struct Run {
    private let source: LoggedChanges
    private let reader: StateReader
    private(set) var commit: RoutedCommit
    private var left = LoggedChanges.recordsMax
    private var lost: Set<NodePath> = []

    init(_ source: LoggedChanges, _ commit: RoutedCommit) throws {
      self.source = source
      reader = try source.snapshot.reader
      self.commit = commit
    }

    private var before: UInt64 { commit.sequence.previous.rawValue }
    private var after: UInt64 { commit.sequence.rawValue }

    /// Adds what became of a record, if its collection has guards.
    mutating func readRecord(_ path: NodePath) throws {
      guard let collection = source.index.guards(around: path), spend(1, on: collection.path)
      else { return }
      add(path, try record(at: path, asOf: before), try record(at: path, asOf: after))
    }

    /// Adds what became of a node, and of all below it.
    mutating func readSubtree(_ path: NodePath) throws {
      if !path.isRoot { try readRecord(path) }
      for collection in source.index.collections(within: path) {
        try readRecords(of: collection.path)
      }
    }

    private mutating func readRecords(of collection: NodePath) throws {
      guard let olds = try records(of: collection, asOf: before),
        let news = try records(of: collection, asOf: after)
      else { return }
      let keys = Set(olds.keys).union(news.keys)
      for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        add(collection.appending(try key.lend { try Key($0) }), olds[key], news[key])
      }
    }

    /// The records of a collection by their keys; nil if there are too many.
    private mutating func records(
      of collection: NodePath, asOf moment: UInt64
    ) throws -> [[UInt8]: [UInt8]]? {
      var records: [[UInt8]: [UInt8]] = [:]
      guard let node = try reader.node(at: collection, asOf: moment) else { return records }
      var walk = try ChildWalk(reader, node: node, moment: moment)
      while try walk.next({ key, header, version in
        guard header.kind == .record else { return }
        records[key.extracting(droppingFirst: 8).array()] =
          version.extracting(droppingFirst: header.contentOffset).array()
      }) != nil {
        if !spend(1, on: collection) { return nil }
      }
      return records
    }

    private func record(at path: NodePath, asOf moment: UInt64) throws -> [UInt8]? {
      try reader.version(of: path, asOf: moment) { header, version in
        header.kind == .record
          ? version.extracting(droppingFirst: header.contentOffset).array() : nil
      } ?? nil
    }

    private mutating func add(_ path: NodePath, _ old: [UInt8]?, _ new: [UInt8]?) {
      guard old != new, let key = path.last else { return }
      var treeKey = [UInt8](repeating: 0, count: 8)
      key.append(to: &treeKey)
      commit.changes.append(
        RecordChange(
          path: path, collection: nil, treeKey: treeKey, old: old.map { (.record, 0, $0) },
          content: new.map { Content(kind: .record, bytes: $0) }, isSubtree: false))
    }

    /// Counts records that are looked at.
    ///
    /// - Returns: False if there are too many, or the collection's changes are lost anyway.
    private mutating func spend(_ count: Int, on collection: NodePath) -> Bool {
      left -= count
      if left < 0, lost.insert(collection).inserted {
        commit.lost = .collections(Array(lost))
      }
      return left >= 0
    }
  }
}

extension NodePath {
  /// True if it is within one of several paths, which are in path order and apart.
  fileprivate func isWithin(anyOf paths: [NodePath]) -> Bool {
    let next = paths.partitionPoint { !(self < $0) }
    return next > 0 && isWithin(paths[next - 1])
  }
}
