// A range of the log in steps that can be taken back one by one, the last one first.

/// One step: what was set between two changes of the tree's shape, or one such change.
enum Step {
  case values(ValueStep)
  /// A node with all below it was removed; before the step with the number it was there. One that
  /// the same transaction had put there cannot be restored.
  case removed(Path, PastTree.Place, at: SequenceNumber, before: Int, isRestorable: Bool)
  /// A removed node came back, and was there after the step with the number.
  case restored(Path, PastTree.Place, after: Int)
  /// A node was moved; after the step with the number it was at its new place.
  case moved(Path, to: Path, places: (old: PastTree.Place, new: PastTree.Place), after: Int)

  /// True if a node came to a place or left it in another way than by being made.
  func touches(_ place: PastTree.Place) -> Bool {
    switch self {
    case .values: false
    case .removed(_, let other, _, _, _), .restored(_, let other, _): other == place
    case .moved(_, _, let places, _): places.old == place || places.new == place
    }
  }
}

/// The values that were set while the tree kept its shape, apart from nodes that were made.
struct ValueStep {
  /// The nodes, in the order in which they were first touched.
  private(set) var paths: [Path] = []
  private(set) var nodes: [Path: NodeStep] = [:]

  var isEmpty: Bool { paths.isEmpty }

  /// Notes that a node was made without a value of its own.
  mutating func noteCreated(_ path: Path) { note(path, NodeStep(old: .missing)) }

  /// Notes what an operation did to a node.
  mutating func note(
    _ path: Path, _ operation: Operation, from old: PastTree.Entry?, to new: Content?
  ) throws {
    if nodes[path] == nil { note(path, NodeStep(old: old.map { .there($0.content) } ?? .missing)) }
    try nodes[path]?.note(operation, from: old?.content, to: new)
  }

  private mutating func note(_ path: Path, _ step: NodeStep) {
    paths.append(path)
    nodes[path] = step
  }
}

/// The changes of one node's own value or record.
struct NodeStep {
  /// The node as it was before the step.
  enum Old {
    case missing
    /// A node with a value, a record, or nothing of its own.
    case there(Content?)
  }

  let old: Old
  /// The node's content after the step.
  private(set) var new: Content?
  /// The adjustments behind each target's value, for targets that were only added to or taken from.
  private var adjustments: [Target: [Adjustment]] = [:]
  /// Targets that were set to a value.
  private var assigned: Set<Target> = []
  /// True if the whole value was set.
  private var isReplaced = false

  init(old: Old) { self.old = old }

  /// True if the node was made.
  var isCreation: Bool { if case .missing = old { true } else { false } }

  /// True if elements of arrays were put in or taken out.
  var changesArrays: Bool { adjustments.values.contains(where: \.areOfArray) }

  /// The adjustments behind a target's value; nil where it was set.
  func adjustments(of target: Target) -> [Adjustment]? {
    isAssigned(target) ? nil : adjustments[target]
  }

  /// True if a target was set to a value.
  func isAssigned(_ target: Target) -> Bool { isReplaced || assigned.contains(target) }

  mutating func note(
    _ operation: Operation, from before: Content?, to after: Content?
  ) throws {
    new = after
    switch operation {
    case .set: isReplaced = true
    case .update(_, let updates): assigned.formUnion(updates.map(\.name))
    case .change(let path, let target, let change):
      let adjustment = try Adjustment(change, met: try before?.value(of: target), path)
      adjustments[target, default: []] += adjustment.map { [$0] } ?? []
    case .remove, .restore, .move, .define, .event, .declare: break
    }
  }
}
