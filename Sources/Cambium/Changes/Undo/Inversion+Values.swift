// Taking back what was set: nodes that were made, values, and properties one by one.

extension Inversion {
  /// Takes back what was set while the tree kept its shape.
  mutating func undo(_ values: ValueStep) throws {
    try removeCreated(values)
    for path in values.paths {
      if let step = values.nodes[path], !step.isCreation { try undo(path, step, to: step.old) }
    }
  }

  // MARK: Nodes that were made

  /// Removes what was made, unless somebody has changed it or put something below it.
  private mutating func removeCreated(_ values: ValueStep) throws {
    let created = values.paths.filter { values.nodes[$0]?.isCreation ?? false }
    var (goners, keepers): (Set<NodePath>, Set<NodePath>) = ([], [])
    var children: [NodePath: Int] = [:]
    for path in created.sorted().reversed() {
      guard let step = values.nodes[path], !conflicts.isLeft(path) else { continue }
      let outcome = try undoAmongOthers(path, step)
      if outcome == .done || keepers.contains(path) {
        // Additions of others stay, and so do the nodes above them.
        keepers.insert(path.parent ?? .root)
        continue
      }
      guard try isToGo(path, step, children[path] ?? 0, isSame: outcome == .goes) else { continue }
      goners.insert(path)
      children[path.parent ?? .root, default: 0] += 1
    }
    for path in goners.sorted() where !goners.contains(path.parent ?? .root) {
      try issue(.remove(path))
    }
  }

  /// True if a node that was made is to be removed, with so many of its children.
  private mutating func isToGo(
    _ path: NodePath, _ step: NodeStep, _ children: Int, isSame: Bool
  ) throws -> Bool {
    guard let present = try present(path) else { return false }
    if present.content != step.new, !isSame {
      guard try meetChanges(path, step.new, present.content) else { return false }
    }
    let found = present.node == 0 ? 0 : try node(path).childCount
    if found == children { return true }
    let reason = "nodes were put below it since"
    return try meets(path, left: try value(step.new), found: try value(present.content), reason)
  }

  /// Notes what has changed of a node's own value, property by property where both are records.
  private mutating func meetChanges(
    _ path: NodePath, _ left: Content?, _ found: Content?
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
    _ path: NodePath, _ name: NameID, left: [UInt8]?, found: [UInt8]?
  ) throws -> Bool {
    let text = try running.catalog.name(of: name)
    return try meets(
      path, text, left: try left?.lend { try Value($0) }, found: try found?.lend { try Value($0) },
      "it has changed since")
  }

  /// The names of both records' properties, in order.
  private static func names(_ a: Content?, _ b: Content?) throws -> [NameID] {
    let names = try (a?.properties().names ?? []) + (b?.properties().names ?? [])
    return Set(names).sorted()
  }

  // MARK: Nodes that were there

  private mutating func undo(_ path: NodePath, _ step: NodeStep, to old: Content?) throws {
    let isOnRecord = isRedo || step.changesArrays
    if old == step.new && !isOnRecord || conflicts.isLeft(path) { return }
    guard let present = try present(path) else {
      let left = try value(step.new)
      guard try meets(path, left: left, found: nil, "it is gone") else { return }
      try issue(.set(path, old ?? .nothing), left: left)
      return
    }
    if present.content == old, !isOnRecord, try !isTouched(path, present) { return }
    let isWhole = [old?.kind, step.new?.kind, present.content?.kind].contains(.scalar)
    if isWhole {
      try undoWhole(path, step, to: old, present)
    } else if present.content == step.new, old == nil, try !isTouched(path, present) {
      try issue(.set(path, .nothing))
    } else {
      try undoProperties(path, step, to: old, present)
    }
  }

  /// Takes back a single value, or one that took the place of a record or made way for it.
  private mutating func undoWhole(
    _ path: NodePath, _ step: NodeStep, to old: Content?, _ present: Present
  ) throws {
    let content = present.content
    if content?.kind == .scalar,
      try undoAdjustments(
        path, nil, step, of: content?.bytes, left: try step.new?.value(of: nil),
        to: try old?.value(of: nil), isTouched: isTouched(path, present)) == .done
    {
      return
    }
    if content == old { return }
    if content != step.new {
      let (left, found) = (try value(step.new), try value(content))
      guard try meets(path, left: left, found: found, "it has changed since") else { return }
    }
    try issue(.set(path, old ?? .nothing))
  }

  /// The outcome of taking back additions: done, or done once its node goes, or not possible.
  private enum Outcome { case done, goes, unknown }

  /// Takes back what was added to a node that a step has made, if others have changed it as well.
  private mutating func undoAmongOthers(_ path: NodePath, _ step: NodeStep) throws -> Outcome {
    guard let present = try present(path), try isTouched(path, present),
      let content = present.content
    else { return .unknown }
    return try undoAdjustments(
      path, nil, step, of: try content.value(of: nil), left: try step.new?.value(of: nil),
      to: nil, isTouched: true, isCreated: true)
  }

