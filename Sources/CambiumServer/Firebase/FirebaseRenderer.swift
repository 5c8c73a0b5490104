import Cambium

/// Renders places of a view.
struct FirebaseRenderer {
  let view: FirebaseView
  let json: FirebaseJSON
  /// True to write dense integer keys as arrays, as all but exports do.
  var asArrays = true
  /// Ends the work by throwing.
  var check: () throws -> Void = {}

  func place(_ name: FirebaseName?, _ place: FirebaseView.Place) throws {
    switch place {
    case .node(let node): try self.node(name, node)
    case .part(let tree): try json.tree(name, tree, asArrays: asArrays)
    case .nothing: break
    }
  }

  func child(_ name: FirebaseName?, _ child: FirebaseView.Child) throws {
    switch child {
    case .node(let node): try self.node(name, node)
    case .part(let tree): try json.tree(name, tree, asArrays: asArrays)
    }
  }

  /// Renders the children of a place, each as true or its scalar.
  func shallow(_ place: FirebaseView.Place) throws {
    guard case .node(let node) = place else {
      guard case .part(let tree) = place, tree.isObject else { return try self.place(nil, place) }
      json.begin(nil)
      for member in tree.members { try shallow(member.name, .part(member.tree)) }
      return json.end()
    }
    if try !node.hasChildren, let own = try view.ownTree(node), !own.isObject {
      return try self.place(nil, place)
    }
    json.begin(nil)
    if let own = try view.ownTree(node), case .scalar(let value) = own {
      try json.scalar(.value, value)
    }
    try view.forEachChild(of: node) { name, child in
      try check()
      try shallow(name, child)
      return true
    }
    json.end()
  }

  private func shallow(_ name: FirebaseName, _ child: FirebaseView.Child) throws {
    if case .part(.scalar(let value)) = child { return try json.scalar(name, value) }
    if case .node(let node) = child, case .scalar(let value)? = try view.ownTree(node),
      try !node.hasChildren
    {
      return try json.scalar(name, value)
    }
    if try view.hasContent(child) { try json.scalar(name, .bool(true)) }
  }

  private func node(_ name: FirebaseName?, _ node: Node) throws {
    let defaults = try node.path.parent.map { try view.defaults(of: $0) } ?? []
    try self.node(name, node, defaults, depth: 0)
  }

  private func node(
    _ name: FirebaseName?, _ node: Node, _ defaults: [ValueMap.Member], depth: Int
  ) throws {
    if depth > FirebaseView.depthMax { throw FirebaseView.tooDeep }
    try check()
    let own = try view.ownTree(node, defaults)
    var children = try node.children.makeCursor()
    guard let first = try children.next() else {
      if let own { try json.tree(name, own, asArrays: asArrays) }
      return
    }
    let parts = own?.members ?? []
    let isArray = try asArrays && isArray(node, first.key, own)
    json.begin(name, isArray: isArray)
    if let own, case .scalar(let value) = own { try json.scalar(.value, value) }
    let inner = try view.defaults(of: node.path)
    var index = 0
    var next: Node? = first
    while let child = next {
      let key = child.key.map { FirebaseName($0) } ?? FirebaseName("")
      while index < parts.count, parts[index].name < key {
        try json.tree(parts[index].name, parts[index].tree, asArrays: asArrays)
        index += 1
      }
      try self.node(key, child, inner, depth: depth + 1)
      next = try children.next()
    }
    for part in parts[index...] { try json.tree(part.name, part.tree, asArrays: asArrays) }
    json.end()
  }

  /// True if all keys are integers, dense enough for an array.
  private func isArray(_ node: Node, _ first: Key?, _ own: FirebaseTree?) throws -> Bool {
    if case .scalar = own { return false }
    guard case .integer(let low)? = first, low >= 0 else { return false }
    var last = try node.children.reversed().limit(1).makeCursor()
    guard case .integer(let high)? = try last.next()?.key else { return false }
    let parts = own?.members ?? []
    guard parts.allSatisfy({ $0.name.index != nil }) else { return false }
    let most = max(Int(high), parts.last?.name.index ?? 0)
    return FirebaseTree.isDense(last: most, count: try node.childCount + parts.count)
  }
}
