import FoundationEssentials

/// The findings of a round of the scrub; see ``Database/scrub(progress:)``.
public struct ScrubReport: Hashable, Sendable {
  /// The time when the round ended.
  public let ended: Date
  /// The bytes that were read.
  public let bytes: UInt64
  /// The damage in the state, which was rebuilt from the log, so that none of it is left.
  public let stateDamage: [String]
  /// The damage in the log.
  ///
  /// Recovery: ``Database/examineLog(at:options:progress:)`` says what can be saved, and
  /// ``Database/repair(_:by:to:latest:options:progress:)`` saves it, from a backup where there is
  /// one.
  public let logDamage: [String]

  /// True if nothing was found.
  public var isSound: Bool { stateDamage.isEmpty && logDamage.isEmpty }
}