  /// Takes back what a step has added to a value and taken from it. Nobody else has changed it
  /// unless the node is touched; then it must lead to the value that is wanted.
  private mutating func undoAdjustments(
    _ path: NodePath, _ target: Target, _ step: NodeStep, of value: [UInt8]?, left: [UInt8]?,
    to wanted: [UInt8]?, isTouched: Bool, isCreated: Bool = false
  ) throws -> Outcome {
    let changes = step.changes(of: target) ?? []
    // An undo may have set a value to what others were to leave, so its own history decides.
    let isTouched = isTouched || isRedo && step.isAssigned(target)
    if changes.isEmpty && !(isRedo && isTouched) { return .unknown }
    if settled[path]?.contains(target) ?? false { return .done }
    let start = value ?? (isRedo ? changes.emptyContainer : nil)
    let inverse =
      changes.isEmpty
      ? nil : try start.flatMap { try changes.inverse(met: wanted, left: left, of: $0, path) }
    if isTouched, try value == wanted || isRedo || changes.needHistory(inverse?.value, path) {
      let outcome = try undoByHistory(path, target, inverse?.changes, of: value, isCreated)
      if outcome != .unknown { return outcome }
    }
    // Of an array, elements that came and went are on record, even if it is the same again.
    guard value != wanted || value == left && changes.areOfArray,
      let (inverse, result) = inverse
    else { return .unknown }
    if value == left, wanted != result { return .unknown }
    for change in inverse { try issue(.change(path, target, change)) }
    return .done
  }

  /// Takes changes back as the history of the value says.
  private mutating func undoByHistory(
    _ path: NodePath, _ target: Target, _ direct: [ValueChange<[UInt8]>]?, of value: [UInt8]?,
    _ isCreated: Bool
  ) throws -> Outcome {
    guard let first = run.last,
      let history = try ValueHistory(running, path, target, since: first),
      let inverse = try history.inverse(of: run, after: undone, found: value, direct)
    else { return .unknown }
    switch inverse {
    case .same:
      // It is written again, so that the log has it that this was undone.
      try assign(value, to: target, of: path)
    case .changes(let changes):
      for change in changes { try issue(.change(path, target, change)) }
    case .value(let set?) where direct != nil && set.first == ValueTag.array:
      // Of a set, the elements are taken back one by one.
      return .unknown
    case .value(let value) where value != nil || target != nil:
      try assign(value, to: target, of: path)
    case .value:
      if isCreated { return .goes }
      try remove(path, asOf: history.start)
    }
    settled[path, default: []].insert(target)
    return .done
  }

  private mutating func assign(_ value: [UInt8]?, to target: Target, of path: NodePath) throws {
    if let target {
      try issue(.update(path, [.init(name: target, value: value)]))
    } else {
      try issue(.set(path, value.map { Content(kind: .scalar, bytes: $0) } ?? .nothing))
    }
  }

  /// Takes a node's own value away, and the node and those above it that were made for it.
  private mutating func remove(_ path: NodePath, asOf moment: SequenceNumber) throws {
    let reader = try running.reader
    func wasThere(_ path: NodePath) throws -> Bool {
      try reader.version(of: path, asOf: moment.rawValue) { _, _ in true } ?? false
    }
    if try wasThere(path) || node(path).childCount > 0 {
      try issue(.set(path, .nothing))
      return
    }
    var top = path
    while let parent = top.parent, !parent.isRoot, try !wasThere(parent),
      try present(parent)?.content == nil, try node(parent).childCount == 1
    {
      top = parent
    }
    try issue(.remove(top))
  }

  /// Takes back the properties that changed.
  private mutating func undoProperties(
    _ path: NodePath, _ step: NodeStep, to old: Content?, _ present: Present
  ) throws {
    var updates: [Operation.PropertyUpdate] = []
    for name in try Inversion.names(old, step.new) {
      let wanted = try old?.value(of: name)
      let left = try step.new?.value(of: name)
      let found = try present.content?.value(of: name)
      let isOnRecord =
        step.changes(of: name)?.areOfArray ?? false || isRedo && step.isAssigned(name)
      let isSame = wanted == left && !isOnRecord
      if try isSame || conflicts.isLeft(path, text(name)) { continue }
      if try undoAdjustments(
        path, name, step, of: found, left: left, to: wanted, isTouched: isTouched(path, present))
        == .done
      {
        continue
      }
      if wanted == found { continue }
      if found != left {
        guard try meet(path, name, left: left, found: found) else { continue }
      }
      updates.append(.init(name: name, value: wanted))
    }
    if !updates.isEmpty { try issue(.update(path, updates)) }
    try settleKind(path, step, old)
  }

  private func text(_ name: NameID) throws -> String {
    try running.catalog.name(of: name)
  }

  /// Makes an empty record nothing again, or nothing an empty record, where it was that before.
  private mutating func settleKind(_ path: NodePath, _ step: NodeStep, _ old: Content?) throws {
    if old?.kind == step.new?.kind { return }
    let content = try present(path)?.content
    if old == nil, let content, try content.properties().count == 0 {
      try issue(.set(path, .nothing))
    }
    if let old, content == nil, try old.properties().count == 0 { try issue(.set(path, old)) }
  }
}
