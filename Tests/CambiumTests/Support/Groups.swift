// Writes that are certain to be committed as one group, and what shows it.

import Dispatch
import Foundation
import Testing

@testable import Cambium

extension Database {
  /// The number of transactions that LMDB has committed to the log.
  var logCommits: UInt64 { get throws { try directory.log.read { try $0.head().transaction } } }

  /// Keeps the writer busy until `body` returns, on a thread that no task needs.
  func holdingWriter<R>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
  ) async throws -> R {
    let end = DispatchSemaphore(value: 0)
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        do {
          try self.write { _ in
            continuation.resume()
            end.wait()
          }
        } catch { Issue.record(error) }
      }
    }
    defer { end.signal() }
    return try await body()
  }

  /// Runs a body several times, all in one group.
  ///
  /// - Returns: The result of each run.
  func writeTogether(
    _ count: Int, _ body: @escaping @Sendable (borrowing Database.Transaction) throws -> Void
  ) async throws -> [Result<Void, any Error>] {
    try await withThrowingTaskGroup(of: Result<Void, any Error>.self) { group in
      try writer.exclusively {
        // Nothing runs before this turn ends; then all that waits runs as one group.
        for _ in 0..<count {
          let (outcomes, outcome) = AsyncStream<Result<Void, any Error>>.makeStream()
          writer.enqueue(
            WriteJob(
              id: writer.nextID(), metadata: [:], expecting: nil,
              body: body,
              finish: { outcome.yield($0) }))
          group.addTask {
            for await outcome in outcomes { return outcome }
            throw CancellationError()
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// Runs a body several times in one group, as the writer does, but without giving the state's map
  /// room before.
  ///
  /// - Returns: The result of each run.
  func writeInSmallMap(
    _ count: Int, _ body: (borrowing Database.Transaction) throws -> Void
  ) throws -> [Result<Void, any Error>] {
    try writer.exclusively {
      let head = try directory.log.read { try $0.head() }
      let group = try WriteGroup(
        directory, directory.currentState(), head: head, horizon: .zero,
        catalog: directory.stateInUse.catalog)
      let outcomes = (0..<count).map { _ in
        Result { try group.run([:]) { try body(Database.Transaction($0)) } }
      }
      if case .visible = try group.commit() { directory.publish(group) }
      return outcomes
    }
  }
}
