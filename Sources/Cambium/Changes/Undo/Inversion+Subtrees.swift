// Taking back removals, restorations and moves.

extension Inversion {
  /// Puts back what was removed.
  mutating func putBack(_ path: NodePath, _ removal: SequenceNumber?, _ past: PastSubtree) throws {
    if conflicts.isLeft(path) { return }
    if try present(path) != nil, try difference(path, past) == nil { return }
    guard try makeRoom(at: path, for: path, "a node has taken the place") else { return }
    if let removal, try restore(path, removal, past) { return }
    try rebuild(path, past)
  }

  /// Restores a removed subtree.
  ///
  /// - Returns: True if it is there now as it was before, or cannot be and was noted as a conflict;
  ///   false if it is to be rebuilt.
  private mutating func restore(
    _ path: NodePath, _ removal: SequenceNumber, _ past: PastSubtree
  ) throws -> Bool {
    // The subtree may have come back since, and have been removed again.
    let found = try running.reader.treeKey(of: path)?.lend {
      try running.group.stateWriter.folds.lastRemoval($0, since: removal.rawValue)
    }
    guard let (last, isUntouched) = found, last < running.sequence.rawValue else {
      return false
    }
    guard try issue(.restore(path, removedAt: last)) else { return true }
    if isUntouched { return true }
    let content = try past.content
    if try present(path)?.content != content {
      try issue(.set(path, content ?? .nothing))
    }
    if try difference(path, past) == nil { return true }
    try running.issue(.remove(path))
    return false
  }

  /// Rebuilds a subtree that cannot be restored, with new ids.
  mutating func rebuild(_ path: NodePath, _ past: PastSubtree) throws {
    try past.visit(as: path) { path, content in try issue(.set(path, content ?? .nothing)) }
  }

  /// Takes away what was restored, if nobody has changed it since.
  mutating func takeAway(_ path: NodePath, _ past: PastSubtree) throws {
    if conflicts.isLeft(path) { return }
    if try present(path) == nil { return }
    if let (path, left, found) = try difference(path, past) {
      guard try meets(path, left: left, found: found, "it has changed since it came back") else {
        return
      }
    }
    try issue(.remove(path))
  }

  /// Moves a node back.
  mutating func moveBack(_ source: NodePath, _ destination: NodePath, _ past: PastSubtree) throws {
    if conflicts.isLeft(source) || conflicts.isLeft(destination) { return }
    let left = try value(try past.content)
    let reason = "a node has taken the place that '\(destination)' had"
    guard try makeRoom(at: source, for: destination, reason) else { return }
    if try present(destination) == nil {
      let reason = "it was moved there, and is gone"
      guard try meets(destination, left: left, found: nil, reason) else { return }
      return try rebuild(source, past)
    }
    try issue(.move(destination, to: source))
  }

  /// Takes away a node that is in the way at a place to which another comes back, and looks whether
  /// the parent is there.
  ///
  /// - Returns: True to continue.
  private mutating func makeRoom(
    at path: NodePath, for node: NodePath, _ reason: String
  ) throws -> Bool {
    if let taken = try present(path) {
      let found = try value(taken.content)
      guard try meets(path, left: nil, found: found, reason), try issue(.remove(path)) else {
        return false
      }
    }
    let parent = path.parent ?? .root
    if try parent.isRoot || present(parent) != nil { return true }
    return try meets(
      parent, left: nil, found: nil, "it is gone, and '\(node)' was below it")
  }

  /// The first node in which a subtree differs from what it was.
  private func difference(
    _ path: NodePath, _ past: PastSubtree
  ) throws -> (path: NodePath, left: Value?, found: Value?)? {
    var nodes = try node(path).descendants()
    var difference: (NodePath, Value?, Value?)?
    try past.visit(as: path) { path, content in
      let next = try nodes.next()?.path
      let found = try present(path)
      if next == path && found?.content == content { return true }
      // A node that comes before was put there since; otherwise this one is gone, or not the same.
      if let next, next < path {
        difference = (next, nil, try value(try present(next)?.content))
      } else {
        difference = (path, try value(content), try value(found?.content))
      }
      return false
    }
    if let difference { return difference }
    guard let extra = try nodes.next()?.path else { return nil }
    return (extra, nil, try value(try present(extra)?.content))
  }
}
