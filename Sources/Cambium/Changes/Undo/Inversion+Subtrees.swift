// Taking back removals, restorations and moves.

extension Inversion {
  /// Puts back what was removed.
  mutating func putBack(_ path: Path, _ removal: SequenceNumber?, _ past: PastSubtree) throws {
    if isLeft(path) { return }
    if let present = try present(path) {
      if try difference(path, past) == nil { return }
      let found = try value(present.content)
      guard try meets(path, left: nil, found: found, "a node has taken the place") else { return }
      guard try issue(.remove(path)) else { return }
    }
    let parent = path.parent ?? .root
    if !parent.isRoot, try present(parent) == nil {
      let reason = "it is gone, and '\(path)' was below it"
      guard try meets(parent, left: nil, found: nil, reason) else { return }
    }
    if let removal, try restore(path, removal, past) { return }
    try rebuild(path, past)
  }

  /// Restores a removed subtree.
  ///
  /// - Returns: True if it is there now as it was before, or cannot be and was noted as a conflict;
  ///   false if it is to be rebuilt.
  private mutating func restore(
    _ path: Path, _ removal: SequenceNumber, _ past: PastSubtree
  ) throws -> Bool {
    guard let (last, isUntouched) = try lastRemoval(path, removal),
      last < running.sequence.rawValue
    else { return false }
    guard try issue(.restore(path, removedAt: last)) else { return true }
    // It may have come back since and changed, before it was removed again.
    if isUntouched { return true }
    let content = try past.content
    if try present(path)?.content != content {
      try issue(.set(path, content ?? .nothing))
    }
    if try difference(path, past) == nil { return true }
    try running.issue(.remove(path))
    return false
  }

  /// The transaction by whose removal a subtree can be restored, which may have come back since.
  private func lastRemoval(
    _ path: Path, _ removal: SequenceNumber
  ) throws -> (sequence: UInt64, isUntouched: Bool)? {
    guard let key = path.last, let parent = path.parent,
      let node = try node(parent).snapshot.node(at: parent)
    else { return nil }
    return try key.lendTreeKey(parent: node) {
      try running.group.stateWriter.folds.lastRemoval($0, since: removal.rawValue)
    }
  }

  /// Rebuilds a subtree that cannot be restored, with new ids.
  mutating func rebuild(_ path: Path, _ past: PastSubtree) throws {
    try past.visit(as: path) { path, content in try issue(.set(path, content ?? .nothing)) }
  }

  /// Takes away what was restored, if nobody has changed it since.
  mutating func takeAway(_ path: Path, _ past: PastSubtree) throws {
    if isLeft(path) { return }
    if try present(path) == nil { return }
    if let (path, left, found) = try difference(path, past) {
      guard try meets(path, left: left, found: found, "it has changed since it came back") else {
        return
      }
    }
    try issue(.remove(path))
  }

  /// Moves a node back.
  mutating func moveBack(_ source: Path, _ destination: Path, _ past: PastSubtree) throws {
    if isLeft(source) || isLeft(destination) { return }
    let left = try value(try past.content)
    if let taken = try present(source) {
      let found = try value(taken.content)
      let reason = "a node has taken the place that '\(destination)' had"
      guard try meets(source, left: nil, found: found, reason) else { return }
      guard try issue(.remove(source)) else { return }
    }
    let parent = source.parent ?? .root
    if !parent.isRoot, try present(parent) == nil {
      let reason = "it is gone, and '\(destination)' was below it"
      guard try meets(parent, left: nil, found: nil, reason) else { return }
    }
    if try present(destination) == nil {
      let reason = "it was moved there, and is gone"
      guard try meets(destination, left: left, found: nil, reason) else { return }
      return try rebuild(source, past)
    }
    try issue(.move(destination, to: source))
  }

  /// The first node in which a subtree differs from what it was.
  private func difference(
    _ path: Path, _ past: PastSubtree
  ) throws -> (path: Path, left: Value?, found: Value?)? {
    var nodes = try node(path).descendants()
    var difference: (Path, Value?, Value?)?
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
