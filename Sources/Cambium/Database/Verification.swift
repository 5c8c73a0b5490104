// Proving that what is stored is what was written.

import FoundationEssentials
import LMDB

/// What a verification has found, and how much it has read.
public struct Verification: Sendable {
  /// One thing that is not as it should be.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// Where: `log` or `state`.
    public let part: String
    /// What is wrong, with the record, page or path.
    public let description: String
    /// Whether rebuilding the state mends it.
    public var isRepairable: Bool { part == "state" }
  }

  /// What is wrong; empty for a sound database. At most a hundred.
  public internal(set) var findings: [Finding] = []
  /// How many records of the log were read.
  public internal(set) var records: UInt64 = 0
  /// How many operations they hold.
  public internal(set) var operations: UInt64 = 0
  /// How many nodes the present tree has.
  public internal(set) var nodes: UInt64 = 0
  /// How many pages of both environments were walked.
  public internal(set) var pages: UInt64 = 0
  /// The digest of the canonical dump: BLAKE2b-256 over path, value and modifying transaction of
  /// each node in path order. Empty where damage was found before. Equal histories have equal
  /// digests.
  public internal(set) var digest: [UInt8] = []

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ part: String, _ description: String) {
    if findings.count < 100 { findings.append(Finding(part: part, description: description)) }
  }
}

extension Database {
  /// Checks pages, records, the chain of the log, its entries and blobs, and that the state is what
  /// the log says.
  ///
  /// It works on one moment; readers and writers go on meanwhile. The rebuild for comparison
  /// happens in a temporary directory inside the database's, or beside a read-only one's in
  /// `TMPDIR`.
  ///
  /// - Parameter progress: Called about ten times a second, on this thread; false cancels.
  /// - Returns: What was found. Damage is a finding, not an error.
  /// - Throws: `CancellationError`; ``DatabaseError/busy(reason:)`` while the database is being
  ///   compacted; ``DatabaseError`` when reading is impossible.
  /// - Complexity: reads both environments twice, and folds the log once, about 4 µs for each
  ///   operation in all; needs disk space for a second state.
  public func verify(progress: ProgressHandler? = nil) throws -> Verification {
    try translating {
      var verifier = Verifier(store, progress)
      if store.isReadOnly || store.isPartial { return try verifier.run() }
      // A compaction would drop what is about to be read.
      let timeout = store.options.busyTimeout
      let result = try writer.compaction.whileAlone(timeout: timeout) { _ in try verifier.run() }
      guard let result else {
        throw DatabaseError.busy(reason: "a compaction took longer than \(timeout)")
      }
      return result
    }
  }
}

private struct Verifier {
  private let store: Store
  private let progress: ProgressHandler?
  private var result = Verification()

  init(_ store: Store, _ progress: ProgressHandler?) {
    self.store = store
    self.progress = progress
  }

  mutating func run() throws -> Verification {
    let state = try store.currentState()
    try walkPages("log", store.log.environment)
    try walkPages("state", state.environment)
    try checkBaseline()
    guard result.isSound else { return result }
    let transaction = try ReadTransaction(state.environment, tables: state.tables.read)
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let applied = try reader.head().applied
    // What is read may end where damage was met, and the log does not.
    try checkLog(upTo: max(applied, store.log.damage.found?.sequence ?? applied))
    try checkEntries()
    try checkBlobs()
    if result.isSound { try compare(reader, applied) }
    return result
  }

  private func report(_ phase: String, _ done: UInt64, _ total: UInt64?) throws {
    if progress?(Progress(phase: phase, done: done, total: total)) == false {
      throw CancellationError()
    }
  }

  // MARK: Pages

  private mutating func walkPages(_ part: String, _ environment: Environment) throws {
    var attempts = 0
    while true {
      let pin = try ReadTransaction(environment, tables: [])
      attempts += 1
      do {
        let walker = try PageWalker(
          descriptor: try environment.dataDescriptor(), transactionID: pin.access.number)
        return try walkPages(part, walker)
      } catch FileDamage.transactionGone where attempts < 100 {
        // Two commits came between the pin and the look at the meta pages.
      }
    }
  }

  private mutating func walkPages(_ part: String, _ walker: PageWalker) throws {
    let progress = progress
    let report = try walker.walk { done, total in
      progress?(Progress(phase: "pages of the \(part)", done: done, total: total)) ?? true
    }
    result.pages += report.used
    for finding in report.findings { result.add(part, "\(finding)") }
  }

