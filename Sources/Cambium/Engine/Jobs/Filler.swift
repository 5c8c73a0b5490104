// Finishes what declarations have deferred: fills indexes and views, and empties those that were
// given up, one after the other, in steps that each take the writer's turn for about 2 ms.

import Dispatch
import LMDB
import Synchronization

/// Finishes indexes and views for one open database.
final class Filler: Sendable {
  private struct State {
    weak var writer: Writer?
    var isScheduled = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// One at a time: a second would sort the same entries.
  private let work = Mutex<Void>(())
  /// The thread that is at it on behalf of a caller.
  private let worker = Atomic<UInt>(0)
  private let queue: any WorkQueue

  init(_ background: any BackgroundWork) {
    queue = background.makeQueue("cambium.filling", .utility)
  }

  /// Says who has the turn.
  func attach(_ writer: Writer) { state.withLock { $0.writer = writer } }

  /// Finishes what there is in the background; returns at once. The turn may be held.
  func consider() {
    let isNeeded = state.withLock { state in
      if state.isScheduled || state.isClosed { return false }
      state.isScheduled = true
      return true
    }
    if isNeeded { queue.run { self.run() } }
  }

  private func run() {
    let writer = state.withLock { state in
      state.isScheduled = false
      return state.writer
    }
    guard let writer else { return }
    do {
      // Whoever is at it may wait for this database to be closed, so nobody waits for him here.
      while !isClosed, try work.withLockIfAvailable({ _ in try finishAll(writer, nil) }) == nil {
        usleep(10_000)
      }
    } catch {
      if !isClosed { writer.directory.report(.fillingFailed("\(error)")) }
    }
  }

  /// Finishes what there is, on this thread.
  ///
  /// - Parameter progress: Told what is done, about ten times a second; false breaks off.
  /// - Throws: ``DatabaseError``, `CancellationError`. Steps that are done stay done.
  func finish(_ progress: ProgressHandler?) throws {
    guard let writer = state.withLock({ $0.writer }) else { return }
    try checkCaller()
    try work.withLock { _ in
      worker.store(Platform.threadIdentity(), ordering: .relaxed)
      defer { worker.store(0, ordering: .relaxed) }
      try finishAll(writer, progress)
    }
  }

  /// Refuses a call from within a progress handler, which would wait for itself.
  func checkCaller() throws {
    if worker.load(ordering: .relaxed) == Platform.threadIdentity() {
      throw DatabaseError.misuse(
        reason: "a progress handler must not declare anything; declare it afterwards")
    }
  }

  /// Finishes one after the other; what fails does not keep others waiting.
  private func finishAll(_ writer: Writer, _ progress: ProgressHandler?) throws {
    var failures: [UInt32: any Error] = [:]
    while let (number, unfinished) = try Filler.next(in: writer.directory, except: failures) {
      do {
        let run = FillRun(number, writer, progress) { self.isClosed }
        try translating { try unfinished == .emptying ? run.empty() : run.fill() }
      } catch let error as DatabaseError where !isClosed {
        failures[number] = error
      }
    }
    if let first = failures.min(by: { $0.key < $1.key }) { throw first.value }
  }

  /// Finishes in the background what an earlier process has left; returns at once. Not before a
  /// while: who has a doubt about a database looks at it first, before anything is written.
  func resume(_ directory: OpenDirectory) {
    guard (try? Filler.next(in: directory, except: [:])) != nil else { return }
    queue.run(after: .seconds(1)) { [weak self] in self?.consider() }
  }

  /// Lets nothing be filled while `body` runs.
  func pausing<R>(_ body: () throws -> R) rethrows -> R {
    if worker.load(ordering: .relaxed) == Platform.threadIdentity() { return try body() }
    return try work.withLock { _ in try body() }
  }

