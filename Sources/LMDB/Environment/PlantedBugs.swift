/// Bugs that the torture harness plants on purpose, to see that it finds them.
///
/// None is active unless a harness of this package requests it when opening; an app cannot. Each is
/// tested for at the point where it does harm, once per commit or opening, never per node.
package struct PlantedBugs: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The log is committed without waiting for the disk.
  package static let logNotSynced = PlantedBugs(rawValue: 1 << 0)
  /// An async write returns before its group's commit.
  package static let acknowledgedEarly = PlantedBugs(rawValue: 1 << 1)
  /// A new database's directory is renamed, and its parent not synced.
  package static let parentNotSynced = PlantedBugs(rawValue: 1 << 2)
  /// A new database's files and directories are renamed without being synced.
  package static let renamedUnsynced = PlantedBugs(rawValue: 1 << 3)
  /// The log's head is written only with every second group.
  package static let headNotUpdated = PlantedBugs(rawValue: 1 << 4)
  /// The state's position is committed in a transaction of its own.
  package static let positionApart = PlantedBugs(rawValue: 1 << 5)
  /// A child count is not updated.
  package static let countSkipped = PlantedBugs(rawValue: 1 << 6)
  /// A commit that fails with an I/O error counts as done.
  package static let errorIgnored = PlantedBugs(rawValue: 1 << 7)
  /// Writing continues after an I/O error.
  package static let retriedAfterError = PlantedBugs(rawValue: 1 << 8)
  /// A state is trusted although the system was restarted since.
  package static let tornStateTrusted = PlantedBugs(rawValue: 1 << 9)
  /// The mark that a state is in use is not written before the state is used.
  package static let markNotWritten = PlantedBugs(rawValue: 1 << 10)
  /// A state is marked clean without being synced.
  package static let cleanUnsynced = PlantedBugs(rawValue: 1 << 11)
  /// A consumer's position is committed before the transaction that it belongs to.
  package static let consumerApart = PlantedBugs(rawValue: 1 << 12)
  /// The checksums of records and of the chain are not checked.
  package static let checksumUnchecked = PlantedBugs(rawValue: 1 << 13)
  /// Readers whose process was killed keep their slots and pages.
  package static let staleReadersKept = PlantedBugs(rawValue: 1 << 14)
  /// An observer does not look once more before it waits.
  package static let wakeUpLost = PlantedBugs(rawValue: 1 << 15)
  /// Observers are notified of a transaction before the state's commit.
  package static let toldEarly = PlantedBugs(rawValue: 1 << 16)
  /// A consumer's position is stored one transaction ahead.
  package static let consumerAhead = PlantedBugs(rawValue: 1 << 17)
  /// A backup's manifest names a part that is not synced.
  package static let partUnsynced = PlantedBugs(rawValue: 1 << 20)
  /// A restored database gets its name before its baseline is synced.
  package static let baselineUnsynced = PlantedBugs(rawValue: 1 << 21)
  /// The rest of a short write to a backup's file is not written.
  package static let shortWriteIgnored = PlantedBugs(rawValue: 1 << 22)
  /// A migration does not record together with a batch that the batch is done.
  package static let batchNotNoted = PlantedBugs(rawValue: 1 << 24)

  /// All of them, by the names that the harness prints.
  package static let named: [String: PlantedBugs] = [
    "log not synced": .logNotSynced, "acknowledged early": .acknowledgedEarly,
    "parent not synced": .parentNotSynced, "renamed unsynced": .renamedUnsynced,
    "head not updated": .headNotUpdated, "position apart": .positionApart,
    "count skipped": .countSkipped, "error ignored": .errorIgnored,
    "retried after error": .retriedAfterError, "torn state trusted": .tornStateTrusted,
    "mark not written": .markNotWritten, "clean unsynced": .cleanUnsynced,
    "consumer apart": .consumerApart, "checksum unchecked": .checksumUnchecked,
    "stale readers kept": .staleReadersKept, "wake-up lost": .wakeUpLost,
    "told early": .toldEarly, "consumer ahead": .consumerAhead,
    "part unsynced": .partUnsynced, "baseline unsynced": .baselineUnsynced,
    "short write ignored": .shortWriteIgnored, "batch not noted": .batchNotNoted,
  ]
}