  /// Walks the pages of the baseline and compares its digest.
  private mutating func checkBaseline() throws {
    guard let baseline = try Baseline.current(store) else { return }
    do {
      let progress = progress
      let report = try PageWalker.walk("\(baseline.path)/data.mdb") { done, total in
        progress?(Progress(phase: "pages of the baseline", done: done, total: total)) ?? true
      }
      result.pages += report.used
      for finding in report.findings { result.add("log", "baseline: \(finding)") }
      try baseline.check()
    } catch let damage as FileDamage {
      result.add("log", "the baseline of transaction \(baseline.mark.sequence): \(damage)")
    } catch let error as StorageError {
      result.add("log", "the baseline of transaction \(baseline.mark.sequence): \(error)")
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", "\(error)")
    }
  }

  // MARK: The log

  private mutating func checkLog(upTo last: SequenceNumber) throws {
    let baseline = try store.log.read { try $0.baseline() }
    try checkSegments(upTo: baseline)
    var link = baseline.link
    var clock = HybridClock(rawValue: baseline.clock)
    var sequence = baseline.sequence
    while sequence < last {
      sequence = sequence.next
      if sequence.rawValue % 256 == 0 { try report("records", sequence.rawValue, last.rawValue) }
      do {
        let record = try store.log.read { try $0.record(sequence) }
        try checkChain(record, after: link, clock)
        try checkOperations(record)
        (link, clock) = (record.link, record.clock)
        result.operations += UInt64(record.operationCount)
        result.records += 1
      } catch let error as DatabaseError where error.isDamage {
        return result.add("log", "\(error)")
      }
    }
    let head = try store.log.read { try $0.head() }
    if head.sequence == sequence && head.link != link {
      result.add("log", "the head does not end the chain")
    }
  }

  /// Checks what is archived: each record, and the chain from what the archive goes on from to the
  /// baseline, or to the first record that is still to be sealed.
  private mutating func checkSegments(upTo baseline: BaselineMark) throws {
    let (start, archived, oldest) = try store.log.read {
      (try $0.archiveStart(), try $0.archived(), try $0.oldestRecord())
    }
    guard let archived else { return }
    var link = start.link
    var last = start.sequence
    var clock = HybridClock(rawValue: start.clock)
    do {
      while let segment = try store.log.read({ try $0.segment(after: last) }) {
        guard segment.first == last.next else {
          throw DatabaseError.corrupt(reason: "there is no segment with record \(last.next)")
        }
        try segment.forEach { record in
          try checkChain(record, after: link, clock)
          try checkOperations(record)
          (link, clock) = (record.link, record.clock)
        }
        last = segment.last
        try report("segments", last.rawValue, archived.upperBound.rawValue)
      }
      if last == baseline.sequence ? link != baseline.link : last.next != oldest {
        throw DatabaseError.corrupt(reason: "the segments do not end where the log goes on")
      }
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", "\(error)")
    }
  }

  /// Checks the entries of the log's meta table: positions and cursors as well as its head.
  private mutating func checkEntries() throws {
    do {
      try store.log.read { try $0.checkEntries() }
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", "\(error)")
    }
  }

  /// Reads every chunk, and checks each blob against the hash that is its address.
  private mutating func checkBlobs() throws {
    var last: [UInt8] = []
    var hash: [UInt8] = []
    var digest = Digest()
    do {
      while true {
        let chunks = try store.log.read { try $0.chunks(after: last, bytes: 16 << 20) }
        for chunk in chunks {
          if Array(chunk.key.prefix(Digest.bytesCount)) != hash {
            if !hash.isEmpty && digest.current() != hash { throw Verifier.badBlob }
            hash = Array(chunk.key.prefix(Digest.bytesCount))
            digest = Digest()
          }
          digest.update(try chunk.value.lend { try BlobChunk.content($0, key: chunk.key) })
        }
        guard let newest = chunks.last else { break }
        last = newest.key
        try report("blobs", 0, nil)
      }
      if !hash.isEmpty && digest.current() != hash { throw Verifier.badBlob }
    } catch let error as DatabaseError where error.isDamage {
      result.add("log", "\(error)")
    }
  }

  private static let badBlob = DatabaseError.corrupt(
    reason: "a blob's content is not what its address says, or a chunk is missing")

  private func checkChain(
    _ record: TransactionRecord, after link: [UInt8], _ clock: HybridClock
  ) throws {
    guard store.log.isNext(record, after: link) else {
      throw DatabaseError.corrupt(reason: "the chain breaks at record \(record.sequence)")
    }
    guard record.clock.rawValue > clock.rawValue else {
      throw DatabaseError.corrupt(reason: "the clock goes back at record \(record.sequence)")
    }
  }

