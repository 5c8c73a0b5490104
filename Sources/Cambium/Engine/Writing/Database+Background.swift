// Async forms of calls that wait for their turn to write, and are no transaction that could wait in
// the queue of writes. Each runs on a thread of its own, so that it holds up no task.

import FoundationEssentials

extension Database {
  /// Runs a call that blocks its thread on another one; cancelling the task lets it end as if
  /// `progress` had said so.
  func inBackground<R: Sendable>(
    _ progress: ProgressHandler?,
    _ body: @escaping @Sendable (_ progress: @escaping ProgressHandler) throws -> R
  ) async throws -> R {
    let queue = store.options.background.makeQueue("cambium.call")
    return try await BlockingWork.run(on: queue) { isCancelled in
      try body { step in !isCancelled() && (progress?(step) ?? true) }
    }
  }

  /// Runs a short call that blocks its thread on another one.
  func inBackground<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await inBackground(nil) { _ in try body() }
  }

  /// Ends all use without blocking the caller's thread.
  ///
  /// - Throws: As the synchronous `close`.
  public func close() async throws { try await inBackground { try self.close() } }

  /// Drops the state and folds the log anew, without blocking the caller's thread; cancelling the
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
  ///   - moment: When; the moment of the call's turn by default.
  /// - Returns: The tag.
  /// - Throws: As the synchronous `tag`.
  @discardableResult
  public func tag(_ name: String, at moment: Moment = .now) async throws -> Tag {
    try await inBackground { try self.tag(name, at: moment) }
  }

  /// Takes the name of a moment away without blocking the caller's thread.
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

  // MARK: Compaction and backups

  /// Drops what a policy does not keep, without blocking the caller's thread; cancelling the task
  /// cancels it.
  ///
  /// - Parameters:
  ///   - retention: The policy to follow; nil for the stored one, ``retention()``.
  ///   - progress: As in the synchronous `compact`, on another thread.
  /// - Returns: As the synchronous `compact`.
  /// - Throws: As the synchronous `compact`.
  @discardableResult
  public func compact(
    keeping retention: Retention? = nil, progress: ProgressHandler? = nil
  ) async throws -> Compaction {
    try await inBackground(progress) { try self.compact(keeping: retention, progress: $0) }
  }

  /// Drops everything before a moment, without blocking the caller's thread; cancelling the task
  /// cancels it.
  ///
  /// - Parameters:
  ///   - horizon: The oldest moment that can be read afterwards.
  ///   - archives: True to keep the dropped records in segments.
  ///   - progress: As in the synchronous `compact`, on another thread.
  /// - Returns: As the synchronous `compact`.
  /// - Throws: As the synchronous `compact`.
  @discardableResult
  public func compact(
    upTo horizon: SequenceNumber, archives: Bool = false, progress: ProgressHandler? = nil
  ) async throws -> Compaction {
    try await inBackground(progress) {
      try self.compact(upTo: horizon, archives: archives, progress: $0)
    }
  }

  /// Stores how much of the past is kept, without blocking the caller's thread.
  ///
  /// - Parameter retention: The policy.
  /// - Throws: As the synchronous `setRetention`.
  public func setRetention(_ retention: Retention) async throws {
    try await inBackground { try self.setRetention(retention) }
  }

  /// Backs up to a directory without blocking the caller's thread; cancelling the task cancels it.
  ///
  /// - Parameters:
  ///   - path: The directory: a new one, an empty one, or a backup.
  ///   - progress: As in the synchronous `backUp`, on another thread.
  /// - Returns: As the synchronous `backUp`.
  /// - Throws: As the synchronous `backUp`.
  @discardableResult
  public func backUp(
    to path: String, progress: ProgressHandler? = nil
  ) async throws -> BackupAddition {
    try await inBackground(progress) { try self.backUp(to: path, progress: $0) }
  }

  /// Backs up to one file without blocking the caller's thread; cancelling the task cancels it.
  ///
  /// - Parameters:
  ///   - path: Where; nothing may be there.
  ///   - progress: As in the synchronous `backUp`, on another thread.
  /// - Returns: As the synchronous `backUp`.
  /// - Throws: As the synchronous `backUp`.
  @discardableResult
  public func backUp(
    toFile path: String, progress: ProgressHandler? = nil
  ) async throws -> BackupAddition {
    try await inBackground(progress) { try self.backUp(toFile: path, progress: $0) }
  }

  /// Backs up to wherever bytes can be sent, without blocking the caller's thread; cancelling the
  /// task cancels it.
  ///
  /// - Parameters:
  ///   - write: Takes the next bytes, on another thread; it may block.
  ///   - progress: As in the synchronous `backUp`, on another thread.
  /// - Returns: As the synchronous `backUp`.
  /// - Throws: As the synchronous `backUp`.
  @discardableResult
  public func backUp(
    into write: @escaping @Sendable ([UInt8]) throws -> Void, progress: ProgressHandler? = nil
  ) async throws -> BackupAddition {
    try await inBackground(progress) { try self.backUp(into: write, progress: $0) }
  }
}

extension Consumer {
  /// Moves the position and stores it, without blocking the caller's thread.
  ///
  /// - Parameter sequence: The last transaction that counts as taken care of.
  /// - Throws: As the synchronous `reset`.
  public func reset(to sequence: SequenceNumber) async throws {
    try await database.inBackground { try self.reset(to: sequence) }
  }

  /// Forgets the position without blocking the caller's thread.
  ///
  /// - Throws: As the synchronous `drop`.
  public func drop() async throws { try await database.inBackground { try self.drop() } }
}
