import Cambium
import Synchronization

/// Everyone who uses the database of a simulation, and what they have seen.
final class World: Sendable {
  /// The error that a body throws to undo itself.
  struct Refusal: Error {}

  struct Notes {
    /// The transaction that each write became, by the write's number.
    var acknowledged: [Int: SequenceNumber] = [:]
    /// The numbers of writes under `w/1`, as their observer was told of them.
    var odd: [Int] = []
    /// The last transaction that each complete observer has seen.
    var observed: [SequenceNumber] = []
    var violations: [String] = []
  }

  /// A write that says that all others are done: first to the consumer that writes, then to all.
  static let end = (consumer: 1000, all: 1001)
  /// The writes of the consumer that writes are numbered from here.
  static let consumed = 2000

  let database: Database
  let scheduler: Scheduler
  let plan: Plan
  private let notes = Mutex(Notes())

  init(_ database: Database, _ scheduler: Scheduler, _ plan: Plan) {
    self.database = database
    self.scheduler = scheduler
    self.plan = plan
  }

  /// The notes taken so far.
  var seen: Notes { notes.withLock { $0 } }

  func note(_ change: (inout sending Notes) -> Void) { notes.withLock { change(&$0) } }

  func violation(_ text: String) { notes.withLock { $0.violations.append(text) } }

  func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { violation(text()) }
  }

  /// Runs something that may find the database closed, where the plan closes it.
  func bearingClosing(_ who: String, _ body: () async throws -> Void) async {
    do { try await body() } catch DatabaseError.closed where plan.close != nil {} catch {
      violation("\(who) got \(error)")
    }
  }

  /// Lets others go first, so many times.
  func pause(_ count: Int) async { for _ in 0..<count { await Task.yield() } }

  // MARK: Everyone

  func run() async {
    await withTaskGroup(of: Void.self) { everyone in
      for index in 0..<plan.readerCount { everyone.addTask { await self.read(index) } }
      addObservers(to: &everyone)
      if let steps = plan.rebuild { everyone.addTask { await self.rebuild(after: steps) } }
      if let steps = plan.close { everyone.addTask { await self.close(after: steps) } }
      await withTaskGroup(of: Void.self) { writers in
        for writer in plan.writers { writers.addTask { await self.write(writer) } }
        for write in plan.cancelled {
          writers.addTask { await self.cancelledWrite(write.number, after: write.after) }
        }
        writers.addTask { await self.consumeExactlyOnce() }
        await self.endOfWriting(&writers)
      }
      await self.asyncWrite(World.end.all)
    }
  }

  /// Waits for all writers but the consumer, which ends when it is told that they have.
  private func endOfWriting(_ writers: inout TaskGroup<Void>) async {
    for _ in 0..<(plan.writers.count + plan.cancelled.count) { await writers.next() }
    await asyncWrite(World.end.consumer)
  }

  private func rebuild(after steps: Int) async {
    await pause(steps)
    await scheduler.turn()
    await bearingClosing("rebuild") { try rebuildNow() }
  }

  // On the scheduler's thread, whose turn it is; the async forms would have to take another one.
  private func rebuildNow() throws { try database.rebuild() }
  private func closeNow() throws { try database.close() }

  private func close(after steps: Int) async {
    await pause(steps)
    await scheduler.turn()
    do { try closeNow() } catch { violation("closing failed: \(error)") }
  }

  // MARK: Readers

  /// Reads the present and the past, both of which must be whole, and never goes back.
  private func read(_ index: Int) async {
    await bearingClosing("reader \(index)") {
      var last = SequenceNumber.zero
      for round in 0..<6 {
        let sequence = try database.read { try check($0) }
        require(sequence >= last, "reader \(index) went back from \(last) to \(sequence)")
        last = sequence
        let past = SequenceNumber(sequence.rawValue / 2)
        require(
          try database.read(at: .sequence(past)) { try check($0) } == past, "the past has moved")
        await pause(1 + (index + round) % 4)
      }
    }
  }

  /// Checks that a snapshot holds what its transactions have counted.
  private func check(_ snapshot: Snapshot) throws -> SequenceNumber {
    let count = try snapshot["count"].value
    let expected = Value.integer(Int64(snapshot.sequence.rawValue))
    require(
      count == expected || snapshot.sequence == .zero,
      "the count is \(count as Any) at \(snapshot.sequence)")
    scheduler.note(snapshot.sequence.rawValue)
    return snapshot.sequence
  }
}
