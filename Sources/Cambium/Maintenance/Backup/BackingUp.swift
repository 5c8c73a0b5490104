// Copies a database that is in use: to a directory, again and again, or to one file.

import LMDB

/// A summary of what one run of a backup has added.
public struct BackupAddition: Hashable, Sendable {
  /// The newest transaction that the backup holds.
  public internal(set) var newest = SequenceNumber.zero
  /// The number of transactions that were added, with those that a baseline stands for.
  public internal(set) var transactions: UInt64 = 0
  /// The number of bytes that were written.
  public internal(set) var bytes: UInt64 = 0
  /// The number of files that the backup consists of, without its manifest.
  public internal(set) var parts = 1
  /// True if there was nothing new, so that nothing was written.
  public internal(set) var isUnchanged = false
}

extension Database {
  /// Backs up to a directory; to one that is a backup of this database already, only what is new.
  ///
  ///     try database.backUp(to: "/mnt/backups/shop.backup")
  ///
  /// Readers and writers continue meanwhile. The backup holds all transactions up to one that was
  /// the newest after this was called, their blobs, the tags and the policy; not the positions of
  /// consumers. It keeps everything that it once held, also where the database is compacted. A
  /// crash leaves it as it was before, or complete.
  ///
  /// - Parameters:
  ///   - path: The directory: a new one, an empty one, or a backup.
  ///   - progress: Called for each piece of 1 MiB, on this thread; false cancels.
  /// - Returns: A summary of the transactions and bytes that were added.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where something else is at the path, or a backup
  ///   of another database, or of one that was restored to an earlier moment and written to since;
  ///   ``DatabaseError/corrupt(reason:)`` where the log or the backup is damaged,
  ///   ``DatabaseError/busy(reason:)`` while another run adds to it,
  ///   ``DatabaseError/full(reason:)``, `CancellationError`. The backup is as it was then.
  /// - Complexity: reads what is new, and the hashes of all blobs; compresses at about 300 MB/s.
  @discardableResult
  public func backUp(
    to path: String, progress: ProgressHandler? = nil
  ) throws -> BackupAddition {
    let path = Database.located(path)
    return try naming(path) {
      Database.sweepBackups(of: path)
      if !Files.exists(path) { return try backUp(toNew: path, progress) }
      guard Files.isDirectory(path) else {
        throw DatabaseError.misuse(reason: "\(path) is a file; a backup that grows is a directory")
      }
      let claim = try ClaimedDirectory(locking: path)
      return try withExtendedLifetime(claim) {
        let addition = try backUp(into: BackupDirectory(path: path), progress)
        // A run before may have been killed between giving a name and making that durable.
        try Files.sync(path)
        try Files.sync(Files.parent(of: path))
        return addition
      }
    }
  }

  /// Backs up to one file.
  ///
  /// - Parameters:
  ///   - path: Where; nothing may be there. It appears only when it is complete and durable.
  ///   - progress: As in `backUp(to:)`.
  /// - Returns: A summary of the backup that was written.
  /// - Throws: As `backUp(to:)`. Nothing is left then.
  /// - Complexity: reads everything.
  @discardableResult
  public func backUp(
    toFile path: String, progress: ProgressHandler? = nil
  ) throws -> BackupAddition {
    let path = Database.located(path)
    return try translating {
      try Database.checkIsNew(path)
      try Database.checkParent(of: path)
      Database.sweepBackups(of: path)
      return try Database.withTemporaryDirectory(path, ".", directory.permissions) { temporary in
        let half = "\(temporary)/\(BackupDirectory.part(1))"
        let file = try FileWriter(creating: half)
        let addition = try backUp(into: file.append, progress: progress)
        try file.sync()
        try Files.rename(half, to: path)
        do { try Files.sync(Files.parent(of: path)) } catch {
          try? Files.remove(path)
          throw error
        }
        return addition
      }
    }
  }

  /// Backs up to wherever bytes can be sent: a socket, a pipe, an upload. It is what
  /// `backUp(toFile:)` writes.
  ///
  /// - Parameters:
  ///   - write: Takes the next bytes, about 1 MiB at a time.
  ///   - progress: As in `backUp(to:)`.
  /// - Returns: A summary of the transactions and bytes that were sent.
  /// - Throws: Any error that `write` throws, and as `backUp(to:)`. The bytes written until then
  ///   are no backup; a check reports that it was cut short.
  /// - Complexity: reads everything.
  @discardableResult
  public func backUp(
    into write: @escaping ([UInt8]) throws -> Void, progress: ProgressHandler? = nil
  ) throws -> BackupAddition {
    try translating {
      let pieces = try PieceWriter(write)
      var run = BackupRun(directory, after: [], into: pieces, progress)
      var addition = BackupAddition()
      addition.newest = try run.run(part: 1).head.sequence
      addition.transactions = addition.newest.rawValue
      addition.bytes = pieces.size
      return addition
    }
  }

