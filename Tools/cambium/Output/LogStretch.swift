import Cambium

/// The transactions that a command prints: a range of the log, or those of it that touch a part of
/// the tree.
struct LogStretch {
  let database: Database
  let under: NodePath
  /// The stretch starts with the transaction after this one.
  private(set) var after: SequenceNumber
  private(set) var upTo: SequenceNumber
  /// The last transaction, also where only a part of the stretch is walked.
  let end: SequenceNumber
  /// True for a caller who must not learn of transactions that changed nothing below `under`.
  let isStrict: Bool
  /// The filter for those that are printed.
  var filter: CommitFilter?

  /// Takes the transactions after `since`, up to and including `until`; without `since` it begins
  /// at the horizon, or where the archive does. Where an end is before the horizon, the archive is
  /// read.
  init(
    _ database: Database, under: NodePath, since: PointInTime? = nil, until: PointInTime? = nil,
    archived: Bool = false, isStrict: Bool = false
  ) throws {
    self.isStrict = isStrict
    self.database = database
    self.under = under
    upTo = try OpenDatabase.sequence(until, in: database, readsArchive: !isStrict)
    end = upTo
    let horizon = try database.horizon
    let isBefore = archived || upTo < horizon
    after =
      try since.map { try OpenDatabase.sequence($0, in: database, readsArchive: !isStrict) }
      ?? (isBefore ? database.archiveHorizon : horizon)
    // Of archived transactions only the operations are known, and they are not told apart by path.
    if isStrict { after = max(after, horizon) }
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
      after: after, upTo: upTo, under: under, reversed: true, readsArchive: !isStrict)
    while left > 0, let commit = try commits.next() {
      guard try accepts(commit) else { continue }
      left -= 1
      if left == 0 { after = commit.sequence.previous }
    }
  }

  /// Leaves only so many transactions at the end at which a walk begins.
  ///
  /// - Returns: True if there were more.
  mutating func narrow(to count: UInt64, reversed: Bool) -> Bool {
    guard upTo > after, upTo.rawValue - after.rawValue > count else { return false }
    if reversed {
      after = SequenceNumber(upTo.rawValue - count)
    } else {
      upTo = SequenceNumber(after.rawValue + count)
    }
    return true
  }

  /// The transaction before the first that a walk visits, in its direction.
  func before(reversed: Bool) -> SequenceNumber { reversed ? upTo.next : after }

  /// Visits each transaction, the oldest first, or the newest, until `body` returns false.
  func forEach(reversed: Bool = false, _ body: (Commit) throws -> Bool) throws {
    var commits = try database.commits(
      after: after, upTo: upTo, under: under, reversed: reversed, readsArchive: !isStrict)
    while let commit = try commits.next() {
      if Signals.isInterrupted { throw Failure.stopped() }
      guard try accepts(commit) else { continue }
      if try !body(commit) { return }
    }
  }

  private func accepts(_ commit: Commit) throws -> Bool {
    if isStrict {
      var changes = commit.changes.makeCursor()
      if try changes.next() == nil { return false }
    }
    return try filter?.accepts(commit) ?? true
  }
}
