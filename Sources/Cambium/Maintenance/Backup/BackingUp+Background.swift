// Async forms of the calls that back up.

extension Database {
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