  private func checkOperations(_ record: TransactionRecord) throws {
    var operations = OperationReader(record.operations)
    var count: UInt32 = 0
    do {
      while try operations.next() != nil { count += 1 }
    } catch DatabaseError.corrupt(let reason) {
      throw DatabaseError.corrupt(reason: "record \(record.sequence) of the log: \(reason)")
    }
    if count != record.operationCount {
      throw DatabaseError.corrupt(
        reason: "record \(record.sequence) of the log has \(count) operations, and says "
          + "\(record.operationCount)")
    }
  }

  // MARK: The state

  /// Folds the log into a scratch state and compares every table, then every node.
  private mutating func compare(_ reader: StateReader, _ applied: SequenceNumber) throws {
    let parent = store.isReadOnly ? Verifier.temporaryDirectory : store.path
    let directory = Database.temporaryPath("\(parent)/verify", "-")
    let claim = try ClaimedDirectory(creating: directory)
    defer { withExtendedLifetime(claim) { try? Files.removeDirectory(directory) } }
    try Baseline.current(store)?.copy(into: directory)
    let scratch = try State(
      at: directory, generation: 0, store.options.environment(readOnly: false))
    var rebuild = Rebuild(store.log, into: scratch, head: applied, progress)
    try rebuild.run()
    let transaction = try ReadTransaction(scratch.environment, tables: [])
    let rebuilt = StateReader(access: transaction.access, tables: scratch.tables)
    // Where compaction is under way, or was broken off, the state still has older history.
    let isCut = try reader.cut() == rebuilt.cut()
    for name in StateTables.names {
      isCut
        ? try compareTable(name, reader, rebuilt) : try findTable(name, of: rebuilt, in: reader)
    }
    if result.isSound { try dump(reader) }
  }

  private static var temporaryDirectory: String {
    ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
  }

  private mutating func compareTable(
    _ name: String, _ stored: StateReader, _ rebuilt: StateReader
  ) throws {
    guard let own = stored.tables[name], let other = rebuilt.tables[name] else { return }
    var a = try Cursor(stored.access, own)
    var b = try Cursor(rebuilt.access, other)
    var isThere = (try a.first(), try b.first())
    var count: UInt64 = 0
    while isThere.0 && isThere.1 {
      let isSame = a.withEntry { key, value in
        b.withEntry { otherKey, otherValue in key.equals(otherKey) && value.equals(otherValue) }
      }
      if !isSame {
        return result.add(
          "state", "\(name), entry \(count): \(place(name, a)) is not what the log says")
      }
      count += 1
      if count % 4096 == 0 { try report("comparing \(name)", count, nil) }
      isThere = (try a.next(), try b.next())
    }
    if isThere.0 != isThere.1 {
      result.add("state", "\(name) has \(isThere.0 ? "more" : "fewer") entries than the log says")
    }
  }

  /// Looks each entry of a rebuilt table up in the stored one, which may have more.
  private mutating func findTable(
    _ name: String, of rebuilt: StateReader, in stored: StateReader
  ) throws {
    guard let own = stored.tables[name], let other = rebuilt.tables[name] else { return }
    var cursor = try Cursor(rebuilt.access, other)
    var isThere = try cursor.first()
    var count: UInt64 = 0
    while isThere {
      let isSame = try cursor.withEntry { key, value in
        if key.array() == StateHead.cutName { return true }
        return try stored.access.get(own, key) { $0.equals(value) } ?? false
      }
      if !isSame {
        return result.add(
          "state", "\(name), entry \(count): \(place(name, cursor)) is not what the log says")
      }
      count += 1
      if count % 4096 == 0 { try report("comparing \(name)", count, nil) }
      isThere = try cursor.next()
    }
  }

  /// What an entry of a table is about, for people.
  private func place(_ name: String, _ cursor: borrowing Cursor) -> String {
    guard name == "tree" else { return "it" }
    let key = cursor.withEntry { key, _ in try? Key(key.extracting(droppingFirst: 8)) }
    return key.map { "the node '\($0)'" } ?? "it"
  }

  /// The digest of the canonical dump.
  private mutating func dump(_ reader: StateReader) throws {
    let snapshot = try store.snapshot(at: .sequence(try reader.head().applied))
    let digest = Digest()
    var nodes = try snapshot.root.descendants()
    while let node = try nodes.next() {
      result.nodes += 1
      digest.update(node.path.bytes)
      var value: [UInt8] = []
      // A property may nest as deep as a value by itself, so the record around it does not count.
      try node.value?.append(to: &value, depth: -1)
      digest.update(value)
      var modified: [UInt8] = []
      modified.append(bigEndian: try node.modified?.rawValue ?? 0)
      digest.update(modified)
    }
    result.digest = digest.finish()
  }
}
