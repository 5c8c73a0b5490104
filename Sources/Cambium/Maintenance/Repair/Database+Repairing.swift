// Makes a new database of what is sound in a damaged log.

import FoundationEssentials
import LMDB

/// The method by which a sound log is made of a damaged one.
public enum LogRepair: String, Sendable, CaseIterable {
  /// Keeps the records before the first that is damaged, as they are, and nothing after it.
  case cut
  /// Keeps every sound record under its number. A lost record is replaced by one without
  /// operations, whose metadata says so under `cambium.repair`; the records after it get new links,
  /// so that the chain is whole again.
  ///
  /// A transaction that cannot be applied without one that is lost is lost, too: a property of a
  /// node that was never made cannot change. One that can be applied may still differ from what it
  /// once was, where it built on what is lost.
  case salvage
}

/// The result of a repair: the transactions of the new database, and what was lost.
public struct RepairedLog: Sendable {
  /// The newest transaction of the new database.
  public internal(set) var head = SequenceNumber.zero
  /// The number of transactions that it has with all their operations.
  public internal(set) var kept: UInt64 = 0
  /// The transactions that it has without their operations; at most a hundred.
  public internal(set) var lost: [LogExamination.Lost] = []
  /// The number of such transactions, including those that are not listed.
  public internal(set) var lostCount: UInt64 = 0
  /// The number of blobs that were left out because they are damaged or incomplete.
  public internal(set) var blobsLost = 0
}

extension Database {
  /// Makes a new database of what is sound in the log of another, which is only read.
  ///
  /// Numbers, origins and metadata stay as they were, and times do unless `latest` is given, by
  /// which a database recovers from a clock that was wrong: records with a later time get that
  /// time, and those after them continue from there. Consumers' positions are not taken over. LMDB
  /// is not given the old file, so it may be damaged in any way in which its tables can still be
  /// found.
  ///
  ///     try Database.repair("shop.cambium", by: .salvage, to: "rescued.cambium")
  ///
  /// - Parameters:
  ///   - path: The directory of the damaged database. Nothing in it is written.
  ///   - method: The records to keep.
  ///   - newPath: Where the new one is made; nothing may be there. It appears only when it is
  ///     complete and durable.
  ///   - latest: The time that no record may be later than; archived ones stay as they are. Give
  ///     the present time.
  ///   - options: For the new database, and how long to wait for who writes to the old one.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: A summary of what was kept and what was lost.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where the tables cannot be found,
  ///   ``DatabaseError/misuse(reason:)`` where something is at the new path,
  ///   ``DatabaseError/noDatabase(path:)``, ``DatabaseError/busy(reason:)``,
  ///   ``DatabaseError/full(reason:)``, `CancellationError`. Nothing is left then.
  /// - Complexity: reads the log's file three times and folds it once; needs disk space for the new
  ///   log and a state.
  @discardableResult
  public static func repair(
    _ path: String, by method: LogRepair, to newPath: String, latest: Date? = nil,
    options: Options = Options(), progress: ProgressHandler? = nil
  ) throws -> RepairedLog {
    let (path, newPath) = (located(path), located(newPath))
    try checkIsNew(newPath)
    return try naming(path) {
      try withLogAtRest(path, options) {
        var examiner = LogExaminer(path, progress)
        try examiner.run()
        guard examiner.format != nil else {
          throw DatabaseError.corrupt(reason: "the log has no record and no format entry")
        }
        var result = RepairedLog()
        try create(newPath, options) { log in
          var rescue = try LogRescue(examiner, method, latest, into: log, options)
          result = try rescue.run()
        }
        return result
      }
    }
  }
}

/// Writes the records and blobs that are sound to a new log.
///
/// It folds what it writes into a scratch state, which shows what can still be applied.
private struct LogRescue {
  private let target: Log
  private let state: State
  private let scratch: String
  private let format: FormatEntry
  private let last: SequenceNumber
  /// The time that no record may be later than.
  private let latest: Int64?
  private let lostNames: [NameID: String]
  private var examiner: LogExaminer
  private var head = LogHead()
  private var result = RepairedLog()

  init(
    _ examiner: LogExaminer, _ method: LogRepair, _ latest: Date?, into target: Log,
    _ options: Database.Options
  ) throws {
    self.latest = latest?.microseconds
    guard let format = examiner.format else {
      throw DatabaseError.corrupt(reason: "the log has no format entry")
    }
    self.examiner = examiner
    self.target = target
    self.format = format
    last = method == .cut ? examiner.result.sound : examiner.result.head
    lostNames = method == .cut ? [:] : examiner.lostNames()
    // Inside the log's directory, so that what a crash leaves looks like any half-made database.
    scratch = "\(target.path)/scratch"
    try Files.createDirectory(scratch)
    try Baseline.copy(examiner.baseline, of: examiner.path, beside: target)
    head = LogHead(examiner.baseline)
    let options = options.environment(readOnly: false)
    try Baseline.makeState(from: examiner.baseline, of: examiner.path, in: scratch, options)
    state = try State(at: scratch, generation: 0, options)
  }

  mutating func run() throws -> RepairedLog {
    try begin()
    try copyBlobs()
    try copySegments()
    try copyRecords()
    try copyEntries()
    state.environment.close()
    try Files.removeDirectory(scratch)
    result.head = head.sequence
    return result
  }

  private func begin() throws {
    try target.write(head: head) { writer in
      try writer.setFormat(format)
      try writer.begin(after: examiner.baseline)
    }
  }

