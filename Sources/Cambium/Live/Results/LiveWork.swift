// The work of a live query: from the changes that concern it to the difference of its result.
//
//     mailbox ─ net changes ─▶ Dependencies ─ candidates ─▶ ResultEvaluator ─ rows ─▶ LiveRows
//         ─ WindowDiff ─▶ elements ─▶ BoxedDiff
//
// A step that would take long is put off as soon as that shows, which is before anything has
// changed, and finished later, on another thread.

import LMDB

/// The rows of one live query, and the steps that they take. One thread has it at a time: see
/// ``WorkTurn``. The elements that it compares with belong to its observer, who gives them.
final class LiveWork {
  private(set) var query: any FollowedQuery
  private let database: Database
  /// The changes that concern the query; nil for one whose owner gives them.
  private let inbox: LiveInbox?
  /// The rows; nil before the first step.
  private(set) var result: (any LiveOperator)?
  /// The part of the result that is kept, where it is another than the query's own.
  var extent: WindowExtent?
  /// The collection whose records the rows are made of.
  private var collection: NodePath
  /// True after a step has failed: the rows may be of another moment than the elements.
  private var isBroken = false
  /// True once a step has changed the rows.
  private var hasTouched = false
  /// A long step that is not shown yet. It lies in a box, since nearly all queries have none.
  private indirect enum OpenStep {
    case postponed(LiveReading, LiveMailbox.Pending)
    case finished(LiveStep)
  }

  private var open: OpenStep?

  init(
    _ query: any FollowedQuery, _ database: Database, _ inbox: LiveInbox?, _ extent: WindowExtent?
  ) {
    (self.query, self.database, self.inbox, self.extent) = (query, database, inbox, extent)
    collection = query.request.description.collection
  }

  deinit { if let inbox { inbox.router.remove(inbox.mailbox) } }

  // MARK: Steps

  /// Brings the result up to the newest moment.
  ///
  /// - Parameters:
  ///   - elements: The elements of the observer's result.
  ///   - turn: Changes the window after that.
  /// - Returns: The step from these elements.
  /// - Throws: As ``Walk/fetch()``; the result is then as before, and the next step reads it again.
  func step(
    from elements: ChunkedList<ElementBox>, then turn: (LiveWork, LiveReading) throws -> WindowDiff?
  ) throws -> LiveStep {
    try finish(from: elements)
    let (reading, pending) = try receive()
    return try afterFinished(elements) { elements in
      try keeping {
        var diff = try takeIn(pending, reading, from: elements)
        guard let result else { return leading(diff) }
        hasTouched = true
        guard let rows = try turn(self, reading) else { return leading(diff) }
        var elements = elements
        diff.apply(to: &elements)
        var turned = try difference(rows, result, reading, from: elements) { _ in .question }
        turned.apply(to: &elements)
        renewGuards(result)
        // Rows that are made again later begin where these do.
        extent = reading.extent
        return leading(
          rows.isEmpty ? diff : diff.composed(with: turned, query.areEqual), isApplied: true)
      }
    }
  }

  /// Takes a step to the newest moment, if it is a short one.
  ///
  /// - Parameter elements: The elements of the observer's result.
  /// - Returns: The step; nil if it takes long, and ``finish(from:isCancelled:)`` is to be called.
  /// - Throws: As ``step(from:then:)``.
  func shortStep(from elements: ChunkedList<ElementBox>) throws -> LiveStep? {
    if open != nil { return nil }
    let (reading, pending) = try receive()
    reading.shorten(to: database.directory.options.stepSizes.shortRecords)
    do {
      return try keeping { leading(try takeIn(pending, reading, from: elements)) }
    } catch is LongStep {
      open = .postponed(reading, pending)
      return nil
    }
  }

  /// Finishes the step that was postponed, if there is one and it was not finished since.
  ///
  /// - Parameters:
  ///   - elements: The elements of the observer's result.
  ///   - isCancelled: True once the task that waits for the step is cancelled, or the database
  ///     closed.
  /// - Throws: As ``step(from:then:)``; `CancellationError`.
  func finish(
    from elements: ChunkedList<ElementBox>, isCancelled: (@Sendable () -> Bool)? = nil
  ) throws {
    guard case .postponed(let reading, let pending)? = open else { return }
    open = nil
    reading.lengthen(isCancelled)
    var step = try keeping { leading(try takeIn(pending, reading, from: elements)) }
    step.apply(to: elements)
    open = .finished(step)
  }

  /// The step that was finished and is not shown yet.
  func takeFinished() -> LiveStep? {
    guard case .finished(let step)? = open else { return nil }
    open = nil
    return step
  }

  /// Brings the result to the moment of a view, which may be an earlier one.
  ///
  /// - Parameters:
  ///   - reading: The view.
  ///   - pending: The changes up to there, in the direction of the step.
  ///   - elements: The elements of the observer's result.
  /// - Returns: The step from these elements.
  /// - Throws: As ``step(from:then:)``.
  func move(
    to reading: LiveReading, by pending: LiveMailbox.Pending,
    from elements: ChunkedList<ElementBox>
  ) throws -> LiveStep {
    try keeping { leading(try takeIn(pending, reading, from: elements)) }
  }

