import Synchronization

/// The records of one round of the tail, for all who read them.
///
/// Readers keep it as long as they need it. So one that has begun before a round moved to LMDB, and
/// whose view of LMDB is older than that, still finds its records here.
final class TailRecords: Sendable {
  /// The head of the commit of LMDB that the round continues.
  let base: LogHead
  private let content = Mutex(Content())

  private struct Content {
    /// The records in order; nil for one that is damaged.
    var records: [TransactionRecord?] = []
    /// The first damaged record.
    var missed: SequenceNumber?
    /// The places of long records that nobody has asked for yet.
    var long: [Int] = []
    /// The entries of long records, by their places.
    var entries: [Int: [UInt8]] = [:]
  }

  /// Held while an entry is made ahead.
  private let making = Mutex(())
  private let longBytesMin: Int

  /// - Parameters:
  ///   - base: The head of the commit of LMDB that the round continues.
  ///   - longBytesMin: ``TailSizes/longBytesMin``.
  init(after base: LogHead, longBytesMin: Int) {
    (self.base, self.longBytesMin) = (base, longBytesMin)
  }

  /// The first record that is damaged.
  var missed: SequenceNumber? { content.withLock { $0.missed } }

  /// Adds a record. Numbers that are left out count as damaged.
  func append(_ record: TransactionRecord) {
    content.withLock { content in
      let index = Int(record.sequence.rawValue - base.sequence.rawValue) - 1
      if content.records.count < index, content.missed == nil {
        content.missed = SequenceNumber(base.sequence.rawValue + UInt64(content.records.count) + 1)
      }
      while content.records.count < index { content.records.append(nil) }
      content.records.append(record)
      if record.storedCount >= longBytesMin { content.long.append(index) }
    }
  }

  // MARK: Entries made ahead

  /// True if there are long records for ``keepEntry(_:)``.
  var hasLong: Bool { content.withLock { !$0.long.isEmpty } }

  /// Keeps the entry in LMDB of the next long record, for the time when that moves there.
  ///
  /// - Parameter make: Makes an entry.
  /// - Returns: False if there is no such record.
  func keepEntry(_ make: (TransactionRecord) -> [UInt8]) -> Bool {
    making.withLock { _ in
      let next = content.withLock { content -> (place: Int, record: TransactionRecord)? in
        guard !content.long.isEmpty else { return nil }
        let place = content.long.removeFirst()
        return content.records[place].map { (place, $0) }
      }
      guard let next else { return false }
      let entry = make(next.record)
      content.withLock { $0.entries[next.place] = entry }
      return true
    }
  }

  /// Has no further entry made ahead, and waits for the one that is, since the records move now.
  func endMakingAhead() {
    content.withLock { $0.long = [] }
    making.withLock { _ in }
  }

  /// Forgets the entries, after the records have moved: readers may hold these for longer.
  func forgetEntries() { content.withLock { $0.entries = [:] } }

  /// The entry of a record that was made already; nil if there is none.
  func entry(of sequence: SequenceNumber) -> [UInt8]? {
    let index = Int(clamping: sequence.rawValue - base.sequence.rawValue - 1)
    return content.withLock { $0.entries[index] }
  }

  /// A record; nil if it is not in the round, or damaged.
  subscript(sequence: SequenceNumber) -> TransactionRecord? {
    guard sequence > base.sequence else { return nil }
    let index = Int(clamping: sequence.rawValue - base.sequence.rawValue - 1)
    return content.withLock { index < $0.records.count ? $0.records[index] : nil }
  }
}

/// The records of the tail that one reader sees.
struct TailView {
  private let records: TailRecords
  /// The head of the log.
  let head: LogHead

  init(_ records: TailRecords, head: LogHead) {
    self.records = records
    self.head = head
  }

  /// A record; nil if it is not in the tail, or damaged.
  subscript(sequence: SequenceNumber) -> TransactionRecord? {
    sequence <= head.sequence ? records[sequence] : nil
  }

  /// The number of the first record.
  var first: SequenceNumber { records.base.sequence.next }

  /// The number of records.
  var count: Int { Int(clamping: head.sequence.rawValue - records.base.sequence.rawValue) }

  /// The first record that is damaged.
  var missed: SequenceNumber? { records.missed }

  /// The bytes of the records.
  var bytes: UInt64 {
    var bytes: UInt64 = 0
    forEach { bytes += UInt64($0.entryBytes) }
    return bytes
  }

  /// Visits the lengths that the entries of the records after one will have in LMDB at most: not
  /// compressed.
  func forEachEntry(after sequence: SequenceNumber, _ body: (_ key: Int, _ value: Int) -> Void) {
    forEach { if $0.sequence > sequence { body(LogTables.recordKeyCount, $0.storedCount) } }
  }

  /// The entry of a record that was made already; nil if there is none.
  func entry(of record: TransactionRecord) -> [UInt8]? { records.entry(of: record.sequence) }

  /// As ``TailRecords/endMakingAhead()``.
  func endMakingAhead() { records.endMakingAhead() }

  /// Visits the records in order.
  func forEach(_ body: (TransactionRecord) throws -> Void) rethrows {
    var sequence = records.base.sequence
    while sequence < head.sequence {
      sequence = sequence.next
      if let record = records[sequence] { try body(record) }
    }
  }
}
