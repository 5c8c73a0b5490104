// A live query as its observer has it: the result at a moment, and the steps to a later one.
//
//     observer's executor   wait ─▶ shortStep ───────────────────────────▶ take ─▶ diff
//     a thread                        └ too long ─▶ LiveWork.finish ──────┘
//
// A step that looks at few records is computed where its observer waits: a hop would cost more. For
// any other the observer's executor stays free: a screen goes on while a query is run again.

/// Follows one query. It is used by one observer, on one executor.
final class LiveRun {
  let database: Database
  private let turn: WorkTurn
  /// The changes that concern the query; nil for a run that its owner moves.
  private let mailbox: LiveMailbox?
  /// The moment that the result is of; nil before the first.
  private(set) var sequence: SequenceNumber?
  private(set) var elements = ChunkedList<ElementBox>()
  /// True if the window begins behind the first row, as pages do that were turned.
  private(set) var hasPrevious = false
  /// True if there was a row behind the window at that moment, for a run that is asked for it.
  private(set) var hasNext = false
  /// Called before the result changes, once for each step, which cannot fail from then on.
  var willTake: (_ isEmpty: Bool) -> Void = { _ in }
  /// True while a step is computed here.
  private var isStepping = false
  /// True within while another thread finishes a step; nil if none does.
  private var finishing: AsyncMonitor<Bool>?

  /// Begins to note changes. Nothing is read before the first step.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - extent: The part of its result to keep, where it is another than its own.
  ///   - isMoved: True if the owner gives each step its changes.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a query of a snapshot or a transaction.
  init(_ query: any FollowedQuery, _ extent: WindowExtent? = nil, isMoved: Bool = false) throws {
    let database = try LiveRun.database(of: query)
    self.database = database
    var inbox: LiveInbox?
    if !isMoved {
      let (router, collection) = (LiveRouter.of(database), query.request.description.collection)
      inbox = LiveInbox(
        router: router, mailbox: try router.add([.init(collection: collection, test: .any)]))
    }
    mailbox = inbox?.mailbox
    turn = WorkTurn(LiveWork(query, database, inbox, extent))
  }

  /// The database that a query follows.
  private static func database(of query: any FollowedQuery) throws -> Database {
    guard case .database(let database) = query.request.source else {
      throw DatabaseError.misuse(
        reason: "a live query follows a database; a snapshot and a transaction do not change")
    }
    if query.request.description.after != nil {
      throw DatabaseError.misuse(
        reason: "a live query has no cursor; use limit and offset, or a condition")
    }
    return database
  }

  // MARK: Steps

  /// Waits until there may be something new. Returns at once if the task is cancelled or the
  /// database closed.
  func wait(isolation actor: isolated (any Actor)? = nil) async {
    guard let mailbox else { return }
    await mailbox.wait(after: mailbox.takes)
  }

  /// Ends the wait, or the next one: the result has changed otherwise than by a commit.
  func wake() { mailbox?.nudge() }

  /// Brings the result up to the newest moment at once. If another thread finishes a step, that is
  /// waited for, and becomes part of this one.
  ///
  /// - Parameter turn: Changes the window after that.
  /// - Returns: The difference; the first time, all rows as insertions.
  /// - Throws: As ``LiveWork/step(from:then:)``.
  func step(
    then turn: (LiveWork, LiveReading) throws -> WindowDiff? = { _, _ in nil }
  ) throws -> BoxedDiff {
    take(try computing { try $0.step(from: elements, then: turn) })
  }

  /// Brings the result to the moment of a view, which may be an earlier one.
  ///
  /// - Parameters:
  ///   - reading: The view.
  ///   - pending: The changes up to there, in the direction of the step.
  /// - Returns: The difference; the first time, all rows as insertions.
  /// - Throws: As ``LiveWork/step(from:then:)``.
  func move(to reading: LiveReading, by pending: LiveMailbox.Pending) throws -> BoxedDiff {
    take(try computing { try $0.move(to: reading, by: pending, from: elements) })
  }

  /// Asks another question from now on.
  ///
  /// - Returns: The difference between the results of the two.
  /// - Throws: As ``LiveWork/ask(_:from:)``.
  func ask(_ other: any FollowedQuery) throws -> BoxedDiff {
    guard try LiveRun.database(of: other).directory === database.directory else {
      throw DatabaseError.misuse(reason: "the other question is to another database")
    }
    return take(try computing { try $0.ask(other, from: elements) })
  }

  /// Has the work as long as a step is computed, which may call code of the app.
  private func computing<R>(_ body: (LiveWork) throws -> R) throws -> R {
    if isStepping { throw DatabaseError.stepWithinStep }
    isStepping = true
    defer { isStepping = false }
    return try turn.have(body)
  }

  /// Has the work without a step.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` within a step.
  func having<R>(_ body: (LiveWork) throws -> R) throws -> R { try computing(body) }

  // MARK: Steps elsewhere

  /// The outcome of ``prepare(isolation:)``.
  enum Prepared {
    /// A step, which must be taken before anything is awaited.
    case step(LiveStep)
    /// The step was taken already, as part of another one.
    case taken
    /// The task is cancelled, or the database closed.
    case over
  }

  /// Computes a step to the newest moment: on the executor of the observer if it is a short one,
  /// else on a thread of its own. The result is as before until ``take(_:)``.
  ///
  /// - Parameter actor: The actor to which the run belongs.
  /// - Returns: The step, if there is one.
  /// - Throws: As ``LiveWork/step(from:then:)``.
  func prepare(isolation actor: isolated (any Actor)?) async throws -> Prepared {
    if isOver { return .over }
    if let finishing {
      await finishing.wait { $0 ? nil : () }
      return isOver ? .over : .taken
    }
    do {
      if let step = try computing({ try $0.shortStep(from: elements) }) { return .step(step) }
      try await finish()
      if isOver { return .over }
      return turn.have { $0.takeFinished() }.map { .step($0) } ?? .taken
    } catch {
      if isOver { return .over }
      throw error
    }
  }

  /// Has another thread finish the step that was postponed.
  private func finish(isolation actor: isolated (any Actor)? = #isolation) async throws {
    let (turn, elements, directory) = (turn, elements, database.directory)
    let monitor = AsyncMonitor(true)
    finishing = monitor
    defer {
      finishing = nil
      monitor.change { $0 = false }
      // The step has taken the changes: a loop that waits, or the next one, would not hear of it.
      wake()
    }
    let queue = directory.options.background.makeQueue("cambium.live")
    try await BlockingWork.run(on: queue) { isCancelled in
      try turn.have {
        try $0.finish(from: elements) { isCancelled() || directory.feed.isClosed }
      }
    }
  }

  private var isOver: Bool { Task.isCancelled || database.directory.feed.isClosed }

  // MARK: The result

  /// Makes a step's result the one that there is.
  func take(_ step: LiveStep) -> BoxedDiff {
    var diff = step.diff
    willTake(diff.isEmpty)
    if step.isApplied { elements = diff.elements } else { diff.apply(to: &elements) }
    (sequence, hasPrevious, hasNext) = (diff.sequence, step.hasPrevious, step.hasNext)
    return diff
  }
}

extension DatabaseError {
  /// A live result is asked for a step while it takes one.
  static var stepWithinStep: DatabaseError {
    .misuse(reason: "a live result cannot take a step within another step")
  }
}
