// Saying what is wrong with a log, without opening its database.

import FoundationEssentials
import LMDB

/// The damage in a database's log, and how much of the log is sound.
public struct LogExamination: Sendable {
  /// A transaction that is lost, or that cannot be applied without one that is.
  public struct Lost: Sendable, Hashable {
    /// Its number.
    public let sequence: SequenceNumber
    /// The reason why it is lost.
    public let reason: String
  }

  /// The newest transaction, as the log says, or the newest that was found.
  public internal(set) var head = SequenceNumber.zero
  /// The number of sound records.
  public internal(set) var records: UInt64 = 0
  /// The last record before the first that is lost. ``LogRepair/cut`` keeps up to here.
  public internal(set) var sound = SequenceNumber.zero
  /// The transactions that are lost, in order; at most a hundred.
  public internal(set) var lost: [Lost] = []
  /// The number of lost transactions, including those that are not listed.
  public internal(set) var lostCount: UInt64 = 0
  /// The number of damaged or incomplete blobs.
  public internal(set) var blobsLost = 0
  /// Other damage: of pages, the head, and other entries beside the records; at most a hundred.
  public internal(set) var findings: [String] = []

  /// True if no damage was found.
  public var isSound: Bool { lostCount == 0 && blobsLost == 0 && findings.isEmpty }

  mutating func add(_ finding: String) {
    if findings.count < 100 { findings.append(finding) }
  }

  mutating func addLost(_ sequence: SequenceNumber, _ reason: String) {
    lostCount += 1
    if lost.count < 100 { lost.append(Lost(sequence: sequence, reason: reason)) }
  }
}

extension Database {
  /// Reads the log of a database that may be too damaged to be opened, and says what is wrong.
  ///
  /// LMDB is not given the file, and nothing is written. Writers of other processes wait meanwhile.
  ///
  /// - Parameters:
  ///   - path: The directory of the database.
  ///   - options: The options, of which only ``Options/busyTimeout`` counts.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: The findings. Damage is a finding, not an error.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where not even the tables can be found,
  ///   ``DatabaseError/noDatabase(path:)``, ``DatabaseError/busy(reason:)``, `CancellationError`.
  /// - Complexity: reads the log's file twice.
  public static func examineLog(
    at path: String, options: Options = Options(), progress: ProgressHandler? = nil
  ) throws -> LogExamination {
    let path = located(path)
    return try naming(path) {
      try withLogAtRest(path, options) {
        var examiner = LogExaminer(path, progress)
        try examiner.run()
        return examiner.result
      }
    }
  }

  /// Runs something while no process writes to the log, where anybody could.
  static func withLogAtRest<R>(
    _ path: String, _ options: Options, _ body: () throws -> R
  ) throws -> R {
    guard LogFile(of: path).exists else { throw DatabaseError.noDatabase(path: path) }
    let name = "\(path)/write.lock"
    // Whoever writes has made the lock's files; nothing may be made here.
    guard Files.exists(name), Files.exists("\(name).wait"), Files.isWritable(name) else {
      return try body()
    }
    let lock = try FileLock(path: name)
    guard try lock.lock(timeout: options.busyTimeout) else {
      throw DatabaseError.busy(
        reason: "another process has been writing for longer than \(options.busyTimeout)")
    }
    defer { lock.unlock() }
    return try body()
  }
}

/// Reads all of a log, and keeps what a repair needs to know before it reads it again.
struct LogExaminer {
  let path: String
  let progress: ProgressReporter
  private(set) var result = LogExamination()
  private(set) var format: FormatEntry?
  /// Nil where it is damaged.
  private(set) var head: LogHead?
  private(set) var tail = ExaminedTail()
  /// The baseline that the records continue.
  private(set) var baseline = BaselineMark()
  /// The baseline that the segments continue.
  private(set) var archiveStart = BaselineMark()
  /// Tags and policy, which a repaired log keeps.
  private(set) var kept: [(name: String, value: [UInt8])] = []
  /// The blobs that are not whole.
  private(set) var damagedBlobs: Set<[UInt8]> = []
  /// The names that sound records define, and the largest number that they use.
  private var defined: [NameID: String] = [:]
  private var largestName: NameID?

  /// The tail, and the marks that say if it may hold something.
  struct ExaminedTail {
    fileprivate var mark: TailMark?
    fileprivate var state: StateMark?
    fileprivate(set) var records: [TransactionRecord] = []
  }

  init(_ path: String, _ progress: ProgressHandler?) {
    self.path = path
    self.progress = ProgressReporter(progress)
  }

  var file: LogFile { LogFile(of: path) }

  mutating func run() throws {
    let pages = try file.walkPages(progress: progress.telling("pages of the log"))
    for finding in pages.findings { result.add("\(finding)") }
    try readEntries(pages.transactionID)
    try readTail()
    try readRecords()
    try readBlobs()
  }

  // MARK: The entries beside the records

