import Cambium

/// The transactions that a command prints: a range of the log, or those of it that touch a part of
/// the tree.
struct LogStretch {
  let database: Database
  let under: NodePath
  /// The stretch starts with the transaction after this one.
  private(set) var after: SequenceNumber
  let upTo: SequenceNumber
  /// The filter for those that are printed.
  var filter: CommitFilter?

  /// Takes the transactions after `since`, up to and including `until`; without `since` it begins
  /// at the horizon, or where the archive does. Where an end is before the horizon, the archive is
  /// read.
  init(
    _ database: Database, under: NodePath, since: PointInTime? = nil, until: PointInTime? = nil,
    archived: Bool = false
  ) throws {
    self.database = database
    self.under = under
    upTo = try OpenDatabase.sequence(until, in: database, readsArchive: true)
    let horizon = try database.horizon
    let isBefore = archived || upTo < horizon
    after =
      try since.map { try OpenDatabase.sequence($0, in: database, readsArchive: true) }
      ?? (isBefore ? database.archiveHorizon : horizon)
  }

  /// True if it begins at the horizon, and something came before.
  var isCutOff: Bool {
    get throws { try after == database.horizon && after > .zero }
  }

  /// Leaves only the newest transactions; memory does not depend on their number.
  mutating func keepNewest(_ count: Int) throws {
    guard !under.isRoot || filter?.isEmpty == false, count > 0 else {
      let most = UInt64(clamping: count)
      if upTo.rawValue >= most { after = max(after, SequenceNumber(upTo.rawValue - most)) }
      return
    }
    var left = count
    var commits = try database.commits(
      after: after, upTo: upTo, under: under, reversed: true, readsArchive: true)
    while left > 0, let commit = try commits.next() {
      guard try filter?.accepts(commit) ?? true else { continue }
      left -= 1
      if left == 0 { after = commit.sequence.previous }
    }
  }

  /// Visits each transaction, the oldest first, or the newest.
  func forEach(reversed: Bool = false, _ body: (Commit) throws -> Void) throws {
    var commits = try database.commits(
      after: after, upTo: upTo, under: under, reversed: reversed, readsArchive: true)
    while let commit = try commits.next() {
      if try filter?.accepts(commit) ?? true { try body(commit) }
    }
  }
}
