/// The bounds of the time in which a path looks as it does at a moment: the nearest transactions,
/// before and after, that can have changed what is there.
///
/// Between them nothing at the path changes: neither the node itself, nor a property of that name,
/// nor whether those above are there. They are found without the log, from the versions and
/// removals on the way.
struct PathTrace {
  /// The node whose versions show at a path: the one there, or the record above, which may have a
  /// property of that name.
  struct Holder {
    /// The tree's key.
    let key: [UInt8]
    let lifetime: Lifetime
    /// The property of the record above; nil for the node that is there.
    let property: NameID?
  }

  /// The newest transaction up to the moment that can have changed what is there; zero for none.
  private(set) var last: UInt64 = 0
  /// The oldest transaction after the moment that can have; nil for none.
  private(set) var next: UInt64?
  /// The newest transaction up to the moment that put or took away the node, or one above it.
  private(set) var placed: UInt64 = 0
  /// The oldest transaction after the moment that puts or takes away the node, or one above it; nil
  /// for none.
  private(set) var displaced: UInt64?
  /// The oldest moment that can be read. A change up to it is reported as of some transaction up to
  /// it.
  let horizon: UInt64
  /// The holder of what is there at the moment; nil where nothing can be.
  private(set) var holder: Holder?
  /// The snapshot that it was read through.
  let snapshot: Snapshot

  /// Looks at a path as of a moment.
  init(_ path: NodePath, asOf moment: UInt64, _ directory: OpenDirectory) throws {
    snapshot = try directory.snapshot(at: .now)
    let reader = try snapshot.reader
    // Asked for after the snapshot was taken: history is cut only once the horizon is known.
    let horizon = try directory.log.read { log in
      try log.checkReachable(SequenceNumber(moment))
      return try log.horizon().rawValue
    }
    self.horizon = horizon
    var (node, parent) = (StateHead.root, nil as Holder?)
    var offset = 0
    while offset < path.bytes.count {
      let key = Key(terminatedIn: path.bytes, at: &offset)
      let isLast = offset == path.bytes.count
      let (treeKey, found) = try key.lendTreeKey(parent: node) {
        let found: Occupancy =
          node == 0
          ? .empty(since: 0, until: nil)
          : try reader.occupancy($0, asOf: moment, horizon: horizon)
        return ($0.array(), found)
      }
      switch found {
      case .held(let stay):
        notePlace(stay.placed, stay.end)
        let holder = Holder(key: treeKey, lifetime: stay, property: nil)
        if isLast { note(stay.modified, stay.replaced) } else { note(stay.placed, stay.end) }
        if isLast { self.holder = holder }
        (node, parent) = (stay.node, holder)
      case .empty(let since, let until):
        notePlace(since, until)
        note(since, until)
        // It may be a property of the record above, if any record ever had one of that name.
        if isLast, let parent, let property = try snapshot.nameID(key.description) {
          note(parent.lifetime.modified, parent.lifetime.replaced)
          holder = Holder(key: parent.key, lifetime: parent.lifetime, property: property)
        }
        return
      }
    }
  }

  /// The versions of the holder, at the one that was visible at the moment.
  func versions(of holder: Holder, asOf moment: UInt64) throws -> VersionChain {
    try VersionChain(
      snapshot.reader, holder.key, endingWith: holder.lifetime.removal, asOf: moment,
      horizon: horizon)
  }

  private mutating func notePlace(_ before: UInt64, _ after: UInt64?) {
    placed = max(placed, before)
    if let after { displaced = min(displaced ?? after, after) }
  }

  private mutating func note(_ before: UInt64, _ after: UInt64?) {
    last = max(last, before)
    if let after { next = min(next ?? after, after) }
  }
}
