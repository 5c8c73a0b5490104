// Making a new database from a backup.

import FoundationEssentials
import LMDB

extension Database {
  /// Makes a new database of a backup, as it was at any moment that the backup holds.
  ///
  ///     try Database.restore("shop.backup", to: "rescued.cambium", upTo: .tag("release"))
  ///
  /// First all of the backup is read and checked; then its records, blobs, tags and policy go into
  /// a new log, up to the moment. Sequence numbers, times and links stay as they were, and so does
  /// all that was written before the moment, as far back as the backup reaches. Positions of
  /// consumers are not in a backup.
  ///
  /// Where the backup is damaged, moments before the damage can still be restored.
  ///
  /// - Parameters:
  ///   - backup: The directory or the file.
  ///   - path: Where; nothing may be there. It appears only when it is complete and durable.
  ///   - moment: The last moment to take over; the newest by default.
  ///   - options: For the new database.
  ///   - progress: Called for each piece of 1 MiB, on this thread; false cancels.
  /// - Returns: The newest transaction of the new database.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where something is at the path,
  ///   ``DatabaseError/noSuchMoment(reason:)`` where the backup does not hold the moment,
  ///   ``DatabaseError/corrupt(reason:)`` where it is damaged, saying what can be restored,
  ///   ``DatabaseError/unsupported(path:reason:)`` where it is no backup,
  ///   ``DatabaseError/noDatabase(path:)``, ``DatabaseError/full(reason:)``, `CancellationError`.
  ///   Nothing is left then.
  /// - Complexity: reads the backup twice; the new state is folded when it is opened.
  @discardableResult
  public static func restore(
    _ backup: String, to path: String, upTo moment: Moment = .now, options: Options = Options(),
    progress: ProgressHandler? = nil
  ) throws -> SequenceNumber {
    let (path, backup) = (located(path), located(backup))
    try checkIsNew(path)
    return try naming(backup) {
      let check = try BackupScan(backup, wantedTime: moment.microseconds, progress)
      try check.check()
      let last = try check.sequence(of: moment)
      try create(path, options) { log in
        let restoration = Restoration(check.contents, upTo: last, into: log)
        let scan = try BackupScan(backup) { step in
          progress?(WorkProgress(phase: "restore", done: step.done, total: step.total)) ?? true
        }
        try restoration.begin()
        if last > .zero { try scan.run(restoration.take) }
        try restoration.finish()
      }
      return last
    }
  }
}

extension Moment {
  /// The time that is meant, in microseconds since 1970.
  fileprivate var microseconds: Int64? {
    if case .time(let date) = self { date.microseconds } else { nil }
  }
}

extension BackupScan {
  /// The transaction that a moment means, once all was read.
  ///
  /// - Throws: ``DatabaseError/noSuchMoment(reason:)``, ``DatabaseError/corrupt(reason:)``.
  fileprivate func sequence(of moment: Moment) throws -> SequenceNumber {
    switch moment {
    case .now:
      if let damage = contents.damage.first { throw refusal(damage) }
      return contents.newest
    case .sequence(let sequence): return try checked(sequence)
    case .tag(let name):
      if let tag = contents.tags.first(where: { $0.name == name }) {
        return try checked(tag.sequence)
      }
      if let damage = contents.damage.first { throw refusal(damage) }
      throw DatabaseError.noSuchMoment(reason: "the backup has no tag '\(name)'")
    case .time:
      let found = chain.time.found
      if let damage = contents.damage.first, found == contents.newest { throw refusal(damage) }
      if let found, !chain.time.isBetween { return found }
      throw DatabaseError.noSuchMoment(
        reason: "the backup does not hold that time; it holds transactions \(moments)")
    }
  }

  private func checked(_ sequence: SequenceNumber) throws -> SequenceNumber {
    if contents.moments.contains(where: { $0.contains(sequence) }) { return sequence }
    if sequence > contents.newest, let damage = contents.damage.first { throw refusal(damage) }
    throw DatabaseError.noSuchMoment(
      reason: "transaction \(sequence) is not in the backup, which holds \(moments)")
  }

  private func refusal(_ damage: String) -> DatabaseError {
    .corrupt(
      reason: "the backup is damaged: \(damage); what can be restored is "
        + (contents.moments.isEmpty ? "nothing" : moments))
  }

  /// The moments that can be restored, for people.
  private var moments: String {
    contents.moments.map { range in
      range.lowerBound == range.upperBound
        ? "\(range.upperBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }.joined(separator: " and ")
  }
}

/// Takes records, blobs and a baseline into a new log.
private final class Restoration {
  private let log: Log
  private let backup: Backup
  private let last: SequenceNumber
  /// The start of the range that holds the last record.
  private let start: SequenceNumber
  /// True while that range is being read.
  private var isInside: Bool
  private var baselineFile: FileWriter?
  private var baselineDirectory = ""
  private var head = LogHead()
  private var records: [TransactionRecord] = []
  private var chunks: [(key: [UInt8], value: [UInt8])] = []
  private var bytes = 0
  private static let stepBytes = 16 << 20

  init(_ backup: Backup, upTo last: SequenceNumber, into log: Log) {
    self.log = log
    self.backup = backup
    self.last = last
    start = backup.moments.first { $0.contains(last) }?.lowerBound ?? .zero
    isInside = start == .zero
  }

  func begin() throws {
    try log.write(head: head) { try $0.setFormat(backup.format) }
  }

  /// Takes the content of one step.
  ///
  /// - Returns: True if more is needed.
  func take(_ step: BackupChain.Step) throws -> Bool {
    if case .baselineFile = step {} else { try closeBaseline() }
    switch step {
    case .baseline(let mark): try take(mark)
    case .baselineFile(let content): try baselineFile?.append(content)
    case .chunks(let chunks):
      self.chunks += chunks
      bytes += chunks.reduce(0) { $0 + $1.value.count }
    case .records(let records): take(records)
    }
    if bytes >= Restoration.stepBytes { try store() }
    return head.sequence < last || baselineFile != nil
  }

  private func take(_ records: [TransactionRecord]) {
    guard isInside else { return }
    for record in records where record.sequence <= last {
      self.records.append(record)
      head.advance(to: record)
      bytes += record.operations.count + 256
    }
  }

  private func take(_ mark: BaselineMark) throws {
    isInside = mark.sequence == start
    guard isInside else { return }
    let database = Files.parent(of: log.path)
    baselineDirectory = "\(database)/\(Baseline.directory(mark))"
    try Files.createDirectory(baselineDirectory)
    baselineFile = try FileWriter(creating: "\(baselineDirectory)/data.mdb")
    head = LogHead(mark)
    try log.write(head: head) { try $0.begin(after: mark) }
  }

  private func closeBaseline() throws {
    guard let file = baselineFile else { return }
    baselineFile = nil
    try file.sync()
    try Files.sync(baselineDirectory)
  }

  /// Writes what was taken.
  private func store() throws {
    try log.write(head: head) { writer in
      for chunk in chunks { try writer.putChunk(chunk.key, chunk.value) }
      for record in records { try writer.append(record) }
    }
    (chunks, records, bytes) = ([], [], 0)
  }

  /// Writes the rest.
  func finish() throws {
    try closeBaseline()
    try store()
    guard head.sequence == last else {
      throw DatabaseError.corrupt(reason: "the backup has changed while it was read")
    }
    try log.write(head: head) { writer in
      for tag in backup.tags where tag.sequence <= last {
        try writer.setTag(tag.name, to: tag.sequence)
      }
      try writer.setRetention(backup.retention)
    }
  }
}
