import FoundationEssentials

/// The conflicts that a merge has met, and the decision about them.
struct MergeConflicts {
  private let plan: MergePlan
  private let resolution: ConflictResolution
  /// At most ``listedMax``, in path order.
  private(set) var listed: [MergeConflict] = []

  private static let listedMax = 100

  init(_ plan: MergePlan, _ resolution: ConflictResolution) {
    self.plan = plan
    self.resolution = resolution
  }

  /// True if the merge must not be stored.
  var isRefused: Bool { resolution == .refuse && !listed.isEmpty }

  /// Notes a conflict.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - property: The property, or nil for the node itself.
  ///   - base: The value of the common past.
  ///   - here: The value here.
  ///   - there: The value on the other side.
  ///   - removedHere: The node at or above the place that was removed here, if one was.
  ///   - removedThere: The node at or above it that was removed on the other side, if one was.
  ///   - reason: The conflict, in words.
  /// - Returns: True if the other side's value is taken nevertheless. A merge that will be refused
  ///   goes on as one that overwrites, to find all conflicts.
  /// - Throws: Errors of reading the history of the place.
  mutating func add(
    _ path: NodePath, _ property: String?, base: Value?, here: Value?, there: Value?,
    removedHere: NodePath? = nil, removedThere: NodePath? = nil, _ reason: String
  ) throws -> Bool {
    if listed.count < MergeConflicts.listedMax {
      listed.append(
        MergeConflict(
          path: path, property: property, base: base,
          here: try side(here, removedHere ?? path, property, plan.here),
          there: try side(there, removedThere ?? path, property, plan.stretch), reason: reason))
    }
    return resolution != .skipConflicts
  }

  /// A side of a conflict, with the transaction that last changed a place.
  private func side(
    _ value: Value?, _ path: NodePath, _ property: String?, _ stretch: LogStretch
  ) throws -> MergeConflict.Side {
    // Before the common past as well: what a merge has left here may be as old as that.
    let horizon = try stretch.directory.log.read { try $0.horizon() }
    let history = History(
      directory: stretch.directory, path: path, scope: .node, after: horizon, upTo: stretch.upTo
    ).reversed()
    var found: TransactionInfo?
    try history.walk { step in
      guard step.kind != .rewritten, step.changes(property) else { return true }
      found = step.transaction
      return false
    }
    return MergeConflict.Side(
      value: value, changedBy: found?.sequence, time: found?.time, metadata: found?.metadata ?? [:])
  }
}

extension HistoryStep {
  /// True if it changed a property of the record, or if that is nil, the node.
  fileprivate func changes(_ property: String?) -> Bool {
    guard let property else { return true }
    return HistoryStep.value(of: property, in: old) != HistoryStep.value(of: property, in: new)
  }

  private static func value(of property: String, in value: Value?) -> Value? {
    if case .map(let record)? = value { record[property] } else { nil }
  }
}
