// How much of the past a database keeps.

import LMDB

/// The part of the past that compaction keeps: as much as its widest rule asks for.
///
///     try database.setRetention(Retention(duration: .seconds(90 * 86_400)))
///
/// Where there is no rule everything is kept, as by default. The policy is stored in the database,
/// and each process that writes applies it, in the background, after commits.
public struct Retention: Hashable, Sendable {
  /// The newest so many transactions are kept.
  public var transactions: UInt64?
  /// The transactions of so long a time before the newest one are kept.
  public var duration: Duration?
  /// True if the moments that tags name stay readable, and everything after the oldest of them.
  public var keepsTags = true
  /// True if dropped records go into sealed, compressed segments instead of being removed. From
  /// those the log can still be read, and any moment be restored.
  public var archives = false
  /// A consumer that is no more than so many transactions behind holds compaction back; one that is
  /// further behind gets ``DatabaseError/compacted(oldest:)`` when it comes back.
  public var consumerLagMax: UInt64 = 1_000_000

  /// A policy.
  ///
  /// - Parameters:
  ///   - transactions: The number of newest transactions that are kept.
  ///   - duration: The length of time before the newest transaction whose transactions are kept.
  public init(transactions: UInt64? = nil, duration: Duration? = nil) {
    self.transactions = transactions
    self.duration = duration
  }

  /// True if nothing is ever dropped.
  public var keepsEverything: Bool { transactions == nil && duration == nil }
}

extension Retention {
  static let name = "retention"

  //     flags u8                1: count, 2: time, 4: tags are not kept, 8: archives
  //     transactions u64 | microseconds i64 | lag u64

  init(_ bytes: RawSpan) throws {
    let flags = try bytes.load(UInt8.self, at: 0)
    if flags & 1 != 0 { transactions = try bytes.load(UInt64.self, at: 1) }
    if flags & 2 != 0 { duration = .microseconds(try bytes.load(Int64.self, at: 9)) }
    keepsTags = flags & 4 == 0
    archives = flags & 8 != 0
    consumerLagMax = try bytes.load(UInt64.self, at: 17)
  }

  func stored() -> [UInt8] {
    let flags: [UInt8] = [
      transactions == nil ? 0 : 1, duration == nil ? 0 : 2, keepsTags ? 0 : 4, archives ? 8 : 0,
    ]
    var bytes = [flags.reduce(0, |)]
    bytes.append(littleEndian: transactions ?? 0)
    bytes.append(littleEndian: Retention.microseconds(duration ?? .zero))
    bytes.append(littleEndian: consumerLagMax)
    return bytes
  }

  private static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow
      ? .max
      : product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        .partialValue
  }

  /// The horizon that the policy asks for.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - limit: Up to where the state has come: nothing after it is dropped.
  ///   - now: The time of day, in microseconds since 1970.
  /// - Returns: The last record to drop; not after `limit`, and not before the present horizon.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func horizon(
    _ log: LogReader, upTo limit: SequenceNumber, now: Int64
  ) throws -> SequenceNumber {
    let present = try log.horizon()
    if keepsEverything || limit <= present { return present }
    var bound = limit.rawValue
    if let transactions { bound = min(bound, limit.rawValue - min(transactions, limit.rawValue)) }
    if let duration { bound = min(bound, try moment(duration, before: limit, now, log)) }
    if keepsTags, let oldest = try log.tags().first(where: { $0.sequence >= present }) {
      bound = min(bound, oldest.sequence.rawValue)
    }
    for consumer in try log.consumers() {
      let position = consumer.position.rawValue
      if limit.rawValue - min(position, limit.rawValue) <= consumerLagMax {
        bound = min(bound, position)
      }
    }
    return max(SequenceNumber(bound), present)
  }

  /// The last record that is older than a time before the newest.
  private func moment(
    _ duration: Duration, before limit: SequenceNumber, _ now: Int64, _ log: LogReader
  ) throws -> UInt64 {
    // A wrong clock may have given the newest a time that is still to come: what is older than that
    // by the duration is not old for it.
    let newest = min(try log.time(of: limit), now)
    let (bound, overflow) = newest.subtractingReportingOverflow(Retention.microseconds(duration))
    if overflow { return 0 }
    let baseline = try log.baseline().sequence
    return try log.lastRecord(after: baseline, upToMicroseconds: bound - 1).rawValue
  }
}
