// Making a new database out of a log.

extension Database {
  /// Makes a new database with the same log and the tags in it, up to a point. Named consumers are
  /// not taken over.
  ///
  /// - Parameters:
  ///   - path: Where; nothing may be there. It appears only when it is complete and durable.
  ///   - until: The last transaction to take over; all by default. One before the ``horizon`` is
  ///     taken from the archive, with all that comes before it there.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` naming the record where this log is damaged,
  ///   ``DatabaseError/misuse(reason:)`` where something is at the path,
  ///   ``DatabaseError/noDatabase(path:)`` where its parent is missing,
  ///   ``DatabaseError/compacted(oldest:)`` where the transaction was dropped and not archived,
  ///   ``DatabaseError/busy(reason:)`` while the database is being compacted,
  ///   ``DatabaseError/full(reason:)``, `CancellationError`. Nothing is left then.
  /// - Complexity: copies the records up to there and all blobs; the new state is folded when it is
  ///   opened.
  public func replay(
    to path: String, until: SequenceNumber? = nil, progress: ProgressHandler? = nil
  ) throws {
    let head = try head
    let last = min(until ?? head, head)
    let path = Database.located(path)
    try Database.checkIsNew(path)
    try translating {
      try compaction().whileNothingIsDropped {
        try Database.create(path, directory.options) { copy in
          try LogCopy(from: self.directory, to: copy, until: last, progress).run()
        }
      }
    }
  }
}

/// Copies a log's records and blobs, checking both.
private struct LogCopy {
  private let path: String
  private let source: Log
  private let target: Log
  private let last: SequenceNumber
  private let progress: ProgressReporter
  /// The baseline from which the copy continues.
  private let start: BaselineMark

  init(
    from directory: OpenDirectory, to target: Log, until last: SequenceNumber,
    _ progress: ProgressHandler?
  ) throws {
    path = directory.path
    source = directory.log
    self.target = target
    self.last = last
    self.progress = ProgressReporter(progress)
    start = try source.read { log in
      let baseline = try log.baseline()
      if last >= baseline.sequence { return baseline }
      let start = try log.archiveStart()
      guard try log.archived() != nil, last >= start.sequence else {
        throw DatabaseError.compacted(oldest: baseline.sequence)
      }
      return start
    }
  }

  func run() throws {
    try Baseline.copy(start, of: path, beside: target)
    try target.copyBlobs(of: source, head: LogHead())
    var head = LogHead(start)
    try begin(head)
    try copyArchive(head)
    while head.sequence < last {
      try progress.tell("copy", head.sequence.rawValue, last.rawValue)
      try target.append(try someRecords(&head), head: head)
    }
    try target.write(head: head, copyTags)
  }

  private func begin(_ head: LogHead) throws {
    let (format, retention) = try source.read { (try $0.format(), try $0.retention()) }
    try target.write(head: head) { writer in
      try writer.setFormat(format)
      try writer.setRetention(retention)
      try writer.begin(after: start)
    }
  }

  /// Copies the segments where the copy begins after them.
  private func copyArchive(_ head: LogHead) throws {
    let (archived, archiveStart) = try source.read { (try $0.archived(), try $0.archiveStart()) }
    guard let archived, archived.lowerBound <= start.sequence else { return }
    if archiveStart != start { try Baseline.copy(archiveStart, of: path, beside: target) }
    var last = archiveStart.sequence
    while last < start.sequence, let segment = try source.read({ try $0.segment(after: last) }) {
      try target.write(head: head) { writer in
        if archiveStart.sequence > .zero { try writer.setArchiveStart(archiveStart) }
        try writer.putSegment(segment)
      }
      last = segment.last
    }
  }

  /// Records for one transaction of the copy.
  private func someRecords(_ head: inout LogHead) throws -> [TransactionRecord] {
    let after = head.sequence
    let found = try source.read { try $0.records(after: after, bytes: Replay.stepBytes) }
    let records = found.filter { $0.sequence <= last }
    for record in records { try source.advance(&head, to: record) }
    return records
  }

  private func copyTags(to writer: borrowing LogWriter) throws {
    for tag in try source.read({ try $0.tags() }) where tag.sequence <= last {
      try writer.setTag(tag.name, to: tag.sequence)
    }
  }
}

extension Log {
  /// Copies the blobs of another log to one that is being made, without some of them.
  func copyBlobs(of source: Log, without known: Set<[UInt8]> = [], head: LogHead) throws {
    var last: [UInt8] = []
    while true {
      let chunks = try source.read {
        try $0.chunks(after: last, bytes: Replay.stepBytes, without: known)
      }
      guard let newest = chunks.last else { return }
      try write(head: head) { writer in
        for chunk in chunks { try writer.putChunk(chunk.key, chunk.value) }
      }
      last = newest.key
    }
  }
}
