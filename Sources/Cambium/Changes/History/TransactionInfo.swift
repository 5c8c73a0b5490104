import FoundationEssentials

/// A transaction without its changes: which, when, where, who and why.
public struct TransactionInfo: Hashable, Sendable {
  /// Its place in the log.
  public let sequence: SequenceNumber
  /// The time of the commit; never before that of an earlier one.
  public let time: Date
  /// The database that wrote it.
  public let origin: UUID
  /// The metadata given to `write`, such as who wrote and why.
  public let metadata: [String: String]

  init(_ record: TransactionRecord) {
    sequence = record.sequence
    time = Date(microseconds: record.time)
    origin = record.origin
    metadata = record.metadata
  }
}

/// Reads the info of transactions from the log, and keeps the last: steps in a row often belong to
/// the same transaction.
struct TransactionInfos {
  private let directory: OpenDirectory
  private var last: TransactionInfo?

  init(_ directory: OpenDirectory) { self.directory = directory }

  /// The info of a transaction; reads its record.
  mutating func info(_ sequence: SequenceNumber) throws -> TransactionInfo {
    if let last, last.sequence == sequence { return last }
    let info = TransactionInfo(try directory.log.read { try $0.record(sequence) })
    last = info
    return info
  }
}
