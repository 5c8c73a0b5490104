import FoundationEssentials
import LMDB

/// The contents of a backup, after all of it was read and checked.
public struct Backup: Sendable {
  /// The id of the database, stored in every record that it writes.
  public var origin: UUID { format.origin }
  /// The time when that database was created.
  public var created: Date { Date(microseconds: format.created) }
  /// The number of files in it, without its manifest.
  public internal(set) var parts = 0
  /// The bytes of those files.
  public internal(set) var bytes: UInt64 = 0
  /// The moments that can be restored, the oldest first. There is more than one range where the
  /// database was compacted beyond what the backup had.
  public internal(set) var moments: [ClosedRange<SequenceNumber>] = []
  /// The time when the newest of those transactions was committed; nil where there is none.
  public internal(set) var time: Date?
  /// The named moments, as they were when the newest part was made.
  public internal(set) var tags: [CommitTag] = []
  /// The damage that was found, the first file's first; empty where all is sound. Anything after
  /// the first damage is not counted among the moments.
  public internal(set) var damage: [String] = []

  /// The newest transaction that can be restored.
  public var newest: SequenceNumber { moments.last?.upperBound ?? .zero }

  /// True if no damage was found.
  public var isSound: Bool { damage.isEmpty }

  let format: FormatEntry
  var retention = Retention()

  init(_ format: FormatEntry) { self.format = format }
}

extension Database {
  /// Returns true if there is a backup at a path, sound or not: a directory with a manifest, or a
  /// file that begins like one.
  ///
  /// - Parameter path: The path of a directory or a file.
  /// - Returns: True if it looks like a backup.
  public static func isBackup(_ path: String) -> Bool {
    let path = located(path)
    if Files.isDirectory(path) { return Files.exists("\(path)/\(BackupManifest.name)") }
    let start = try? FileReader(path).read(BackupFile.magic.count)
    return start == BackupFile.magic
  }

  /// Reads all of a backup, and checks every checksum in it, the chain of its records, the
  /// baselines and the blobs, and that each blob is there that a record or a baseline refers to. No
  /// database is opened, and nothing is written but a baseline to a temporary file, in `TMPDIR`.
  ///
  ///     let backup = try Database.checkBackup("/mnt/backups/shop.backup")
  ///     print(backup.isSound, backup.newest)
  ///
  /// - Parameters:
  ///   - path: The directory or the file.
  ///   - progress: Called for each piece of 1 MiB, on this thread; false cancels.
  /// - Returns: The contents of the backup. Damage is reported there, not thrown.
  /// - Throws: ``DatabaseError/unsupported(path:reason:)`` where it is no backup,
  ///   ``DatabaseError/corrupt(reason:)`` where its manifest is damaged,
  ///   ``DatabaseError/noDatabase(path:)`` where nothing is there, `CancellationError`.
  /// - Complexity: reads each byte once, at about 200 MB/s.
  public static func checkBackup(
    _ path: String, progress: ProgressHandler? = nil
  ) throws -> Backup {
    let path = located(path)
    return try naming(path) {
      let scan = try BackupScan(path, progress)
      try scan.check(demandsBlobs: true)
      return scan.contents
    }
  }
}
