import Dispatch
import Synchronization

/// Makes timelines in the background, one after the other.
final class TimelineJob: Job {
  private struct Order: Sendable {
    let question: GroupTimelines.Question
    let moment: UInt64
    let timelines: GroupTimelines
  }

  /// More orders than this are refused, whoever asks.
  private static let ordersMax = 16

  let name = "timelines"
  /// Somebody is about to ask for the next moment.
  var quality: DispatchQoS { .userInitiated }
  private weak let database: Database?
  private let orders = Mutex<[Order]>([])

  private init(_ database: Database) { self.database = database }

  /// The job of a database that is being opened.
  static func forOpening(_ database: Database) -> TimelineJob {
    slots(database.directory).object(ObjectIdentifier(TimelineJob.self)) { TimelineJob(database) }
  }

  /// The job of an open database.
  static func of(_ directory: OpenDirectory) -> TimelineJob? {
    slots(directory).object(ObjectIdentifier(TimelineJob.self))
  }

  private static func slots(_ directory: OpenDirectory) -> Slots { directory.feed.observers.slots }

  /// Makes a timeline soon.
  ///
  /// - Parameters:
  ///   - question: The question that it is to answer.
  ///   - moment: A moment at which the question's collection is there.
  ///   - timelines: Where it is kept; asked again before it is made.
  func make(
    _ question: GroupTimelines.Question, at moment: UInt64, for timelines: GroupTimelines
  ) {
    let isTaken = orders.withLock { orders in
      if orders.count == TimelineJob.ordersMax { return false }
      orders.append(Order(question: question, moment: moment, timelines: timelines))
      return true
    }
    if isTaken, database?.jobs.wake(self) == true { return }
    timelines.giveUp(question, at: moment)
    if isTaken { giveUpAll() }
  }

  func step(_ progress: ProgressReporter) throws -> JobStep {
    // The database may end, and closes itself then: it is not held for the time of the step.
    guard let directory = database?.directory, let order = takeFirst() else { return .whenDue }
    let (timelines, question) = (order.timelines, order.question)
    do {
      let made = try translating { try timeline(order, directory, progress) }
      timelines.keep(made, question)
    } catch let error as DatabaseError where !error.isOfMoment {
      // Reading the records says what is wrong with them.
      timelines.keep(nil, question)
    } catch {
      timelines.giveUp(question, at: order.moment)
    }
    return .atOnce
  }

  /// The next order that is still wanted.
  private func takeFirst() -> Order? {
    orders.withLock { orders in
      while !orders.isEmpty {
        let order = orders.removeFirst()
        if order.timelines.isAwaiting(order.question) { return order }
      }
      return nil
    }
  }

  private func timeline(
    _ order: Order, _ directory: OpenDirectory, _ progress: ProgressReporter
  ) throws -> GroupTimeline? {
    let snapshot = try directory.snapshot(at: .sequence(SequenceNumber(order.moment)))
    let records = try QueryRecords(snapshot)
    // Another catalog has timelines of its own.
    let (query, node) = (order.question.query, order.question.node)
    guard GroupTimelines.of(records.catalog) === order.timelines,
      try records.node(query.collection) == node
    else { return nil }
    // All records are read, by whichever way those of one moment are found.
    let run = QueryRun(try QueryPlanner(query, records).planForKeys(), records)
    run.work.check = { try progress.check() }
    return try TimelineReading.timeline(of: run, node)
  }

  func fail(_ error: any Error) { giveUpAll() }

  private func giveUpAll() {
    let failed = orders.withLock { orders in
      defer { orders = [] }
      return orders
    }
    for order in failed { order.timelines.giveUp(order.question, at: order.moment) }
  }
}

extension DatabaseError {
  /// True if the same may succeed for another moment, or a moment later.
  fileprivate var isOfMoment: Bool {
    switch self {
    case .compacted, .noSuchMoment, .closed, .busy: true
    default: false
    }
  }
}