  private static func next(
    in directory: OpenDirectory, except failures: [UInt32: any Error]
  ) throws -> (UInt32, Unfinished)? {
    try directory.snapshot(at: .now).names.collections.unfinished
      .filter { failures[$0.key] == nil }.min { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Gives up what is under way, after its present step; it is gone on with later.
  func close() {
    state.withLock { $0.isClosed = true }
    queue.finish()
  }
}

extension Database {
  /// Fills and empties what is left, on this thread.
  package func finishFilling() throws { try writer.filler.finish(nil) }
}

/// Fills one index or view, or empties it.
final class FillRun {
  private let number: UInt32
  private let writer: Writer
  private let progress: ProgressHandler?
  private let isClosed: () -> Bool
  private var reported: ContinuousClock.Instant?
  private var pace = StepPace()

  init(
    _ number: UInt32, _ writer: Writer, _ progress: ProgressHandler? = nil,
    isClosed: @escaping () -> Bool = { false }
  ) {
    self.number = number
    self.writer = writer
    self.progress = progress
    self.isClosed = isClosed
  }

  func empty() throws {
    var isDone = false
    while !isDone {
      try tell("dropping an index", 0, nil)
      isDone = try step("emptying") { try $0.folds.empty(number, until: $1) } ?? false
    }
  }

  func fill() throws {
    // Tries again where the state was rebuilt meanwhile, and may not be as far as it was.
    while let source = try source(), try !fill(from: source) {}
  }

  /// - Returns: True once it is done; false where the state is another than that of the source.
  private func fill(from source: Source) throws -> Bool {
    while true {
      let step: Bool?
      switch source.content {
      case .entries(let entries):
        try tell("filling an index", entries.taken, nil)
        step = try self.step("index", of: source.generation) {
          try $0.folds.fill(number, from: entries, until: $1)
        }
      case .records(let view, let plan):
        try tell("filling a view", 0, nil)
        step = try self.step("view", of: source.generation) {
          try $0.folds.fill(view, of: plan, until: $1)
        }
      }
      if step != false { return step ?? false }
    }
  }

  /// The sorted entries, or the records, that it is filled from.
  struct Source {
    enum Content {
      case entries(FillEntries)
      case records(ViewPlan, CollectionPlan)
    }

    let content: Content
    /// The generation of the state whose fence it begins at.
    let generation: UInt64
  }

  /// The source that it is filled from, as of now; nil where it is filled, or no collection has it
  /// any more.
  func source() throws -> Source? {
    let generation = try writer.directory.currentState().generation
    let snapshot = try writer.directory.snapshot(at: .now)
    let collections = try snapshot.names.collections
    guard case .filling(upTo: let fence)? = collections.unfinished[number] else { return nil }
    for plan in collections.all {
      if let index = plan.indexes.first(where: { $0.number == number }) {
        let entries = try sortedEntries(of: index, plan, behind: fence, snapshot)
        return Source(content: .entries(entries), generation: generation)
      }
      if let view = plan.views.first(where: { $0.number == number }) {
        return Source(content: .records(view, plan), generation: generation)
      }
    }
    return nil
  }

  private func sortedEntries(
    of index: IndexPlan, _ plan: CollectionPlan, behind fence: [UInt8], _ snapshot: Snapshot
  ) throws -> FillEntries {
    let total = UInt64(try snapshot[plan.path].childCount)
    var done: UInt64 = 0
    let entries = try snapshot.reader.entries(of: .index(index), plan, behind: fence) {
      done += 1
      if done % 1024 == 0 { try tell("reading \(plan.path)", done, total) }
    }
    return try FillEntries(entries)
  }

  private func tell(_ phase: String, _ done: UInt64, _ total: UInt64?) throws {
    try checkOpen()
    guard let progress else { return }
    if let reported, ContinuousClock.now - reported < .milliseconds(100) { return }
    reported = .now
    if !progress(Progress(phase: phase, done: done, total: total)) { throw CancellationError() }
  }

  /// Takes the writer's turn for one step.
  ///
  /// - Returns: The result of `body`; nil where the state is not of the generation that is meant.
  func step(
    _ name: String, of generation: UInt64? = nil,
    _ body: (inout StateWriter, _ end: ContinuousClock.Instant) throws -> Bool
  ) throws -> Bool? {
    let directory = writer.directory
    writer.stepBack()
    return try writer.exclusively {
      try checkOpen()
      let start = ContinuousClock.now
      defer { pace.note(.now - start) }
      let (state, _, _) = try directory.prepareState()
      if let generation, generation != state.generation { return nil }
      if try !state.environment.hasRoom(for: 64 << 20) {
        try state.environment.growMap(headroom: 128 << 20)
      }
      var projector = try StateWriter(state, catalog: directory.catalog)
      let isDone = try body(&projector, start + pace.duration)
      try projector.commit()
      directory.options.fillStepTook?(name, .now - start)
      return isDone
    }
  }

  /// Throws if the database was closed: closing it during a step leaves it as the step found it.
  private func checkOpen() throws {
    if isClosed() { throw DatabaseError.closed(reason: "the database is closed") }
  }
}
