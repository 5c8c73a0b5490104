import Cambium

/// A moment of the database, or an open transaction, as Firebase's tree; ``FirebaseTree`` says how.
///
/// It belongs to one request, on one thread.
final class FirebaseView {
  /// The deepest level that is read. Firebase's own trees end at 32.
  static let depthMax = 200

  let root: Node
  /// The declarations, as of a commit.
  let schema: Snapshot

  init(_ snapshot: Snapshot) {
    root = snapshot.root
    schema = snapshot
  }

  /// The tree as an open transaction has left it so far.
  init(_ transaction: borrowing Database.Transaction, schema: Snapshot) {
    root = transaction[.root]
    self.schema = schema
  }

  /// A place in the tree.
  enum Place {
    /// A node, which exists; the root always does.
    case node(Node)
    /// A part of a node's record or array.
    case part(FirebaseTree)
    case nothing
  }

  /// A child of a node: a node of its own, or a property or an element of its value.
  enum Child {
    case node(Node)
    case part(FirebaseTree)
  }

  /// The place at a path.
  func place(at path: NodePath) throws -> Place {
    try place(at: path.keys[...], below: root)
  }

  func place(at keys: ArraySlice<Key>, below start: Node) throws -> Place {
    var node = start
    for index in keys.indices {
      let child = node.child(keys[index])
      if try child.isNode {
        node = child
        continue
      }
      let part = try ownTree(node)?.descendant(keys[index...].map { FirebaseName($0) })
      return part.map { .part($0) } ?? .nothing
    }
    return .node(node)
  }

  /// The value of a node itself: a scalar, or its properties or elements as an object.
  func ownTree(_ node: Node) throws -> FirebaseTree? {
    guard let value = try node.value else { return nil }
    guard case .map(let record) = value, let parent = node.path.parent else {
      return FirebaseTree(stored: value)
    }
    return FirebaseTree(stored: .map(completed(record, try defaults(of: parent))))
  }

  /// The same, where the defaults of its collection are known.
  func ownTree(_ node: Node, _ defaults: [ValueMap.Member]) throws -> FirebaseTree? {
    guard let value = try node.value else { return nil }
    guard !defaults.isEmpty, case .map(let record) = value else {
      return FirebaseTree(stored: value)
    }
    return FirebaseTree(stored: .map(completed(record, defaults)))
  }

  /// The defaults of the records of a collection, as declared for the moment.
  func defaults(of collection: NodePath) throws -> [ValueMap.Member] {
    try schema.defaults(of: collection).members.filter { $0.value != .null }
  }

  private func completed(_ record: ValueMap, _ defaults: [ValueMap.Member]) -> ValueMap {
    var record = record
    for member in defaults where record[member.name] ?? .null == .null {
      record[member.name] = member.value
    }
    return record
  }

  /// True if Firebase would have something there.
  func hasContent(_ place: Place) throws -> Bool {
    switch place {
    case .node(let node): try hasContent(node)
    case .part: true
    case .nothing: false
    }
  }

  func hasContent(_ child: Child) throws -> Bool {
    switch child {
    case .node(let node): try hasContent(node)
    case .part: true
    }
  }

  func hasContent(_ node: Node, depth: Int = 0) throws -> Bool {
    if depth > FirebaseView.depthMax { throw FirebaseView.tooDeep }
    if let value = try node.value, FirebaseTree(stored: value) != nil { return true }
    if let parent = node.path.parent, case .map = try node.value {
      if try !defaults(of: parent).isEmpty { return true }
    }
    var children = try node.children.makeCursor()
    while let child = try children.next() {
      if try hasContent(child, depth: depth + 1) { return true }
    }
    return false
  }

  static let tooDeep = FirebaseError.bad(
    "Data is deeper than \(depthMax) levels there; ask for a node below")
}

extension FirebaseView {
  /// Visits the children of a node in the order of their keys, or against it, until `body` returns
  /// false. The key at which to begin need not exist.
  func forEachChild(
    of node: Node, from first: Key? = nil, isReversed: Bool = false,
    _ body: (FirebaseName, Child) throws -> Bool
  ) throws {
    var parts = try ownTree(node)?.members ?? []
    if isReversed { parts.reverse() }
    if let first {
      let start = FirebaseName(first)
      parts.removeAll { isReversed ? start < $0.name : $0.name < start }
    }
    var walk = node.children
    if let first { walk = walk.from(first) }
    if isReversed { walk = walk.reversed() }
    func isBefore(_ parts: [FirebaseTree.Member], _ index: Int, _ name: FirebaseName) -> Bool {
      guard index < parts.count else { return false }
      return isReversed ? name < parts[index].name : parts[index].name < name
    }
    var children = try walk.makeCursor()
    var index = 0
    var next = try children.next()
    while true {
      let name = next?.key.map { FirebaseName($0) }
      let isPart = name.map { isBefore(parts, index, $0) } ?? true
      if index < parts.count && isPart {
        if try !body(parts[index].name, .part(parts[index].tree)) { return }
        index += 1
        continue
      }
      guard let node = next, let name else { return }
      if try !body(name, .node(node)) { return }
      next = try children.next()
    }
  }
}

extension Node {
  /// True if it is a node of its own: a property is not.
  var isNode: Bool { get throws { try path.isRoot || modified != nil } }

  /// True if it has a child. Counting them would be a walk in the past.
  var hasChildren: Bool {
    get throws {
      var children = try children.limit(1).makeCursor()
      return try children.next() != nil
    }
  }
}
