import LMDB

/// Walks the children of one node in key order, forward or backward, present or past.
///
/// At present the children are adjacent in the tree. In the past they are those, and the ones
/// removed since, each read as of the moment.
struct ChildWalk: ~Copyable {
  private let reader: StateReader
  private let prefix: [UInt8]
  private let moment: UInt64?
  private let isReversed: Bool
  private var present: Cursor
  private var removals: Cursor?
  /// The tree key that was visited last, or the bound to start from.
  private var place: [UInt8]
  private var hasStarted = false

  /// Starts a walk over the children of a node id; at `from`, if that exists.
  init(
    _ reader: StateReader, node: UInt64, moment: UInt64?, from: Key? = nil,
    isReversed: Bool = false
  ) throws {
    let present = try Cursor(reader.access, reader.tables.tree)
    let removals = moment == nil ? nil : try Cursor(reader.access, reader.tables.removals)
    self.present = present
    self.removals = removals
    self.reader = reader
    self.moment = moment
    self.isReversed = isReversed
    prefix = ChildWalk.prefix(node)
    place = ChildWalk.start(prefix, node, from, isReversed)
  }

  /// The prefix that the tree's keys of a node's children share.
  private static func prefix(_ node: UInt64) -> [UInt8] {
    [UInt8](bigEndian: node)
  }

  /// The suffix that turns a tree key into a bound after all its removals.
  private static let pastRemovals: [UInt8] =
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
    if moment != nil { return try nextInPast(body) }
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
    if moment != nil {
      while try next(body) ?? false {}
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
    _ body: (RawSpan, NodeHeader, RawSpan) throws -> R
  ) throws -> R? {
    while let candidate = try candidate() {
      place = candidate
      hasStarted = true
      let found = try candidate.lend { key in
        try reader.version(key, asOf: moment) { try body(key, $0, $1) }
      }
      if let found { return found }
    }
    return nil
  }

  /// The next tree key that has a present node or a removed one.
  private mutating func candidate() throws -> [UInt8]? {
    let a = try presentCandidate()
    let b = try removedCandidate()
    guard let a else { return b }
    guard let b else { return a }
    return a.lexicographicallyPrecedes(b) != isReversed ? a : b
  }

  private mutating func presentCandidate() throws -> [UInt8]? {
    var bound = place
    if hasStarted && !isReversed { bound.append(0) }
    let found = try bound.lend { isReversed ? try present.seekBefore($0) : try present.seek($0) }
    guard found else { return nil }
    return try present.withEntry { key, version in
      if hasPrefix(key) { return key.array() }
      try ChildWalk.checkEnd(key, version)
      return nil
    }
  }

  private mutating func removedCandidate() throws -> [UInt8]? {
    var bound = place
    if hasStarted && !isReversed { bound += ChildWalk.pastRemovals }
    let found = try bound.lend {
      isReversed ? try removals?.seekBefore($0) ?? false : try removals?.seek($0) ?? false
    }
    guard found else { return nil }
    return removals?.withEntry { key, _ in
      hasPrefix(key) && key.byteCount > 8 + HistoryEntry.removalSuffixCount
        ? key.extracting(0..<(key.byteCount - HistoryEntry.removalSuffixCount)).array() : nil
    } ?? nil
  }
}
