import FoundationEssentials
import LMDB

/// Rewrites log, baselines and state without what was at some places, in a directory of its own,
/// and puts them in place.
struct ErasureRun {
  private let path: String
  private let options: Database.Options
  private let places: ErasedPlaces
  private let progress: ProgressReporter
  private let claim: ClaimedDirectory
  /// The log as it is, and the one that is made.
  private let old: Log
  private let new: Log
  private let boot: String
  private let mount: String
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
    self.path = path
    self.options = options
    self.places = places
    self.progress = ProgressReporter(progress)
    boot = options.systemStart ?? Platform.bootIdentity()
    mount = options.mountIdentity ?? Platform.mountIdentity(of: path)
    claim = try ClaimedDirectory(creating: Database.temporaryPath("\(path)/erase", "-"))
    try Files.createDirectory("\(claim.path)/log")
    old = try Log(at: "\(path)/log", options.environment(readOnly: false))
    new = try Log(at: "\(claim.path)/log", options.environment(readOnly: false))
    result.places = places.paths
    result.bytesBefore = ErasureRun.bytes(in: path)
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
    defer { cleanUp() }
    try make([:])
    result.sequence = .zero
    result.bytesAfter = ErasureRun.bytes(in: claim.path)
    return result
  }

  /// Makes everything, and puts it in the place of what there is.
  mutating func run(_ metadata: [String: String]) throws -> Erasure {
    defer { cleanUp() }
    try make(metadata)
    try publish()
    result.bytesAfter = ErasureRun.bytes(in: path)
    return result
  }

  private func cleanUp() {
    old.close()
    new.close()
    try? Files.removeDirectory(claim.path)
  }

  // MARK: Making

  private mutating func make(_ metadata: [String: String]) throws {
    let newest = try old.read { try $0.head() }
    let baseline = try excised(try old.read { try $0.baseline() })
    try begin(after: baseline)
    try redactArchive()
    let state = try state("state", from: baseline)
    defer { state.environment.close() }
    try redactRecords(into: state, upTo: newest.sequence)
    // Where neither a record nor a baseline had anything, the path is a mistake.
    if !hasFound {
      throw DatabaseError.notFound(places.paths[0], reason: "nothing was ever there")
    }
    try copyBlobs()
    try record(metadata, state)
    try copyEntries()
    try state.environment.sync()
  }

  /// Makes a baseline without the places; nothing where there is none.
  private mutating func excised(_ mark: BaselineMark) throws -> BaselineMark {
    if mark.sequence == .zero { return mark }
    var excised = mark
    excised.edition += 1
    excised.fold = StateMark.foldNumber
    let state = try state("excision", from: mark, in: path)
    let fresh = try self.state(Baseline.directory(excised), from: BaselineMark())
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
    try Files.sync("\(directory)/data.mdb")
    try Files.sync(directory)
    excised.digest = try Files.digest("\(directory)/data.mdb")
    state.environment.close()
    try Files.removeDirectory(state.environment.path)
    return excised
  }

  /// A state in the directory that is being made: empty, or what a baseline holds.
  private func state(
    _ name: String, from baseline: BaselineMark, in directory: String? = nil
  ) throws -> State {
    let place = "\(claim.path)/\(name)"
    try Files.createDirectory(place)
    let options = options.environment(readOnly: false)
    try Baseline.makeState(from: baseline, of: directory ?? claim.path, in: place, options)
    return try State(at: place, generation: 0, options)
  }

  private mutating func begin(after baseline: BaselineMark) throws {
    head = LogHead(baseline)
    try new.write(0, head: head) { writer in
      try writer.setFormat(try old.read { try $0.format() })
      try writer.begin(after: baseline)
    }
  }

  /// Redacts the segments, which continue a baseline of their own.
  private mutating func redactArchive() throws {
    let (archived, start) = try old.read { (try $0.archived(), try $0.archiveStart()) }
    guard let archived else { return }
    let mark = try excised(start)
    let state = try state("archive", from: mark)
    let redaction = try Redaction(places, into: state)
    var last = start.sequence
    while let segment = try old.read({ try $0.segment(after: last) }) {
      try progress.tell("archive", last.rawValue, archived.upperBound.rawValue)
      var records: [TransactionRecord] = []
      try segment.forEach { records.append($0) }
      var left = Segment(after: last)
      records.reverse()
      while try redaction.run({ records.popLast() }, { left.append($0.stored()) }) {}
      try new.write(max(left.records.count, Replay.stepBytes), head: head) { writer in
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
    var records = RecordChain(old, after: head.sequence, link: head.link, upTo: last)
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
      try new.append(redacted, head: head)
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
      origin: try old.read { try $0.format().origin }, metadata: metadata, operations: operations,
      previous: head.link)
    var replay = try Replay(into: state)
    try replay.step { projector in
      try projector.apply(record)
      return nil
    }
    head.advance(to: record)
    result.sequence = record.sequence
    try new.append([record], head: head)
  }

  /// Copies tags, positions, the policy and all else that is not about the rewritten files.
  private func copyEntries() throws {
    let (names, mark) = try old.read { (try $0.entryNames(), try $0.stateMark()) }
    try new.write(Replay.stepBytes, head: head) { writer in
      for name in names where !ErasureRun.isMadeAnew(name) {
        try old.read { log in
          _ = try log.entry(name) { try writer.setEntry(name, $0.array()) }
        }
      }
      try writer.setStateMark(
        StateMark(
          generation: (mark?.generation ?? 0) + 1, isClean: true, boot: boot, mount: mount))
    }
  }

  private static func isMadeAnew(_ name: String) -> Bool {
    ["format", "head", "state", "checkpoint", BaselineMark.name, BaselineMark.archiveName]
      .contains(name)
  }

  // MARK: Blobs

  /// Copies the blobs but those that only the places referred to.
  private mutating func copyBlobs() throws {
    try keepReferredBlobs()
    result.blobs = blobs.count
    try new.copyBlobs(of: old, without: blobs, head: head)
  }

  /// Strikes out the blobs that what is left refers to.
  private mutating func keepReferredBlobs() throws {
    if blobs.isEmpty { return }
    var blobs = blobs
    for mark in try new.read({ [try $0.baseline(), try $0.archiveStart()] })
    where mark.sequence > .zero {
      let state = try state("references", from: mark)
      try BlobReferences.forEach(in: state) { blobs.remove($0.hash) }
      state.environment.close()
      try Files.removeDirectory(state.environment.path)
    }
    try new.forEachRecord { try BlobReferences.forEach(in: $0) { blobs.remove($0.hash) } }
    self.blobs = blobs
  }

  // MARK: Publishing

  /// Gives everything its name. The log comes last: with it all the rest counts, and what it does
  /// not name any more is swept.
  private func publish() throws {
    let (generation, marks) = try new.read { log in
      (try log.stateMark()?.generation ?? 1, [try log.baseline(), try log.archiveStart()])
    }
    old.close()
    new.close()
    let (file, made) = (LogFile(of: path), LogFile(of: claim.path))
    if let finding = try made.walkPages().findings.first {
      throw DatabaseError.corrupt(reason: "the new log is damaged: \(finding)")
    }
    try file.checkUnused()
    for mark in Set(marks.filter { $0.sequence > .zero }.map(Baseline.directory)) {
      try move(mark, to: mark)
    }
    try move("state", to: State.directory(generation))
    try Files.sync(path)
    try file.replace(with: made)
    do {
      try Files.sync("\(path)/log")
      try sweep(keeping: Set(marks.map(Baseline.directory) + [State.directory(generation)]))
      try Files.sync(path)
    } catch {
      // It may be done, and what is left is removed when the database is opened, since its names
      // are not in the log any more.
      throw DatabaseError.outcomeUnknown(result.sequence)
    }
  }

  /// Moves a directory that was made to its place; what a crash has left there goes.
  private func move(_ name: String, to target: String) throws {
    let target = "\(path)/\(target)"
    if Files.exists(target) { try Files.removeDirectory(target) }
    try Files.sync("\(claim.path)/\(name)/data.mdb")
    try Files.sync("\(claim.path)/\(name)")
    try Files.rename("\(claim.path)/\(name)", to: target)
  }

  private func sweep(keeping kept: Set<String>) throws {
    for name in Files.names(in: path, startingWith: "")
    where UnusedDirectories.isNamedByLog(name) && !kept.contains(name) {
      try Files.removeDirectory("\(path)/\(name)")
    }
  }

  /// The sizes of the data files in a directory's directories.
  private static func bytes(in path: String) -> UInt64 {
    Files.names(in: path, startingWith: "").reduce(0) {
      $0 + Files.size(of: "\(path)/\($1)/data.mdb")
    }
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
