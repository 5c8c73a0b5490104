/// How far a long job has come.
public struct Progress: Sendable {
  /// The work that is being done, such as `rebuild`, `copy` or `records`.
  public let phase: String
  /// How much is done: records, pages or entries, by the phase.
  public let done: UInt64
  /// How much there is to do, where that is known.
  public let total: UInt64?

  /// Makes one.
  public init(phase: String, done: UInt64, total: UInt64?) {
    self.phase = phase
    self.done = done
    self.total = total
  }
}

/// Takes progress, and says whether to go on. It is called on the thread that works, and what it
/// takes time for is added to the work.
public typealias ProgressHandler = @Sendable (Progress) -> Bool
