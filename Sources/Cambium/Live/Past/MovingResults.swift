import Observation

/// The result of a query at a moment that can be moved, into the past and back: the result behind a
/// slider of a history.
///
///     let jobs = try database.query(Job.self).order(by: \.rank).live(at: .tag("release"))
///     let diff = try jobs.move(to: .time(slider.date))
///     table.apply(diff)
///
/// Each move gives the difference between the two moments, in either direction, as
/// ``LiveResults/refresh()`` gives it for a commit. It is made of the records that transactions
/// between them touched; nothing else is read. A declaration between them, or more operations than
/// the collection has records, leads to running the query again, and comparing.
///
/// It belongs to the actor, or the thread, that made it, and stays at its moment until it is moved.
/// `Observation` sees its moves. Nothing is held open between them, so that no page of the file is
/// kept from being used again, and compaction may drop the moment: the elements stay then.
public final class MovingResults<R: Results>: Observable, RandomAccessCollection
where R.Element: Sendable {
  /// A position.
  public typealias Index = Int
  /// A result.
  public typealias Element = R.Element

  private let results: LiveResults<R>
  /// The result's moment, as it was read last: if it was a present one, and of which state.
  private var view: (isPresent: Bool, generation: UInt64?)

  init(_ query: R, at moment: Moment) throws {
    // Nothing says in which order the records of the past came but sorting all of them, so that
    // more rows are kept than for the present, where an index gives the next ones.
    let description = query.request.description
    let extent = WindowExtent(
      offset: description.offset, limit: description.limit, slack: MovingResults.slack)
    let boxed = BoxedQuery(query)
    let run = try LiveRun(boxed, extent, isMoved: true)
    let snapshot = try run.database.snapshot(at: moment)
    _ = try run.move(to: try LiveReading(boxed, snapshot, extent), by: .all)
    results = LiveResults(boxed, run)
    view = (snapshot.moment == nil, snapshot.directory.stateInUse.generation)
  }

  /// The number of rows that are kept behind a window.
  private static var slack: Int { 4096 }

  /// The query.
  public var query: R { results.query }

  /// The moment that the result is of.
  public var sequence: SequenceNumber { results.sequence }

  /// The result: a value, which stays as it is.
  public var elements: LiveElements<Element> { results.elements }

  /// The first position.
  public var startIndex: Int { 0 }
  /// The number of results, which is the position behind the last.
  public var endIndex: Int { elements.count }
  /// The result at a position.
  public subscript(position: Int) -> Element { elements[position] }

  // MARK: Moving

  /// Moves the result to another moment, earlier or later.
  ///
  /// - Parameter moment: The moment; any that a snapshot can be of.
  /// - Returns: The difference between the two results, whose
  ///   ``LiveDiff/sequence`` is that of the moment.
  /// - Throws: ``DatabaseError/compacted(oldest:)`` for a moment before the ``Database/horizon``;
  ///   otherwise as ``Database/snapshot(at:)`` and ``Walk/fetch()``. The result stays as it was.
  /// - Complexity: O(*k* log *n*) for *k* operations between the moments and *n* rows that are
  ///   kept. Running the query again, where that must be, sorts the collection's records, since no
  ///   index has those of the past: after a declaration; if more lies between than there are
  ///   records; if the rows that are kept behind a limit, 4,096 at first, are used up; and for
  ///   conditions and joins that lead to many records.
  @discardableResult
  public func move(to moment: Moment) throws -> LiveDiff<Element> {
    let run = results.run
    let snapshot = try run.database.snapshot(at: moment)
    let reading = try run.having { try LiveReading($0.query, snapshot, $0.extent) }
    let changes = try changes(to: reading)
    let diff = try results.changing {
      try run.move(to: reading, by: changes.map { .changes($0) } ?? .all)
    }
    view = (snapshot.moment == nil, snapshot.directory.stateInUse.generation)
    return diff
  }

  /// The changes that lead to another moment; nil where the query is to be run again.
  private func changes(to reading: LiveReading) throws -> [NetChange]? {
    guard let start = results.run.sequence, canStep(to: reading.snapshot) else { return nil }
    if start == reading.snapshot.sequence { return [] }
    let collections = try results.run.having { work in
      work.result.flatMap { $0.watchesAll ? nil : Set($0.guards.map(\.collection)) }
    }
    guard let collections else { return nil }
    do {
      let old = try QueryRecords(results.run.database.snapshot(at: .sequence(start)))
      let count = try reading.records.presentCount(query.request.description.collection)
      var changes = ChangesBetween(
        from: old, to: reading.records, in: Array(collections),
        most: Swift.max(MovingResults.operationsMin, count))
      return try changes.read()
    } catch DatabaseError.compacted {
      return nil
    }
  }

  /// The number of operations that are read rather than running the query again, however few
  /// records there are.
  private static var operationsMin: Int { 1000 }

  /// True if the state is the one that was read before, and if joins find the others as before:
  /// the present has indexes, the past has none.
  private func canStep(to snapshot: Snapshot) -> Bool {
    view.generation == snapshot.directory.stateInUse.generation
      && (query.request.description.joins.isEmpty || view.isPresent == (snapshot.moment == nil))
  }
}

extension Results where Element: Sendable {
  /// The result at a moment that can be moved, into the past and back.
  ///
  /// - Parameter moment: The first moment.
  /// - Returns: The collection, with the result at that moment.
  /// - Throws: As ``Database/snapshot(at:)`` and ``Walk/fetch()``;
  ///   ``DatabaseError/misuse(reason:)`` for a query of a snapshot, or of a transaction.
  /// - Complexity: As ``Walk/fetch()`` on a snapshot of the moment.
  public func live(at moment: Moment) throws -> MovingResults<Self> {
    try MovingResults(self, at: moment)
  }
}
