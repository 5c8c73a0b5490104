@testable import Cambium

/// The content that a database should have, present and past, in the plainest form: for every
/// moment a dictionary from paths to nodes, kept whole.
struct Model: Sendable {
  /// One committed transaction.
  struct Moment: Sendable {
    /// The nodes right after it.
    var nodes: [NodePath: Tree.Node]
    /// The number of operations that it logged.
    var operationCount: Int
    /// The events it logged.
    var events: [Event]
  }

  /// The moments by sequence number; the first is the empty database.
  private(set) var moments = [Moment(nodes: [:], operationCount: 0, events: [])]
  /// The present, with what the open transaction has done.
  var tree = Tree()
  /// The present without it.
  private var committed = Tree()

  var head: SequenceNumber { SequenceNumber(UInt64(moments.count - 1)) }

  /// The nodes at a moment.
  func nodes(at sequence: SequenceNumber) -> [NodePath: Tree.Node] {
    moments[Int(sequence.rawValue)].nodes
  }

  /// The oldest moment that is left.
  var horizon: SequenceNumber {
    get { committed.horizon }
    set {
      committed.horizon = newValue
      tree.horizon = newValue
    }
  }

  mutating func begin() {
    tree = committed
    tree.sequence = head.next
    tree.operationCount = 0
    tree.events = []
    tree.restored = []
    tree.changed = []
  }

  /// Keeps what was done; a transaction without an operation is none.
  mutating func commit() {
    committed = tree
    if tree.operationCount == 0 { return }
    moments.append(
      Moment(nodes: tree.nodes, operationCount: tree.operationCount, events: tree.events))
  }

  mutating func abort() { tree = committed }

  /// The changes of a transaction, in path order.
  func changes(of sequence: SequenceNumber) -> [Change] {
    let (old, new) = (nodes(at: sequence.previous), nodes(at: sequence))
    var changes: [Change] = []
    for path in Set(old.keys).union(new.keys) {
      let (before, after) = (old[path]?.value, new[path]?.value)
      if before != after { changes.append(Change(path: path, old: before, new: after)) }
    }
    return changes.sorted { $0.path < $1.path }
  }
}

/// The tree at one moment, and what a transaction may do to it.
struct Tree: Sendable {
  struct Node: Equatable, Sendable {
    /// A map is a record; nil for a node that only has children.
    var value: Value?
    /// The transaction that last changed `value`.
    var modified: SequenceNumber
    /// The transaction that put the node where it is.
    var placed: SequenceNumber
    /// Whose children its children are: given with the first child, it stays when the node moves.
    var family: Int?
    /// The identity of the node, wherever it is moved; a restored node has another.
    var identity: Int
  }

  /// Where a node was: under a certain parent, wherever that is now.
  struct Place: Hashable {
    var family: Int
    var key: Key
  }

  /// A node that left a place, and all that was below it, by relative path.
  struct Removal {
    var sequence: SequenceNumber
    var isMove: Bool
    var node: Node
    var below: [NodePath: Node]
  }

  var nodes: [NodePath: Node] = [:]
  var sequence = SequenceNumber.zero
  var operationCount = 0
  var events: [Event] = []
  /// The oldest moment that is left: what was removed up to it cannot come back.
  var horizon = SequenceNumber.zero
  /// The names of properties that are defined.
  var names: Set<String> = []
  private var removals: [Place: [Removal]] = [:]
  /// The nodes that the transaction has restored, by identity, and those of them below which it has
  /// changed something since.
  var restored: Set<Int> = []
  var changed: Set<Int> = []
  /// The places from which a transaction took what it had restored there and changed, or moved: it
  /// does not come back as it was.
  private var spoilt: [Place: Set<Int>] = [:]
  private var families = rootFamily

  private static let rootFamily = 0

  /// A number that no family and no node has.
  mutating func newFamily() -> Int {
    families += 1
    return families
  }
}

// MARK: Places

extension Tree {
  /// Checks that a node may be at a path.
  ///
  /// - Returns: The family that it belongs to, or nil where its parent is missing or without
  ///   children.
  @discardableResult
  func family(around path: NodePath) throws(Refusal) -> Int? {
    guard !path.isRoot else { throw .badValue }
    let keys = path.keys
    var family: Int? = Tree.rootFamily
    var ancestor = NodePath.root
    for (key, next) in zip(keys, keys.dropFirst()) {
      ancestor = ancestor.appending(key)
      guard let node = nodes[ancestor] else { return nil }
      if node.has(next.description) { throw .exists }
      guard node.family != nil else { return nil }
      family = node.family
    }
    return family
  }

