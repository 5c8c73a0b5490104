import FoundationEssentials
import LMDB

/// Rewrites log, baselines and state without what was at some places.
struct ErasureRun {
  private let files: DatabaseRewrite
  private let places: ErasedPlaces
  private let progress: ProgressReporter
  private var head = LogHead()
  private var result = Erasure()
  /// The blobs that were referred to at the places, and by nothing else so far.
  private var blobs: Set<[UInt8]> = []
  private var notes: [ErasureNote] = []
  /// True if there was anything at the places.
  private var hasFound = false

  init(
    _ path: String, _ places: ErasedPlaces, _ options: Database.Options,
    _ progress: ProgressHandler?
  ) throws {
    files = try DatabaseRewrite(path, options)
    self.places = places
    self.progress = ProgressReporter(progress)
    result.places = places.paths
    result.bytesBefore = files.bytesInUse
  }

  /// Adds the places that data was moved from or to, until there are no more.
  static func follow(
    _ places: inout ErasedPlaces, _ path: String, _ options: Database.Options
  ) throws {
    let log = try Log(at: "\(path)/log", options.environment(readOnly: false))
    defer { log.close() }
    try log.check()
    // Not how many: one that takes the place of another below it leaves as many.
    var known: [NodePath] = []
    while known != places.paths {
      known = places.paths
      try log.forEachRecord { record in
        var operations = OperationReader(record.operations)
        while let operation = try operations.next() { try places.follow(operation) }
      }
    }
  }

  /// Makes everything, and drops it.
  mutating func plan() throws -> Erasure {
    defer { files.cleanUp() }
    try make([:])
    result.sequence = .zero
    result.bytesAfter = files.bytesMade
    return result
  }

  /// Makes everything, and puts it in the place of what there is.
  mutating func run(_ metadata: [String: String]) throws -> Erasure {
    defer { files.cleanUp() }
    try make(metadata)
    try files.publish(result.sequence)
    result.bytesAfter = files.bytesInUse
    return result
  }

  // MARK: Making

  private mutating func make(_ metadata: [String: String]) throws {
    let newest = try files.old.read { try $0.head() }
    let baseline = try excised(try files.old.read { try $0.baseline() })
    try begin(after: baseline)
    try redactArchive()
    let state = try files.state("state", from: baseline)
    defer { state.environment.close() }
    try redactRecords(into: state, upTo: newest.sequence)
    // Where neither a record nor a baseline had anything, the path is a mistake.
    if !hasFound {
      throw DatabaseError.notFound(places.paths[0], reason: "nothing was ever there")
    }
    try copyBlobs()
    try record(metadata, state)
    try files.copyEntries(head)
    try state.environment.sync()
  }

  /// Makes a baseline without the places; nothing where there is none.
  private mutating func excised(_ mark: BaselineMark) throws -> BaselineMark {
    if mark.sequence == .zero { return mark }
    var excised = mark
    excised.edition += 1
    excised.fold = StateMark.foldNumber
    let state = try files.state("excision", from: mark, in: files.path)
    let fresh = try files.state(Baseline.directory(excised), from: BaselineMark())
    defer {
      state.environment.close()
      fresh.environment.close()
    }
    try BlobReferences.forEach(in: state) { blobs.insert($0.hash) }
    let catalog = try state.catalog()
    var excision = Excision(try WriteTransaction(state.environment), state.tables, catalog)
    for place in places.paths { try excision.takeOut(place) }
    hasFound = hasFound || excision.hasFound
    try excision.commit()
    // Their entries hold values of what was taken out.
    try state.deriveAnew()
    try state.copyEntries(into: fresh)
    let directory = fresh.environment.path
    fresh.environment.close()
    try Files.remove("\(directory)/lock.mdb")
    excised.digest = try Files.digest("\(directory)/data.mdb")
    state.environment.close()
    try Files.removeDirectory(state.environment.path)
    return excised
  }

  private mutating func begin(after baseline: BaselineMark) throws {
    head = LogHead(baseline)
    try files.new.write(head: head) { writer in
      try writer.setFormat(try files.old.read { try $0.format() })
      try writer.begin(after: baseline)
    }
  }

