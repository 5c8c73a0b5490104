import LMDB

/// Reads all of a database, and notes what is not as it should be.
struct Verifier {
  let directory: OpenDirectory
  let progress: ProgressReporter
  let isReplaying: Bool
  var result = Verification()
  /// The blobs that were asked for.
  var demand: BlobDemand
  /// The number of findings that leave all else to be checked.
  var notedFindings = 0
  /// The indexes of the stored state that are not finished.
  var unfinished: [UInt32: Unfinished] = [:]

  init(_ directory: OpenDirectory, replaying: Bool, _ progress: ProgressHandler?) {
    self.directory = directory
    isReplaying = replaying
    demand = BlobDemand(directory.log)
    self.progress = ProgressReporter(progress)
  }

  mutating func run() throws -> Verification {
    let state = try directory.currentState()
    add("log", try directory.log.walkPages(progress: progress.telling("pages of the log")))
    add("state", try state.environment.walkPages(progress: progress.telling("pages of the state")))
    try checkBaseline()
    guard !hasDamage else { return result }
    let transaction = try ReadTransaction(state.environment, tables: state.tables.read)
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let applied = try reader.head().applied
    // Reading may end where damage was found, but the log does not.
    let head = try directory.log.read { try $0.head().sequence }
    let last = max(applied, head, directory.log.damage.found?.sequence ?? applied)
    try noting("log") { try $0.checkLog(upTo: last) }
    try noting("log") { try $0.directory.log.read { try $0.checkEntries() } }
    try noting("log") { try $0.checkReferences() }
    try noting("log") { try $0.checkBlobs() }
    if hasDamage { return result }
    do {
      try noting("state") { try $0.compare(reader, applied) }
    } catch let error as StorageError
      where error.kind == .diskFull && !result.isSound
    {
      // That the state is behind for want of room is found already.
    }
    return result
  }

  /// Does one part of the work; damage that ends it is a finding.
  private mutating func noting(
    _ part: String, _ body: (inout Verifier) throws -> Void
  ) throws {
    do { try body(&self) } catch let error as DatabaseError where error.isDamage {
      result.add(part, DatabaseError.reason(of: error))
    }
  }

  /// Notes that the state is behind the log; that is no damage, so the rest is checked all the
  /// same.
  mutating func note(
    _ lag: (applied: SequenceNumber, head: SequenceNumber, reason: String?)
  ) {
    result.behind = lag.head.rawValue - lag.applied.rawValue
    guard let reason = lag.reason else { return }
    result.add(
      "state",
      "transactions \(lag.applied.next) to \(lag.head) are stored and cannot be read, because the "
        + "state cannot be brought up to the log: \(reason)")
    notedFindings += 1
  }

  /// True where anything was found but missing blobs, and that the state is behind.
  var hasDamage: Bool { result.findings.count > notedFindings }

  // MARK: Pages

  private mutating func add(_ part: String, _ report: PageWalker.Report, prefix: String = "") {
    result.pages += report.used
    for finding in report.findings { result.add(part, "\(prefix)\(finding)") }
  }

  /// Walks the pages of the baseline and compares its digest.
  private mutating func checkBaseline() throws {
    guard let baseline = try Baseline.current(directory) else { return }
    do {
      let report = try PageWalker.walk(
        "\(baseline.path)/data.mdb", progress: progress.telling("pages of the baseline"))
      add("log", report, prefix: "baseline: ")
      try baseline.check()
    } catch let damage as FileDamage {
      result.add("log", "the baseline of transaction \(baseline.mark.sequence): \(damage.reason)")
    } catch let error as StorageError {
      result.add("log", "the baseline of transaction \(baseline.mark.sequence): \(error)")
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", DatabaseError.reason(of: error))
    }
  }

  // MARK: The log

