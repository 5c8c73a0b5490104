import LMDB

/// The log's open write transaction: the door through which it is written.
///
/// Only this file writes to the environment. Each transaction moves the records of the tail to it,
/// so that the tail is empty when `commit` returns.
struct LogWriter: ~Copyable {
  private var transaction: WriteTransaction
  private let tables: LogTables
  private let damage: LogDamage
  private let sizes: RecordSizes
  private let compressor: ZstandardCompressor
  private let tail: Tail

  private init(unchanged log: Log) throws {
    sizes = log.sizes
    compressor = log.compressor
    transaction = try WriteTransaction(log.lmdb)
    damage = log.damage
    tables = log.tables
    tail = log.tail
  }

  /// Begins one; the writer's lock is held.
  static func begin(_ log: Log) throws -> LogWriter {
    try log.syncFound()
    let writer = try LogWriter(unchanged: log)
    try writer.takeTail(of: log)
    return writer
  }

  /// Moves the records of the tail here. A file that is gone is not named any more, and neither is
  /// one that is too small for this process, unless another has it open as well.
  private func takeTail(of log: Log) throws {
    let view = try log.newestTail(before: reader)
    if let mark = try reader.tailMark() {
      let isReplaced = tail.isTooSmall && !log.lmdb.isShared
      if isReplaced || !tail.isUsable(mark) { try removeEntry("tail") }
    }
    guard let view else { return }
    view.endMakingAhead()
    try view.forEach { try append($0, madeAhead: view.entry(of: $0)) }
    try put("head", view.head.stored())
  }

  var reader: LogReader {
    LogReader(access: transaction.access, tables: tables, damage: damage)
  }

  /// Appends a record, which must be the one after the newest; its entry may have been made.
  func append(_ record: TransactionRecord, madeAhead entry: [UInt8]? = nil) throws {
    let bytes = entry ?? RecordEntry.make(of: record, sizes, compressor)
    if try bytes.lend({ try RecordEntry.isCompressed($0) }) {
      try raiseFormat(to: FormatEntry.versionWithCompression)
    }
    var part: UInt32 = 0
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + sizes.partBytes, bytes.count)
      try LogTables.recordKey(record.sequence, part: part).lend { key in
        try bytes.lend {
          try transaction.put(tables.records, key, $0.extracting(offset..<end), .append)
        }
      }
      offset = end
      part += 1
    }
  }

  private func put(_ name: String, _ value: [UInt8]) throws {
    let key = Array(name.utf8)
    try key.lend { keySpan in
      try MetaEntry.seal(value, name: key).lend { try transaction.put(tables.meta, keySpan, $0) }
    }
  }

  /// Makes the file of a log's tail, once there were enough commits for it. An earlier version of
  /// the program may have the log open as well, and would miss its records.
  ///
  /// - Returns: The mark under which the next commit must name it; nil if none was made.
  /// - Throws: ``StorageError`` if the log's files were replaced: the place would be another's.
  static func makeTailIfWanted(of log: Log) throws -> TailMark? {
    if !log.tail.isEnabled || log.lmdb.isShared { return nil }
    try log.lmdb.health.checkWritable()
    return log.tail.makeIfWanted()
  }

  /// Names the file of the tail, which must be new.
  func setTail(_ mark: TailMark) throws {
    try raiseFormat(to: FormatEntry.versionWithTail)
    try put("tail", mark.stored())
  }

  func setFormat(_ format: FormatEntry) throws { try put("format", format.stored()) }

  /// Stores the mark of the state that belongs to the log.
  func setStateMark(_ mark: StateMark) throws {
    try raiseFormat(to: FormatEntry.version)
    try put("state", mark.stored())
  }

  /// Makes the log one of a format, or leaves it one of a later: an earlier version of the program
  /// would ignore the fold's number and trust the state, miss the records of the tail, or call
  /// compressed ones damaged.
  private func raiseFormat(to version: UInt32) throws {
    var format = try reader.format()
    if format.version >= version { return }
    format.version = version
    try setFormat(format)
  }

  /// Stores the mark of the checkpoint; nil removes it.
  func setCheckpoint(_ mark: CheckpointMark?) throws {
    if let mark { return try put("checkpoint", mark.stored()) }
    try removeEntry("checkpoint")
  }

  func setNumber(_ name: String, to number: UInt64) throws {
    try put(name, [UInt8](littleEndian: number))
  }

  /// Stores the mark of the baseline that replaces the records up to a number.
  func setBaseline(_ mark: BaselineMark) throws { try put(BaselineMark.name, mark.stored()) }

  /// Makes this log continue after a baseline.
  func begin(after baseline: BaselineMark) throws {
    if baseline.sequence == .zero { return }
    try setBaseline(baseline)
    try setHorizon(baseline.sequence, archives: false)
  }

  /// Stores the baseline that precedes the first segment.
  func setArchiveStart(_ mark: BaselineMark) throws {
    try put(BaselineMark.archiveName, mark.stored())
  }

  /// Stores the moment up to which the past is being dropped.
  func setHorizon(_ horizon: SequenceNumber, archives: Bool) throws {
    var bytes = [UInt8](littleEndian: horizon.rawValue)
    bytes.append(archives ? 1 : 0)
    try put("horizon", bytes)
  }

  /// Stores the retention policy.
  func setRetention(_ retention: Retention) throws { try put(Retention.name, retention.stored()) }

  /// Stores an entry of another log unchanged.
  func setEntry(_ name: String, _ value: [UInt8]) throws { try put(name, value) }

  /// Removes an entry.
  func removeEntry(_ name: String) throws {
    try Array(name.utf8).lend { _ = try transaction.delete(tables.meta, $0) }
  }

  /// Removes a record's parts.
  ///
  /// - Returns: False if there is none.
  func removeRecord(_ sequence: SequenceNumber) throws -> Bool {
    var part: UInt32 = 0
    while try LogTables.recordKey(sequence, part: part).lend({
      try transaction.delete(tables.records, $0)
    }) {
      part += 1
    }
    return part > 0
  }

  /// Stores a sealed segment of records.
  func putSegment(_ segment: Segment) throws {
    try putSegment(segment, stored: try segment.stored())
  }

  /// Stores a sealed segment of records that is compressed already.
  func putSegment(_ segment: Segment, stored: [UInt8]) throws {
    try segment.key.lend { key in
      try stored.lend { try transaction.put(tables.segments, key, $0) }
    }
  }

  /// Removes the last of a blob's chunks that are there.
  ///
  /// - Returns: True if there was one.
  func removeLastChunk(of hash: [UInt8]) throws -> Bool {
    guard let key = try Blob.lastChunk(of: hash, in: reader) else { return false }
    return try key.lend { try transaction.delete(tables.blobs, $0) }
  }

  /// Stores a chunk of a blob.
  func putChunk(_ key: [UInt8], _ chunk: [UInt8]) throws {
    try key.lend { key in try chunk.lend { try transaction.put(tables.blobs, key, $0) } }
  }

  /// Writes the head and commits durably.
  consuming func commit(head: LogHead) throws {
    var head = head
    head.transaction = transaction.access.number
    try put("head", head.stored())
    let mark = try reader.tailMark()
    try transaction.commit()
    tail.noteCommit(head.transaction, head, mark)
  }
}
