// Reading transactions that compaction has archived. A segment is read as a whole, and kept until
// another one is needed, so that a walk reads each once; its checksum, those of its records, and
// the chain within it and to its neighbors are checked.

import LMDB

/// Reads archived transactions.
struct ArchiveReader {
  private let directory: OpenDirectory
  /// The records of the segment that was read last.
  private var records: [TransactionRecord] = []

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// A transaction up to the horizon.
  ///
  /// - Throws: ``DatabaseError/compacted(oldest:)`` if it is not archived,
  ///   ``DatabaseError/corrupt(reason:)``.
  mutating func record(_ sequence: SequenceNumber) throws -> TransactionRecord {
    if let found = found(sequence) { return found }
    let (read, before, after) = try directory.log.read { log in
      (
        try log.archivedRecords(around: sequence), try log.archiveStart(), try log.baseline()
      )
    }
    try checkChain(read, before, after)
    records = read
    guard let found = found(sequence) else {
      throw DatabaseError.corrupt(reason: "there is no segment with record \(sequence)")
    }
    return found
  }

  private func found(_ sequence: SequenceNumber) -> TransactionRecord? {
    guard let first = records.first, let last = records.last, sequence >= first.sequence,
      sequence <= last.sequence
    else { return nil }
    return records[Int(sequence.rawValue - first.sequence.rawValue)]
  }

  /// Follows the chain through records, from and to records that were read before, and from and to
  /// the marks that bound the archive.
  private func checkChain(
    _ read: [TransactionRecord], _ before: BaselineMark, _ after: BaselineMark
  ) throws {
    var link = link(before: read, before)
    for record in read {
      if let link, !directory.log.isNext(record, after: link) { throw ArchiveReader.broken(record) }
      link = record.link
    }
    guard let last = read.last else { return }
    if last.sequence == after.sequence, last.link != after.link {
      throw ArchiveReader.broken(last)
    }
    if let next = records.first, next.sequence == last.sequence.next,
      !directory.log.isNext(next, after: last.link)
    {
      throw ArchiveReader.broken(next)
    }
  }

  private func link(before read: [TransactionRecord], _ start: BaselineMark) -> [UInt8]? {
    guard let first = read.first else { return nil }
    if first.sequence == start.sequence.next { return start.link }
    return records.last.flatMap { $0.sequence.next == first.sequence ? $0.link : nil }
  }

  private static func broken(_ record: TransactionRecord) -> DatabaseError {
    .corrupt(reason: "the chain breaks in the archive, at record \(record.sequence)")
  }
}

extension LogReader {
  /// The records of the segment that has a given one, or that one alone if it is not sealed yet.
  ///
  /// - Throws: ``DatabaseError/compacted(oldest:)`` if it is neither.
  fileprivate func archivedRecords(
    around sequence: SequenceNumber
  ) throws -> [TransactionRecord] {
    if try archived()?.contains(sequence) ?? false {
      var records: [TransactionRecord] = []
      try segment(after: sequence.previous)?.forEach { records.append($0) }
      return records
    }
    guard try isArchiving(), try sequence >= oldestRecord() else {
      throw DatabaseError.compacted(oldest: try horizon())
    }
    return [try record(sequence)]
  }

  /// The moment before the oldest transaction that is archived, or about to be; the horizon if
  /// there is none.
  func archiveHorizon() throws -> SequenceNumber {
    if let archived = try archived() { return archived.lowerBound.previous }
    return try isArchiving() ? min(oldestRecord().previous, horizon()) : horizon()
  }
}

extension OpenDirectory {
  /// The last archived transaction at or before a time of day that is before the horizon.
  ///
  /// - Throws: ``DatabaseError/compacted(oldest:)`` if the time is before the archive as well.
  func archivedSequence(at wanted: Int64) throws -> SequenceNumber {
    let (start, horizon, mark) = try log.read { log in
      (try log.archiveHorizon(), try log.horizon(), try log.archiveStart())
    }
    guard start < horizon, start == .zero || wanted >= mark.time else {
      throw DatabaseError.compacted(oldest: start)
    }
    var archive = ArchiveReader(self)
    let later = try (start.next.rawValue..<horizon.next.rawValue).partitionPoint {
      try archive.record(SequenceNumber($0)).time <= wanted
    }
    return SequenceNumber(later).previous
  }
}
