// The policy that determines the part of the past that a database keeps.

/// The part of the past that compaction keeps: the most that any of its rules requires.
///
///     try database.setRetention(Retention(duration: .seconds(90 * 86_400)))
///
/// Without a rule everything is kept, as by default. The policy is stored in the database, and each
/// process that writes applies it, in the background, after commits.
public struct Retention: Hashable, Sendable {
  /// The number of newest transactions that are kept; nil for no such rule.
  public var transactions: UInt64?
  /// The time before the newest transaction whose transactions are kept; nil for no such rule.
  public var duration: Duration?
  /// True if tagged moments stay readable, and everything after the oldest of them.
  public var keepsTags = true
  /// True if dropped records go into sealed, compressed segments instead of being removed. The log
  /// can still be read from these, and any moment can be restored.
  public var archives = false
  /// The most transactions that a consumer may be behind and still hold compaction back; one that
  /// is further behind gets ``DatabaseError/compacted(oldest:)`` when it continues.
  public var consumerLagMax: UInt64 = 1_000_000

  /// Makes a policy.
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

  /// The horizon that results from the policy.
  ///
  /// - Parameters:
  ///   - log: The log.
  ///   - limit: The state's position: nothing after it is dropped.
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
    // A wrong clock may have given the newest record a time in the future: records that are older
    // than that by the duration do not count as old.
    let newest = min(try log.time(of: limit), now)
    let (bound, overflow) = newest.subtractingReportingOverflow(Retention.microseconds(duration))
    if overflow { return 0 }
    let baseline = try log.baseline().sequence
    return try log.lastRecord(after: baseline, upToMicroseconds: bound - 1).rawValue
  }
}