  private mutating func readEntries(_ transaction: UInt64) throws {
    var entries = try file.entries()
    while let step = entries.next() {
      guard case .entry(let key, let value) = step else { continue }
      do {
        try value.lend { try MetaEntry.open($0, name: key) { try take(key, $0) } }
      } catch DatabaseError.corrupt(let reason) {
        result.add(reason)
      }
    }
    if head == nil { result.add("the log's head is missing or damaged") }
    if format == nil { result.add("the log's format entry is missing or damaged") }
    if let head, head.transaction != transaction {
      result.add(
        "the log's newest page is torn or rolled back: it should be transaction "
          + "\(head.transaction), and is \(transaction)")
    }
  }

  private mutating func take(_ key: [UInt8], _ value: RawSpan) throws {
    if key == Array("head".utf8) { head = try LogHead(value) }
    if key == Array("tail".utf8) { tail.mark = try TailMark(value) }
    if key == Array("state".utf8) { tail.state = try StateMark(value) }
    if key == Array(BaselineMark.name.utf8) { baseline = try BaselineMark(value) }
    if key == Array(BaselineMark.archiveName.utf8) { archiveStart = try BaselineMark(value) }
    let name = String(decoding: key, as: UTF8.self)
    if name == Retention.name || name.hasPrefix("tag/") { kept.append((name, value.array())) }
    if key == Array("format".utf8) {
      let format = try FormatEntry(value)
      try format.checkKnown(path)
      self.format = format
    }
  }

  // MARK: Records

  /// Reads the tail, and advances the head to its end.
  private mutating func readTail() throws {
    guard let mark = tail.mark else { return }
    let missing = "the log's tail, which may have held the newest transactions, "
    do {
      guard let records = try file.tailRecords(mark, after: head) else {
        if tail.state?.isClean == false { result.add(missing + "is missing or cut short") }
        return
      }
      tail.records = records
    } catch let error as StorageError {
      return result.add(missing + "cannot be read: \(error)")
    }
    for record in tail.records { head?.advance(to: record) }
  }

  private mutating func readRecords() throws {
    var scan = try file.records(after: baseline, head: head?.sequence, tail: tail.records)
    var link = baseline.link
    (result.head, result.sound) = (baseline.sequence, baseline.sequence)
    while let found = try scan.next() {
      switch found {
      case .sound(let record):
        if result.lostCount == 0 { result.sound = record.sequence }
        result.head = record.sequence
        result.records += 1
        link = record.link
        if format == nil { format = FormatEntry(origin: record.origin, created: record.time) }
        try learnNames(record)
      case .lost(let sequence, let reason):
        result.head = sequence
        result.addLost(sequence, reason)
      }
      try progress.tellSeldom("records", result.head.rawValue, head?.sequence.rawValue)
    }
    if let head, result.lost.last?.sequence != head.sequence, head.link != link {
      result.add("the head does not end the chain")
    }
  }

  private mutating func learnNames(_ record: TransactionRecord) throws {
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() {
      if case .define(let id, let name) = operation { defined[id] = name }
      if let largest = try operation.names.max() {
        largestName = max(largestName ?? 0, largest)
      }
    }
  }

  /// The names that lost records defined, as the state or a checkpoint still has them; otherwise
  /// one that says so. The log does not say which names are lost, but numbers are given in order.
  func lostNames() -> [NameID: String] {
    var stored: [NameID: String] = [:]
    for prefix in ["state-", "checkpoint-"] {
      for name in Files.names(in: path, startingWith: prefix) {
        stored.merge(storedNames("\(path)/\(name)/data.mdb")) { own, _ in own }
      }
    }
    let largest = [largestName, stored.keys.max()].compactMap(\.self).max()
    guard let largest else { return [:] }
    var lost: [NameID: String] = [:]
    for id in 0...largest where defined[id] == nil { lost[id] = stored[id] ?? "lost-name-\(id)" }
    return lost
  }

  /// The names that a state holds, whether or not the rest of it can be trusted.
  private func storedNames(_ file: String) -> [NameID: String] {
    guard var entries = try? TableScan(file, table: "meta") else { return [:] }
    var names: [NameID: String] = [:]
    while let step = entries.next() {
      guard case .entry(let key, let value) = step, let id = StateReader.name(ofKey: key)
      else { continue }
      names[id] = try? value.lend {
        try MetaEntry.open($0, name: key) { try $0.string(0, $0.byteCount) }
      }
    }
    return names
  }

  // MARK: Blobs

  private mutating func readBlobs() throws {
    var chunks = try file.chunks()
    var blobs = BlobDigest()
    var damaged: Set<[UInt8]> = []
    var count: UInt64 = 0
    func take(_ blob: BlobDigest.Blob) { if !blob.isWhole { damaged.insert(blob.hash) } }
    while let step = chunks.next() {
      guard case .entry(let key, let value) = step, key.count == Digest.bytesCount + 4 else {
        continue
      }
      blobs.begin(key, take)
      if let content = try? value.lend({ try BlobChunk.content($0, key: key) }) {
        blobs.add(content)
      } else {
        damaged.insert(Array(key.prefix(Digest.bytesCount)))
      }
      count += 1
      try progress.tellSeldom("blobs", count, chunks.entries)
    }
    blobs.end(take)
    damagedBlobs = damaged
    result.blobsLost = damagedBlobs.count
  }
}
