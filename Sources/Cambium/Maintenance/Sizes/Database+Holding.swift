// Who keeps an old moment from being forgotten, and the copies from which a rebuild can start.

import FoundationEssentials
import LMDB

/// A moment that a reader holds: the space of what was replaced since cannot be used again.
package struct HeldSnapshot: Sendable {
  /// The process that reads.
  package let process: Int
  /// `log` or `state`.
  package let environment: String
  /// The number of transactions since; of another process's, of commits, which may have several.
  package let behind: UInt64
  /// The moment, if it is a snapshot of this process.
  package let sequence: SequenceNumber?
  /// The time for which it has been held, if it is a snapshot of this process.
  package let age: Duration?
}

/// A copy of the state from which a rebuild can start.
package struct CheckpointSize: Sendable {
  /// The last transaction in it.
  package let sequence: SequenceNumber
  /// The disk space of its file.
  package let bytes: UInt64
  /// The time when it was made.
  package let made: Date?
}

extension Database {
  /// The snapshots that this process holds, the oldest first, and the moments that others hold.
  ///
  /// - Throws: ``DatabaseError/closed(reason:)``, ``DatabaseError/corrupt(reason:)``.
  package func heldSnapshots() throws -> [HeldSnapshot] {
    try translating {
      let head = try directory.log.read { try $0.head().sequence }
      let own = directory.ages.all.map { sequence, age in
        HeldSnapshot(
          process: HeldMoment.ownProcess, environment: "state",
          behind: head.rawValue - min(head, sequence).rawValue, sequence: sequence, age: age)
      }
      let moments =
        try directory.log.heldMoments().map { ("log", $0) }
        + directory.currentState().environment.heldMoments().map { ("state", $0) }
      return own
        + moments.filter { !$0.1.isOwn }.map { environment, moment in
          HeldSnapshot(
            process: moment.process, environment: environment, behind: moment.commits,
            sequence: nil, age: nil)
        }
    }
  }

  /// The copies of the state from which a rebuild can start.
  ///
  /// - Throws: As ``heldSnapshots()``.
  package func checkpoints() throws -> [CheckpointSize] {
    try translating {
      guard let checkpoint = try Checkpoint.newest(directory) else { return [] }
      let file = "\(checkpoint.path)/data.mdb"
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      return [
        CheckpointSize(
          sequence: checkpoint.mark.sequence, bytes: Files.allocated(file),
          made: attributes?[.modificationDate] as? Date)
      ]
    }
  }
}
