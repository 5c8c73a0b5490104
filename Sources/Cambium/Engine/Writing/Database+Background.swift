// Async forms of calls that wait for their turn to write, and are not transactions that could wait
// in the queue of writes. Each runs on a thread of its own, so that it blocks no task.

import FoundationEssentials

extension Database {
  /// Runs a blocking call on another thread; cancelling the task ends it as if `progress` had
  /// returned false.
  func inBackground<R: Sendable>(
    _ progress: ProgressHandler?,
    _ body: @escaping @Sendable (_ progress: @escaping ProgressHandler) throws -> R
  ) async throws -> R {
    let queue = directory.options.background.makeQueue("cambium.call")
    return try await BlockingWork.run(on: queue) { isCancelled in
      try body { step in !isCancelled() && (progress?(step) ?? true) }
    }
  }

  /// Runs a short blocking call on another thread.
  func inBackground<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await inBackground(nil) { _ in try body() }
  }

  /// Closes the database without blocking the caller's thread.
  ///
  /// - Throws: As the synchronous `close`.
  public func close() async throws { try await inBackground { try self.close() } }

  /// Drops the state and folds the log again, without blocking the caller's thread; cancelling the
  /// task leaves the old state in use.
  ///
  /// - Parameter progress: As in the synchronous `rebuild`, on another thread.
  /// - Throws: As the synchronous `rebuild`.
  public func rebuild(progress: ProgressHandler? = nil) async throws {
    try await inBackground(progress) { try self.rebuild(progress: $0) }
  }

  // MARK: Tags and blobs

  /// Names a moment without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - name: As in the synchronous `tag`.
  ///   - moment: The moment to name; by default that of the call's turn.
  /// - Returns: The tag.
  /// - Throws: As the synchronous `tag`.
  @discardableResult
  public func tag(_ name: String, at moment: Moment = .now) async throws -> CommitTag {
    try await inBackground { try self.tag(name, at: moment) }
  }

  /// Removes the name of a moment without blocking the caller's thread.
  ///
  /// - Parameter name: The tag's name.
  /// - Returns: True if there was one.
  /// - Throws: As the synchronous `removeTag`.
  @discardableResult
  public func removeTag(_ name: String) async throws -> Bool {
    try await inBackground { try self.removeTag(name) }
  }

  /// Stores a blob from memory without blocking the caller's thread.
  ///
  /// - Parameter data: The content.
  /// - Returns: As the synchronous `store`.
  /// - Throws: As the synchronous `store`.
  public func store(_ data: Data) async throws -> Blob {
    try await inBackground { try self.store(data) }
  }

  /// Stores a blob piece by piece without blocking the caller's thread.
  ///
  /// - Parameter body: Writes the content, on another thread; it may block.
  /// - Returns: As the synchronous `store`.
  /// - Throws: As the synchronous `store`.
  public func store(
    _ body: @escaping @Sendable (inout BlobWriter) throws -> Void
  ) async throws -> Blob {
    try await inBackground { try self.store(body) }
  }
}
