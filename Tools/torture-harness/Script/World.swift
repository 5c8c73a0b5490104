import Cambium
import Simulation

/// The content that a database should have at one moment, as plainly as it can be said.
struct World: Sendable {
  /// The content of a node, and the transaction that last changed it.
  struct Node: Equatable, Sendable {
    var value: Value?
    /// The content where the value is a blob.
    var blob: [UInt8]?
    var modified: UInt64
  }

  private(set) var nodes: [NodePath: Node] = [:]
  private(set) var events: [Int64] = []
  /// The nodes that each transaction removed, by its number.
  private var removed: [UInt64: [NodePath: Node]] = [:]

  /// The nodes after a transaction.
  func after(_ steps: [Step], sequence: UInt64) -> World {
    var next = self
    next.events = []
    for step in steps { next.apply(step, sequence) }
    return next
  }

  /// The world without a node and all below it, now and wherever it was removed.
  func without(_ path: NodePath) -> World {
    var rest = self
    rest.nodes = nodes.filter { !$0.key.isWithin(path) }
    rest.removed = removed.mapValues { $0.filter { !$0.key.isWithin(path) } }
    return rest
  }

  /// The world without some nodes.
  func without(_ isLeftOut: (NodePath) -> Bool) -> World {
    var rest = self
    rest.nodes = nodes.filter { !isLeftOut($0.key) }
    return rest
  }

  /// The records of a collection, by their keys, in order.
  func records(of collection: NodePath) -> [(key: Key, values: ValueMap)] {
    nodes.filter { $0.key.parent == collection && $0.value.record != nil }
      .sorted { $0.key < $1.key }
      .compactMap { path, node in
        path.last.flatMap { key in node.record.map { (key, $0) } }
      }
  }

  mutating func apply(_ step: Step, _ sequence: UInt64) {
    switch step {
    case .set(let path, let value): put(path, value, sequence)
    case .blob(let path, let bytes): put(path, nil, blob: bytes, sequence)
    case .update(let path, let name, let value):
      var record = nodes[path]?.record ?? ValueMap()
      record[name] = value
      put(path, .map(record), sequence)
    case .change(let path, let name, let change):
      self.change(path, name, change, sequence)
    case .remove(let path): removed[sequence] = take(path)
    case .move(let source, let destination): attach(take(source), source, destination, sequence)
    case .restore(let path, let number): attach(removed[number] ?? [:], path, path, sequence)
    case .event(let number): events.append(number)
    case .share(let path, let source): put(path, nil, blob: nodes[source]?.blob, sequence)
    case .refer(let path, let bytes): put(path, nil, blob: bytes, sequence)
    case .attempt(let steps, let isKept):
      if isKept { for step in steps { apply(step, sequence) } }
    case .declare, .refused: break
    }
  }

  private mutating func put(
    _ path: NodePath, _ value: Value?, blob: [UInt8]? = nil, _ sequence: UInt64
  ) {
    makeAncestors(of: path, sequence)
    nodes[path] = Node(value: value, blob: blob, modified: sequence)
  }

  private mutating func makeAncestors(of path: NodePath, _ sequence: UInt64) {
    var ancestor = path.parent
    while let path = ancestor, !path.isRoot {
      if nodes[path] == nil { nodes[path] = Node(modified: sequence) }
      ancestor = path.parent
    }
  }

  /// Takes a subtree away.
  private mutating func take(_ path: NodePath) -> [NodePath: Node] {
    let taken = nodes.filter { $0.key.isWithin(path) }
    for path in taken.keys { nodes[path] = nil }
    return taken
  }

  /// Puts a subtree somewhere: its root counts as changed, what is below it does not.
  private mutating func attach(
    _ subtree: [NodePath: Node], _ source: NodePath, _ destination: NodePath, _ sequence: UInt64
  ) {
    makeAncestors(of: destination, sequence)
    let depth = source.keys.count
    for (path, node) in subtree {
      nodes[NodePath(keys: destination.keys + path.keys.dropFirst(depth))] = node
    }
    nodes[destination]?.modified = sequence
  }
}

extension World {
  /// Changes a property, or the node's own value.
  private mutating func change(
    _ path: NodePath, _ name: String?, _ change: ValueChange<Value>, _ sequence: UInt64
  ) {
    func changed(_ old: Value?) -> Value? {
      do { return try change.plainly(on: old) } catch {
        preconditionFailure("the script has \(change) for \(path): \(error)")
      }
    }
    guard let name else { return put(path, changed(nodes[path]?.value), sequence) }
    var record = nodes[path]?.record ?? ValueMap()
    record[name] = changed(record[name])
    put(path, .map(record), sequence)
  }
}

extension Value {
  fileprivate var record: ValueMap? { if case .map(let record) = self { record } else { nil } }
  fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  fileprivate var elements: [Value]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}

extension World.Node {
  var record: ValueMap? { value?.record }
  var integer: Int64? { value?.integer }
  var elements: [Value]? { value?.elements }
  /// True if nothing is held: the node is there for its children.
  var isEmpty: Bool { value == nil && blob == nil }
}
