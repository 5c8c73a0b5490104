/// The bounds of the time in which a path looks as it does at a moment: the nearest transactions,
/// before and after, that can have changed what is there.
///
/// Between them nothing at the path changes: neither the node itself, nor a property of that name,
/// nor whether those above are there. They are found without the log, from the versions and
/// removals on the way.
struct PathTrace {
  /// The newest transaction up to the moment that can have changed what is there; zero for none.
  private(set) var last: UInt64 = 0
  /// The oldest transaction after the moment that can have; nil for none.
  private(set) var next: UInt64?
  /// The newest transaction up to the moment that put or took away the node, or one above it.
  private(set) var placed: UInt64 = 0
  /// The oldest moment that can be read. A change up to it is reported as of some transaction up to
  /// it.
  let horizon: UInt64

  /// Looks at a path as of a moment.
  init(_ path: NodePath, asOf moment: UInt64, _ directory: OpenDirectory) throws {
    let snapshot = try directory.snapshot(at: .now)
    let reader = try snapshot.reader
    // Asked for after the snapshot was taken: history is cut only once the horizon is known.
    let horizon = try directory.log.read { log in
      try log.checkReachable(SequenceNumber(moment))
      return try log.horizon().rawValue
    }
    self.horizon = horizon
    var (node, parent) = (StateHead.root, nil as Lifetime?)
    var offset = 0
    while offset < path.bytes.count {
      let key = Key(terminatedIn: path.bytes, at: &offset)
      let isLast = offset == path.bytes.count
      let found = try key.lendTreeKey(parent: node) {
        node == 0
          ? .empty(since: 0, until: nil)
          : try reader.occupancy($0, asOf: moment, horizon: horizon)
      }
      switch found {
      case .held(let stay):
        placed = max(placed, stay.placed)
        if isLast { note(stay.modified, stay.replaced) } else { note(stay.placed, stay.end) }
        (node, parent) = (stay.node, stay)
      case .empty(let since, let until):
        placed = max(placed, since)
        note(since, until)
        // It may be a property of the record above, if any record ever had one of that name.
        if isLast, let parent, try snapshot.nameID(key.description) != nil {
          note(parent.modified, parent.replaced)
        }
        return
      }
    }
  }

  private mutating func note(_ before: UInt64, _ after: UInt64?) {
    last = max(last, before)
    if let after { next = min(next ?? after, after) }
  }
}
