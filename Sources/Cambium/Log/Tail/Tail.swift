import LMDB
import Synchronization

/// A file in front of the log's environment, to which small commits are appended first.
///
///     commit ──▶ log/tail, one flush ──▶ full, or any other commit ──▶ LMDB
///
/// A commit of LMDB writes the pages on the way to each change, and flushes twice. A frame of the
/// tail goes into blocks that were written before, and is durable after one flush. The records move
/// to LMDB together, in the next commit that it makes for any reason: the tail is full, a commit is
/// too large for it or stores more than records, the database closes. Then a new round begins at
/// the start of the file.
///
/// Invariants:
/// 1. A frame counts if it follows from LMDB's head; see `TailScan`. So a move has one step, LMDB's
///    commit, and a crash leaves the records in one place or the other.
/// 2. A round is written over only after LMDB's commit with its records is durable.
/// 3. What this process did not write is durable before anything follows it.
/// 4. The log names the file's seed, so that a file of another log counts for nothing.
/// 5. No frame says that a record was durable before that was so; see `TailScan`.
///
/// Rounds are known by LMDB's number of the commit that they continue: whoever sees another number
/// looks again, and nothing needs to be told between processes.
final class Tail: Sendable {
  private struct Content {
    /// The present round as far as this process knows it; nil if the log has no tail.
    var round: TailRound?
    /// LMDB's number of the commit that the round continues.
    var transaction: UInt64 = 0
    /// True while this process writes a frame, which is not to be taken for another's.
    var isAppending = false
    /// The size of the next file.
    var bytes: Int
    /// The commits that would have gone to the tail if there were one.
    var commitsWithout = 0
    /// The commits that would have gone to a larger file.
    var commitsTooLarge = 0
    /// A time before the first commit that may not be durable; nil if all are.
    private(set) var unflushedSince: ContinuousClock.Instant?
    /// True if nobody has been asked yet to flush it.
    var wantsFlush = false

    /// Notes a commit that is too large for the file; the next one that is made may be larger.
    mutating func noteTooLarge(_ count: Int, _ sizes: TailSizes) {
      if count > sizes.bytesMax / 4 { return }
      commitsTooLarge += 1
      if commitsTooLarge <= sizes.commitsBefore { return }
      (bytes, commitsWithout) = (sizes.bytesMax, sizes.commitsBefore + 1)
    }

    mutating func noteUnflushed(since time: ContinuousClock.Instant) {
      if unflushedSince == nil { (unflushedSince, wantsFlush) = (time, true) }
    }

    /// Notes that all is durable, but for what came after a time.
    mutating func noteFlushed(before time: ContinuousClock.Instant? = nil) {
      unflushedSince = time
      wantsFlush = wantsFlush && time != nil
    }

    /// Takes in what others have written, or an earlier run of this process.
    mutating func take(new frames: [TailFrame]) {
      let known = round?.newest
      round?.take(new: frames)
      if round?.newest != known { noteUnflushed(since: .now) }
    }
  }

  private let path: String
  private let isReadOnly: Bool
  private let sizes: TailSizes
  private let content: Mutex<Content>

  /// The free disk space with which a file is made.
  private static let freeBytesMin: UInt64 = 64 << 20

  init(at path: String, _ sizes: TailSizes, isReadOnly: Bool) {
    self.path = path
    self.sizes = sizes
    self.isReadOnly = isReadOnly
    content = Mutex(Content(bytes: sizes.bytes))
  }

  /// The file of a log in a directory.
  static func path(in log: String) -> String { "\(log)/tail" }

  // MARK: Reading

  /// The end of what LMDB holds, as a view of it says.
  struct Base {
    let mark: TailMark?
    let head: LogHead
    /// True if the database was closed, so that the tail is empty.
    let isAtRest: Bool

    init(_ log: LogReader) throws {
      mark = try log.tailMark()
      head = try log.storedHead()
      isAtRest = try log.stateMark()?.isClean ?? false
    }
  }

