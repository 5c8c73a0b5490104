/// Reads consecutive records of a log, each of which must follow from the one before.
struct RecordChain {
  private let log: Log
  private let last: SequenceNumber
  private let stopsAtDamage: Bool
  /// The link of the record at `position`; nil if it is not known.
  private var link: [UInt8]?
  /// The record that was read last.
  private(set) var position: SequenceNumber
  /// The damage of the record after it, if reading has ended there.
  private(set) var damage: DatabaseError?

  init(
    _ log: Log, after position: SequenceNumber, link: [UInt8]? = nil, upTo last: SequenceNumber,
    stopsAtDamage: Bool = false
  ) {
    self.log = log
    self.position = position
    self.link = link
    self.last = last
    self.stopsAtDamage = stopsAtDamage
  }

  /// The next record; nil after the last, and if reading ends at damage.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` for a damaged record, unless reading is to end
  ///   there.
  mutating func next() throws -> TransactionRecord? {
    guard position < last, damage == nil else { return nil }
    do {
      let record = try log.read(upTo: position.next) { try $0.record(position.next) }
      if let link, !log.isNext(record, after: link) {
        log.damage.note(record.sequence, "the chain breaks here")
        throw DatabaseError.corrupt(
          reason: "the chain of the log breaks at record \(record.sequence)")
      }
      (position, link) = (record.sequence, record.link)
      return record
    } catch let error as DatabaseError where error.isDamage && stopsAtDamage {
      damage = error
      return nil
    }
  }
}
