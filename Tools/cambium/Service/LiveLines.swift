import Cambium

/// The lines that `cambium watch` prints for programs, for a stream.
package enum LiveLines {
  /// A list that is followed has at most so many rows, since it is kept for each stream.
  package static let rowsMax = 10_000

  /// Follows a query until the task is cancelled, or `body` returns false. It holds no thread while
  /// nothing changes.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - request: The request, which has been understood.
  ///   - body: Takes a line without its line feed, and the transaction that it leads to.
  /// - Throws: ``CommandFailure``.
  package static func follow(
    _ database: Database, _ request: CommandRequest,
    _ body: @Sendable ([UInt8], SequenceNumber) -> Bool
  ) async throws {
    let served = Served(
      database: database, scope: request.scope, body: [], pageSize: nil,
      isAbandoned: request.isAbandoned, progress: nil)
    do {
      let query = try Served.$current.withValue(served) { try asked(database, request) }
      var list = WatchedList(
        of: query, columns: try WatchCommand.columns(of: query, try database.snapshot()))
      var isFirst = true
      for try await diff in query.changes(by: { $0.section ?? .null }) {
        let old = list
        let difference = list.apply(diff)
        // Properties may have changed that are not shown.
        if difference.isEmpty && !isFirst { continue }
        isFirst = false
        let line = WatchStep(list: list, difference: difference).json(after: old)
        if !body(line.versioned.object, list.sequence) { return }
      }
    } catch {
      throw failure(error, request)
    }
  }

  /// Understands a request, and says what is wrong with it.
  ///
  /// - Throws: ``CommandFailure``.
  package static func check(_ database: Database, _ request: CommandRequest) throws {
    let served = Served(
      database: database, scope: request.scope, body: [], pageSize: nil,
      isAbandoned: request.isAbandoned, progress: nil)
    do {
      try Served.$current.withValue(served) {
        _ = try asked(database, request).properties()
      }
    } catch {
      throw failure(error, request)
    }
  }

  private static func asked(
    _ database: Database, _ request: CommandRequest
  ) throws -> DynamicQuery {
    let (_, invocation) = try CommandService.read(request)
    let call = Call(invocation, Output(format: .json) { _ in })
    do {
      let query = try database.records(invocation.value(WatchCommand.text).text)
      try call.check(query)
      return query.atMost(rowsMax)
    } catch let error as QueryError {
      throw Failure(error, help: "query")
    }
  }

  private static func failure(_ error: any Error, _ request: CommandRequest) -> CommandFailure {
    var failure = Failure(error, database: Served.databaseName)
    switch error {
    case let error as QueryError: failure = Failure(error, help: "query")
    case DatabaseError.misuse(let reason): failure = Failure(.usage, "not_followed", reason)
    default: break
    }
    return CommandFailure(failure, isPartial: !request.scope.isRoot)
      ?? CommandFailure(500, "failed", "\(error)")
  }
}