  /// Redacts the segments, which continue a baseline of their own.
  private mutating func redactArchive() throws {
    let (archived, start) = try files.old.read { (try $0.archived(), try $0.archiveStart()) }
    guard let archived else { return }
    let mark = try excised(start)
    let state = try files.state("archive", from: mark)
    let redaction = try Redaction(places, into: state)
    var last = start.sequence
    while let segment = try files.old.read({ try $0.segment(after: last) }) {
      try progress.tell("archive", last.rawValue, archived.upperBound.rawValue)
      var records: [TransactionRecord] = []
      try segment.forEach { records.append($0) }
      var left = Segment(after: last)
      records.reverse()
      while try redaction.run({ records.popLast() }, { left.append($0.stored()) }) {}
      try files.new.write(head: head) { writer in
        if mark.sequence > .zero { try writer.setArchiveStart(mark) }
        try writer.putSegment(left)
      }
      last = segment.last
    }
    state.environment.close()
    try Files.removeDirectory(state.environment.path)
    take(redaction)
  }

  private mutating func redactRecords(into state: State, upTo last: SequenceNumber) throws {
    let redaction = try Redaction(places, into: state)
    var records = RecordChain(files.old, after: head.sequence, link: head.link, upTo: last)
    var isMore = head.sequence < last
    while isMore {
      try progress.tell("erase", head.sequence.rawValue, last.rawValue)
      var (next, redacted) = (head, [TransactionRecord]())
      isMore = try redaction.run {
        let record = try records.next()
        if let record { next.advance(to: record) }
        return record
      } _: {
        redacted.append($0)
      }
      head = next
      try files.new.append(redacted, head: head)
    }
    take(redaction)
  }

  private mutating func take(_ redaction: Redaction) {
    result.transactions += redaction.transactions
    result.operations += redaction.operations
    hasFound = hasFound || redaction.operations > 0
    notes += redaction.notes
    blobs.formUnion(redaction.blobs)
  }

  /// Appends the record of the erasure.
  private mutating func record(_ metadata: [String: String], _ state: State) throws {
    var operations = OperationWriter()
    // Also where only a baseline had something: the event says that this is an erasure.
    for note in notes.isEmpty ? [ErasureNote()] : notes { operations.write(try note.operation()) }
    let now = max(min(WallClock.microseconds(), RecordClock.latest), head.time)
    let record = TransactionRecord(
      sequence: head.sequence.next, clock: head.clock.next(microseconds: now), time: now,
      origin: try files.old.read { try $0.format().origin }, metadata: metadata,
      operations: operations,
      previous: head.link)
    var replay = try Replay(into: state)
    try replay.step { projector in
      try projector.apply(record)
      return nil
    }
    head.advance(to: record)
    result.sequence = record.sequence
    try files.new.append([record], head: head)
  }

  // MARK: Blobs

  /// Copies the blobs but those that only the places referred to.
  private mutating func copyBlobs() throws {
    try keepReferredBlobs()
    result.blobs = blobs.count
    try files.new.copyBlobs(of: files.old, without: blobs, head: head)
  }

  /// Strikes out the blobs that what is left refers to.
  private mutating func keepReferredBlobs() throws {
    if blobs.isEmpty { return }
    var blobs = blobs
    for mark in try files.new.read({ [try $0.baseline(), try $0.archiveStart()] })
    where mark.sequence > .zero {
      let state = try files.state("references", from: mark)
      try BlobReferences.forEach(in: state) { blobs.remove($0.hash) }
      state.environment.close()
      try Files.removeDirectory(state.environment.path)
    }
    try files.new.forEachRecord { try BlobReferences.forEach(in: $0) { blobs.remove($0.hash) } }
    self.blobs = blobs
  }
}

extension Log {
  /// Visits all records that there are, the archived ones first.
  func forEachRecord(_ body: (TransactionRecord) throws -> Void) throws {
    let (baseline, archived, head) = try read {
      (try $0.baseline(), try $0.archived(), try $0.head())
    }
    var last = baseline.sequence
    if archived != nil {
      last = try read { try $0.archiveStart().sequence }
      while let segment = try read({ try $0.segment(after: last) }) {
        try segment.forEach(body)
        last = segment.last
      }
    }
    while last < head.sequence {
      last = last.next
      try body(try read { try $0.record(last) })
    }
  }
}
