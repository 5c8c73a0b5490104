import Synchronization

/// The damage that a process has met in a log. From then on the process writes nothing to that log:
/// what comes behind the damage can only be saved in part.
final class LogDamage: Sendable {
  /// A record that cannot be read.
  struct Found: Sendable {
    let sequence: SequenceNumber
    let reason: String
  }

  private let lowest = Mutex<Found?>(nil)

  /// The damage with the lowest number, or nil where none was met.
  var found: Found? { lowest.withLock { $0 } }

  /// Keeps what was met.
  func note(_ sequence: SequenceNumber, _ reason: String) {
    lowest.withLock { lowest in
      if let known = lowest, known.sequence <= sequence { return }
      lowest = Found(sequence: sequence, reason: reason)
    }
  }

  /// Refuses writing where damage was met.
  func checkNone() throws {
    guard let found else { return }
    throw DatabaseError.corrupt(
      reason: "record \(found.sequence) of the log is damaged (\(found.reason)), so nothing can be "
        + "written; `cambium repair` says what can be saved")
  }
}
