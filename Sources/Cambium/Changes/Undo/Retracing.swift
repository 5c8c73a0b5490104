/// Tries transactions out again from the moment before the first of them, and notes what each
/// operation did.
///
///     records A+1 … B ──▶ Tree on an Overlay of A ──▶ steps, to be taken back from the last one
struct Retracing: ~Copyable {
  private var tree = Tree<Overlay>(nextNode: Overlay.firstNode)
  private var overlay: Overlay
  private var steps: [Step] = []
  private var values = ValueStep()

  init(_ overlay: Overlay) { self.overlay = overlay }

  /// Tries a transaction out, which follows the one before.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where the log and the history do not agree.
  mutating func apply(_ record: TransactionRecord) throws {
    tree.begin(record.sequence)
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() {
      try checkNoMigration(operation, record.sequence)
      overlay.beginStep()
      do {
        try tree.apply(operation, in: &overlay)
      } catch DatabaseError.notFound(let path, _) {
        throw DatabaseError.corrupt(
          reason: "history does not hold '\(path)', which the log changes; rebuild the state")
      }
      try note(operation, record.sequence)
    }
  }

  /// Ends the retracing, and returns the steps of all transactions, in order.
  mutating func finish() -> [Step] {
    endValues()
    return steps
  }

  /// Refuses a transaction that has migrated records: their declaration would not be taken back.
  private func checkNoMigration(_ operation: Operation, _ sequence: SequenceNumber) throws {
    guard case .declare(let path, let stored?) = operation else { return }
    let definition = try CollectionDefinition(stored.lend { try Value($0) })
    let isMigration =
      definition.migration != nil || definition.steps.contains { $0.sequence == sequence }
    if !isMigration { return }
    throw DatabaseError.undoConflict([
      UndoConflict(
        path: path, property: nil, left: nil, found: nil, changedBy: sequence,
        reason: "its records were migrated, which is not undone; the state before can be restored")
    ])
  }

  /// Notes what an operation did.
  private mutating func note(_ operation: Operation, _ sequence: SequenceNumber) throws {
    for path in overlay.parents { values.noteCreated(path) }
    guard let change = overlay.changes.first, let last = overlay.changes.last else { return }
    if operation.changedPath != nil { return try values.note(operation, change) }
    endValues()
    var subtree = PastSubtree(overlay: overlay, place: last.treeKey, step: overlay.step)
    switch operation {
    case .remove(let path):
      subtree.step -= 1
      let isOwn = try change.treeKey.lend { key in
        try change.old?.version.lend {
          try NodeHeader($0, key: key).isPlaced(by: sequence.rawValue)
        }
      }
      steps.append(.removed(path, subtree, at: sequence, isRestorable: isOwn == false))
    case .restore(let path, let removal):
      if !cancelRemoval(path, subtree.place, SequenceNumber(removal)) {
        steps.append(.restored(path, subtree))
      }
    case .move(let source, let destination):
      steps.append(.moved(source, to: destination, from: change.treeKey, subtree))
    case .set, .update, .change, .define, .event, .declare: break
    }
  }

  private mutating func endValues() {
    if values.isEmpty { return }
    steps.append(.values(values))
    values = ValueStep()
  }

  /// Forgets a removal that a restoration takes back, since nobody can restore what he has removed
  /// himself. That is right where the place was free in between, and its parent not touched.
  ///
  /// - Returns: True if it was forgotten.
  private mutating func cancelRemoval(
    _ path: NodePath, _ place: [UInt8], _ removal: SequenceNumber
  ) -> Bool {
    for index in steps.indices.reversed() {
      switch steps[index] {
      case .removed(path, let subtree, removal, true) where subtree.place == place:
        steps.remove(at: index)
        return true
      case .removed(_, let other, _, _), .restored(_, let other):
        if other.place == place { return false }
      case .moved(_, _, let source, let other):
        if source == place || other.place == place { return false }
      case .values(let values):
        if values.nodes[path.parent ?? .root] != nil { return false }
      }
    }
    return false
  }
}

/// One step of a range of the log: what was set between two changes of the tree's shape, or one
/// such change.
enum Step {
  case values(ValueStep)
  /// A node with all below it was removed. One that the same transaction had put there cannot be
  /// restored.
  case removed(NodePath, PastSubtree, at: SequenceNumber, isRestorable: Bool)
  /// A removed node came back.
  case restored(NodePath, PastSubtree)
  /// A node was moved from a place to the subtree's.
  case moved(NodePath, to: NodePath, from: [UInt8], PastSubtree)
}

/// The values that were set while the tree kept its shape, apart from nodes that were made.
struct ValueStep {
  /// The nodes, in the order in which they were first touched.
  private(set) var paths: [NodePath] = []
  private(set) var nodes: [NodePath: NodeStep] = [:]

  var isEmpty: Bool { paths.isEmpty }

  /// Notes that a node was made without a value of its own.
  mutating func noteCreated(_ path: NodePath) { note(path, NodeStep(isCreation: true, old: nil)) }

  /// Notes what an operation did to a node.
  mutating func note(_ operation: Operation, _ change: RecordChange) throws {
    let old = change.old.flatMap { Content($0.kind, Array($0.version[$0.offset...])) }
    let new = change.content.flatMap { Content($0.kind, $0.bytes) }
    if nodes[change.path] == nil {
      note(change.path, NodeStep(isCreation: change.old == nil, old: old))
    }
    try nodes[change.path]?.note(operation, from: old, to: new)
  }

  private mutating func note(_ path: NodePath, _ step: NodeStep) {
    paths.append(path)
    nodes[path] = step
  }
}

/// The changes of one node's own value or record.
struct NodeStep {
  /// True if the node was made.
  let isCreation: Bool
  /// The node's content before the step and after it; nil for nothing of its own.
  let old: Content?
  private(set) var new: Content?
  /// The changes of each target's value in place, apart from those that left it as it was.
  private var changes: [Target: [ValueChange<[UInt8]>]] = [:]
  /// Targets that were set to a value.
  private var assigned: Set<Target> = []
  /// True if the whole value was set.
  private var isReplaced = false

  init(isCreation: Bool, old: Content?) { (self.isCreation, self.old) = (isCreation, old) }

  /// True if elements of arrays were put in or taken out.
  var changesArrays: Bool { changes.values.contains(where: \.areOfArray) }

  /// The changes of a target's value in place; nil where it was set as well.
  func changes(of target: Target) -> [ValueChange<[UInt8]>]? {
    isAssigned(target) ? nil : changes[target]
  }

  /// True if a target was set to a value.
  func isAssigned(_ target: Target) -> Bool { isReplaced || assigned.contains(target) }

  mutating func note(_ operation: Operation, from before: Content?, to after: Content?) throws {
    new = after
    switch operation {
    case .set: isReplaced = true
    case .update(_, let updates): assigned.formUnion(updates.map(\.name))
    case .change(_, let target, let change):
      if try change.name.isStep || before?.value(of: target) != after?.value(of: target) {
        changes[target, default: []].append(change)
      }
    case .remove, .restore, .move, .define, .event, .declare: break
    }
  }
}
