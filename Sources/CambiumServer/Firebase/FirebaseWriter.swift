import Cambium

/// Applies an edit of Firebase's tree to the nodes and records of an open transaction.
///
///     edit ──▶ node by node, from the root: ──▶ operations, only for what differs
///                a record     its properties, in one operation, and its child nodes
///                an array     the whole array
///                other nodes  a value, and one step down for each member
///
/// Nodes that are left without content go, up to the caller's scope, as empty objects do there.
struct FirebaseWriter {
  /// The number of children beyond which an object that is replaced is removed as a whole, instead
  /// of being compared child by child, and the factor for the members that take its place.
  private static let comparedMax = (base: 1000, factor: 4)

  /// The declarations.
  let schema: Snapshot
  let caller: Caller
  /// The time for server values, in milliseconds since 1970.
  let now: Int64

  /// Applies an edit to the whole tree.
  ///
  /// - Returns: The values that its increments were added to, in the order of the edit; null for
  ///   none.
  /// - Throws: ``FirebaseError``, ``DatabaseError``.
  func apply(
    _ edit: FirebaseEdit, _ transaction: borrowing Database.Transaction
  ) throws -> [Value] {
    var bases: [Value] = []
    var edit = edit
    if edit.hasServerValues {
      let view = FirebaseView(transaction, schema: schema)
      edit = try edit.resolved(now: now) { names in
        let base = try view.base(at: names.compactMap(\.key))
        bases.append(base)
        return base
      }
    }
    _ = try apply(edit, .root, transaction)
    return bases
  }

  /// Applies an edit to a node, existing or not; true if something was removed.
  private func apply(
    _ edit: FirebaseEdit, _ path: NodePath, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard try tx[path].isNode else {
      guard let tree = edit.applied(to: nil) else { return false }
      try create(path, tree, tx)
      return false
    }
    switch edit {
    case .replace(nil): return try remove(path, tx)
    case .replace(let tree?): return try replace(path, tree, tx)
    case .merge(let members): return try merge(path, members, tx)
    }
  }

  private func merge(
    _ path: NodePath, _ members: [FirebaseEdit.Member], _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    let value = try tx[path].value
    if case .map(let record) = value {
      return try mergeRecord(path, record, members, removesOthers: false, tx)
    }
    if value == nil, try isRecord(path) {
      return try mergeRecord(path, ValueMap(), members, removesOthers: false, tx)
    }
    if let value {
      let old = FirebaseTree(stored: value)
      if case .array = value, let old {
        return try setArray(path, value, FirebaseEdit.merge(members).applied(to: old), tx)
      }
      // In Firebase a scalar goes where something is put below it.
      let hasChildren = try tx[path].childCount > 0
      if !hasChildren, FirebaseEdit.merge(members).applied(to: old) != old {
        try checkScope(path)
        try tx.clear(path)
      }
    }
    var hasRemoved = false
    for member in members {
      guard let key = member.name.key else { continue }
      hasRemoved = try apply(member.edit, path.appending(key), tx) || hasRemoved
    }
    return try prune(path, hasRemoved, tx)
  }

  private func replace(
    _ path: NodePath, _ tree: FirebaseTree, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    let value = try tx[path].value
    if case .map(let record) = value { return try replaceRecord(path, record, tree, tx) }
    if value == nil, try isRecord(path) { return try replaceRecord(path, ValueMap(), tree, tx) }
    let count = try tx[path].childCount
    let most = FirebaseWriter.comparedMax
    if count > most.base + most.factor * tree.members.count, !path.isRoot,
      try !keepsAny(tree, path, tx)
    {
      try tx.remove(path)
      try create(path, tree, tx)
      return false
    }
    if case .array = value, let value, count == 0, tree.isObject {
      return try setArray(path, value, tree, tx)
    }
    try removeChildren(path, keeping: tree, tx)
    guard case .object(let members) = tree else {
      try set(path, tree, value, tx)
      return false
    }
    if let own = members.first(where: { $0.name == .value })?.tree {
      try set(path, own, value, tx)
    } else if value != nil {
      try tx.clear(path)
    }
    for member in members {
      guard let key = member.name.key, member.name != .value else { continue }
      _ = try apply(.replace(member.tree), path.appending(key), tx)
    }
    return false
  }

  /// True if any child of a node stays. Then it must not be removed and made again, since
  /// what refers to it would follow the delete rules.
  private func keepsAny(
    _ tree: FirebaseTree, _ path: NodePath, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    for member in tree.members {
      if let key = member.name.key, try tx[path].child(key).isNode { return true }
    }
    return false
  }

  /// Gives a node a single value, where it has another.
  private func set(
    _ path: NodePath, _ tree: FirebaseTree, _ old: Value?, _ tx: borrowing Database.Transaction
  ) throws {
    if path.isRoot {
      throw FirebaseError.bad("Invalid data; the root of this database cannot be a scalar")
    }
    let new = try tree.stored(as: .any, old: old, at: path.description)
    if new != old { try tx.set(path, to: new) }
  }

  /// Gives a node that holds an array another one; nodes where it no longer is one.
  private func setArray(
    _ path: NodePath, _ old: Value, _ tree: FirebaseTree?, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard let tree else { return try remove(path, tx) }
    let new = try tree.stored(as: .any, old: old, at: path.description)
    try checkScope(path)
    switch new {
    case old: break
    case .map:
      try tx.clear(path)
      for member in tree.members {
        if let key = member.name.key { try create(path.appending(key), member.tree, tx) }
      }
    default: try tx.set(path, to: new)
    }
    return false
  }

  private func removeChildren(
    _ path: NodePath, keeping tree: FirebaseTree, _ tx: borrowing Database.Transaction
  ) throws {
    var gone: [Key] = []
    try tx[path].children.forEach { child in
      if let key = child.key, tree[FirebaseName(key)] == nil { gone.append(key) }
    }
    for key in gone { try tx.remove(path.appending(key)) }
  }

