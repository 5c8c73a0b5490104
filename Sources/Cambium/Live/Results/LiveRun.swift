// A live query at work: it has a moment, and steps from there to a later one.
//
//     mailbox ─ net changes ─▶ Dependencies ─ candidates ─▶ ResultEvaluator ─ rows ─▶ LiveRows
//         ─ WindowDiff ─▶ elements ─▶ LiveDiff

import LMDB

/// Follows one query. It is used by one observer, which calls it from one task at a time.
final class LiveRun {
  private(set) var query: any FollowedQuery
  let database: Database
  /// The changes that concern the query; nil for a run that its owner moves.
  private let inbox: (router: LiveRouter, mailbox: LiveMailbox)?
  /// The rows; nil before the first step.
  private(set) var result: (any LiveOperator)?
  /// The part of the result that is kept, where it is another than the query's own.
  var extent: WindowExtent?
  /// The collection whose records the rows are made of.
  private var collection: NodePath
  /// The moment that the result is of; nil before the first.
  private(set) var sequence: SequenceNumber?
  private(set) var elements = ChunkedList<ElementBox>()
  /// True if there was a row behind the window at that moment, for a run that is asked for it.
  private(set) var hasNext = false
  /// Called before the result changes, once for each step, which cannot fail from then on.
  var willTake: (_ isEmpty: Bool) -> Void = { _ in }
  /// True after a step has failed: the rows may be of another moment than the elements.
  private var isBroken = false

  /// Begins to note changes. Nothing is read before the first step.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - extent: The part of its result to keep, where it is another than its own.
  ///   - isMoved: True if the owner gives each step its changes.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a query of a snapshot or a transaction.
  init(_ query: any FollowedQuery, _ extent: WindowExtent? = nil, isMoved: Bool = false) throws {
    let database = try LiveRun.database(of: query)
    (self.query, self.database, self.extent) = (query, database, extent)
    collection = query.request.description.collection
    if isMoved {
      inbox = nil
    } else {
      let router = LiveRouter.of(database)
      inbox = (router, try router.add([.init(collection: collection, test: .any)]))
    }
  }

  deinit { if let inbox { inbox.router.remove(inbox.mailbox) } }

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
    guard let mailbox = inbox?.mailbox else { return }
    await mailbox.wait(after: mailbox.takes)
  }

  /// Ends the wait, or the next one: the result has changed otherwise than by a commit.
  func wake() { inbox?.mailbox.nudge() }

  /// Brings the result up to the newest moment.
  ///
  /// - Parameter turn: Changes the window after that.
  /// - Returns: The difference; the first time, all rows as insertions.
  /// - Throws: As ``Walk/fetch()``; the result is then as before, and the next step reads it again.
  func step(
    then turn: (LiveReading) throws -> WindowDiff? = { _ in nil }
  ) throws -> BoxedDiff {
    let (reading, pending) = try receive()
    return try keeping {
      var diff = try takeIn(pending, reading)
      guard let result, let rows = try turn(reading) else { return take(diff) }
      var elements = elements
      diff.apply(to: &elements)
      var turned = try difference(rows, result, reading, from: elements) { _ in .question }
      turned.apply(to: &elements)
      renewGuards(result)
      // Rows that are made again later begin where these do.
      extent = reading.extent
      return take(applied: rows.isEmpty ? diff : diff.composed(with: turned, query.areEqual))
    }
  }

  /// Brings the result to the moment of a view, which may be an earlier one.
  ///
  /// - Parameters:
  ///   - reading: The view.
  ///   - pending: The changes up to there, in the direction of the step.
  /// - Returns: The difference; the first time, all rows as insertions.
  /// - Throws: As ``step(then:)``.
  func move(to reading: LiveReading, by pending: LiveMailbox.Pending) throws -> BoxedDiff {
    try keeping { take(try takeIn(pending, reading)) }
  }

  /// Takes a step; if it fails, the result stays as it was, and the next step reads it again.
  private func keeping(_ body: () throws -> BoxedDiff) throws -> BoxedDiff {
    let before = extent
    do { return try body() } catch {
      (extent, isBroken) = (before, true)
      inbox?.mailbox.invalidate()
      throw error
    }
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
    _ pending: LiveMailbox.Pending, _ reading: LiveReading
  ) throws -> BoxedDiff {
    guard let result else { return try again(reading, .question) }
    let isValid = try result.isValid(reading.records)
    if !isValid { try anchorAgain(reading) }
    guard case .changes(let changes) = pending, isValid, !isBroken else {
      return try again(reading, .related)
    }
    return try advance(result, changes, reading)
  }

  /// Asks another question from now on.
  ///
  /// - Returns: The difference between the results of the two.
  /// - Throws: As ``step(then:)``; the question, its rows and its guards are then the former ones.
  func ask(_ other: any FollowedQuery) throws -> BoxedDiff {
    guard try LiveRun.database(of: other).directory === database.directory else {
      throw DatabaseError.misuse(reason: "the other question is to another database")
    }
    let former = query
    query = other
    do { return take(try again(receive().0, .question)) } catch {
      query = former
      // The changes that were received are not in the rows.
      inbox?.mailbox.invalidate()
      throw error
    }
  }

  /// Runs the query, and compares with the rows that there are; where nothing can be compared, all
  /// elements are replaced. Nothing has changed if it throws.
  ///
  /// - Parameters:
  ///   - reading: The state.
  ///   - cause: The reason why a row differs whose own record is not known to have changed.
  ///   - changes: The changes since the step before, where they are known.
  /// - Returns: The difference, which is not applied yet.
  /// - Throws: As ``step(then:)``.
  private func again(
    _ reading: LiveReading, _ cause: LiveCause, after changes: [NetChange]? = nil
  ) throws -> BoxedDiff {
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
    _ result: any LiveOperator, _ changes: [NetChange], _ reading: LiveReading
  ) throws -> BoxedDiff {
    defer { result.endStep() }
    guard let step = try result.step(changes, reading) else {
      // Without a window, a row whose own record has not changed follows from another one's.
      let isByWindow =
        (extent ?? query.extent).isBounded && result.isOfRecords
        && changes.allSatisfy { $0.collection == collection }
      return try again(reading, isByWindow ? .window : .related, after: changes)
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
          properties: try LiveRun.properties(change, result, far: far?.properties, reading),
          cause: cause(survivor.row)))
    }
    diff.addMoves(of: rows, elements)
    return diff
  }

  /// Makes a step's result the one that there is.
  private func take(_ diff: BoxedDiff) -> BoxedDiff {
    var diff = diff
    willTake(diff.isEmpty)
    diff.apply(to: &elements)
    return note(diff)
  }

  /// As ``take(_:)``, for a difference that has its elements.
  private func take(applied diff: BoxedDiff) -> BoxedDiff {
    willTake(diff.isEmpty)
    elements = diff.elements
    return note(diff)
  }

  /// Notes the moment of a step's result.
  private func note(_ diff: BoxedDiff) -> BoxedDiff {
    sequence = diff.sequence
    if let extent, extent.knowsNext { hasNext = pages?.hasNext ?? false }
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