  /// Copies the archive's segments as they are, up to the first that is damaged or missing.
  private mutating func copySegments() throws {
    var segments = try examiner.file.segments()
    var last = examiner.archiveStart.sequence
    try Baseline.copy(examiner.archiveStart, of: examiner.path, beside: target)
    while let step = segments.next() {
      guard case .entry(let key, let value) = step,
        let segment = try? key.lend({ key in try value.lend { try Segment(key: key, $0) } }),
        segment.first == last.next
      else { return }
      try target.write(head: head) { writer in
        if last > .zero { try writer.setArchiveStart(examiner.archiveStart) }
        try writer.putSegment(segment)
      }
      last = segment.last
    }
  }

  /// Copies the policy, and the tags of moments that are there.
  private func copyEntries() throws {
    try target.write(head: head) { writer in
      for (name, value) in examiner.kept {
        let isTag = name != Retention.name
        let sequence = isTag ? try value.lend { try $0.load(UInt64.self, at: 0) } : 0
        if sequence <= head.sequence.rawValue { try writer.setEntry(name, value) }
      }
    }
  }

  // MARK: Records

  private mutating func copyRecords() throws {
    var scan = try examiner.file.records(
      after: examiner.baseline, head: examiner.result.head, tail: examiner.tail.records)
    var replay = try Replay(into: state)
    var isMore = true
    while isMore {
      try examiner.progress.tellSeldom("copy", head.sequence.rawValue, last.rawValue)
      var records: [TransactionRecord] = []
      isMore = try replay.step { projector in
        guard head.sequence < last, let found = try scan.next() else { return nil }
        let record = try record(for: found, scan.ahead?.time, &projector)
        records.append(record)
        head.advance(to: record)
        return record.operations.count
      }
      try target.append(records, head: head)
    }
  }

  /// The record that the new log gets for a number.
  private mutating func record(
    for found: RecordScan.Found, _ nextTime: Int64?, _ projector: inout StateWriter
  ) throws -> TransactionRecord {
    switch found {
    case .lost(let sequence, let reason):
      let names = names(from: projector.catalog.count)
      return try placeholder(
        sequence, HybridClock(rawValue: head.clock.rawValue + 1),
        head.time > 0 ? head.time : nextTime ?? 0, names, reason, &projector)
    case .sound(var record):
      if let refusal = try refusal(of: record, &projector) {
        return try placeholder(
          record.sequence, record.clock, record.time, try definitions(in: record),
          "it cannot be applied without what was lost before: \(refusal)", &projector)
      }
      result.kept += 1
      if let latest, record.time > latest {
        record.time = max(head.time, latest)
        record.clock = head.clock.next(microseconds: record.time)
      }
      record.link = record.chained(to: head.link)
      return record
    }
  }

  /// Folds a record in, or says why that cannot be done, with nothing changed.
  private func refusal(
    of record: TransactionRecord, _ projector: inout StateWriter
  ) throws -> String? {
    // Where nothing is lost yet, everything was applied once already.
    if result.lostCount == 0 {
      try projector.apply(record)
      return nil
    }
    try projector.savepoint()
    do {
      try projector.apply(record)
    } catch let error as DatabaseError {
      projector.rollBack()
      return DatabaseError.reason(of: error)
    }
    try projector.release()
    return nil
  }

  /// A record in the place of one that is lost: it only defines the names that were lost with it.
  private mutating func placeholder(
    _ sequence: SequenceNumber, _ clock: HybridClock, _ time: Int64, _ names: [Operation],
    _ reason: String, _ projector: inout StateWriter
  ) throws -> TransactionRecord {
    result.lostCount += 1
    if result.lost.count < 100 { result.lost.append(.init(sequence: sequence, reason: reason)) }
    var operations = OperationWriter()
    for name in names { operations.write(name) }
    let record = TransactionRecord(
      sequence: sequence, clock: clock, time: time, origin: format.origin,
      metadata: ["cambium.repair": "lost: \(reason)"], operations: operations, previous: head.link)
    try projector.apply(record)
    return record
  }

  /// The names that were lost from a number on, up to the next that is known.
  private func names(from count: Int) -> [Operation] {
    var names: [Operation] = []
    var id = NameID(count)
    while let name = lostNames[id] {
      names.append(.define(id, name))
      id += 1
    }
    return names
  }

  private func definitions(in record: TransactionRecord) throws -> [Operation] {
    var definitions: [Operation] = []
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() {
      switch operation {
      case .define, .declare: definitions.append(operation)
      default: break
      }
    }
    return definitions
  }

  // MARK: Blobs

  private mutating func copyBlobs() throws {
    var chunks = try examiner.file.chunks()
    var isDone = false
    while !isDone {
      // Taken before, since the body may run several times.
      var taken: [(key: [UInt8], value: [UInt8])] = []
      var bytes = 0
      while bytes < Replay.stepBytes {
        guard let step = chunks.next() else {
          isDone = true
          break
        }
        guard case .entry(let key, let value) = step, key.count == Digest.bytesCount + 4,
          !examiner.damagedBlobs.contains(Array(key.prefix(Digest.bytesCount)))
        else { continue }
        taken.append((key, value))
        bytes += value.count
      }
      try target.write(head: head) { writer in
        for chunk in taken { try writer.putChunk(chunk.key, chunk.value) }
      }
    }
    result.blobsLost = examiner.damagedBlobs.count
  }
}