  private func remove(
    _ path: NodePath, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard path.isRoot else { return try tx.remove(path) }
    try removeChildren(path, keeping: .object([]), tx)
    return true
  }

  /// Removes a node that something was removed from and that has no content left.
  private func prune(
    _ path: NodePath, _ hasRemoved: Bool, _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard hasRemoved, !path.isRoot, caller.covers(path), try tx[path].childCount == 0,
      try schema.definition(of: path) == nil
    else { return hasRemoved }
    if let value = try tx[path].value, FirebaseTree(stored: value) != nil { return true }
    return try tx.remove(path)
  }

  private func checkScope(_ path: NodePath) throws {
    if !caller.covers(path) { throw FirebaseError.denied }
  }

  /// True if a node at a path belongs to a declared collection, whose nodes have records.
  private func isRecord(_ path: NodePath) throws -> Bool {
    try path.parent.flatMap { try schema.definition(of: $0) } != nil
  }
}

// MARK: Records

extension FirebaseWriter {
  /// Makes a node where there is none, and everything below it.
  private func create(
    _ path: NodePath, _ tree: FirebaseTree, _ tx: borrowing Database.Transaction
  ) throws {
    if try isRecord(path) {
      guard case .object(let members) = tree else { throw notARecord(path) }
      let edits = members.map { FirebaseEdit.Member(name: $0.name, edit: .replace($0.tree)) }
      _ = try mergeRecord(path, nil, edits, removesOthers: false, tx)
      return
    }
    guard case .object(let members) = tree else {
      return try tx.set(path, to: tree.stored)
    }
    for member in members {
      if member.name == .value {
        try tx.set(path, to: member.tree.stored)
      } else if let key = member.name.key {
        try create(path.appending(key), member.tree, tx)
      }
    }
  }

  private func replaceRecord(
    _ path: NodePath, _ record: ValueMap, _ tree: FirebaseTree,
    _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    guard case .object(let members) = tree else {
      if try isRecord(path) { throw notARecord(path) }
      try tx.remove(path)
      try create(path, tree, tx)
      return false
    }
    let edits = members.map { FirebaseEdit.Member(name: $0.name, edit: .replace($0.tree)) }
    return try mergeRecord(path, record, edits, removesOthers: true, tx)
  }

  private func notARecord(_ path: NodePath) -> FirebaseError {
    FirebaseError.bad(
      "Invalid data; \(path) belongs to a declared collection and must be an object")
  }

  /// Changes properties of a record in one operation, then its child nodes. The record is nil where
  /// the node is new. True if something was removed.
  private func mergeRecord(
    _ path: NodePath, _ record: ValueMap?, _ edits: [FirebaseEdit.Member], removesOthers: Bool,
    _ tx: borrowing Database.Transaction
  ) throws -> Bool {
    let definition = try path.parent.flatMap { try schema.definition(of: $0) }
    var updates: [(String, Value?)] = []
    var children: [FirebaseEdit.Member] = []
    var hasRemoved = false
    for member in edits {
      let name = member.name.text
      if member.name == .value { throw notARecord(path) }
      let declared = definition?[name]
      let old = record?[name].flatMap { $0 == .null ? nil : $0 }
      if old == nil, declared == nil, let key = member.name.key, try tx[path].child(key).isNode {
        children.append(member)
        continue
      }
      let new = member.edit.applied(to: old.flatMap { FirebaseTree(stored: $0) })
      switch new {
      case nil:
        guard old != nil else { continue }
        updates.append((name, nil))
        hasRemoved = true
      case let tree? where old != nil || declared != nil || !tree.isObject:
        let value = try tree.stored(
          as: declared?.type ?? .any, old: old ?? declared?.absence, at: "\(path)/\(name)")
        // A value below a scalar replaces it, and so must be allowed to.
        if case .merge = member.edit, let old, FirebaseTree(stored: old)?.isObject == false,
          let key = member.name.key
        {
          try checkScope(path.appending(key))
        }
        if value != old { updates.append((name, value)) }
      case let tree?:
        children.append(FirebaseEdit.Member(name: member.name, edit: .replace(tree)))
      }
    }
    if removesOthers {
      let names = Set(edits.map(\.name))
      for member in record?.members.map(\.self) ?? []
      where !names.contains(FirebaseName(member.name)) && member.value != .null {
        updates.append((member.name, nil))
      }
      let kept = FirebaseTree.of(edits.map { .init(name: $0.name, tree: .scalar(.bool(true))) })
      try removeChildren(path, keeping: kept ?? .object([]), tx)
    }
    try update(path, record, updates, tx)
    for member in children {
      guard let key = member.name.key else { continue }
      hasRemoved = try apply(member.edit, path.appending(key), tx) || hasRemoved
    }
    return try prune(path, hasRemoved, tx)
  }

  private func update(
    _ path: NodePath, _ record: ValueMap?, _ updates: [(String, Value?)],
    _ tx: borrowing Database.Transaction
  ) throws {
    if record == nil {
      let members = updates.compactMap { name, value in value.map { (name, $0) } }
      return try tx.set(path, to: .map(ValueMap(members)))
    }
    if updates.isEmpty { return }
    try tx.update(path, updates)
  }
}

extension FirebaseView {
  /// The scalar that an increment at a place is added to; null for none.
  fileprivate func base(at keys: [Key]) throws -> Value {
    let tree: FirebaseTree? =
      switch try place(at: keys[...], below: root) {
      case .part(let tree): tree
      case .node(let node): try ownTree(node)
      case .nothing: nil
      }
    if case .scalar(let value)? = tree { return value }
    return .null
  }
}
