import LMDB
import Synchronization

/// The timelines of the queries that were asked of several past moments, for as long as the catalog
/// stays what it is. Any thread may use them.
///
/// Most questions about the past are asked once; they read the records. The second moment of one
/// has its timeline made in the background, and reads the records as well.
final class GroupTimelines: Sendable {
  /// The most questions that are remembered, and so the most timelines.
  private static let countMax = 4
  /// The entries of tree and history, for each record that would be read, above which reading all
  /// of them does not pay.
  private static let entriesPerRecord = 64.0
  /// The entries that are read for a timeline in one view, in a few seconds: as long as it is held,
  /// no page of the state is used again.
  private static let entriesMax = 10_000_000

  private enum Progress {
    /// One moment was asked for.
    case asked(UInt64)
    /// The timeline is made in the background.
    case awaited
    case kept(GroupTimeline)
    /// No timeline can be made.
    case impossible
  }

  /// A query, without the condition, the order and the window of its groups, with the node id of
  /// its collection, and with the declaration, which says what absence stood for at the moment.
  struct Question: Hashable, Sendable {
    let query: QueryDescription
    let node: UInt64
    let definition: CollectionDefinition?
    /// The query in words. Texts that are equivalent in Unicode are equal in Swift, and may name
    /// two properties.
    private let words: [UInt8]

    init(_ query: QueryDescription, node: UInt64, _ records: QueryRecords) {
      (self.query, self.node) = (query, node)
      definition = records.definition(of: query.collection)
      words = Array(query.description.utf8)
    }
  }

  /// The question that was asked last is at the end.
  private let known = Mutex<[(question: Question, progress: Progress)]>([])

  /// The timelines that are kept with a catalog.
  static func of(_ catalog: Catalog) -> GroupTimelines? {
    // Databases share what is kept with an empty catalog.
    if catalog.slots === Slots.ofNothing { return nil }
    return catalog.slots.object(ObjectIdentifier(GroupTimelines.self)) { GroupTimelines() }
  }

  /// Visits the groups of a run by a timeline.
  ///
  /// - Returns: False, before anything was visited, where the records must be read.
  /// - Throws: Any error that `body` throws, and what reading records throws.
  static func forEachGroup(
    of run: QueryRun, _ body: ([Value]) throws -> Bool
  ) throws -> Bool {
    guard let moment = run.records.snapshot.moment, let question = try question(of: run),
      let timelines = GroupTimelines.of(run.records.catalog)
    else { return false }
    let (timeline, isWanted) = timelines.ask(question, at: moment)
    if isWanted {
      TimelineJob.of(run.records.snapshot.directory)?.make(question, at: moment, for: timelines)
    }
    guard let timeline else { return false }
    let isAnswered = try timeline.forEach(of: run, body)
    if timeline.isOutdated(at: moment) { timelines.forget(timeline, question, at: moment) }
    return isAnswered
  }

  /// The question that a timeline answers; nil where none can be kept for it, or none pays.
  private static func question(of run: QueryRun) throws -> Question? {
    let (records, asked) = (run.records, run.plan.description)
    guard var grouping = asked.grouping, !records.snapshot.isLive, try isWorthIt(run),
      asked.joins.isEmpty, !asked.hasFilter,
      grouping.aggregates.allSatisfy({ $0.kind != .minimum && $0.kind != .maximum }),
      try dependsOnRecordAlone(run), let node = try records.node(asked.collection)
    else { return nil }
    grouping.condition = nil
    var query = QueryDescription(asked.collection, where: asked.condition)
    query.grouping = grouping
    return Question(query, node: node, records)
  }

  private static func isWorthIt(_ run: QueryRun) throws -> Bool {
    let records = Double(run.records.snapshot.directory.options.stepSizes.timeline.records)
    let asked = run.plan.access.cost / QueryPlanner.Cost.pastRecord
    let reader = run.records.reader
    if asked < records { return false }
    let entries =
      try reader.access.count(reader.tables.history)
      + run.records.presentCount(run.plan.description.collection)
    return entries <= entriesMax && Double(entries) <= entriesPerRecord * asked
  }

  /// True if a record's share of its group follows from its own bytes. A semijoin would have put
  /// other records' keys of one moment into the plan's condition.
  private static func dependsOnRecordAlone(_ run: QueryRun) throws -> Bool {
    if run.plan.access.program?.usesRelated ?? false { return false }
    if run.plan.description.condition?.test.hasFarSide ?? false { return false }
    return try GroupTimeline.paths(of: run).map { !$0.usesRelated } ?? false
  }

  /// The timeline that answers a question, if there is one, and true where one should be made.
  private func ask(
    _ question: Question, at moment: UInt64
  ) -> (timeline: GroupTimeline?, isWanted: Bool) {
    known.withLock { known in
      let index = known.firstIndex { $0.question == question }
      var entry = index.map { known.remove(at: $0) } ?? (question, .asked(moment))
      defer { known.append(entry) }
      if known.count == GroupTimelines.countMax { known.removeFirst() }
      switch entry.progress {
      case .kept(let timeline): return (timeline, false)
      case .asked(let other) where other != moment:
        entry.progress = .awaited
        return (nil, true)
      default: return (nil, false)
      }
    }
  }

  // MARK: Making

  /// True while the timeline of a question is waited for.
  func isAwaiting(_ question: Question) -> Bool {
    known.withLock { known in
      known.contains { if case .awaited = $0.progress { $0.question == question } else { false } }
    }
  }

  /// Keeps the timeline of a question; nil where none can be made.
  func keep(_ timeline: GroupTimeline?, _ question: Question) {
    change(question) { progress in
      if case .awaited = progress { progress = timeline.map { .kept($0) } ?? .impossible }
    }
  }

  /// Waits no more for the timeline of a question; the next moment asks for it again.
  func giveUp(_ question: Question, at moment: UInt64) {
    change(question) { if case .awaited = $0 { $0 = .asked(moment) } }
  }

  /// Forgets a timeline after which too much has come; the next moment has another one made.
  private func forget(_ timeline: GroupTimeline, _ question: Question, at moment: UInt64) {
    change(question) { progress in
      if case .kept(let kept) = progress, kept === timeline { progress = .asked(moment) }
    }
  }

  private func change(_ question: Question, _ body: (inout Progress) -> Void) {
    known.withLock { known in
      guard let index = known.firstIndex(where: { $0.question == question }) else { return }
      body(&known[index].progress)
    }
  }
}
