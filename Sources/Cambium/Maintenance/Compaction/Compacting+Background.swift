// Async forms of the calls that drop what is not kept.

extension Database {
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
  /// - Parameter retention: The policy to store.
  /// - Throws: As the synchronous `setRetention`.
  public func setRetention(_ retention: Retention) async throws {
    try await inBackground { try self.setRetention(retention) }
  }
}
