// Lookup of the record that was the newest at some time of day.

import FoundationEssentials

extension LogReader {
  /// The last record at or before a time of day, or zero; by bisection, since times never go back.
  func sequence(at date: Date) throws -> SequenceNumber {
    let wanted = date.microseconds
    let baseline = try baseline()
    if baseline.sequence > .zero, wanted < baseline.time {
      throw DatabaseError.compacted(oldest: baseline.sequence)
    }
    let found = try lastRecord(after: baseline.sequence, upToMicroseconds: wanted)
    try checkReachable(found)
    return found
  }

  /// The last record after a given one whose time is not after `wanted`; or the given one.
  func lastRecord(
    after: SequenceNumber, upToMicroseconds wanted: Int64
  ) throws -> SequenceNumber {
    let start = after.rawValue + 1
    let later = try (start..<max(start, head().sequence.rawValue + 1)).partitionPoint {
      try time(of: SequenceNumber($0)) <= wanted
    }
    return SequenceNumber(later).previous
  }

  /// The time of the oldest moment: that of the baseline, or of the first record.
  func oldestTime() throws -> Int64 {
    let baseline = try baseline()
    return baseline.sequence > .zero ? baseline.time : try time(of: .zero.next)
  }
}
