// The newest transaction that two logs have in common.
//
//     this      1 ── 2 ── 3 ── 4 ── 5
//                         └─── 4'── 5'── 6'      other
//                         ^
// Each record's link is made of all records before it, so two logs that have the same link at a
// number are the same up to there. The number is found by bisection.

/// The past that two databases share.
struct CommonPast {
  /// The newest transaction that both have.
  let last: SequenceNumber
  /// The newest transaction of the first that can be read.
  let head: SequenceNumber
  /// The newest transaction of the other that can be read.
  let otherHead: SequenceNumber

  /// - Throws: ``DatabaseError/misuse(reason:)`` where they share nothing that is still there.
  init(of one: OpenDirectory, and other: OpenDirectory) throws {
    head = try one.snapshot(at: .now).sequence
    otherHead = try other.snapshot(at: .now).sequence
    let start = try max(one.log.read { try $0.horizon() }, other.log.read { try $0.horizon() })
    let end = min(head, otherHead)
    guard start <= end, try CommonPast.isCommon(start.rawValue, one, other) else {
      throw CommonPast.refusal(one, other, after: start)
    }
    let apart = try (start.next.rawValue..<end.next.rawValue).partitionPoint {
      try CommonPast.isCommon($0, one, other)
    }
    last = SequenceNumber(apart).previous
    if last == .zero { throw CommonPast.refusal(one, other, after: start) }
  }

  private static func isCommon(
    _ sequence: UInt64, _ one: OpenDirectory, _ other: OpenDirectory
  ) throws -> Bool {
    let sequence = SequenceNumber(sequence)
    return try one.log.read { try $0.link(of: sequence) }
      == other.log.read { try $0.link(of: sequence) }
  }

  private static func refusal(
    _ one: OpenDirectory, _ other: OpenDirectory, after start: SequenceNumber
  ) -> DatabaseError {
    .misuse(
      reason: start == .zero
        ? "\(one.path) and \(other.path) share no past; only a branch, or its origin, does"
        : "\(one.path) and \(other.path) share no past after transaction \(start), up to which "
          + "one of them is compacted")
  }
}
