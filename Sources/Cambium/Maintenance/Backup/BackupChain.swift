// The order of the pieces of a backup: records are a chain from the first one or a baseline on,
// through all parts; a baseline's file has the digest that its mark says, and a blob that of its
// address. A check also demands each blob that a record or a baseline refers to.

import FoundationEssentials

/// Takes the pieces of a backup in their order, and checks that each belongs where it is.
final class BackupChain {
  /// A piece that was read, and checked as far as it can be alone.
  enum Step {
    case baseline(BaselineMark)
    case baselineFile([UInt8])
    case records([TransactionRecord])
    case chunks([(key: [UInt8], value: [UInt8])])
  }

  /// The contents that were found until now.
  var contents: Backup
  /// The newest record that was read.
  private var head = LogHead()
  /// The baseline whose file is being read.
  private var baseline: BaselineMark?
  private var baselineDigest = Digest()
  private var blobs = BlobDigest()
  /// The blobs of this part that are whole.
  private var whole: Set<[UInt8]> = []
  /// The blobs that are referred to; nil where that is not asked.
  var references: BackupReferences?
  private(set) var time: BackupTime

  init(_ format: FormatEntry, wantedTime: Int64?) {
    contents = Backup(format)
    time = BackupTime(wanted: wantedTime)
  }

  /// Begins a part.
  func begin(_ start: PartStart, _ index: Int) throws {
    guard start.part == index + 1, start.format.isOfSameDatabase(as: contents.format),
      start.head == head
    else {
      throw DatabaseError.corrupt(reason: "it does not belong here")
    }
    whole = []
  }

  /// Takes the next piece of a part.
  func step(_ kind: PieceKind, _ content: [UInt8]) throws -> Step {
    if kind != .baselineFile { try finishBaseline() }
    if kind != .chunks { blobs.end(take) }
    switch kind {
    case .start, .end: throw DatabaseError.corrupt(reason: "it starts twice")
    case .baseline: return try begin(content.lend { try BaselineMark($0) })
    case .baselineFile:
      baselineDigest.update(content)
      try references?.take(baseline: content)
      return .baselineFile(content)
    case .records: return .records(try records(content))
    case .chunks: return .chunks(try chunks(content))
    }
  }

  private func begin(_ mark: BaselineMark) throws -> Step {
    guard mark.sequence > head.sequence, mark.clock > head.clock.rawValue else {
      throw DatabaseError.corrupt(reason: "a baseline is of transaction \(mark.sequence)")
    }
    baseline = mark
    baselineDigest = Digest()
    return .baseline(mark)
  }

  private func finishBaseline() throws {
    guard let mark = baseline else { return }
    baseline = nil
    guard baselineDigest.current() == mark.digest else {
      throw DatabaseError.corrupt(
        reason: "the baseline of transaction \(mark.sequence) is not what was stored")
    }
    try references?.finish(mark)
    head = LogHead(mark)
    time.beginRange(at: mark.time)
    contents.moments.append(mark.sequence...mark.sequence)
    note(mark.time)
  }

  private func records(_ content: [UInt8]) throws -> [TransactionRecord] {
    let segment = try content.lend { try PieceOfRecords.segment($0) }
    guard segment.first == head.sequence.next else {
      throw DatabaseError.corrupt(reason: "record \(head.sequence.next) is missing")
    }
    beginAtZero()
    var records: [TransactionRecord] = []
    try segment.forEach { record in
      guard record.chained(to: head.link) == record.link,
        record.clock.rawValue > head.clock.rawValue
      else { throw DatabaseError.corrupt(reason: "the chain breaks at record \(record.sequence)") }
      head.advance(to: record)
      let oldest = contents.moments.removeLast().lowerBound
      contents.moments.append(oldest...record.sequence)
      note(record.time)
      try references?.take(record)
      records.append(record)
    }
    return records
  }

  /// Where no baseline comes first, the first moment is the empty database.
  private func beginAtZero() {
    if contents.moments.isEmpty { contents.moments = [SequenceNumber.zero ... .zero] }
  }

  /// Notes the time of the newest record.
  private func note(_ time: Int64) {
    contents.time = Date(microseconds: time)
    self.time.advance(to: time, head.sequence)
  }

  private func chunks(_ content: [UInt8]) throws -> [(key: [UInt8], value: [UInt8])] {
    let chunks = try content.lend { try PieceOfChunks.chunks($0) }
    for chunk in chunks {
      blobs.begin(chunk.key, take)
      blobs.add(try chunk.value.lend { try BlobChunk.content($0, key: chunk.key) })
    }
    return chunks
  }

  private func take(_ blob: BlobDigest.Blob) {
    guard blob.isWhole else { return }
    whole.insert(blob.hash)
    references?.add(blob.hash, size: blob.size)
  }

  /// Ends a part.
  func finish(_ end: PartEnd) throws {
    try finishBaseline()
    blobs.end(take)
    beginAtZero()
    guard end.head.sequence == head.sequence, end.head.link == head.link else {
      throw DatabaseError.corrupt(reason: "it ends with transaction \(head.sequence)")
    }
    guard whole.isSuperset(of: end.blobs) else {
      throw DatabaseError.corrupt(reason: "a blob is not whole")
    }
    guard end.tags.allSatisfy({ $0.sequence <= head.sequence }) else {
      throw DatabaseError.corrupt(reason: "a tag is of a transaction that is not there")
    }
    contents.tags = end.tags
    contents.retention = end.retention
    // The next part continues after the head of this one.
    head = end.head
  }
}

/// Looks for the last transaction at or before a time, in microseconds since 1970.
struct BackupTime {
  private let wanted: Int64?
  private var last: Int64?
  private(set) var found: SequenceNumber?
  /// True if the time lies between two ranges of moments, in neither of them.
  private(set) var isBetween = false

  init(wanted: Int64?) { self.wanted = wanted }

  /// Begins another range of moments, with a baseline.
  mutating func beginRange(at time: Int64) {
    guard let wanted, let last else { return }
    if last < wanted, wanted < time { isBetween = true }
  }

  mutating func advance(to time: Int64, _ sequence: SequenceNumber) {
    last = time
    if let wanted, time <= wanted { found = sequence }
  }
}
