// Taking over the changes of another database: a three-way merge, node by node and property by
// property.
//
//     base     the newest moment that both sides contain: of the common past, or of the last merge
//     there    the database that is merged
//     here     the open transaction, which also shows the results of the merge
//
//     here is as base         takes what is there
//     here is as there        is left
//     anything else           a conflict
//
// Only the places that the logs say were touched since are looked at, in path order. A subtree that
// one side has removed is one place: if the other side has changed anything in it, that is a
// conflict of the whole.

/// A merge into an open transaction.
struct Merging {
  private let running: RunningTransaction
  private let base: Snapshot
  private let there: Snapshot
  private let touched: TouchedPaths
  private(set) var conflicts: MergeConflicts
  /// The subtree that was decided about as a whole; what follows within it is skipped.
  private var settled: NodePath?

  init(_ running: RunningTransaction, _ plan: MergePlan, _ resolution: ConflictResolution) throws {
    self.running = running
    base = try plan.base.snapshot()
    there = try plan.there.snapshot()
    touched = try TouchedPaths(plan.touching, under: plan.under)
    conflicts = MergeConflicts(plan, resolution)
  }

  private var here: Snapshot { Snapshot(running) }

  mutating func run(_ tx: borrowing Database.Transaction) throws {
    while let place = try touched.next() {
      if isSettled(place.path) { continue }
      if let top = try removed(from: there, above: place.path) {
        try remove(top, tx)
      } else {
        try take(place, tx)
      }
    }
  }

  /// Takes over the changes at a place, or in a subtree.
  private mutating func take(
    _ place: Touched, _ tx: borrowing Database.Transaction
  ) throws {
    var differences = PlaceDifferences(from: base, to: there, at: place)
    while let change = try differences.next() {
      if isSettled(change.path) { continue }
      if let top = try removed(from: there, above: change.path) {
        try remove(top, tx)
      } else if try !settleRemovedHere(change, tx) {
        try take(change, tx)
      }
    }
  }

  private mutating func isSettled(_ path: NodePath) -> Bool {
    if let settled, path.isWithin(settled) { return true }
    settled = nil
    return false
  }

  /// The highest node of the base at or above a path that a side has removed. One that held no
  /// value, nor anything below it, does not count: such a node comes and goes with what is below.
  private func removed(from side: Snapshot, above path: NodePath) throws -> NodePath? {
    var removed: NodePath?
    var place: NodePath? = path
    while let node = place, !node.isRoot, try !side[node].exists {
      if try base[node].exists, try holdsValue(base[node]) { removed = node }
      place = node.parent
    }
    return removed
  }

  /// True if a node, or one below it, has a value of its own.
  private func holdsValue(_ node: Node) throws -> Bool {
    var nodes = try node.descendants()
    while let next = try nodes.next() { if try next.ownValue != nil { return true } }
    return false
  }

  // MARK: Values

  /// Takes over the change of a node that is there on the other side.
  private mutating func take(
    _ change: Change, _ tx: borrowing Database.Transaction
  ) throws {
    let found = try here[change.path].ownValue
    if found == change.new { return }
    if case (.map(let old)?, .map(let new)?, .map(let found)?) = (change.old, change.new, found) {
      return try take(change.path, old, new, found, tx)
    }
    if found != change.old {
      let reason = change.old == nil ? "it was made on both sides" : "it was changed on both sides"
      let isTaken = try conflicts.add(
        change.path, nil, base: change.old, here: found, there: change.new, reason)
      if !isTaken { return }
    }
    try set(change.path, change.new, tx)
  }

  /// Takes over the changed properties of a record.
  private mutating func take(
    _ path: NodePath, _ old: ValueMap, _ new: ValueMap, _ found: ValueMap,
    _ tx: borrowing Database.Transaction
  ) throws {
    var updates: [(String, Value?)] = []
    for name in Merging.names(old, new) where old[name] != new[name] {
      if found[name] == new[name] { continue }
      let isTaken =
        try found[name] == old[name]
        || conflicts.add(
          path, name, base: old[name], here: found[name], there: new[name],
          "it was changed on both sides")
      if isTaken { updates.append((name, new[name])) }
    }
    if !updates.isEmpty { try tx.update(path, updates) }
  }

  /// The names of the properties of either record, each once.
  private static func names(_ one: ValueMap, _ other: ValueMap) -> [String] {
    one.members.map(\.name) + other.members.map(\.name).filter { one[$0] == nil }
  }

  private func set(
    _ path: NodePath, _ value: Value?, _ tx: borrowing Database.Transaction
  ) throws {
    if let value { try tx.set(path, to: value) } else { try tx.clear(path) }
  }

  // MARK: Subtrees

  /// Removes a node that the other side has removed, if nothing in it was changed here.
  private mutating func remove(
    _ path: NodePath, _ tx: borrowing Database.Transaction
  ) throws {
    settled = path
    guard try here[path].exists else { return }
    var differences = PlaceDifferences(
      from: base, to: here, at: Touched(path: path, isSubtree: true))
    var isTaken = true
    while let change = try differences.next() {
      // Removed on both sides, with the node or before it.
      if try change.new == nil && !here[change.path].exists { continue }
      let reason =
        change.path == path
        ? "it was changed here and removed there"
        : "it was changed here, and \(path) was removed there"
      let isOverridden = try conflicts.add(
        change.path, nil, base: change.old, here: change.new, there: nil, removedThere: path,
        reason)
      isTaken = isTaken && isOverridden
    }
    if isTaken { try tx.remove(path) }
  }

  /// Decides about a change below or at a node that was removed here.
  ///
  /// - Returns: False if there is no such node.
  private mutating func settleRemovedHere(
    _ change: Change, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard try !here[change.path].exists,
      let top = try removed(from: here, above: change.path)
    else { return false }
    settled = top
    let isTaken = try conflicts.add(
      change.path, nil, base: change.old, here: nil, there: change.new, removedHere: top,
      top == change.path
        ? "it was removed here and changed there"
        : "\(top) was removed here, and it was changed there")
    if isTaken { try adopt(top, tx) }
    return true
  }

  /// Makes a node with all below it as it is on the other side.
  private func adopt(_ path: NodePath, _ tx: borrowing Database.Transaction) throws {
    var nodes = try there[path].descendants()
    while let node = try nodes.next() {
      if let value = try node.ownValue { try tx.set(node.path, to: value) }
    }
  }
}

/// The differences of two snapshots at one place.
private struct PlaceDifferences: ~Copyable {
  private var differences: Differences
  private var place: Touched?

  init(from old: Snapshot, to new: Snapshot, at place: Touched) {
    differences = Differences(from: old, to: new)
    self.place = Touched(path: place.path, isSubtree: place.isSubtree)
  }

  mutating func next() throws -> Change? {
    let place = place
    self.place = nil
    var next = place
    return try differences.next {
      defer { next = nil }
      return next
    }
  }
}
