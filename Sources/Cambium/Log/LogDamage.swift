import Synchronization

/// The damage that a process has found in a log. From then on the process writes nothing to that
/// log: records after the damage can only be saved in part.
final class LogDamage: Sendable {
  /// A record that cannot be read.
  struct Found: Sendable {
    let sequence: SequenceNumber
    let reason: String
  }

  private let lowest = Mutex<Found?>(nil)

  /// The damage with the lowest number, or nil if none was found.
  var found: Found? { lowest.withLock { $0 } }

  /// Records damage.
  func note(_ sequence: SequenceNumber, _ reason: String) {
    lowest.withLock { lowest in
      if let known = lowest, known.sequence <= sequence { return }
      lowest = Found(sequence: sequence, reason: reason)
    }
  }

  /// Refuses writing if damage was found.
  func checkNone() throws {
    guard let found else { return }
    throw DatabaseError.corrupt(
      reason: "record \(found.sequence) of the log is damaged (\(found.reason)), so nothing can be "
        + "written; `cambium repair` says what can be saved")
  }
}

extension LogReader {
  /// The last record before the first damaged one: `head` if all are sound.
  func lastSound(after: SequenceNumber, upTo head: SequenceNumber) throws -> SequenceNumber {
    var sound = after
    while sound < head {
      do { _ = try record(sound.next) } catch let error as DatabaseError where error.isDamage {
        break
      }
      sound = sound.next
    }
    return sound
  }
}
