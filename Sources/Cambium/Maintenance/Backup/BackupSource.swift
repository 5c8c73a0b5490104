// The reads that a backup makes of a log that grows meanwhile. Each call reads at one moment of its
// own, so nothing keeps pages alive or the map from growing; the caller finds out what compaction
// has dropped in between.

import LMDB

extension LogReader {
  /// True if a record is there, in the log's table or in a segment.
  private func isThere(_ sequence: SequenceNumber) throws -> Bool {
    if try archived()?.contains(sequence) ?? false { return true }
    return try sequence >= oldestRecord()
  }

  /// True if all records after one are there.
  func goesOn(after sequence: SequenceNumber) throws -> Bool { try isThere(sequence.next) }

  /// The oldest baseline after which all records are there.
  func oldestBaseline() throws -> BaselineMark {
    let (archive, baseline) = (try archiveStart(), try baseline())
    let isUsable = try archive.sequence <= baseline.sequence && goesOn(after: archive.sequence)
    return isUsable ? archive : baseline
  }

  /// The link of a record, also of one that is archived or the last that a baseline has folded; nil
  /// where it is not there any more.
  func linkOfAny(_ sequence: SequenceNumber) throws -> [UInt8]? {
    if sequence == .zero { return TransactionRecord.firstLink }
    for mark in [try baseline(), try archiveStart()] where mark.sequence == sequence {
      return mark.link
    }
    return try isThere(sequence) ? records(after: sequence.previous).first?.link : nil
  }
}

extension Log {
  /// Goes on to the next record of the chain.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where another record follows.
  func advance(_ head: inout LogHead, to record: TransactionRecord) throws {
    guard record.sequence == head.sequence.next, isNext(record, after: head.link) else {
      throw DatabaseError.corrupt(
        reason: "the chain of the log breaks at record \(head.sequence.next)")
    }
    head.advance(to: record)
  }
}