  /// The outcome of looking at the tail.
  enum Look {
    /// The records that follow the caller's view of LMDB; nil if there are none.
    case view(TailView?)
    /// Frames that count if LMDB has still made no further commit: a round that has begun meanwhile
    /// may have written over what was read. The caller begins a new view, and asks to adopt them.
    case unverified(Sight)
    /// The caller sees a moment of LMDB that is older than the tail.
    case outdated
  }

  /// Frames that were read without the writer's lock.
  struct Sight {
    /// LMDB's number of the commit that they continue.
    let transaction: UInt64
    /// The round, without the frames.
    fileprivate let round: TailRound
    fileprivate let frames: [TailFrame]
  }

  /// The tail that continues a view of LMDB.
  ///
  /// - Parameters:
  ///   - transaction: LMDB's number of the view.
  ///   - known: A record that the caller knows to be committed; it needs none after it.
  ///   - base: The end of the view.
  /// - Returns: The view, or how the caller gets one.
  /// - Throws: Any error of `base`; ``StorageError`` if the file cannot be read.
  func look(
    _ transaction: UInt64, upTo known: SequenceNumber?, base: () throws -> Base
  ) throws -> Look {
    try content.withLock { content in
      if transaction < content.transaction { return .outdated }
      if transaction > content.transaction {
        let base = try base()
        guard let round = try begin(base.mark, base.head, instead: content.round) else {
          (content.round, content.transaction) = (nil, transaction)
          return .view(nil)
        }
        let frames = base.isAtRest ? [] : try round.framesOfOthers()
        return .unverified(Sight(transaction: transaction, round: round, frames: frames))
      }
      guard let round = content.round else { return .view(nil) }
      if content.isAppending { return .view(round.view) }
      if try !round.isLastAsRead() {
        content.transaction = 0
        return .outdated
      }
      if round.has(known) { return .view(round.view) }
      let frames = try round.framesOfOthers()
      return .unverified(Sight(transaction: transaction, round: round, frames: frames))
    }
  }

  /// Takes in what was seen; the caller has begun a view of the same commit of LMDB after that.
  func adopt(_ sight: Sight) -> Look {
    content.withLock { content in
      if sight.transaction < content.transaction { return .outdated }
      if sight.transaction > content.transaction {
        (content.round, content.transaction) = (sight.round, sight.transaction)
      }
      if !content.isAppending { content.take(new: sight.frames) }
      return .view(content.round?.view)
    }
  }

  /// The records of the present round, as far as this process has looked.
  var records: TailRecords? { content.withLock { $0.round?.records } }

  /// The bytes of the frames, as far as this process has looked.
  var usedBytes: Int { content.withLock { $0.round?.end ?? 0 } }

  /// The tail for a caller that is about to write; the writer's lock is held.
  func newest(_ transaction: UInt64, base: () throws -> Base) throws -> TailView? {
    try content.withLock { content in
      if transaction != content.transaction || content.round?.isChecked == false {
        let (round, frames) = try load(base(), instead: content.round)
        (content.round, content.transaction) = (round, transaction)
        content.take(new: frames)
      } else if let round = content.round {
        content.take(new: try round.framesOfOthers())
      }
      return content.round?.view
    }
  }

  /// As ``newest(_:base:)``, and what another process has written, or a crash has left, is durable
  /// afterwards.
  ///
  /// - Throws: ``StorageError``.
  func newestDurable(_ transaction: UInt64, base: () throws -> Base) throws -> TailView? {
    var view = try newest(transaction, base: base)
    guard let round = content.withLock({ $0.round }), round.hasUnproven else { return view }
    if try !round.prove() {
      // A process has taken back what it could not write. What follows goes to LMDB, so that
      // everybody looks again.
      content.withLock { $0.transaction = 0 }
      view = try newest(transaction, base: base)
      _ = try content.withLock { $0.round }?.prove()
      content.withLock { $0.round?.isClosed = true }
    }
    content.withLock { content in
      content.round?.noteProven()
      content.noteFlushed()
    }
    return view
  }

