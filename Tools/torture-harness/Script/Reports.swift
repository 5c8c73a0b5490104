import Cambium
import Synchronization

/// The diagnostics of a database, as far as they say that a state was made anew, or that stored
/// bytes are wrong.
final class Reports: Sendable {
  private let all = Mutex<[Diagnostic]>([])

  /// The beginnings of the reasons for which a state is made anew without having been looked at.
  private static let sound = [
    "there is none", "its directory is missing", "the system was started",
    "the system could not write it", "writing it failed",
  ]

  func take(_ diagnostic: Diagnostic) { all.withLock { $0.append(diagnostic) } }

  /// The reasons for which the state was made anew.
  var rebuilds: [String] {
    all.withLock { all in
      all.compactMap { if case .stateRebuilt(let reason) = $0 { reason } else { nil } }
    }
  }

  /// The reports of wrong bytes.
  var damage: [Diagnostic] {
    all.withLock { all in
      all.filter {
        switch $0 {
        case .stateRebuilt(let reason): !Reports.sound.contains { reason.hasPrefix($0) }
        case .logDamaged, .scrubFoundDamage: true
        default: false
        }
      }
    }
  }
}
