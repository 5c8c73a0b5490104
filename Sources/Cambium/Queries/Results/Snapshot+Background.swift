// Queries on another thread, for callers that must not block theirs.

extension Snapshot {
  /// Runs a query on another thread; cancelling the task ends it.
  ///
  /// - Parameter body: Runs the query, and calls now and then what it takes, which throws
  ///   `CancellationError` once the task is cancelled.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; `CancellationError`; ``DatabaseError/misuse(reason:)``
  ///   for a transaction's snapshot.
  func inBackground<R: Sendable>(
    _ body: @escaping @Sendable (_ check: @escaping @Sendable () throws -> Void) throws -> R
  ) async throws -> R {
    guard !isLive else {
      throw DatabaseError.misuse(reason: "a query of a transaction stays on its thread")
    }
    let queue = directory.options.background.makeQueue("cambium.query")
    return try await BlockingWork.run(on: queue) { isCancelled in
      let check: @Sendable () throws -> Void = { if isCancelled() { throw CancellationError() } }
      try check()
      return try body(check)
    }
  }
}
