// Several transactions of which live results are told once.

extension Database {
  /// Writes in several transactions of which live results are told once, when all are done.
  ///
  ///     try database.bulk {
  ///       for rows in batches { try database.write { tx in try tx.insert(contentsOf: rows) } }
  ///     }
  ///
  /// Each transaction commits as usual, and readers see it at once. What waits is whoever follows a
  /// query, an object or a derived collection: it takes all of them in one step, with one
  /// difference from before the first to after the last. It is told of nothing if nothing that it
  /// shows has changed. Precisely:
  ///
  /// - In this process, no live result takes a step by itself while `body` runs, whoever writes;
  ///   one that is asked to (`refresh()`, `ask(_:)`) does, and has the rest later.
  /// - Change feeds (``changes(after:under:)``), consumers and projections miss nothing: they come
  ///   to each transaction, in this process while `body` runs.
  /// - Observers in other processes, feeds among them, are not woken before the end. Another
  ///   process's commit, or a look of their own, shows them what is there before. If this process
  ///   dies meanwhile, the next commit of any process wakes them.
  ///
  /// - Parameter body: Writes. Calls may nest, and overlap on several threads; the last one to end
  ///   counts.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws. The transactions before it stay, and are told of.
  /// - Complexity: a live result that more than 1,024 changes concern is read again at the end.
  public func bulk<R>(_ body: () throws -> R) rethrows -> R {
    let router = LiveRouter.of(self)
    begin(router)
    defer { end(router) }
    return try body()
  }

  /// Writes in several transactions of which live results are told once, in async code.
  ///
  ///     try await database.bulk {
  ///       for rows in batches {
  ///         try await database.write { tx in try tx.insert(contentsOf: rows) }
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - actor: The actor on which `body` runs; by default the caller's.
  ///   - body: As in the synchronous form.
  /// - Returns: The value that `body` returns.
  /// - Throws: As the synchronous form.
  public func bulk<R>(
    isolation actor: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async rethrows -> R {
    let router = LiveRouter.of(self)
    begin(router)
    defer { end(router) }
    return try await body()
  }

  private func begin(_ router: LiveRouter) {
    router.hold()
    directory.feed.hold()
  }

  private func end(_ router: LiveRouter) {
    directory.feed.release()
    router.release()
  }
}
