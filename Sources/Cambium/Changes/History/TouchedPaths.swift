/// The paths that were touched between two moments, in path order, each once, without those inside
/// a subtree that was touched as a whole.
///
/// They are read from the log's records: inserting leaves no trace in history.
final class TouchedPaths {
  private static let isSubtree: UInt8 = 1

  private let under: NodePath
  private var entries: SortedEntries
  /// The entry that was read last, and is not returned yet.
  private var ahead: SortedEntries.Entry?
  /// The subtree in which paths are left out.
  private var covering: [UInt8]?

  /// Reads the records of some stretches of logs.
  init(_ stretches: [LogStretch], under: NodePath) throws {
    self.under = under
    var sort = ExternalSort()
    for stretch in stretches { try TouchedPaths.collect(stretch, under, &sort) }
    entries = try sort.sorted()
    ahead = try entries.next()
  }

  private static func collect(
    _ stretch: LogStretch, _ under: NodePath, _ sort: inout ExternalSort
  ) throws {
    try stretch.forEachRecord { record in
      var operations = OperationReader(record.operations)
      while let operation = try operations.next() {
        try Touched.forEach(in: operation, under: under) { touched in
          try sort.add(
            touched.path.bytes, touched.isSubtree ? [TouchedPaths.isSubtree] : [])
        }
      }
    }
  }

  /// The next path, or nil after the last.
  func next() throws -> Touched? {
    while let (key, isSubtree) = try nextKey() {
      if let covering, key.starts(with: covering) { continue }
      covering = isSubtree ? key : nil
      return Touched(
        path: NodePath(bytes: key), isSubtree: isSubtree,
        mayBeProperty: !under.isRoot && key == under.bytes)
    }
    return nil
  }

  /// The next key, and whether any operation touched all below it.
  private func nextKey() throws -> (key: [UInt8], isSubtree: Bool)? {
    guard let first = ahead else { return nil }
    var isSubtree = false
    while let entry = ahead, entry.key == first.key {
      if !entry.value.isEmpty { isSubtree = true }
      ahead = try entries.next()
    }
    return (first.key, isSubtree)
  }
}

/// The records of a database's log after one, up to another.
struct LogStretch {
  let directory: OpenDirectory
  let after: SequenceNumber
  let upTo: SequenceNumber

  /// Visits the records, the oldest first.
  func forEachRecord(_ body: (TransactionRecord) throws -> Void) throws {
    var sequence = after
    while sequence < upTo {
      sequence = sequence.next
      try body(try directory.log.read { try $0.record(sequence) })
    }
  }
}
