/// The result of a query now, and then each of its differences, as long as an observer asks.
///
///     for try await diff in flights.changes() {
///       table.deleteRows(diff.deletions.map(\.position))
///       table.insertRows(diff.insertions.map(\.position))
///     }
///
/// The first element brings the whole result as insertions. Each later one is the difference to the
/// newest moment: of one commit where the observer keeps up, else of all that came meanwhile. So a
/// slow observer delays nobody, and nothing is kept for it. No later difference is empty.
///
/// A step that looks at few records, as most do, is computed by the task that awaits it, on its
/// executor. The first one, and any that would take long, is computed on another thread meanwhile.
/// Cancelling the task ends the sequence; closing the database does, too.
public struct LiveChanges<R: Results>: AsyncSequence, Sendable where R.Element: Sendable {
  /// A difference.
  public typealias Element = LiveDiff<R.Element>

  private let query: R

  init(_ query: R) { self.query = query }

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(query: query) }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let query: R
    private var run: LiveRun?

    fileprivate init(query: R) { self.query = query }

    /// The next difference, for the executor of an actor.
    ///
    /// - Parameter actor: The actor that awaits it.
    /// - Returns: The difference; nil when the task is cancelled or the database closed.
    /// - Throws: As ``Walk/fetch()``; the next call tries again from the result before.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> LiveDiff<R.Element>? {
      if Task.isCancelled { return nil }
      let run = try run ?? LiveRun(BoxedQuery(query))
      self.run = run
      return try await run.next(isolation: actor).map { LiveDiff($0) }
    }
  }
}

extension LiveRun {
  /// Waits for the next difference; nil when the task is cancelled or the database closed.
  func next(isolation actor: isolated (any Actor)?) async throws -> BoxedDiff? {
    while true {
      let isFirst = sequence == nil
      if !isFirst { await wait(isolation: actor) }
      switch try await prepare(isolation: actor) {
      case .over: return nil
      case .taken: continue
      case .step(let step):
        let diff = take(step)
        if isFirst || !diff.isEmpty { return diff }
      }
    }
  }
}
