import FoundationEssentials

/// The transactions that are undone, read from the log alone: a transaction that undoes others says
/// so in its metadata, under `undoes`.
///
///     7  who=ada             8  undoes=7            9  undoes=8 redoes=7
///     a change of Ada's      takes it back          takes that back: it is there again
///
/// Read from the newest to the oldest, each transaction is either undone by one that was read
/// before and is not undone itself, or in force. The newest change in force can be undone, and an
/// undo in force can be redone as long as no new change came after it.
struct UndoLog {
  let running: RunningTransaction

  /// The transactions of a group may be so far apart, and no farther.
  static let gapMax: UInt64 = 1000

  /// The names in the metadata.
  enum Name {
    static let undoes = "undoes"
    static let redoes = "redoes"
    static let group = "group"
  }

  /// The newest transaction, those of the open group included.
  var head: SequenceNumber { running.group.head.sequence }

  /// Transactions up to this one cannot be undone any more: what was before them was compacted.
  private var horizon: SequenceNumber { running.group.horizon }

  /// A transaction, committed or of the open group.
  ///
  /// - Throws: ``DatabaseError/compacted(oldest:)``, ``DatabaseError/corrupt(reason:)``.
  func record(_ sequence: SequenceNumber) throws -> TransactionRecord {
    if sequence <= horizon { throw DatabaseError.compacted(oldest: horizon) }
    if let first = running.group.records.first?.sequence, sequence >= first {
      return running.group.records[Int(sequence.rawValue - first.rawValue)]
    }
    return try running.directory.log.read { try $0.record(sequence) }
  }

  /// Refuses transactions that are not there.
  func check(_ sequence: SequenceNumber) throws {
    if sequence > .zero, sequence <= head { return }
    throw DatabaseError.noSuchMoment(
      reason: "transaction \(sequence) is not there; there are 1 to \(head)")
  }

  // MARK: Transactions in force

  /// Visits the transactions in force, the newest first, until `body` returns false.
  private func forEachInForce(_ body: (TransactionRecord) throws -> Bool) throws {
    var undone = Set<SequenceNumber>()
    var sequence = head
    while sequence > horizon {
      let record = try record(sequence)
      if undone.remove(sequence) == nil {
        undone.formUnion(record.undoes)
        guard try body(record) else { return }
      }
      sequence = sequence.previous
    }
  }

  /// The newest change that is somebody's own and in force.
  func newestChange(of author: Authorship) throws -> TransactionRecord? {
    var newest: TransactionRecord?
    try forEachInForce { record in
      if record.isUndo || record.isErasure || !author.includes(record) { return true }
      newest = record
      return false
    }
    return newest
  }

  /// The newest undo that is somebody's own and in force, with no own change after it.
  func newestUndo(of author: Authorship) throws -> TransactionRecord? {
    var newest: TransactionRecord?
    try forEachInForce { record in
      if !author.includes(record) || record.isRedo || record.isErasure { return true }
      if record.isUndo { newest = record }
      return false
    }
    return newest
  }

  /// The transactions to undo with one: where it is the newest of its group in force, all of them,
  /// the newest first; else it alone.
  func group(of record: TransactionRecord) throws -> [TransactionRecord] {
    guard let group = record.metadata[Name.group], !record.isUndo, !record.isRedo else {
      return [record]
    }
    var members = [record]
    var last = record.sequence
    try forEachInForce { other in
      let isMember = other.isMember(of: group, record.origin)
      if other.sequence >= record.sequence {
        let gap = other.sequence.rawValue - record.sequence.rawValue
        return gap == 0 || gap > UndoLog.gapMax || !isMember
      }
      if last.rawValue - other.sequence.rawValue > UndoLog.gapMax { return false }
      if isMember {
        members.append(other)
        last = other.sequence
      }
      return true
    }
    return members
  }
}

extension TransactionRecord {
  /// The transactions that it undoes; none where what its metadata says is not such a list.
  var undoes: [SequenceNumber] {
    metadata[UndoLog.Name.undoes].flatMap { SequenceList.read($0) } ?? []
  }

  /// True if it takes a change back.
  var isUndo: Bool { !undoes.isEmpty && !isRedo }

  /// True if it makes a change again that was undone.
  var isRedo: Bool { metadata[UndoLog.Name.redoes] != nil && !undoes.isEmpty }

  fileprivate func isMember(of group: String, _ origin: UUID) -> Bool {
    metadata[UndoLog.Name.group] == group && self.origin == origin && !isUndo && !isRedo
  }
}

/// Sequence numbers in metadata, the newest first, with ranges: `12 7-9 3`.
enum SequenceList {
  /// A list may name so many transactions.
  private static let countMax = 1_000_000

  static func text(_ sequences: [SequenceNumber]) -> String {
    var ranges: [(low: UInt64, high: UInt64)] = []
    for sequence in sequences {
      if let last = ranges.last, last.low == sequence.rawValue + 1 {
        ranges[ranges.count - 1].low = sequence.rawValue
      } else {
        ranges.append((sequence.rawValue, sequence.rawValue))
      }
    }
    return ranges.map { $0.low == $0.high ? "\($0.low)" : "\($0.low)-\($0.high)" }
      .joined(separator: " ")
  }

  static func read(_ text: String) -> [SequenceNumber]? {
    var sequences: [SequenceNumber] = []
    for part in text.split(separator: " ") {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) }
      guard ends.count <= 2, let low = ends.first ?? nil, let high = ends.last ?? nil, low > 0,
        low <= high, high - low < UInt64(countMax - sequences.count)
      else { return nil }
      sequences += (low...high).reversed().map { SequenceNumber($0) }
    }
    return sequences
  }
}
