import FoundationEssentials
import Synchronization

/// An event that an app may want to log.
public enum Diagnostic: Sendable, CustomStringConvertible {
  /// A snapshot has been held for a long time; the file grows under later writes until it is
  /// released.
  case snapshotHeld(SequenceNumber, age: Duration)
  /// The state was rebuilt from the log.
  case stateRebuilt(reason: String)
  /// No checkpoint could be made, so a recovery after a crash of the system takes longer. It is
  /// retried with a later commit.
  case checkpointFailed(String)

  /// The commits since the last flush could not be made durable, of this process with
  /// ``Database/Durability/soon(within:)`` or of one that was killed: they would be lost with the
  /// power.
  ///
  /// Recovery: check the disk, then close and open the database; until then nothing can be written.
  case flushFailed(String)
  /// Background compaction has failed; it continues with a later commit.
  case compactionFailed(String)
  /// An index could not be built, or its entries could not be removed. It is retried the next time
  /// the database is opened; until then queries do not use it.
  case indexBuildFailed(String)

  /// A projection of the app could not continue. It is retried after the next commit.
  case projectionFailed(String, reason: String)

  /// The state is behind the log, and cannot be brought up to date: the database is open for
  /// reading only, or the disk is full. The content of the state can be read.
  case stateBehind(applied: SequenceNumber, head: SequenceNumber)

  /// A transaction is stored in the log and cannot be read yet, because the state could not be
  /// written. Reading throws ``DatabaseError/stateBehind(applied:head:reason:)`` until it can be.
  ///
  /// Recovery: free space, or check the disk. It is retried with each write, and automatically.
  case stateUpdateFailed(applied: SequenceNumber, head: SequenceNumber, reason: String)

  /// The clock of the system has leapt forward by more than an hour. The times of records advance
  /// from the old time, by the time that passes, until the clock has kept its new time for ten
  /// minutes.
  case clockLeapt(by: Duration)

  /// The newest record has a time in the future: the clock was wrong when it was written, or is
  /// now. Times never go back in the log, so further records get that same time until it is
  /// reached.
  ///
  /// Recovery: correct the clock. If the log is wrong, `latest` of
  /// ``Database/repair(_:by:to:latest:options:progress:)`` makes a new database with times of the
  /// past.
  case clockBehind(newest: Date, now: Date)

  /// A record of the log is damaged. If the state had to be rebuilt from the log, reads end before
  /// it; nothing can be written.
  ///
  /// Recovery: ``Database/examineLog(at:options:progress:)`` reports the records that can be saved,
  /// and ``Database/repair(_:by:to:latest:options:progress:)`` saves them.
  case logDamaged(SequenceNumber, readable: SequenceNumber, reason: String)

  /// The scrub has found damage in the log: in a record, if there is a number. Damage of the state
  /// is repaired at once, and reported by ``stateRebuilt(reason:)``.
  ///
  /// Recovery: as for ``logDamaged(_:readable:reason:)``.
  case scrubFoundDamage(SequenceNumber?, reason: String)

  /// The sentence for a log.
  public var description: String {
    switch self {
    case .snapshotHeld(let sequence, let age):
      "a snapshot of transaction \(sequence) has been held for \(age); "
        + "let it go so that space can be used again"
    case .stateBehind(let applied, let head):
      "what can be read ends at transaction \(applied) of \(head): the state cannot be "
        + "written, for want of room or of permission"
    case .stateUpdateFailed(let applied, let head, let reason):
      "transaction \(head) is stored, and what can be read ends at transaction \(applied), because "
        + "the state could not be written: \(reason)"
    case .clockLeapt(let gain):
      "the clock has leapt forward by \(gain); records follow it once it has lasted ten minutes"
    case .clockBehind(let newest, let now):
      "the newest record is of \(newest), and the clock says \(now): records keep that time until "
        + "it has come; `cambium repair --latest` corrects the times of the future"
    case .checkpointFailed(let reason): "no checkpoint could be made: \(reason)"
    case .flushFailed(let reason):
      "the newest transactions could not be made durable: \(reason); check the disk, then close "
        + "and open the database"
    case .compactionFailed(let reason): "compaction could not go on: \(reason)"
    case .indexBuildFailed(let reason): "an index could not be built: \(reason)"
    case .projectionFailed(let name, let reason):
      "the projection '\(name)' could not go on: \(reason)"
    case .logDamaged(let sequence, let readable, let reason):
      "record \(sequence) of the log is damaged (\(reason)): what can be read ends at transaction "
        + "\(readable), and nothing can be written; `cambium repair` says what can be saved"
    case .scrubFoundDamage(_, let reason):
      "the log is damaged: \(reason); `cambium repair` says what can be saved"
    case .stateRebuilt(let reason): "the state was rebuilt from the log: \(reason)"
    }
  }
}
