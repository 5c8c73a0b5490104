import Cambium

/// Finds the transactions that changed one node, the newest first, without reading the log where it
/// can.
///
/// From a moment on, it asks for the last transaction that can have changed what is at the path:
///
/// - Where something is, that is the newest change of the node or of one above it, since every one
///   of them says which transaction changed it last, and coming back after a removal is a change as
///   well. A step costs a few lookups, however long the log.
/// - Where nothing is, only the log tells which transaction took it away: its records are read
///   backward. All steps together read no record twice.
///
/// What was there before and after that transaction tells whether it is one of the node's.
struct NodeHistory {
  /// A transaction that changed the node.
  struct Version {
    let sequence: SequenceNumber
    let old: Place
    let new: Place
  }

  /// What is at the path at a moment.
  struct Place {
    let isThere: Bool
    let value: Value?
    /// The last transaction that wrote the node's own value; nil where it is a property, or
    /// nothing.
    fileprivate let modified: SequenceNumber?
    /// The newest such transaction of the node and those above it.
    fileprivate let newest: SequenceNumber
  }

  private let database: Database
  private let path: Path
  /// The versions up to this one are still to be found.
  private var moment: SequenceNumber

  init(_ database: Database, _ path: Path) throws {
    self.database = database
    self.path = path
    moment = try database.head
  }

  /// The version before the last one found, or nil after the oldest.
  mutating func next() throws -> Version? {
    while moment > .zero {
      let now = try place(at: moment)
      let sequence = try now.isThere ? now.newest : departure(upTo: moment, after: now.newest)
      if sequence == .zero { break }
      let version = try self.version(sequence)
      moment = sequence.previous
      if isChange(version) { return version }
    }
    moment = .zero
    return nil
  }

  /// What a transaction found at the path, and what it left there.
  func version(_ sequence: SequenceNumber) throws -> Version {
    Version(
      sequence: sequence, old: try place(at: sequence.previous), new: try place(at: sequence))
  }

  private func isChange(_ version: Version) -> Bool {
    version.old.isThere != version.new.isThere || version.old.value != version.new.value
      || version.new.modified == version.sequence
  }

  private func place(at moment: SequenceNumber) throws -> Place {
    let snapshot = try database.snapshot(at: .sequence(moment))
    var node = snapshot.root
    var newest = SequenceNumber.zero
    for key in path.keys {
      node = node.child(key)
      guard let modified = try node.modified else { break }
      newest = max(newest, modified)
    }
    node = snapshot[path]
    return Place(
      isThere: try node.exists, value: try node.value, modified: try node.modified, newest: newest)
  }

  /// The newest transaction before which something was at the path, where nothing is now; `after`
  /// where there is none later than that.
  private func departure(
    upTo last: SequenceNumber, after first: SequenceNumber
  ) throws -> SequenceNumber {
    // What takes a property out touches its record only.
    let under = path.parent.flatMap { $0.isRoot ? nil : $0 } ?? path
    var commits = try database.commits(after: first, upTo: last, under: under, reversed: true)
    while let commit = try commits.next() {
      let before = try database.snapshot(at: .sequence(commit.sequence.previous))
      if try before[path].exists { return commit.sequence }
    }
    return first
  }
}