  private mutating func checkLog(upTo last: SequenceNumber) throws {
    let baseline = try directory.log.read { try $0.baseline() }
    var erasures = ErasureCheck()
    defer { result.unvouched = erasures.unvouched }
    try checkSegments(upTo: baseline, &erasures)
    var link = baseline.link
    var clock = HybridClock(rawValue: baseline.clock)
    var sequence = baseline.sequence
    while sequence < last {
      sequence = sequence.next
      if sequence.rawValue % 256 == 0 {
        try progress.tell("records", sequence.rawValue, last.rawValue)
      }
      let record = try directory.log.read { try $0.record(sequence) }
      try checkChain(record, after: link, clock)
      try checkOperations(record, &erasures)
      (link, clock) = (record.link, record.clock)
      result.operations += UInt64(record.operationCount)
      result.records += 1
    }
    let head = try directory.log.read { try $0.head() }
    if head.sequence == sequence && head.link != link {
      result.add("log", "the head does not end the chain")
    }
    if let wrong = erasures.firstWrong {
      result.add("log", "what is left of record \(wrong) is not what an erasure has left")
    }
  }

  /// Checks what is archived: each record, and the chain from the start of the archive to the
  /// baseline, or to the first record that is still to be sealed.
  private mutating func checkSegments(
    upTo baseline: BaselineMark, _ erasures: inout ErasureCheck
  ) throws {
    let (start, archived, oldest) = try directory.log.read {
      (try $0.archiveStart(), try $0.archived(), try $0.oldestRecord())
    }
    guard let archived else { return }
    var link = start.link
    var last = start.sequence
    var clock = HybridClock(rawValue: start.clock)
    do {
      while let segment = try directory.log.read({ try $0.segment(after: last) }) {
        guard segment.first == last.next else {
          throw DatabaseError.corrupt(reason: "there is no segment with record \(last.next)")
        }
        try segment.forEach { record in
          try checkChain(record, after: link, clock)
          try checkOperations(record, &erasures)
          (link, clock) = (record.link, record.clock)
        }
        last = segment.last
        try progress.tell("segments", last.rawValue, archived.upperBound.rawValue)
      }
      if last == baseline.sequence ? link != baseline.link : last.next != oldest {
        throw DatabaseError.corrupt(reason: "the segments do not end where the log goes on")
      }
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", DatabaseError.reason(of: error))
    }
  }

  /// Reads every chunk, and checks each blob against the hash that is its address.
  private mutating func checkBlobs() throws {
    var last: [UInt8] = []
    var blobs = BlobDigest()
    let directory = directory
    // Blobs that are being given up may have lost chunks already, and those that are being stored
    // have only the first. What refers to them is checked elsewhere.
    func take(_ blob: BlobDigest.Blob) throws {
      if blob.isWhole { return }
      let mayBeInPart = try directory.log.read {
        try Blob.mayBeInPart(blob.hash, having: blob.size, in: $0)
          || $0.blobsGivenUp().contains(blob.hash)
      }
      if !mayBeInPart { throw Verifier.badBlob }
    }
    while true {
      let chunks = try directory.log.read { try $0.chunks(after: last, bytes: 16 << 20) }
      for chunk in chunks {
        try blobs.begin(chunk.key, take)
        blobs.add(try chunk.value.lend { try BlobChunk.content($0, key: chunk.key) })
      }
      guard let newest = chunks.last else { break }
      last = newest.key
      try progress.tell("blobs", 0)
    }
    try blobs.end(take)
  }

  private static let badBlob = DatabaseError.corrupt(
    reason: "a blob's content is not what its address says, or a chunk is missing")

  private func checkChain(
    _ record: TransactionRecord, after link: [UInt8], _ clock: HybridClock
  ) throws {
    guard directory.log.isNext(record, after: link) else {
      throw DatabaseError.corrupt(reason: "the chain breaks at record \(record.sequence)")
    }
    guard record.clock.rawValue > clock.rawValue else {
      throw DatabaseError.corrupt(reason: "the clock goes back at record \(record.sequence)")
    }
  }

  private mutating func checkOperations(
    _ record: TransactionRecord, _ erasures: inout ErasureCheck
  ) throws {
    var operations = OperationReader(record.operations)
    var count: UInt32 = 0
    erasures.take(record)
    do {
      while let operation = try operations.next() {
        try erasures.take(operation)
        try demandBlobs(of: operation, record.sequence)
        count += 1
      }
    } catch DatabaseError.corrupt(let reason) {
      throw DatabaseError.corrupt(reason: "record \(record.sequence) of the log: \(reason)")
    }
    if count != record.operationCount {
      throw DatabaseError.corrupt(
        reason: "record \(record.sequence) of the log has \(count) operations, and says "
          + "\(record.operationCount)")
    }
  }
}