  /// Asks another question from now on.
  ///
  /// - Parameters:
  ///   - other: The question, to the same database.
  ///   - elements: The elements of the observer's result.
  /// - Returns: The step between the results of the two.
  /// - Throws: As ``step(from:then:)``; the question, its rows and its guards are then the former
  ///   ones.
  func ask(
    _ other: any FollowedQuery, from elements: ChunkedList<ElementBox>
  ) throws -> LiveStep {
    let former = query
    query = other
    if case .postponed? = open { open = nil }
    do {
      let (reading, _) = try receive()
      return try afterFinished(elements) { leading(try again(reading, .question, from: $0)) }
    } catch {
      query = former
      // The changes that were received are not in the rows.
      inbox?.mailbox.invalidate()
      throw error
    }
  }

  /// Takes a step behind the one that was finished and is not shown, so that they are shown as one.
  private func afterFinished(
    _ elements: ChunkedList<ElementBox>, _ body: (ChunkedList<ElementBox>) throws -> LiveStep
  ) throws -> LiveStep {
    guard case .finished(let earlier)? = open else { return try body(elements) }
    var step = try body(earlier.diff.elements)
    step.apply(to: earlier.diff.elements)
    step.diff = earlier.diff.composed(with: step.diff, query.areEqual)
    open = nil
    return step
  }

  /// Takes a step; if it fails, the result stays as it was, and the next step reads it again.
  private func keeping(_ body: () throws -> LiveStep) throws -> LiveStep {
    let before = extent
    hasTouched = false
    do { return try body() } catch {
      extent = before
      if error is LongStep { throw error }
      isBroken = isBroken || hasTouched
      inbox?.mailbox.invalidate()
      throw error
    }
  }

  /// The step of a difference that leads to the rows as they are.
  private func leading(_ diff: BoxedDiff, isApplied: Bool = false) -> LiveStep {
    let hasNext = (extent?.knowsNext ?? false) && pages?.hasNext ?? false
    return LiveStep(
      diff: diff, isApplied: isApplied, hasPrevious: extent?.start != nil, hasNext: hasNext)
  }

  /// A view of the newest moment, and the changes up to it.
  private func receive() throws -> (LiveReading, LiveMailbox.Pending) {
    let snapshot = try database.snapshot()
    try inbox?.router.advance(to: snapshot.sequence)
    let pending = inbox?.mailbox.take(upTo: snapshot.sequence) ?? .all
    do { return (try LiveReading(query, snapshot, extent), pending) } catch {
      inbox?.mailbox.invalidate()
      throw error
    }
  }

  private func takeIn(
    _ pending: LiveMailbox.Pending, _ reading: LiveReading,
    from elements: ChunkedList<ElementBox>
  ) throws -> BoxedDiff {
    guard let result else { return try again(reading, .question, from: elements) }
    let isValid = try result.isValid(reading.records)
    if !isValid {
      try reading.demandTime()
      try anchorAgain(reading)
    }
    guard case .changes(let changes) = pending, isValid, !isBroken else {
      return try again(reading, .related, from: elements)
    }
    return try advance(result, changes, reading, from: elements)
  }

  /// Runs the query, and compares with the rows that there are; where nothing can be compared, all
  /// elements are replaced. Nothing has changed if it throws.
  ///
  /// - Parameters:
  ///   - reading: The state.
  ///   - cause: The reason why a row differs whose own record is not known to have changed.
  ///   - changes: The changes since the step before, where they are known.
  ///   - elements: The elements of the observer's result.
  /// - Returns: The difference, which is not applied yet.
  /// - Throws: As ``step(from:then:)``.
  private func again(
    _ reading: LiveReading, _ cause: LiveCause, after changes: [NetChange]? = nil,
    from elements: ChunkedList<ElementBox>
  ) throws -> BoxedDiff {
    try reading.demandTime()
    reading.mayEnd = true
    let other = try reading.makeOperator()
    let after = try other.fill(reading)
    let root = query.request.description.collection
    let former = isBroken || collection != root ? nil : result
    let rows =
      former.map { WindowDiff(from: $0.visible, to: after) }
      ?? WindowDiff(replacing: elements.count, with: after)
    let own = former == nil ? nil : changes.map { self.own($0, other) }
    let diff = try difference(rows, other, reading, own, from: elements) { row in
      own?[row.key] == nil ? cause : .own
    }
    watch(other)
    (result, isBroken, collection) = (other, false, root)
    return diff
  }

  /// Has the router send what can concern the rows.
  private func watch(_ result: any LiveOperator) {
    guard let inbox else { return }
    inbox.router.replace(result.guards, of: inbox.mailbox)
    if result.watchesAll { inbox.router.watch(inbox.mailbox) }
  }

