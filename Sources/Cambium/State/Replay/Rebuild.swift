import LMDB

/// Folds the log into a state that is being made, in transactions of bounded size: all of it into
/// an empty one, or what came after a checkpoint.
struct Rebuild {
  private let log: Log
  private let state: State
  private let head: SequenceNumber
  private let progress: ProgressHandler?
  /// The record at which folding ended, where it is damaged and that is accepted.
  private var damage: DatabaseError?
  private let stopsAtDamage: Bool
  /// A transaction of the state ends after so many bytes of operations, unless told otherwise.
  static let stepBytes = 16 << 20
  private let stepBytes: Int

  init(
    _ log: Log, into state: State, head: SequenceNumber, stopsAtDamage: Bool = false,
    stepBytes: Int = Rebuild.stepBytes, _ progress: ProgressHandler?
  ) {
    self.stepBytes = stepBytes
    self.log = log
    self.state = state
    self.head = head
    self.stopsAtDamage = stopsAtDamage
    self.progress = progress
  }

  /// Folds.
  ///
  /// - Returns: Nil where all is folded. Otherwise what is wrong with the record after the last
  ///   that is; it is thrown instead, unless stopping at damage was asked for.
  /// - Throws: ``DatabaseError``, `CancellationError`.
  @discardableResult
  mutating func run() throws -> DatabaseError? {
    var (catalog, applied) = try start()
    var next = applied.next
    var link = try log.read { try $0.link(of: applied) }
    var reported = ContinuousClock.now
    // An empty log has a state, too: one without entries but its head.
    if head == .zero { try step(&catalog, &next, &link) }
    while next <= head, damage == nil {
      if ContinuousClock.now - reported > .milliseconds(100) {
        reported = .now
        try report(next)
      }
      try step(&catalog, &next, &link)
    }
    try report(next)
    return damage
  }

  /// The catalog and the position that the state has already.
  private func start() throws -> (catalog: Catalog, applied: SequenceNumber) {
    let transaction = try ReadTransaction(state.environment, tables: [])
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let head = try reader.head()
    let catalog = try reader.catalog()
    guard head.applied <= self.head else {
      throw DatabaseError.corrupt(
        reason: "a checkpoint of transaction \(head.applied) is ahead of the log")
    }
    let baseline = try log.read { try $0.baseline().sequence }
    guard head.applied >= baseline else {
      throw DatabaseError.corrupt(
        reason: "the records from \(head.applied.next) to \(baseline) are compacted")
    }
    return (catalog, head.applied)
  }

  private func report(_ next: SequenceNumber) throws {
    let done = Progress(phase: "rebuild", done: next.rawValue - 1, total: head.rawValue)
    if progress?(done) == false { throw CancellationError() }
  }

  /// Folds in records until there are enough bytes for one transaction.
  private mutating func step(
    _ catalog: inout Catalog, _ next: inout SequenceNumber, _ link: inout [UInt8]
  ) throws {
    if try !state.environment.hasRoom(for: Rebuild.stepBytes * 64) {
      try state.environment.growMap(headroom: Rebuild.stepBytes * 64)
    }
    var projector = try StateWriter(state, catalog: catalog)
    let start = ContinuousClock.now
    var bytes = 0
    while next <= head, bytes < stepBytes, ContinuousClock.now - start < .milliseconds(200) {
      guard let record = try record(next, after: link) else { break }
      try projector.apply(record)
      bytes += record.operations.count + 256
      link = record.link
      next = next.next
    }
    try projector.commit()
    catalog = projector.catalog
  }

  /// The next record, or nil where it is damaged and folding ends with the one before.
  private mutating func record(
    _ next: SequenceNumber, after link: [UInt8]
  ) throws -> TransactionRecord? {
    do {
      let record = try log.read { try $0.record(next) }
      if log.isNext(record, after: link) { return record }
      log.damage.note(next, "the chain breaks here")
      throw DatabaseError.corrupt(reason: "the chain of the log breaks at record \(next)")
    } catch let error as DatabaseError where error.isDamage && stopsAtDamage {
      damage = error
      return nil
    }
  }
}
