// Records in pieces of bounded size, for whoever reads many and gives way in between: each piece is
// read at a moment of its own.

extension LogReader {
  /// Some of the records after one, the next first: up to so many bytes of a segment or the table.
  func records(
    after sequence: SequenceNumber, bytes: Int = 1
  ) throws -> [TransactionRecord] {
    var records: [TransactionRecord] = []
    if try archived()?.contains(sequence.next) ?? false {
      try segment(after: sequence)?.forEach { if $0.sequence > sequence { records.append($0) } }
      return records
    }
    let head = try head().sequence
    var count = 0
    var next = sequence.next
    while next <= head, count < bytes {
      let record = try record(next)
      count += record.operations.count + 256
      records.append(record)
      next = next.next
    }
    return records
  }
}
