import LMDB

/// Builds one index or view whose entries are incomplete, or removes the entries of one that was
/// dropped, in steps that each take the writer's turn for about 2 ms; see Unfinished.swift.
struct IndexBuild {
  let number: UInt32
  private unowned let writer: Writer
  private var source: Source?
  private var pace = StepPace()

  init(_ number: UInt32, _ writer: Writer) {
    self.number = number
    self.writer = writer
  }

  struct Source {
    let backfill: Backfill
    /// The generation of the state whose fence it starts from.
    let generation: UInt64
  }

  /// Does one step.
  ///
  /// - Returns: True once nothing is left to do.
  mutating func step(_ unfinished: Unfinished, _ progress: ProgressReporter) throws -> Bool {
    let number = number
    if unfinished == .emptying {
      try progress.tellSeldom("dropping an index", 0)
      return try step("emptying", progress) { try $0.folds.empty(number, until: $1) } ?? false
    }
    if source == nil { source = try makeSource(progress) }
    guard let source else { return true }
    let name: String
    switch source.backfill {
    case .index(let index):
      name = "index"
      try progress.tellSeldom("building an index", index.taken)
    case .view:
      name = "view"
      try progress.tellSeldom("building a view", 0)
    }
    let isDone = try step(name, of: source.generation, progress) {
      try source.backfill.step(in: &$0.folds, until: $1)
    }
    // The state was rebuilt in the meantime, and its fence may be further back.
    if isDone == nil { self.source = nil }
    return isDone ?? false
  }

  /// The source of the entries, as of now; nil if the index or view is complete, or no collection
  /// has it any more.
  func makeSource(_ progress: ProgressReporter) throws -> Source? {
    let generation = try writer.directory.currentState().generation
    let snapshot = try writer.directory.snapshot(at: .now)
    let collections = try snapshot.names.collections
    guard case .filling(upTo: let fence)? = collections.unfinished[number] else { return nil }
    for plan in collections.all {
      if let index = plan.indexes.first(where: { $0.number == number }) {
        let entries = try sortedEntries(of: index, plan, behind: fence, snapshot, progress)
        return Source(backfill: .index(entries), generation: generation)
      }
      if let view = plan.views.first(where: { $0.number == number }) {
        return Source(backfill: .view(view, plan), generation: generation)
      }
    }
    return nil
  }

  private func sortedEntries(
    of index: IndexPlan, _ plan: CollectionPlan, behind fence: [UInt8], _ snapshot: Snapshot,
    _ progress: ProgressReporter
  ) throws -> IndexBackfill {
    let total = UInt64(try snapshot[plan.path].childCount)
    var done: UInt64 = 0
    let entries = try snapshot.reader.entries(of: .index(index), plan, behind: fence) {
      done += 1
      if done % 1024 == 0 { try progress.tellSeldom("reading \(plan.path)", done, total) }
    }
    return try IndexBackfill(index, entries)
  }

  /// Takes the writer's turn for one step.
  ///
  /// - Returns: The result of `body`; nil if the state is of another generation.
  mutating func step(
    _ name: String, of generation: UInt64? = nil, _ progress: ProgressReporter,
    _ body: (inout StateWriter, _ end: ContinuousClock.Instant) throws -> Bool
  ) throws -> Bool? {
    let directory = writer.directory
    return try writer.step(name, &pace) { end in
      // Closing the database during a step leaves the state as the step found it.
      try progress.check()
      let state = try directory.stateForStep().state
      if let generation, generation != state.generation { return nil }
      var projector = try StateWriter(state, catalog: directory.stateInUse.catalog)
      let isDone = try body(&projector, end)
      try projector.commit()
      return isDone
    }
  }
}
