import LMDB

/// One round of the tail as a process knows it: its frames from the start of the file, all of which
/// follow one commit of LMDB.
struct TailRound {
  /// A frame that another process has written, or an earlier run of this one: perhaps not durably.
  private struct Unproven {
    let place: Range<Int>
    let checksum: UInt64
  }

  let file: PrewrittenFile
  let mark: TailMark
  let records: TailRecords
  private var head: LogHead
  /// The newest record that is known to be durable.
  private var durable: SequenceNumber
  /// The place of the next frame.
  private(set) var end = 0
  private var unproven: [Unproven] = []
  /// True unless this process is known to have made LMDB's commit before it.
  var isOfOthers = true
  /// True if it was looked through for damaged frames, which only a writer can tell from those that
  /// are being written.
  var isChecked = false
  /// True if nothing is to be appended any more.
  var isClosed = false
  /// The place up to which frames need no further look at the disk's free space.
  private var roomEnd = 0

  init(_ file: PrewrittenFile, _ mark: TailMark, after base: LogHead, longBytesMin: Int) {
    self.file = file
    self.mark = mark
    records = TailRecords(after: base, longBytesMin: longBytesMin)
    head = base
    durable = base.sequence
  }

  /// The records; nil if there are none.
  var view: TailView? {
    head.sequence > records.base.sequence ? TailView(records, head: head) : nil
  }

  /// True if it is known to reach as far as a record.
  func has(_ sequence: SequenceNumber?) -> Bool { sequence.map { $0 <= head.sequence } ?? false }

  func hasRoom(for count: Int) -> Bool { !isClosed && end + count <= file.size }

  /// True if the disk had room for moving them a few pages of frames ago.
  var isRoomKnown: Bool { end < roomEnd }

  mutating func noteRoom() { roomEnd = end + (16 << 10) }

  // MARK: Frames of others

  /// The frames that other processes have appended.
  func framesOfOthers() throws -> [TailFrame] {
    var scan = TailScan(file, seed: mark.seed)
    var frames: [TailFrame] = []
    var (end, sequence, link) = (end, head.sequence, head.link)
    while try scan.header(at: end)?.sequence == sequence.next, let frame = try scan.frame(at: end),
      frame.record.chained(to: link) == frame.record.link
    {
      frames.append(frame)
      (end, sequence, link) = (frame.place.upperBound, frame.record.sequence, frame.record.link)
    }
    return frames
  }

  /// Takes in frames, but for those that it has.
  mutating func take(new frames: [TailFrame]) {
    for frame in frames where frame.record.sequence > head.sequence {
      take(frame.record, endingAt: frame.place.upperBound)
      unproven.append(Unproven(place: frame.place, checksum: frame.checksum))
    }
  }

  /// False if another process has taken back what it had written.
  func isLastAsRead() throws -> Bool {
    guard let last = unproven.last else { return true }
    var scan = TailScan(file, seed: mark.seed)
    return try scan.header(at: last.place.lowerBound)?.checksum == last.checksum
  }

  var hasUnproven: Bool { !unproven.isEmpty }

  mutating func noteProven() {
    unproven = []
    noteFlushed()
  }

  /// Makes durable what others have written. It is written once more: where a flush has failed, the
  /// system takes the blocks for written, and would not write them with the next.
  ///
  /// - Returns: False if something else is there by now; nothing was written then.
  func prove() throws -> Bool {
    guard let start = unproven.first?.place.lowerBound else { return true }
    let frames = try file.read(at: start, count: end - start)
    let areAsRead = frames.lend { bytes in
      unproven.allSatisfy { frame in
        let place = frame.place.lowerBound - start
        return TailFrame.checksum(bytes, at: place, seed: mark.seed) == frame.checksum
      }
    }
    if !areAsRead { return false }
    try file.write(frames, at: start)
    try file.sync()
    return true
  }

  // MARK: Own frames

  /// The newest record.
  var newest: SequenceNumber { head.sequence }

  /// True if all records are known to be durable.
  var isFlushed: Bool { durable >= head.sequence }

  /// Notes that the records up to one are durable, or all.
  mutating func noteFlushed(upTo sequence: SequenceNumber? = nil) {
    durable = max(durable, sequence ?? head.sequence)
  }

  /// Takes in a record whose frame is written, and ends at an offset.
  mutating func take(_ record: TransactionRecord, endingAt end: Int) {
    records.append(record)
    head.advance(to: record)
    self.end = end
  }

  /// Writes the frames of records. They are taken in afterwards.
  ///
  /// - Parameters:
  ///   - records: The records, which follow the newest.
  ///   - isFlushed: True to make them, and all before them, durable.
  /// - Returns: The offset at which each of them ends.
  /// - Throws: ``StorageError``: nothing is stored then, except for `.uncertain`.
  func append(_ records: [TransactionRecord], isFlushed: Bool) throws -> [Int] {
    var frames: [UInt8] = []
    frames.reserveCapacity(records.reduce(0) { $0 + TailFrame.count(of: $1) })
    var ends: [Int] = []
    for record in records {
      TailFrame.append(record, durable: durable, seed: mark.seed, to: &frames)
      ends.append(end + frames.count)
    }
    do { try file.write(frames, at: end) } catch {
      if try hasWritten(records[0]) { try takeBack(because: error) }
      throw error
    }
    if !isFlushed { return ends }
    do { try file.sync() } catch {
      throw StorageError(.uncertain, "flushing the log's tail: \(error)")
    }
    return ends
  }

  /// True if the start of a record's frame is where the next one goes.
  private func hasWritten(_ record: TransactionRecord) throws -> Bool {
    var scan = TailScan(file, seed: mark.seed)
    return try scan.header(at: end)?.sequence == record.sequence
  }

  /// Keeps frames that may have been written whole from being taken for records.
  private func takeBack(because error: StorageError) throws {
    do {
      try file.write([UInt8](repeating: 0, count: TailFrame.headerCount), at: end)
      try file.sync()
    } catch let second {
      throw StorageError(.uncertain, "writing the log's tail: \(error), then \(second)")
    }
  }
}