  /// Reads the round that continues a commit of LMDB, and what may be missed of it.
  private func load(
    _ base: Base, instead known: TailRound?
  ) throws -> (TailRound?, frames: [TailFrame]) {
    guard var round = try begin(base.mark, base.head, instead: known) else { return (nil, []) }
    round.isChecked = true
    if base.isAtRest { return (round, []) }
    var scan = TailScan(round.file, seed: round.mark.seed)
    return (round, try scan.frames(after: base.head))
  }

  /// The round that continues a commit of LMDB, without its frames; nil if the log has no tail.
  private func begin(
    _ mark: TailMark?, _ head: LogHead, instead known: TailRound?
  ) throws -> TailRound? {
    guard let mark, let file = try file(mark, known) else { return nil }
    return TailRound(file, mark, after: head, longBytesMin: sizes.longBytesMin)
  }

  /// The file that the log names, opened unless the round before has it; nil if it is not there.
  private func file(_ mark: TailMark, _ known: TailRound?) throws -> PrewrittenFile? {
    if let known, known.mark == mark { return known.file }
    let file = try PrewrittenFile(path, isReadOnly: isReadOnly)
    return file?.size == mark.bytes ? file : nil
  }

  // MARK: Writing

  /// True if records may go to it.
  var isEnabled: Bool { sizes.bytes > 0 }

  /// The bytes that LMDB may need for all that the tail can hold.
  var roomForMoving: Int {
    2 * content.withLock { max($0.bytes, $0.round?.file.size ?? 0) }
  }

  /// True if the disk had room for moving a few pages of frames ago.
  var isRoomKnown: Bool { content.withLock { $0.round?.isRoomKnown ?? false } }

  /// Notes that the disk has room for moving.
  func noteRoom() { content.withLock { $0.round?.noteRoom() } }

  /// True if the file is so small that the next commit of LMDB should give it up, and a later one
  /// make a larger one.
  var isTooSmall: Bool {
    let isSmall = content.withLock { content in
      content.round.map { $0.file.size < content.bytes } ?? false
    }
    return isSmall && hasRoomForFile
  }

  private var hasRoomForFile: Bool {
    Files.freeBytes(at: Files.parent(of: path)) ?? 0 > Tail.freeBytesMin
  }

  /// Makes a file without frames, once there were enough commits for it.
  ///
  /// - Returns: The mark under which the next commit of LMDB must name it; nil if none was made.
  func makeIfWanted() -> TailMark? {
    let wanted = content.withLock { content -> Int? in
      if content.round != nil || content.commitsWithout <= sizes.commitsBefore { return nil }
      content.commitsWithout = 0
      return content.bytes
    }
    // Without it commits go to LMDB, as they have done until now.
    guard let wanted, hasRoomForFile, (try? PrewrittenFile.make(path, size: wanted)) != nil
    else { return nil }
    return TailMark(seed: UInt64.random(in: .min ... .max), bytes: wanted)
  }

