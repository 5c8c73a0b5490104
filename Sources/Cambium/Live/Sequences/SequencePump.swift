// Iterating several sequences at once, or one beside a clock.
//
//     source ─▶ child ─┐
//     source ─▶ child ─┼─▶ kept ─▶ next() of the iterator
//     source ─▶ child ─┘
//
// A child task would have to end before `next()` returns, and an element that it still waits for
// would be lost. So the children belong to one task of the iterator: it starts with the first
// `next()`, and is cancelled as soon as the iterator goes, a wait of its task is cancelled, or the
// sequence is over. It never outlives them by more than its sources take to notice.

/// The elements of sources, as one iterator keeps them until it takes them.
final class SequencePump<Kept: Sendable, Failure: Error>: Sendable {
  fileprivate struct State: Sendable {
    var kept: Kept
    /// The sources that are not over.
    var running: Int
    var failure: Failure?
  }

  /// A source that puts its elements into what is kept.
  typealias Source = @Sendable (SequencePump.Input) async throws(Failure) -> Void

  /// The side of the sources.
  struct Input: Sendable {
    fileprivate let monitor: AsyncMonitor<State>

    /// Puts each element of a sequence in.
    ///
    /// - Parameters:
    ///   - sequence: The sequence.
    ///   - put: Takes an element; false where it cannot be taken yet. Until then the next one is
    ///     not asked for, so that little is kept.
    /// - Throws: The failure of the sequence.
    func take<S: AsyncSequence>(
      all sequence: S, _ put: @escaping @Sendable (inout Kept, S.Element) -> Bool
    ) async throws(S.Failure) where S.Element: Sendable {
      var iterator = sequence.makeAsyncIterator()
      while let element = try await iterator.next(isolation: nil) {
        if await monitor.wait({ put(&$0.kept, element) ? true : nil }) == nil { return }
      }
    }
  }

  private let monitor: AsyncMonitor<State>
  private let task: Task<Void, Never>

  /// Starts iterating.
  init(_ kept: Kept, _ sources: [Source]) {
    let monitor = AsyncMonitor(State(kept: kept, running: sources.count))
    self.monitor = monitor
    task = Task {
      await withDiscardingTaskGroup { group in
        for source in sources {
          group.addTask {
            do throws(Failure) {
              try await source(Input(monitor: monitor))
              monitor.change { $0.running -= 1 }
            } catch {
              monitor.change { ($0.running, $0.failure) = (0, $0.failure ?? error) }
            }
          }
        }
      }
    }
  }

  deinit { task.cancel() }

  /// Waits for something to take.
  ///
  /// - Parameter take: Takes it; nil where there is nothing yet. Its argument is true once nothing
  ///   will come any more.
  /// - Returns: The result of `take`; nil once the sources are over, or the task is cancelled.
  /// - Throws: The failure of a source, after everything that came before it.
  func next<R: Sendable>(
    _ take: (inout Kept, _ isLast: Bool) -> R?
  ) async throws(Failure) -> R? {
    let outcome = await monitor.wait { state -> Result<R?, Failure>? in
      let isLast = state.running == 0
      if let result = take(&state.kept, isLast) { return .success(result) }
      if let failure = state.failure { return .failure(failure) }
      return isLast ? .success(nil) : nil
    }
    if case .success(let result?) = outcome { return result }
    cancel()
    _ = try outcome?.get()
    return nil
  }

  /// Ends the iteration of the sources.
  func cancel() { task.cancel() }
}
