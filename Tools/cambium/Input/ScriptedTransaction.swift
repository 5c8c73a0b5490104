import Cambium

/// A transaction as a line of JSON has it: what `cambium apply` reads.
///
///     {"metadata": {"actor": "anna"}, "if-seq": 12, "operations": [
///       {"op": "set", "path": "users/ada", "value": {"name": "Ada"}},
///       {"op": "increment", "path": "visits", "by": 1}]}
///
/// It may have `changes` besides, as `cambium log --patch -o json` prints them: then it makes the
/// same changes, provided that what they replace is there.
struct ScriptedTransaction {
  /// One thing to do.
  enum Operation {
    case set(NodePath, Value)
    case clear(NodePath)
    case update(NodePath, [(String, Value?)])
    case change(NodePath, String?, ValueChange<Value>)
    case remove(NodePath)
    case restore(NodePath, removedAt: SequenceNumber)
    case move(NodePath, to: NodePath)
    case event(String, Value)
    case define(String)
    case declare(NodePath, CollectionDefinition?)
    case expect(NodePath, at: SequenceNumber)
  }

  /// A node's own value before and after; nil where it has none.
  struct Change {
    let path: NodePath
    let old: Value?
    let new: Value?
  }

  var metadata: [String: String] = [:]
  /// The transaction that must be the newest.
  var expected: SequenceNumber?
  var operations: [Operation] = []
  /// In path order.
  var changes: [Change] = []

  /// True if there is nothing to do.
  var isEmpty: Bool { operations.isEmpty && changes.isEmpty }

  /// Does it.
  func perform(_ tx: borrowing Database.Transaction) throws {
    try ScriptedTransaction.perform(changes, tx)
    for operation in operations { try operation.perform(tx) }
  }

  /// First all values that go are taken out, the deepest first; then all that come are set. So no
  /// place is taken by what is to go.
  private static func perform(_ changes: [Change], _ tx: borrowing Database.Transaction) throws {
    for change in changes {
      guard let old = change.old else { continue }
      let found = try tx[change.path].value
      if found != old { throw mismatch(change.path, old, found) }
    }
    for change in changes.reversed() where change.new == nil {
      if try tx[change.path].childCount > 0 {
        try tx.clear(change.path)
      } else {
        try remove(change.path, tx)
      }
    }
    for change in changes {
      if let value = change.new { try tx.set(change.path, to: value) }
    }
  }

  /// Removes a node, and those above it that are left with neither a value nor children. Changes do
  /// not include such nodes; left over, they could take the place of later ones.
  private static func remove(_ path: NodePath, _ tx: borrowing Database.Transaction) throws {
    try tx.remove(path)
    var parent = path.parent
    while let path = parent, !path.isRoot, try tx[path].exists, try tx[path].value == nil,
      try tx[path].childCount == 0
    {
      try tx.remove(path)
      parent = path.parent
    }
  }

  private static func mismatch(_ path: NodePath, _ old: Value, _ found: Value?) -> Failure {
    let found = found.map { ValueText.short($0) } ?? "nothing"
    return Failure(
      .refused, "conflict",
      "\(path) is \(found), and was to be changed from \(ValueText.short(old))",
      hint: "without `old`, a change is made whatever was there")
  }
}

extension ScriptedTransaction.Operation {
  fileprivate func perform(_ tx: borrowing Database.Transaction) throws {
    switch self {
    case .set(let path, let value): try tx.set(path, to: value)
    case .clear(let path): try tx.clear(path)
    case .update(let path, let properties): try tx.update(path, properties)
    case .change(let path, let property, let change): try tx.change(path, property, change)
    case .remove(let path):
      if try !tx.remove(path) {
        throw DatabaseError.notFound(path, reason: "there is nothing to remove")
      }
    case .restore(let path, let sequence): try tx.restore(path, removedAt: sequence)
    case .move(let path, let destination): try tx.move(path, to: destination)
    case .event(let name, let payload): try tx.event(name, payload)
    case .define(let name): try tx.define(name)
    case .declare(let path, let definition): try tx.declare(path, definition)
    case .expect(let path, let sequence): try tx.expect(path, at: sequence)
    }
  }

  /// The nodes that it may change, and whether those below them as well.
  fileprivate var touched: [(path: NodePath, isSubtree: Bool)] {
    switch self {
    case .set(let path, _), .clear(let path), .update(let path, _), .change(let path, _, _):
      [(path, false)]
    case .remove(let path), .restore(let path, _): [(path, true)]
    case .move(let path, let destination): [(path, true), (destination, true)]
    case .event, .define, .declare, .expect: []
    }
  }
}

/// Previews of the changes that it would make.
extension ScriptedTransaction {
  /// Of a subtree, so many nodes are looked at.
  private static let nodesMax = 1000

  /// Performs the transaction, and returns what that has changed.
  func performTelling(_ tx: borrowing Database.Transaction) throws -> [Change] {
    let before = try values(tx)
    try perform(tx)
    let after = try values(tx)
    return Set(before.keys).union(after.keys).sorted().compactMap { path in
      before[path] == after[path] ? nil : Change(path: path, old: before[path], new: after[path])
    }
  }

  /// The values in the places that it may change.
  private func values(_ tx: borrowing Database.Transaction) throws -> [NodePath: Value] {
    var values: [NodePath: Value] = [:]
    var places = operations.flatMap(\.touched)
    places += changes.map { (path: $0.path, isSubtree: false) }
    for place in places {
      values[place.path] = try tx[place.path].value
      guard place.isSubtree else { continue }
      var rest = [tx[place.path]]
      while let node = rest.popLast(), values.count < ScriptedTransaction.nodesMax {
        values[node.path] = try node.value
        try node.children.limit(ScriptedTransaction.nodesMax).forEach { rest.append($0) }
      }
    }
    return values
  }
}