  /// Has the router follow the change of the guards in a step.
  private func renewGuards(_ result: any LiveOperator) {
    switch result.takeGuardChange() {
    case .all: watch(result)
    case .edit(let removing, let adding):
      guard let inbox, !removing.isEmpty || !adding.isEmpty else { return }
      inbox.router.edit(removing: removing, adding: adding, of: inbox.mailbox)
    }
  }

  private func advance(
    _ result: any LiveOperator, _ changes: [NetChange], _ reading: LiveReading,
    from elements: ChunkedList<ElementBox>
  ) throws -> BoxedDiff {
    defer { result.endStep() }
    hasTouched = true
    let taken: (diff: WindowDiff, candidates: SortedKeys)?
    do { taken = try result.step(changes, reading) } catch {
      hasTouched = !(error is LongStep)
      throw error
    }
    guard let step = taken else {
      hasTouched = false
      // Without a window, a row whose own record has not changed follows from another one's.
      let isByWindow =
        (extent ?? query.extent).isBounded && result.isOfRecords
        && changes.allSatisfy { $0.collection == collection }
      return try again(
        reading, isByWindow ? .window : .related, after: changes, from: elements)
    }
    var diff = BoxedDiff(sequence: reading.snapshot.sequence)
    if !step.diff.isEmpty {
      let own = own(changes, result)
      var rows = step.diff
      rows.survivors = try rows.survivors.filter { try result.changesElement($0.row, own) }
      diff = try difference(rows, result, reading, own, from: elements) { row in
        let key = row.key
        if own[key] != nil { return .own }
        return step.candidates.contains(key) ? .related : .window
      }
    }
    renewGuards(result)
    return diff
  }

  /// The changes of the rows' own records. Rows that are made of several have other keys.
  private func own(_ changes: [NetChange], _ result: any LiveOperator) -> ChangesByKey {
    ChangesByKey(result.isOfRecords ? changes : [], of: collection)
  }

  // MARK: Elements

  /// Makes the elements of what has changed, and the diff, which is not applied yet. The changes of
  /// the rows' own records are nil where they are not known.
  private func difference(
    _ rows: WindowDiff, _ result: any LiveOperator, _ reading: LiveReading,
    _ own: ChangesByKey? = nil, from elements: ChunkedList<ElementBox>,
    _ cause: (PlacedResult) -> LiveCause
  ) throws -> BoxedDiff {
    let wanted = rows.insertions.map(\.row) + rows.survivors.map(\.row)
    let made = wanted.isEmpty ? [] : try result.elements(of: wanted, reading)
    var diff = BoxedDiff(sequence: reading.snapshot.sequence)
    for place in rows.deletions {
      diff.deletions.append(
        .init(
          position: place.position, element: elements[place.position],
          cause: place.isShift ? .window : cause(place.row)))
    }
    for (index, place) in rows.insertions.enumerated() {
      diff.insertions.append(
        .init(
          position: place.position, element: made[index],
          cause: place.isShift ? .window : cause(place.row)))
    }
    for (index, survivor) in rows.survivors.enumerated() {
      let new = made[rows.insertions.count + index]
      let (change, old) = (own?[survivor.row.key], elements[survivor.before])
      let far = try result.farUpdates(of: survivor.row, reading.records)
      // Unless what is shown of a record has changed, an element that is equal has not changed.
      let isShown = try far?.isShown ?? false || change.map { try result.isShown($0) } ?? false
      if !isShown, query.areEqual(old, new) { continue }
      diff.updates.append(
        .init(
          before: survivor.before, after: survivor.after, old: old, new: new,
          properties: try LiveWork.properties(change, result, far: far?.properties, reading),
          cause: cause(survivor.row)))
    }
    diff.addMoves(of: rows, elements)
    return diff
  }

  /// The properties of a row's own record that have changed in this step, and those of others; none
  /// where some are not known.
  private static func properties(
    _ change: NetChange?, _ result: any LiveOperator, far: [PropertyUpdate]?,
    _ reading: LiveReading
  ) throws -> ChangedProperties {
    guard let far else { return .told([]) }
    // The record as it is now: guards may have left out a change after the last one that is told.
    guard let change, let old = change.old, let new = try result.record(change, reading)
    else {
      return .told(far)
    }
    let own = ChangedProperties.records(old: old, new: new, reading.records.catalog)
    return far.isEmpty ? own : .told(own.all + far)
  }
}

extension BoxedDiff {
  /// Adds the moves that must be told. An element that has changed as well is told as it is now.
  fileprivate mutating func addMoves(of rows: WindowDiff, _ before: ChunkedList<ElementBox>) {
    if rows.moved.isEmpty { return }
    let told = rows.toldMoves
    var changed: [Int: ElementBox] = [:]
    for update in updates { changed[update.after] = update.new }
    for move in rows.moved where told.contains(move.to) {
      moves.append(
        Move(from: move.from, to: move.to, element: changed[move.to] ?? before[move.from]))
    }
  }
}
