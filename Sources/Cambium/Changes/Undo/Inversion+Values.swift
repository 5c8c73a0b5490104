// Taking back what was set: nodes that were made, values, and properties one by one.

extension Inversion {
  /// Takes back what was set while the tree kept its shape.
  mutating func undo(_ values: ValueStep) throws {
    try removeCreated(values)
    for path in values.paths {
      guard let step = values.nodes[path], case .there(let old) = step.old else { continue }
      try undo(path, step, to: old)
    }
  }

  // MARK: Nodes that were made

  /// Removes what was made, unless somebody has changed it or put something below it.
  private mutating func removeCreated(_ values: ValueStep) throws {
    let created = values.paths.filter { values.nodes[$0]?.isCreation ?? false }
    var goners: Set<Path> = []
    var children: [Path: Int] = [:]
    for path in created.sorted().reversed() {
      guard let step = values.nodes[path], !isLeft(path),
        try isToGo(path, step, children[path] ?? 0)
      else { continue }
      goners.insert(path)
      children[path.parent ?? .root, default: 0] += 1
    }
    for path in goners.sorted() where !goners.contains(path.parent ?? .root) {
      try issue(.remove(path))
    }
  }

  /// True if a node that was made is to be removed, with so many of its children.
  private mutating func isToGo(_ path: Path, _ step: NodeStep, _ children: Int) throws -> Bool {
    guard let present = try present(path) else { return false }
    if present.content != step.new {
      if try undoAdjustments(path, step, present) { return false }
      guard try meetChanges(path, step.new, present.content) else { return false }
    }
    let found = present.node == 0 ? 0 : try node(path).childCount
    if found == children { return true }
    let reason = "nodes were put below it since"
    return try meets(path, left: try value(step.new), found: try value(present.content), reason)
  }

  /// Takes back what was added to a node that it made; what others have added stays.
  private mutating func undoAdjustments(
    _ path: Path, _ step: NodeStep, _ present: Present
  ) throws -> Bool {
    guard let adjustments = step.adjustments(of: nil), !adjustments.isEmpty,
      let value = try present.content?.value(of: nil),
      let (operations, _) = try adjustments.inverse(path, nil, of: value)
    else { return false }
    for operation in operations { try issue(operation) }
    return true
  }

  /// Notes what has changed of a node's own value, property by property where both are records.
  private mutating func meetChanges(
    _ path: Path, _ left: Content?, _ found: Content?
  ) throws -> Bool {
    guard left?.kind == .record, found?.kind == .record else {
      return try meets(
        path, left: try value(left), found: try value(found), "it has changed since")
    }
    var goesOn = true
    for name in try Inversion.names(left, found) {
      let (old, new) = (try left?.value(of: name), try found?.value(of: name))
      if old != new { goesOn = try meet(path, name, left: old, found: new) }
    }
    return goesOn
  }

  /// Notes that a property has changed.
  private mutating func meet(
    _ path: Path, _ name: Catalog.NameID, left: [UInt8]?, found: [UInt8]?
  ) throws -> Bool {
    let text = try running.catalog.name(of: name)
    return try meets(
      path, text, left: try left?.lend { try Value($0) }, found: try found?.lend { try Value($0) },
      "it has changed since")
  }

  /// The names of both records' properties, in order.
  private static func names(_ a: Content?, _ b: Content?) throws -> [Catalog.NameID] {
    let names = try (a?.properties().names ?? []) + (b?.properties().names ?? [])
    return Set(names).sorted()
  }

  // MARK: Nodes that were there

  private mutating func undo(_ path: Path, _ step: NodeStep, to old: Content?) throws {
    if old == step.new || isLeft(path) { return }
    guard let present = try present(path) else {
      let left = try value(step.new)
      guard try meets(path, left: left, found: nil, "it is gone") else { return }
      try issue(.set(path, old ?? .nothing), left: left)
      return
    }
    if present.content == old { return }
    let isWhole = [old?.kind, step.new?.kind, present.content?.kind].contains(.scalar)
    if isWhole {
      try undoWhole(path, step, to: old, present.content)
    } else if present.content == step.new, old == nil {
      try issue(.set(path, .nothing))
    } else {
      try undoProperties(path, step, to: old, present.content)
    }
  }

  /// Takes back a single value, or one that took the place of a record or made way for it.
  private mutating func undoWhole(
    _ path: Path, _ step: NodeStep, to old: Content?, _ present: Content?
  ) throws {
    let wanted = old?.kind == .record ? nil : old?.bytes
    if present?.kind == .scalar, let value = present?.bytes,
      let adjustments = step.adjustments(of: nil),
      !adjustments.isEmpty,
      try undo(path, nil, adjustments, of: value, present == step.new ? .some(wanted) : nil)
    {
      return
    }
    if present != step.new {
      let (left, found) = (try value(step.new), try value(present))
      guard try meets(path, left: left, found: found, "it has changed since") else { return }
    }
    try issue(.set(path, old ?? .nothing))
  }

  /// Takes adjustments back, which must lead to the value that is wanted, where one is: where
  /// others have changed it since, none is. Returns whether that was possible.
  private mutating func undo(
    _ path: Path, _ target: Target, _ adjustments: [Adjustment], of value: [UInt8],
    _ wanted: [UInt8]??
  ) throws -> Bool {
    guard let (operations, result) = try adjustments.inverse(path, target, of: value) else {
      return false
    }
    if let wanted, wanted != result { return false }
    for operation in operations { try issue(operation) }
    return true
  }

  /// Takes back the properties that changed.
  private mutating func undoProperties(
    _ path: Path, _ step: NodeStep, to old: Content?, _ present: Content?
  ) throws {
    var updates: [Operation.PropertyUpdate] = []
    for name in try Inversion.names(old, step.new) {
      let wanted = try old?.value(of: name)
      let left = try step.new?.value(of: name)
      let found = try present?.value(of: name)
      if wanted == left || wanted == found { continue }
      if isLeft(path, try text(name)) { continue }
      if let found, let adjustments = step.adjustments(of: name), !adjustments.isEmpty,
        try undo(path, name, adjustments, of: found, found == left ? .some(wanted) : nil)
      {
        continue
      }
      if found != left {
        guard try meet(path, name, left: left, found: found) else { continue }
      }
      updates.append(.init(name: name, value: wanted))
    }
    if !updates.isEmpty { try issue(.update(path, updates)) }
    try settleKind(path, step, old)
  }

  private func text(_ name: Catalog.NameID) throws -> String {
    try running.catalog.name(of: name)
  }

  /// Makes an empty record nothing again, or nothing an empty record, where it was that before.
  private mutating func settleKind(_ path: Path, _ step: NodeStep, _ old: Content?) throws {
    if old?.kind == step.new?.kind { return }
    let content = try present(path)?.content
    if old == nil, let content, try content.properties().count == 0 {
      try issue(.set(path, .nothing))
    }
    if let old, content == nil, try old.properties().count == 0 { try issue(.set(path, old)) }
  }
}
