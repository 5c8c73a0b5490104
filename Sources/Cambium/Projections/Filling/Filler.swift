// Finishes what declarations have put off: fills indexes and views, and empties those that were
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
    do { try finish(nil) } catch {
      if !isClosed { writer.store.report(.fillingFailed("\(error)")) }
    }
  }

  /// Finishes what there is, on this thread.
  ///
  /// - Parameter progress: Told what is done, about ten times a second; false breaks off.
  /// - Throws: ``DatabaseError``, `CancellationError`. What is done stays done.
  func finish(_ progress: ProgressHandler?) throws {
    guard let writer = state.withLock({ $0.writer }) else { return }
    try work.withLock { _ in
      try translating {
        while let (number, unfinished) = try Filler.first(in: writer.store) {
          let run = FillRun(number, writer, progress) { self.isClosed }
          try unfinished == .emptying ? run.empty() : run.fill()
        }
      }
    }
  }

  /// Finishes in the background what an earlier process has left; returns at once.
  func resume(_ store: Store) {
    if (try? Filler.first(in: store)) != nil { consider() }
  }

  private static func first(in store: Store) throws -> (UInt32, Unfinished)? {
    try store.snapshot(at: .now).names.collections.unfinished.min { $0.key < $1.key }
      .map { ($0.key, $0.value) }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Waits for what is under way in the background.
  func finishBackground() { queue.finish() }

  /// Gives up what is under way, after its present step; it is gone on with later.
  func close() {
    state.withLock { $0.isClosed = true }
    queue.finish()
  }
}

extension Database {
  /// Waits until what is filled or emptied in the background is done.
  package func finishFilling() { writer.filler.finishBackground() }
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
      isDone = try step("emptying") { try $0.empty(number, until: $1) }
    }
  }

  func fill() throws {
    guard let source = try source() else { return }
    var isDone = false
    while !isDone {
      if case .entries(let entries) = source {
        try tell("filling an index", entries.taken, nil)
        isDone = try step("index") { try fill(&$0, from: source, until: $1) }
      } else {
        try tell("filling a view", 0, nil)
        isDone = try step("view") { try fill(&$0, from: source, until: $1) }
      }
    }
  }

  /// What it is filled from.
  enum Source {
    case entries(FillEntries)
    case records(ViewPlan, CollectionPlan)
  }

  /// What it is filled from, as of now; nil where no collection has it any more.
  func source() throws -> Source? {
    let snapshot = try writer.store.snapshot(at: .now)
    for plan in try snapshot.names.collections.all {
      if let index = plan.indexes.first(where: { $0.number == number }) {
        return .entries(try sortedEntries(of: index, plan, snapshot))
      }
      if let view = plan.views.first(where: { $0.number == number }) { return .records(view, plan) }
    }
    return nil
  }

  private func sortedEntries(
    of index: IndexPlan, _ plan: CollectionPlan, _ snapshot: Snapshot
  ) throws -> FillEntries {
    let total = UInt64(try snapshot[plan.path].childCount)
    var done: UInt64 = 0
    let entries = try snapshot.reader.sortedEntries(of: index, plan) {
      done += 1
      if done % 1024 == 0 { try tell("reading \(plan.path)", done, total) }
    }
    return try FillEntries(entries)
  }

  func fill(
    _ projector: inout Projector, from source: Source, until end: ContinuousClock.Instant
  ) throws -> Bool {
    switch source {
    case .entries(let entries): try projector.fill(number, from: entries, until: end)
    case .records(let view, let plan): try projector.fill(view, of: plan, until: end)
    }
  }

  private func tell(_ phase: String, _ done: UInt64, _ total: UInt64?) throws {
    if isClosed() { throw DatabaseError.closed(reason: "the database is closed") }
    guard let progress else { return }
    if let reported, ContinuousClock.now - reported < .milliseconds(100) { return }
    reported = .now
    if !progress(Progress(phase: phase, done: done, total: total)) { throw CancellationError() }
  }

  /// Takes the writer's turn for one step.
  func step(
    _ name: String,
    _ body: (inout Projector, _ end: ContinuousClock.Instant) throws -> Bool
  ) throws -> Bool {
    let store = writer.store
    writer.stepBack()
    return try writer.exclusively {
      let start = ContinuousClock.now
      defer { pace.note(.now - start) }
      let (state, _, _) = try store.prepareState()
      if try !state.environment.hasRoom(for: 64 << 20) {
        try state.environment.growMap(headroom: 128 << 20)
      }
      var projector = try Projector(state, catalog: store.catalog)
      let isDone = try body(&projector, start + pace.duration)
      try projector.commit()
      store.options.fillStepTook?(name, .now - start)
      return isDone
    }
  }
}