  /// The node at a path, which must be there.
  func existing(_ path: NodePath) throws(Refusal) -> Node {
    try family(around: path)
    guard let node = nodes[path] else { throw .notFound }
    return node
  }

  /// The record and the name of its property that a path means, where it means one.
  func property(_ path: NodePath) -> (record: NodePath, name: String)? {
    guard let key = path.last, let parent = path.parent else { return nil }
    return nodes[parent]?.has(key.description) == true ? (parent, key.description) : nil
  }

  /// The value that reading a path gives: a node's, or a property's.
  func value(_ path: NodePath) -> Value? {
    if let value = nodes[path]?.value { return value }
    return property(path).flatMap { nodes[$0.record]?.record?[$0.name] }
  }

  func refuseChild(of path: NodePath, named names: some Sequence<String>) throws(Refusal) {
    for name in names {
      guard let key = try? Key(name) else { continue }
      if nodes[path.appending(key)] != nil { throw .exists }
    }
  }

  mutating func makeAncestors(of path: NodePath) {
    var ancestor = NodePath.root
    for key in path.keys.dropLast() {
      ancestor = ancestor.appending(key)
      if nodes[ancestor] == nil {
        nodes[ancestor] = Node(modified: sequence, placed: sequence, identity: newFamily())
      }
      if nodes[ancestor]?.family == nil {
        let family = newFamily()
        nodes[ancestor]?.family = family
      }
    }
  }
}

// MARK: Removals

extension Tree {
  /// Takes a node with all below it out of its place, and remembers it.
  mutating func detach(_ path: NodePath, isMove: Bool) throws(Refusal) -> Removal {
    let node = try existing(path)
    var below: [NodePath: Node] = [:]
    for (other, node) in nodes where other != path {
      if let rest = other.relative(to: path) { below[rest] = node }
    }
    for rest in below.keys { nodes[path.appending(rest)] = nil }
    nodes[path] = nil
    return Removal(sequence: sequence, isMove: isMove, node: node, below: below)
  }

  /// Remembers a removal, unless the node came in the same transaction.
  mutating func remember(_ removal: Removal, from path: NodePath, _ family: Int?) {
    guard let family, let key = path.last else { return }
    let place = Place(family: family, key: key)
    if removal.node.placed < sequence {
      removals[place, default: []].append(removal)
    } else if let own = removal.node.family,
      removal.isMove || changed.contains(removal.node.identity)
    {
      spoilt[place, default: []].insert(own)
    }
  }

  /// Notes below which of the restored nodes something is other than it was.
  mutating func noteChanges(since before: [NodePath: Node]) {
    if before.isEmpty { return }
    for identity in restored.subtracting(changed)
    where Tree.below(identity, in: before).map({ $0 != Tree.below(identity, in: nodes) }) ?? false {
      changed.insert(identity)
    }
  }

  private static func below(_ identity: Int, in nodes: [NodePath: Node]) -> [NodePath: Node]? {
    guard let top = nodes.first(where: { $0.value.identity == identity })?.key else { return nil }
    var below: [NodePath: Node] = [:]
    for (path, node) in nodes where path != top {
      if let rest = path.relative(to: top) { below[rest] = node }
    }
    return below
  }

  mutating func attach(_ removal: Removal, at path: NodePath, isMove: Bool) {
    for (rest, node) in removal.below { nodes[path.appending(rest)] = node }
    nodes[path] = Node(
      value: removal.node.value, modified: sequence, placed: sequence, family: removal.node.family,
      identity: isMove ? removal.node.identity : newFamily())
  }

  /// The node that a transaction removed from a path, if it may come back.
  func removal(_ path: NodePath, at wanted: SequenceNumber) throws(Refusal) -> Removal {
    guard let family = try family(around: path) else { throw .notFound }
    if nodes[path] != nil { throw .exists }
    guard let key = path.last else { throw .notFound }
    let place = Place(family: family, key: key)
    let past = removals[place] ?? []
    guard wanted < sequence, let removal = past.first(where: { $0.sequence == wanted }),
      !removal.isMove
    else { throw .notFound }
    if let family = removal.node.family {
      if spoilt[place]?.contains(family) == true { throw .notFound }
      let isBack = past.contains { $0.sequence > wanted && $0.node.family == family }
      if isBack || nodes.values.contains(where: { $0.family == family }) { throw .notFound }
    }
    return removal
  }
}

extension Tree.Node {
  /// The record that the node holds.
  var record: ValueMap? { if case .map(let record)? = value { record } else { nil } }

  /// True if the node is a record with a certain property.
  func has(_ name: String) -> Bool { record?.members.contains { $0.name == name } ?? false }
}
