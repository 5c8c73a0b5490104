/// A period of the log during which a node's history is that of one path.
struct PathPeriod {
  let path: NodePath
  let first: UInt64
  let last: UInt64
  /// The path from which the first transaction moved the node; nil where the period begins
  /// otherwise.
  let origin: NodePath?
}

/// The periods of a node's history, the newest first: one for each path that the node was at, or
/// one alone where moves are not followed. Only the transactions that put the node, or one above
/// it, in its place are looked at.
struct PathPeriods {
  let directory: OpenDirectory
  private(set) var path: NodePath
  let first: UInt64
  /// The end of the next period; nil after the oldest.
  private(set) var last: UInt64?
  let followsMoves: Bool

  /// The next older period, or nil after the oldest.
  mutating func next() throws -> PathPeriod? {
    guard let last, last >= first else { return nil }
    let path = path
    var moment = followsMoves ? last : 0
    while moment >= first {
      let placed = try PathTrace(path, asOf: moment, directory).placed
      if placed < first { break }
      moment = placed - 1
      let origin = try Arrivals(directory, SequenceNumber(placed)).origin(of: path)
      if origin != path {
        (self.path, self.last) = (origin, moment)
        return PathPeriod(path: path, first: placed, last: last, origin: origin)
      }
    }
    self.last = nil
    return PathPeriod(path: path, first: first, last: last, origin: nil)
  }
}

/// Finds the origin of the nodes that a transaction leaves in its places.
private struct Arrivals {
  private let before: Snapshot
  /// Removals, restorations and moves, in order.
  private var operations: [Operation] = []

  init(_ directory: OpenDirectory, _ sequence: SequenceNumber) throws {
    before = try directory.snapshot(at: .sequence(sequence.previous))
    var reader = OperationReader(try directory.log.read { try $0.record(sequence) }.operations)
    while let operation = try reader.next() {
      switch operation {
      case .remove, .restore, .move: operations.append(operation)
      default: break
      }
    }
  }

  /// Where a node was before. One that was nowhere belongs below its parent, wherever that was.
  func origin(of path: NodePath) throws -> NodePath {
    if let source = source(of: path), try before[source].exists { return source }
    guard let parent = path.parent, let key = path.last else { return path }
    return try origin(of: parent).appending(key)
  }

  /// Where a node was if the transaction has not made it; nil if it has, or has restored it.
  private func source(of path: NodePath) -> NodePath? {
    var path = path
    for operation in operations.reversed() {
      switch operation {
      case .remove(let place) where path.isWithin(place): return nil
      case .restore(let place, _) where path.isWithin(place): return nil
      case .move(let source, let destination):
        if let rest = path.relative(to: destination) {
          path = source.appending(rest)
        } else if path.isWithin(source) {
          return nil
        }
      default: break
      }
    }
    return path
  }
}
