import LMDB

/// Walks the children of one node in key order, forward or backward, present or past.
///
/// At present the children are adjacent in the tree. In the past they are those, and the ones
/// removed since, each read as of the moment; one that came later is looked at and passed by, many
/// that came later are jumped over (``ArrivalZones``).
struct ChildWalk: ~Copyable {
  private let reader: StateReader
  private let prefix: [UInt8]
  private let moment: UInt64?
  private let isReversed: Bool
  private var present: Cursor
  private var removed: RemovedChildren?
  private var history: NearLookup?
  private var late: LateRun?
  /// The bound to start from, or to go on from after a jump.
  private var place: [UInt8]
  private var hasStarted = false
  private var past = PastPlace()
  /// In the past: the number of places that may still be looked at; at zero the walk ends early.
  var placesLeft = Int.max

  /// Starts a walk over the children of a node id; at `from`, if that exists. In the past it uses
  /// and completes `zones`.
  init(
    _ reader: StateReader, node: UInt64, moment: UInt64?, zones: ViewedZones? = nil,
    from: Key? = nil, isReversed: Bool = false
  ) throws {
    let present = try Cursor(reader.access, reader.tables.tree)
    let prefix = ChildWalk.prefix(node)
    let removed =
      moment == nil ? nil : try RemovedChildren(reader, prefix: prefix, isReversed: isReversed)
    self.present = present
    self.removed = removed
    if let zones, let moment {
      late = LateRun(zones, node: node, moment: moment, isReversed: isReversed)
    }
    self.reader = reader
    self.moment = moment
    self.isReversed = isReversed
    self.prefix = prefix
    place = ChildWalk.start(prefix, node, from, isReversed)
  }

  /// The prefix that the tree's keys of a node's children share.
  private static func prefix(_ node: UInt64) -> [UInt8] {
    [UInt8](bigEndian: node)
  }

  /// The suffix that turns a tree key into a bound after all its removals.
  fileprivate static let pastRemovals: [UInt8] =
    [0] + [UInt8](repeating: 255, count: HistoryEntry.removalSuffixCount)

  /// The bound from which the walk starts: inclusive forward, exclusive backward.
  private static func start(
    _ prefix: [UInt8], _ node: UInt64, _ from: Key?, _ isReversed: Bool
  ) -> [UInt8] {
    var bound = prefix
    if let from {
      from.append(to: &bound)
      if isReversed { bound += pastRemovals }
    } else if isReversed {
      bound.removeAll()
      bound.append(bigEndian: node + 1)
    }
    return bound
  }

  /// Visits the next child.
  ///
  /// - Parameter body: Takes the tree's key, the version's header, and its whole bytes.
  /// - Returns: The result of `body`, or nil at the end.
  /// - Throws: Any error that `body` throws; ``DatabaseError/corrupt(reason:)``.
  @inline(__always)
  mutating func next<R>(
    _ body: (_ key: RawSpan, _ header: NodeHeader, _ version: RawSpan) throws -> R
  ) throws -> R? {
    if let moment {
      // The cursors lend their entries while it looks up.
      var history = history.take() ?? NearLookup(reader.access, reader.tables.history)
      let found = try nextInPast(moment, &history, body)
      self.history = consume history
      return found
    }
    guard try stepPresent() else { return nil }
    return try present.withEntry { key, version in
      guard hasPrefix(key) else {
        try ChildWalk.checkEnd(key, version)
        return nil
      }
      return try body(key, NodeHeader(version, key: key), version)
    }
  }

  /// Visits the children from here on, until `body` returns false: at present quicker than one by
  /// one. The walk must not go on after that.
  ///
  /// - Parameter body: As in ``next(_:)``.
  /// - Throws: As ``next(_:)``.
  mutating func forEach(
    _ body: (_ key: RawSpan, _ header: NodeHeader, _ version: RawSpan) throws -> Bool
  ) throws {
    if let moment {
      var history = NearLookup(reader.access, reader.tables.history)
      while try nextInPast(moment, &history, body) ?? false {}
      return
    }
    guard try stepPresent() else { return }
    let node = try prefix.lend { try $0.bigEndian(at: 0) }
    try present.walk(isReversed: isReversed) { key, version in
      // Also of the entry at which the walk ends.
      let header = try NodeHeader(version, key: key)
      guard key.byteCount > 8, try key.bigEndian(at: 0) == node else { return false }
      return try body(key, header, version)
    }
  }

  /// Visits the children of the present from here on, batch by batch, until `body` returns false:
  /// of each its own key and its record, which is empty where it is none. The walk must not go on
  /// after that.
  mutating func forEachBatch(_ body: (borrowing EntryBatch) throws -> Bool) throws {
    guard try stepPresent() else { return }
    let node = try prefix.lend { try $0.bigEndian(at: 0) }
    try present.walkBatches(isReversed: isReversed) { batch in
      var isLast = false
      batch.keep { key, version in
        if isLast { return nil }
        // Also of the entry at which the walk ends.
        let header = try NodeHeader(version, key: key)
        isLast = try key.byteCount <= 8 || key.bigEndian(at: 0) != node
        if isLast { return nil }
        return (8, header.kind == .record ? header.contentOffset : version.byteCount)
      }
      guard try body(batch) else { return false }
      try batch.throwFailure()
      return !isLast
    }
  }

  /// Checks the entry at which a walk of the tree ends: its key is another parent's, or beyond a
  /// bound, unless damage has changed it.
  static func checkEnd(_ key: RawSpan, _ version: RawSpan) throws {
    _ = try NodeHeader(version, key: key)
  }

