/// Takes steps back in an open transaction, the last one first, where what they left is still
/// there.
///
/// A place that is already as it was before needs nothing. Where a place has changed since, it is
/// noted as a conflict, and then left as it is, or treated as if it had not changed. The latter is
/// done when conflicts are refused, too, so that all are found; the transaction ends with them.
struct Inversion {
  let running: RunningTransaction
  /// The places that have changed since.
  private(set) var conflicts: UndoConflicts
  /// The transactions that are taken back, the newest first, and those that were before.
  private(set) var run: [SequenceNumber] = []
  private(set) var undone: [SequenceNumber] = []
  /// The values from which all that they did was taken back at once.
  var settled: [NodePath: Set<Target>] = [:]
  /// True if they are undos themselves, whose changes come back.
  private(set) var isRedo = false

  init(_ running: RunningTransaction, _ resolution: ConflictResolution) {
    self.running = running
    conflicts = UndoConflicts(resolution)
  }

  /// Takes steps back.
  ///
  /// - Parameters:
  ///   - steps: In the order in which they were made.
  ///   - run: The transactions that made them, the newest first.
  /// - Throws: ``DatabaseError`` of the storage; what is in the way becomes a conflict.
  mutating func undo(_ steps: [Step], of run: [TransactionRecord]) throws {
    undone += self.run
    self.run = run.map(\.sequence)
    settled = [:]
    isRedo = run.allSatisfy { !$0.undoes.isEmpty }
    for step in steps.reversed() {
      switch step {
      case .values(let values): try undo(values)
      case .removed(let path, let past, let sequence, let isRestorable):
        if let reason = running.olderForm(of: path, at: sequence) {
          try noteObstacle(path, left: nil, reason)
          continue
        }
        try putBack(path, isRestorable ? sequence : nil, past)
      case .restored(let path, let past): try takeAway(path, past)
      case .moved(let source, let destination, _, let past):
        try moveBack(source, destination, past)
      }
    }
  }

  // MARK: Present nodes

  /// A node as it is now.
  struct Present {
    let content: Content?
    let node: UInt64
    let modified: SequenceNumber
  }

  func present(_ path: NodePath) throws -> Present? {
    try node(path).lookUp { header, version in
      Present(
        content: Content(header, version), node: header.node,
        modified: SequenceNumber(header.modified))
    }
  }

  /// True if others have changed a node's own value or record since.
  func isTouched(_ path: NodePath, _ present: Present) throws -> Bool {
    let newest = run.first ?? .zero
    if present.modified < running.sequence { return present.modified > newest }
    // This transaction has changed it as well; the version before shows whether others have.
    let reader = try running.reader
    let (moment, key) = (running.sequence.previous.rawValue, try reader.treeKey(of: path))
    let modified = try key?.lend {
      try reader.version($0, asOf: moment) { header, _ in header.modified }
    }
    return modified ?? 0 > newest.rawValue
  }

  func node(_ path: NodePath) -> Node {
    Snapshot(running)[path]
  }

  /// The value that an app gets for stored content.
  func value(_ content: Content?) throws -> Value? {
    guard let content else { return nil }
    return try content.bytes.lend { try Value($0, content.kind, running.catalog) }
  }

  // MARK: Conflicts

  /// Notes a conflict.
  ///
  /// - Returns: True to continue as if there were no conflict.
  mutating func meets(
    _ path: NodePath, _ property: String? = nil, left: Value?, found: Value?, _ reason: String
  ) throws -> Bool {
    if conflicts.isNew(path, property) {
      let modified = left == found ? nil : try present(path)?.modified
      conflicts.add(
        UndoConflict(
          path: path, property: property, left: left, found: found,
          changedBy: modified == running.sequence ? nil : modified, reason: reason))
    }
    return conflicts.areOverridden
  }

  /// Issues an operation; where the tree does not take it, that is a conflict.
  @discardableResult
  mutating func issue(_ operation: Operation, left: Value? = nil) throws -> Bool {
    do {
      try running.issue(operation)
      return true
    } catch DatabaseError.exists(let place, let reason) {
      try noteObstacle(place, left: left, reason)
    } catch DatabaseError.notFound(let place, let reason) {
      try noteObstacle(place, left: left, reason)
    } catch DatabaseError.badValue(let place, let reason) {
      try noteObstacle(place, left: left, reason)
    }
    return false
  }

  private mutating func noteObstacle(_ path: NodePath, left: Value?, _ reason: String) throws {
    _ = try meets(path, left: left, found: try node(path).value, reason)
    conflicts.isObstructed = true
  }
}
