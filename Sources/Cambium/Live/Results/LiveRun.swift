// A live query at work: it has a moment, and steps from there to a later one.
//
//     mailbox ─ net changes ─▶ Dependencies ─ candidates ─▶ ResultEvaluator ─ rows ─▶ LiveRows
//         ─ WindowDiff ─▶ elements ─▶ LiveDiff

import LMDB

/// Follows one query. It is used by one observer, which calls it from one task at a time.
final class LiveRun<R: Results> where R.Element: Sendable {
  typealias Element = R.Element
  typealias Diff = LiveDiff<Element>

  private(set) var query: R
  private let database: Database
  private let router: LiveRouter
  private let mailbox: LiveMailbox
  private var result: any LiveOperator
  /// The collection whose records the rows are made of.
  private var collection: NodePath
  /// The moment that the result is of; nil before the first.
  private(set) var sequence: SequenceNumber?
  private(set) var elements = LiveElements<Element>([])
  /// True after a step has failed: the rows may be of a later moment than the elements.
  private var isBroken = false

  /// Begins to note changes. Nothing is read before the first step.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a query of a snapshot or a transaction.
  init(_ query: R) throws {
    let database = try LiveRun.database(of: query)
    self.query = query
    self.database = database
    collection = query.request.description.collection
    router = LiveRouter.of(database)
    mailbox = try router.add([.init(collection: query.request.description.collection, test: .any)])
    result = RerunRows()
  }

  deinit { router.remove(mailbox) }

  /// The database that a query follows.
  private static func database(of query: R) throws -> Database {
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
  func wait(isolation actor: isolated (any Actor)? = nil) async { await mailbox.wait() }

  /// True if no further change will come.
  var isClosed: Bool { mailbox.isClosed || database.directory.feed.isClosed }

  /// Brings the result up to the newest moment.
  ///
  /// - Returns: The difference; the first time, all rows as insertions.
  /// - Throws: As ``Walk/fetch()``; the result is then as before, and the next step reads it again.
  func step() throws -> Diff {
    let snapshot = try database.snapshot()
    try router.advance(to: snapshot.sequence)
    let pending = mailbox.take(upTo: snapshot.sequence)
    do {
      let reading = try LiveReading(query, snapshot)
      guard sequence != nil else { return try begin(reading) }
      guard case .changes(let changes) = pending, try result.isValid(reading.records) else {
        return try again(reading, .related)
      }
      return try advance(changes, reading)
    } catch {
      isBroken = true
      mailbox.invalidate()
      throw error
    }
  }

  /// Asks another question from now on.
  ///
  /// - Returns: The difference between the results of the two.
  /// - Throws: As ``step()``; the question is then the former one.
  func ask(_ other: R) throws -> Diff {
    guard try LiveRun.database(of: other).directory === database.directory else {
      throw DatabaseError.misuse(reason: "the other question is to another database")
    }
    let former = query
    query = other
    do {
      let snapshot = try database.snapshot()
      try router.advance(to: snapshot.sequence)
      _ = mailbox.take(upTo: snapshot.sequence)
      return try again(try LiveReading(other, snapshot), .question)
    } catch {
      query = former
      mailbox.invalidate()
      throw error
    }
  }

  private func begin(_ reading: LiveReading<R>) throws -> Diff {
    result = try reading.makeOperator()
    let rows = try result.fill(reading)
    watch()
    let insertions = rows.enumerated().map {
      WindowDiff.Place(position: $0.offset, row: $0.element)
    }
    let diff = try finish(WindowDiff(insertions: insertions), reading) { _ in .question }
    (isBroken, collection) = (false, reading.description.collection)
    return diff
  }

  /// Runs the query again, and compares; where nothing can be compared, all elements are replaced.
  private func again(_ reading: LiveReading<R>, _ cause: Diff.Cause) throws -> Diff {
    let former = result
    let other = try reading.makeOperator()
    let after = try other.fill(reading)
    let canCompare = !isBroken && collection == reading.description.collection
    let rows =
      canCompare
      ? WindowDiff(from: former.visible, to: after)
      : WindowDiff(replacing: elements.count, with: after)
    result = other
    do {
      watch()
      let diff = try finish(rows, reading) { _ in cause }
      (isBroken, collection) = (false, reading.description.collection)
      return diff
    } catch {
      result = former
      throw error
    }
  }

  /// Has the router send what can concern the rows.
  private func watch() {
    router.replace(result.guards, of: mailbox)
    if result.watchesAll { router.watch(mailbox) }
  }

  private func advance(_ changes: [NetChange], _ reading: LiveReading<R>) throws -> Diff {
    let root = query.request.description.collection
    var own: [[UInt8]: NetChange] = [:]
    for change in changes where change.collection == root { own[change.key] = change }
    guard let step = try result.step(changes, reading) else { return try again(reading, .related) }
    if result.takeGuardsChanged() { watch() }
    // Rows that are made of several records have other keys.
    reading.changes = result.evaluator == nil ? [:] : own
    return try finish(step.diff, reading) { row in
      if reading.changes?[row.identity.key] != nil { return .own }
      return step.candidates.contains(row.identity.key) ? .related : .window
    }
  }

  // MARK: Elements

  /// Makes the elements of what has changed, and the diff.
  private func finish(
    _ rows: WindowDiff, _ reading: LiveReading<R>, _ cause: (PlacedResult) -> Diff.Cause
  ) throws -> Diff {
    if rows.isEmpty { return unchanged(reading) }
    let survivors = try rows.survivors.filter { survivor in
      try reading.changes.map { try result.changesElement(survivor.row, $0) } ?? true
    }
    let wanted = rows.insertions.map(\.row) + survivors.map(\.row)
    let made = try reading.elements(of: wanted, result)
    let before = elements
    var diff = DiffBuilder<Element>()
    for place in rows.deletions {
      diff.deletions.append(
        Diff.Deletion(
          position: place.position, element: before[place.position],
          cause: place.isShift ? .window : cause(place.row)))
    }
    for (index, place) in rows.insertions.enumerated() {
      diff.insertions.append(
        Diff.Insertion(
          position: place.position, element: made[index],
          cause: place.isShift ? .window : cause(place.row)))
    }
    for (index, survivor) in survivors.enumerated() {
      let (old, new) = (before[survivor.before], made[rows.insertions.count + index])
      // Without a change of its own record at hand, what is equal has not changed.
      if reading.changes?[survivor.row.identity.key] == nil, areEqual(old, new) { continue }
      diff.updates.append(
        Diff.Update(
          before: survivor.before, after: survivor.after, old: old, new: new,
          properties: try reading.properties(of: survivor.row), cause: cause(survivor.row)))
    }
    diff.addMoves(of: rows, before)
    (elements, sequence) = (diff.applied(to: before), reading.snapshot.sequence)
    return diff.finished(reading.snapshot.sequence, elements)
  }

  private func unchanged(_ reading: LiveReading<R>) -> Diff {
    sequence = reading.snapshot.sequence
    return DiffBuilder<Element>().finished(reading.snapshot.sequence, elements)
  }
}

/// The parts of a diff, as they are found.
private struct DiffBuilder<Element: Sendable> {
  typealias Diff = LiveDiff<Element>