  @inline(__always)
  private mutating func stepPresent() throws -> Bool {
    if hasStarted { return isReversed ? try present.previous() : try present.next() }
    hasStarted = true
    let place = place
    return try place.lend { isReversed ? try present.seekBefore($0) : try present.seek($0) }
  }

  @inline(__always)
  private func hasPrefix(_ key: RawSpan) -> Bool {
    key.byteCount > 8 && prefix.lend { $0.equals(key.extracting(0..<8)) }
  }

  // MARK: The past

  private mutating func nextInPast<R>(
    _ moment: UInt64, _ history: inout NearLookup,
    _ body: (RawSpan, NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    do {
      while placesLeft > 0, try stepInPast() {
        placesLeft -= 1
        var arrival: UInt64?
        if let found = try versionHere(moment, &history, &arrival, body) {
          late?.end()
          return found
        }
        try passBy(arrival, moment)
      }
      late?.end()
      return nil
    } catch {
      // The walk may go on behind a child that was there and could not be read.
      late = nil
      throw error
    }
  }

  /// Lends the version that the node at the walk's place had; else tells when the next one arrived.
  private mutating func versionHere<R>(
    _ moment: UInt64, _ history: inout NearLookup, _ arrival: inout UInt64?,
    _ body: (RawSpan, NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    let reader = reader
    if past.isAtPresent {
      let found = try present.withEntry { key, version in
        try reader.version(key, asOf: moment, from: version, &history, &arrival) {
          try body(key, $0, $1)
        }
      }
      if let found { return found }
    }
    guard past.isAtRemoved, let key = past.removed?.key else { return nil }
    return try key.lend { key in
      try reader.removedVersion(key, asOf: moment, &history, &arrival) { try body(key, $0, $1) }
    }
  }

  /// Passes the walk's place, which had no node, and those behind it that had none either, as far
  /// as that is known.
  private mutating func passBy(_ arrival: UInt64?, _ moment: UInt64) throws {
    let wasThere = past.isAtRemoved && past.removed?.firstRemoval.map { $0 > moment } != true
    guard late?.pass(arrival: arrival, wasThere: wasThere) == true else { return }
    let key = past.isAtPresent ? present.withEntry { key, _ in key.array() } : past.removed?.key
    guard let key, let far = late?.jump(from: key) else { return }
    place = far + ChildWalk.pastRemovals
    hasStarted = false
  }

  /// Goes to the next place that has a node, or had one that was removed: the two tables are walked
  /// side by side. False at the end.
  private mutating func stepInPast() throws -> Bool {
    if hasStarted {
      if past.isAtPresent {
        past.hasPresent = try isChild(isReversed ? present.previous() : present.next())
      }
      if past.isAtRemoved, let here = past.removed {
        past.removed = try removed?.place(after: here)
      }
    } else {
      past.hasPresent = try isChild(stepPresent())
      past.removed = try removed?.place(from: place)
    }
    guard let other = past.removed?.key else {
      (past.isAtPresent, past.isAtRemoved) = (past.hasPresent, false)
      return past.hasPresent
    }
    let order =
      past.hasPresent ? present.withEntry { key, _ in other.lend { key.compare($0) } } : nil
    past.isAtPresent = order.map { isReversed ? $0 >= 0 : $0 <= 0 } ?? false
    past.isAtRemoved = order.map { isReversed ? $0 <= 0 : $0 >= 0 } ?? true
    return true
  }

  /// True if the cursor of the tree is at a child of the node.
  private func isChild(_ isThere: Bool) throws -> Bool {
    guard isThere else { return false }
    return try present.withEntry { key, version in
      if hasPrefix(key) { return true }
      try ChildWalk.checkEnd(key, version)
      return false
    }
  }
}

/// The place of a walk in the past.
private struct PastPlace {
  /// The next place from which a child was removed; nil behind the last one.
  var removed: RemovedChildren.Place?
  /// True if the tree's cursor is at a child.
  var hasPresent = false
  /// True for the one of the two that the walk is at; for both where they are the same.
  var (isAtPresent, isAtRemoved) = (false, false)
}

/// The places from which children of a node were removed, in the order of their keys.
private struct RemovedChildren: ~Copyable {
  struct Place {
    /// The tree key.
    let key: [UInt8]
    /// The transaction of the first removal; nil where the walk goes backward.
    let firstRemoval: UInt64?
  }

  private let prefix: [UInt8]
  private let isReversed: Bool
  private var cursor: Cursor

  init(_ reader: StateReader, prefix: [UInt8], isReversed: Bool) throws {
    let cursor = try Cursor(reader.access, reader.tables.removals)
    self.cursor = cursor
    (self.prefix, self.isReversed) = (prefix, isReversed)
  }

  /// Goes to the next place; nil behind the last one.
  mutating func place(after place: Place) throws -> Place? {
    try self.place(from: isReversed ? place.key : place.key + ChildWalk.pastRemovals)
  }

  /// Goes to the first place from a bound on: inclusive forward, exclusive backward.
  mutating func place(from bound: [UInt8]) throws -> Place? {
    let isThere = try bound.lend { isReversed ? try cursor.seekBefore($0) : try cursor.seek($0) }
    guard isThere else { return nil }
    return try cursor.withEntry { key, _ in
      let count = key.byteCount - HistoryEntry.removalSuffixCount
      guard count > 8, prefix.lend({ $0.equals(key.extracting(0..<8)) }) else { return nil }
      return Place(
        key: key.extracting(0..<count).array(),
        firstRemoval: isReversed ? nil : try HistoryEntry.link(endOf: key).sequence)
    }
  }
}