  /// Appends records, if there is a file with room for them; the writer's lock is held, and
  /// `newestDurable` was called with it. They are durable unless the sizes allow that to be later.
  ///
  /// - Parameters:
  ///   - records: The records, which follow each other and the newest.
  ///   - syncLMDB: Makes durable what another process may have committed to LMDB and not flushed.
  /// - Returns: False if LMDB must take them.
  /// - Throws: ``StorageError``: nothing is stored then, except for `.uncertain`.
  func append(_ records: [TransactionRecord], syncLMDB: () throws -> Void) throws -> Bool {
    let count = records.reduce(0) { $0 + TailFrame.count(of: $1) }
    guard let round = beginAppending(count) else { return false }
    defer { content.withLock { $0.isAppending = false } }
    if round.isOfOthers { try syncLMDB() }
    do {
      let now = sizes.flushesWithin.map { _ in ContinuousClock.now }
      let isFlushed = mustFlush(now)
      let ends = try round.append(records, isFlushed: isFlushed)
      content.withLock { content in
        for (record, end) in zip(records, ends) { content.round?.take(record, endingAt: end) }
        content.round?.isOfOthers = false
        guard let now, !isFlushed else {
          content.round?.noteFlushed()
          return content.noteFlushed()
        }
        content.noteUnflushed(since: now)
      }
      return true
    } catch {
      // Another process may have read it, so the next commit has everybody look again.
      content.withLock { $0.round?.isClosed = true }
      throw error
    }
  }

  /// True if a commit is to be flushed before it returns: each is, or the job that should have done
  /// it for one before is late.
  private func mustFlush(_ now: ContinuousClock.Instant?) -> Bool {
    guard let now, let limit = sizes.flushesWithin else { return true }
    return content.withLock { $0.unflushedSince.map { $0 + limit <= now } ?? false }
  }

  /// Keeps readers from taking what is about to be written for another process's.
  private func beginAppending(_ count: Int) -> TailRound? {
    content.withLock { content in
      guard count <= max(content.bytes, content.round?.file.size ?? 0) / 4 else {
        content.noteTooLarge(count, sizes)
        return nil
      }
      guard let round = content.round else {
        content.commitsWithout += 1
        return nil
      }
      guard round.hasRoom(for: count), round.file.isInPlace else { return nil }
      content.isAppending = true
      return round
    }
  }

  /// True if the file that the log names is there, as far as this process has looked.
  func isUsable(_ mark: TailMark) -> Bool {
    guard let round = content.withLock({ $0.round }) else { return false }
    return round.mark == mark && round.file.isInPlace
  }

  /// Notes that LMDB has committed all records, up to a head; a new round begins.
  func noteCommit(_ transaction: UInt64, _ head: LogHead, _ mark: TailMark?) {
    content.withLock { content in
      content.round?.records.forgetEntries()
      do {
        content.round = try begin(mark, head, instead: content.round)
        content.round?.isOfOthers = false
        content.round?.isChecked = true
        content.transaction = transaction
        content.noteFlushed()
      } catch {
        // Whoever looks next is told why it cannot be opened.
        (content.round, content.transaction) = (nil, 0)
      }
    }
  }

  // MARK: Flushing

  /// True if a commit that this process knows of may not be durable yet.
  var hasUnflushed: Bool { content.withLock { $0.unflushedSince != nil } }

  /// True once after commits began to wait for a flush.
  func takeFlushRequest() -> Bool {
    content.withLock { content in
      defer { content.wantsFlush = false }
      return content.wantsFlush
    }
  }

  /// True if one of those is another process's.
  var hasUnproven: Bool { content.withLock { $0.round?.hasUnproven ?? false } }

  /// The time within which commits are flushed; nil if each is before it returns.
  var flushesWithin: Duration? { sizes.bytes > 0 ? sizes.flushesWithin : nil }

  /// Makes durable what is in the file. Any thread may call it, also while another appends.
  ///
  /// - Throws: ``StorageError``: what was written since the last flush may be lost.
  func flush() throws {
    let now = ContinuousClock.now
    let known = content.withLock { content in
      if content.round == nil { content.noteFlushed() }
      return content.round.map { ($0, content.transaction) }
    }
    guard let (round, transaction) = known else { return }
    try round.file.sync()
    content.withLock { content in
      // The records of another round are in LMDB.
      guard content.transaction == transaction, content.unflushedSince != nil else { return }
      content.round?.noteFlushed(upTo: round.newest)
      // Frames that were appended meanwhile came after the time above.
      content.noteFlushed(before: content.round?.isFlushed == false ? now : nil)
    }
  }
}
