import FoundationEssentials

/// What a round of the scrub has found; see ``Database/scrub(progress:)``.
public struct ScrubReport: Hashable, Sendable {
  /// When the round was over.
  public let ended: Date
  /// The bytes that were read.
  public let bytes: UInt64
  /// What was damaged in the state. It was made anew from the log, so nothing of it is left.
  public let stateDamage: [String]
  /// What is damaged in the log.
  ///
  /// Recovery: ``Database/examineLog(at:options:progress:)`` says what can be saved, and
  /// ``Database/repair(_:by:to:options:progress:)`` saves it, from a backup where there is one.
  public let logDamage: [String]

  /// Whether nothing was found.
  public var isSound: Bool { stateDamage.isEmpty && logDamage.isEmpty }
}
