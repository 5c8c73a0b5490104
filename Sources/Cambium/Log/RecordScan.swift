import LMDB

/// Reads a log's records from its file, without LMDB, and then those of the tail; it continues
/// after damaged parts.
///
/// Each number after the baseline's, up to the head's, comes once, in order, as a record or as
/// lost. Only a record whose checksum, number, clock and place in the chain are correct counts;
/// after a lost record the chain starts again, since that record's link is lost as well.
struct RecordScan {
  enum Found {
    case sound(TransactionRecord)
    case lost(SequenceNumber, reason: String)
  }

  /// The most reasons that are kept for numbers still to come.
  private static let reasonsMax = 10_000

  private var table: TableScan
  private let last: SequenceNumber
  private let isHeadKnown: Bool
  private var number: SequenceNumber
  private var link: [UInt8]?
  private var clock: UInt64
  /// The next record whose bytes are correct; all numbers before it are lost.
  private(set) var ahead: TransactionRecord?
  private var entry: (sequence: SequenceNumber, part: UInt32, value: [UInt8])?
  private var reasons: [SequenceNumber: String] = [:]
  private var damagedPage: String?
  /// The records of the tail that are still to come.
  private var tail: ArraySlice<TransactionRecord>

  /// Opens the log's data file at a path; if the head is not known the scan ends with the last
  /// record that is found.
  init(
    _ path: String, after baseline: BaselineMark, head: SequenceNumber?, tail: [TransactionRecord]
  ) throws {
    table = try TableScan(path, table: "records")
    self.tail = tail[...]
    number = baseline.sequence.next
    link = baseline.link
    clock = baseline.clock
    let found = SequenceNumber(baseline.sequence.rawValue + table.entries)
    last = head ?? max(found, tail.last?.sequence ?? .zero)
    isHeadKnown = head != nil
  }

  mutating func next() throws -> Found? {
    guard number <= last else { return nil }
    if ahead == nil { ahead = try readSound() }
    if ahead == nil && !isHeadKnown { return nil }
    defer { number = number.next }
    guard let record = ahead, record.sequence == number else {
      return lost(reasons.removeValue(forKey: number) ?? damagedPage ?? "it is missing")
    }
    ahead = nil
    damagedPage = nil
    if let link, record.chained(to: link) != record.link {
      return lost("the chain breaks here: it does not follow from the one before")
    }
    guard record.clock.rawValue > clock else { return lost("the clock goes back") }
    link = record.link
    clock = record.clock.rawValue
    return .sound(record)
  }

  private mutating func lost(_ reason: String) -> Found {
    link = nil
    return .lost(number, reason: reason)
  }

  /// The next record with the right checksum and number, from the present one on.
  private mutating func readSound() throws -> TransactionRecord? {
    while entry != nil || advance(), let first = entry {
      let bytes = join(first.sequence)
      guard first.sequence >= number, first.sequence <= last else { continue }
      do {
        let record = try bytes.lend { try RecordEntry.record($0) }
        if record.sequence == first.sequence { return record }
        note("it says that it is \(record.sequence)", first.sequence)
      } catch DatabaseError.corrupt(let reason) {
        note(reason, first.sequence)
      }
    }
    while let record = tail.popFirst() {
      if record.sequence >= number { return record }
    }
    return nil
  }

  private mutating func note(_ reason: String, _ sequence: SequenceNumber) {
    if reasons.count < RecordScan.reasonsMax { reasons[sequence] = reason }
  }

  /// Joins the parts of a record. A missing part is detected by the checksum.
  private mutating func join(_ sequence: SequenceNumber) -> [UInt8] {
    var bytes: [UInt8] = []
    var part: UInt32 = 0
    while let found = entry, found.sequence == sequence {
      if found.part == part, bytes.count < RecordEntry.recordBytesMax { bytes += found.value }
      part += 1
      if !advance() { break }
    }
    return bytes
  }

  /// Advances to the next entry of the table that can be read.
  private mutating func advance() -> Bool {
    entry = nil
    while let step = table.next() {
      switch step {
      case .damage(let damage): damagedPage = "\(damage)"
      case .entry(let key, let value):
        guard key.count == 12 else { continue }
        let number = key.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let part = key.suffix(4).reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        entry = (SequenceNumber(number), part, value)
        return true
      }
    }
    return false
  }
}
