/// A commit as it is routed: its changes of records, without those of subtrees as a whole.
struct RoutedCommit: Sendable {
  /// The parts of the database whose changes are not known.
  enum Lost: Sendable {
    /// Records of these collections.
    case collections([NodePath])
    case everything
  }

  let sequence: SequenceNumber
  var changes: [RecordChange] = []
  var lost = Lost.collections([])
  /// True if changes of collections without guards may be missing.
  var isPartial = false

  /// The bytes of records that are kept for it.
  var byteCount: Int { changes.byteCount }
}

extension [RecordChange] {
  /// The bytes of their records.
  var byteCount: Int {
    reduce(0) { $0 + ($1.old?.version.count ?? 0) + ($1.content?.bytes.count ?? 0) }
  }
}

/// The newest commits that were routed. A query that has changed its guards is given those after
/// the moment that it has read.
struct RecentCommits {
  private static let changesMax = 4096
  private static let bytesMax = 4 << 20

  private var commits: [RoutedCommit] = []
  private var changeCount = 0
  private var byteCount = 0
  /// The moment after which all commits are there.
  private var start: SequenceNumber

  init(after start: SequenceNumber) { self.start = start }

  /// Adds the next commit, and drops old ones.
  mutating func add(_ commit: RoutedCommit) {
    commits.append(commit)
    changeCount += commit.changes.count + 1
    byteCount += commit.byteCount
    if changeCount > RecentCommits.changesMax || byteCount > RecentCommits.bytesMax { drop() }
  }

  /// Drops the older half and more, so that each commit is moved seldom.
  private mutating func drop() {
    var count = 0
    while count < commits.count,
      changeCount > RecentCommits.changesMax / 2 || byteCount > RecentCommits.bytesMax / 2
    {
      changeCount -= commits[count].changes.count + 1
      byteCount -= commits[count].byteCount
      start = commits[count].sequence
      count += 1
    }
    commits.removeFirst(count)
  }

  /// The commits after a moment; nil if they are not there any more.
  func after(_ moment: SequenceNumber) -> ArraySlice<RoutedCommit>? {
    guard start <= moment else { return nil }
    return commits[(commits.lastIndex { $0.sequence <= moment } ?? -1).advanced(by: 1)...]
  }
}