  var deletions: [Diff.Deletion] = []
  var insertions: [Diff.Insertion] = []
  var moves: [Diff.Move] = []
  var updates: [Diff.Update] = []

  /// Adds the moves that must be told. An element that has changed as well is told as it is now.
  mutating func addMoves(of rows: WindowDiff, _ before: LiveElements<Element>) {
    if rows.moved.isEmpty { return }
    let told = rows.toldMoves
    var changed: [Int: Element] = [:]
    for update in updates { changed[update.after] = update.new }
    for move in rows.moved where told.contains(move.to) {
      moves.append(
        Diff.Move(from: move.from, to: move.to, element: changed[move.to] ?? before[move.from]))
    }
  }

  /// The elements after the step.
  func applied(to before: LiveElements<Element>) -> LiveElements<Element> {
    var after = before
    if !deletions.isEmpty || !insertions.isEmpty || !moves.isEmpty {
      let inserted =
        insertions.map { ($0.position, $0.element) } + moves.map { ($0.to, $0.element) }
      after.list.apply(
        ListEdit(
          // Closures: in code that is not specialized, a key path is made anew at each use.
          removals: (deletions.map { $0.position } + moves.map { $0.from }).sorted(),
          insertions: inserted.sorted { $0.0 < $1.0 }))
    }
    for update in updates { after.list.replace(at: update.after, with: update.new) }
    return after
  }

  func finished(_ sequence: SequenceNumber, _ elements: LiveElements<Element>) -> Diff {
    Diff(
      sequence: sequence, elements: elements, deletions: deletions, insertions: insertions,
      moves: moves, updates: updates)
  }
}

/// True if two values can be compared and are equal.
private func areEqual<T>(_ one: T, _ other: T) -> Bool {
  func compare<E: Equatable>(_ one: E) -> Bool { (other as? E) == one }
  return (one as? any Equatable).map { compare($0) } ?? false
}