  // MARK: Directories

  private static func checkParent(of path: String) throws {
    let parent = Files.parent(of: path)
    guard Files.isDirectory(parent) else { throw DatabaseError.noDatabase(path: parent) }
  }

  /// Makes a backup under a temporary name, which becomes its own when it is complete and durable.
  private func backUp(toNew path: String, _ progress: ProgressHandler?) throws -> BackupAddition {
    try Database.checkParent(of: path)
    let temporary = Database.temporaryPath(path, ".")
    let claim = try ClaimedDirectory(creating: temporary, directory.permissions)
    defer { withExtendedLifetime(claim) {} }
    do {
      let addition = try backUp(into: BackupDirectory(path: temporary), progress)
      try Files.rename(temporary, to: path)
      try Files.sync(Files.parent(of: path))
      return addition
    } catch {
      try? Files.removeDirectory(temporary)
      throw error
    }
  }

  /// Adds a part to a directory that this process has claimed.
  private func backUp(
    into backup: BackupDirectory, _ progress: ProgressHandler?
  ) throws -> BackupAddition {
    var manifest = try backup.manifest()
    if manifest == nil, try !backup.isUnused() {
      throw DatabaseError.misuse(
        reason: "\(backup.path) is no backup, and there is something in it")
    }
    let ends = try manifest.map { try backup.ends($0) } ?? []
    try checkIsSame(manifest, ends.last, backup)
    try backup.sweep(after: manifest)
    let number = ends.count + 1
    let (part, end) = try writePart(number, after: ends, into: backup, progress)
    var addition = BackupAddition()
    addition.newest = end.head.sequence
    addition.parts = number
    if let last = ends.last, BackupDirectory.isSame(last, end) {
      try Files.remove("\(backup.path)/\(BackupDirectory.part(number)).tmp")
      addition.parts = ends.count
      addition.isUnchanged = true
      return addition
    }
    try backup.keep(number)
    manifest = manifest ?? BackupManifest(format: directory.format)
    manifest?.parts.append(part)
    if let manifest { try backup.publish(manifest) }
    addition.transactions =
      end.head.sequence.rawValue - (ends.last?.head.sequence.rawValue ?? 0)
    addition.bytes = part.size
    return addition
  }

  private func writePart(
    _ number: Int, after ends: [PartEnd], into backup: BackupDirectory,
    _ progress: ProgressHandler?
  ) throws -> (BackupManifest.Part, PartEnd) {
    let name = "\(backup.path)/\(BackupDirectory.part(number)).tmp"
    do {
      let file = try FileWriter(creating: name)
      let digest = StreamDigest(on: directory.options.background.makeQueue("cambium.digest"))
      let pieces = try PieceWriter(to: digest, file.append)
      var run = BackupRun(directory, after: ends, into: pieces, progress)
      let end = try run.run(part: number)
      try file.sync()
      let part = BackupManifest.Part(
        size: pieces.size, end: pieces.newest, digest: digest.current())
      return (part, end)
    } catch {
      try? Files.remove(name)
      throw error
    }
  }

  /// Checks that this log continues what a backup has.
  private func checkIsSame(
    _ manifest: BackupManifest?, _ last: PartEnd?, _ backup: BackupDirectory
  ) throws {
    guard let manifest, let last else { return }
    guard manifest.format.origin == directory.format.origin else {
      throw DatabaseError.misuse(reason: "\(backup.path) is the backup of another database")
    }
    let (head, link) = try directory.log.read { log in
      (try log.head().sequence, try log.linkOfAny(last.head.sequence))
    }
    guard last.head.sequence <= head else {
      throw DatabaseError.misuse(
        reason: "\(backup.path) has transactions up to \(last.head.sequence), and the database "
          + "only up to \(head): it is of another history")
    }
    if let link, link != last.head.link { throw BackupRun.otherHistory }
  }

  /// Removes backups beside a path that were not completed.
  private static func sweepBackups(of path: String) {
    sweepCreations(of: path) {
      ["part-1", "part-1.tmp", "manifest", "manifest.tmp"].contains($0)
    }
  }
}

extension BackupDirectory {
  /// True if a part would hold nothing that the one before it does not.
  fileprivate static func isSame(_ last: PartEnd, _ end: PartEnd) -> Bool {
    end.head.sequence == last.head.sequence && end.tags == last.tags
      && end.retention == last.retention && end.blobs.isEmpty
  }

  /// Gives a part that is durable its name.
  fileprivate func keep(_ number: Int) throws {
    let name = "\(path)/\(BackupDirectory.part(number))"
    try Files.rename(name + ".tmp", to: name)
    try Files.sync(path)
  }
}

extension OpenDirectory {
  /// The permissions of files made from the database elsewhere, such as a backup.
  var permissions: Files.Permissions { Files.isPrivate(path) ? .ownerOnly : .byUmask }
}
