// Reading a backup from its start to its end, checking all of it without LMDB.
//
//     part: start, then chunks and records in any order, end
//     a baseline, with its file in pieces, may come before records
//
// Each piece has its checksum, each record and chunk its own; records are a chain from the first
// one or a baseline on; a baseline's file has the digest that its mark says, and a blob that of its
// address. The digest of each part is in the manifest. A check also demands each blob that a record
// or a baseline refers to.

import FoundationEssentials
import LMDB

/// Walks over the pieces of a backup, once.
final class BackupScan {
  /// A piece that was read, and checked as far as it can be alone.
  enum Step {
    case baseline(BaselineMark)
    case baselineFile([UInt8])
    case records([TransactionRecord])
    case chunks([(key: [UInt8], value: [UInt8])])
  }

  /// A file, and what the manifest says of it.
  private struct File {
    let path: String
    let name: String
    let part: BackupManifest.Part?
  }

  private let files: [File]
  private let progress: ProgressReporter
  private let bytes: UInt64
  private var bytesRead: UInt64 = 0

  /// The contents that were found until now.
  private(set) var contents: Backup
  /// The newest record that was read.
  private var head = LogHead()
  private let format: FormatEntry
  /// The baseline whose file is being read.
  private var baseline: BaselineMark?
  private var baselineDigest = Digest()
  private var blobs = BlobDigest()
  private var whole: Set<[UInt8]> = []
  /// The blobs that are referred to; nil where that is not asked.
  private var references: BackupReferences?
  /// The last transaction at or before the time that is looked for, in microseconds.
  private(set) var found: SequenceNumber?
  /// True if that time lies between two ranges of moments.
  private(set) var isBetween = false
  private let wantedTime: Int64?
  private var lastTime: Int64?

  /// Opens a backup.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``, ``DatabaseError/noDatabase(path:)``,
  ///   ``DatabaseError/corrupt(reason:)`` where the manifest is damaged.
  init(_ path: String, wantedTime: Int64? = nil, _ progress: ProgressHandler?) throws {
    guard Files.exists(path) else { throw DatabaseError.noDatabase(path: path) }
    self.progress = ProgressReporter(progress)
    self.wantedTime = wantedTime
    if Files.isDirectory(path) {
      guard let manifest = try BackupDirectory(path: path).manifest() else {
        throw DatabaseError.unsupported(path: path, reason: "it has no manifest of a backup")
      }
      format = manifest.format
      files = manifest.parts.enumerated().map { index, part in
        let name = BackupDirectory.part(index + 1)
        return File(path: "\(path)/\(name)", name: name, part: part)
      }
    } else {
      format = try BackupScan.format(of: path)
      files = [File(path: path, name: path, part: nil)]
    }
    bytes = files.reduce(0) { $0 + Files.size(of: $1.path) }
    contents = Backup(format)
    contents.parts = files.count
    contents.bytes = bytes
  }

  /// Reads the database's format entry from a file's own start.
  private static func format(of path: String) throws -> FormatEntry {
    let reader = try PieceReader(path)
    guard let piece = try reader.next(), piece.kind == .start else {
      throw DatabaseError.corrupt(reason: "\(path) has no start")
    }
    return try piece.content.lend { try PartStart($0) }.format
  }

  // MARK: Walking

  /// Reads all, and notes what is wrong instead of throwing it. After damage only the digests of
  /// further files are compared.
  /// Blobs are not demanded where all that is there is to be restored: earlier versions let values
  /// refer to some that were never stored.
  func check(demandsBlobs: Bool = false) throws {
    if demandsBlobs { references = BackupReferences() }
    var rest = files.enumerated().makeIterator()
    while let (index, file) = rest.next() {
      do {
        if contents.isSound {
          _ = try scan(file, index) { _ in true }
        } else {
          try compare(file)
        }
      } catch DatabaseError.corrupt(let reason) {
        contents.damage.append(reason)
      }
    }
    if contents.isSound { contents.damage = references?.missing ?? [] }
  }

  /// Reads, and shows each step, until `visit` says that it has enough.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``, and what `visit` throws.
  func run(_ visit: (Step) throws -> Bool) throws {
    for (index, file) in files.enumerated() {
      if try !scan(file, index, visit) { return }
    }
  }

  private func scan(
    _ file: File, _ index: Int, _ visit: (Step) throws -> Bool
  ) throws -> Bool {
    try naming(file) {
      let reader = try PieceReader(file.path)
      guard let start = try reader.next(), start.kind == .start else {
        throw DatabaseError.corrupt(reason: "it has no start")
      }
      try begin(try start.content.lend { try PartStart($0) }, index)
      while let piece = try reader.next() {
        try progress.tell("check", bytesRead + reader.size, bytes)
        if piece.kind == .end {
          try finish(try piece.content.lend { try PartEnd($0) })
          let size = reader.size
          try compare(try reader.digest(), reader.size, file)
          guard reader.size == size else {
            throw DatabaseError.corrupt(reason: "there is something after its end")
          }
          bytesRead += size
          return true
        }
        if try !visit(step(piece.kind, piece.content)) { return false }
      }
      throw DatabaseError.corrupt(reason: "it was cut short")
    }
  }

  /// Reads a file for its digest alone.
  private func compare(_ file: File) throws {
    try naming(file) {
      try progress.tell("check", bytesRead, bytes)
      let reader = try PieceReader(file.path)
      let digest = try reader.digest()
      try compare(digest, reader.size, file)
      bytesRead += reader.size
    }
  }

  private func compare(_ digest: [UInt8], _ size: UInt64, _ file: File) throws {
    guard file.part.map({ $0.digest == digest && $0.size == size }) ?? (size == bytes) else {
      throw DatabaseError.corrupt(reason: "it is not what was stored")
    }
  }

  /// Names the file in what is wrong with it.
  private func naming<R>(_ file: File, _ body: () throws -> R) throws -> R {
    do { return try body() } catch DatabaseError.corrupt(let reason) {
      throw DatabaseError.corrupt(reason: "\(file.name): \(reason)")
    } catch DatabaseError.unsupported(_, let reason) {
      throw DatabaseError.corrupt(reason: "\(file.name): \(reason)")
    } catch let error as StorageError where error.kind == .missing {
      throw DatabaseError.corrupt(reason: "\(file.name) is missing")
    }
  }

  // MARK: Pieces

  private func begin(_ start: PartStart, _ index: Int) throws {
    guard start.part == index + 1, start.format.isOfSameDatabase(as: format), start.head == head
    else {
      throw DatabaseError.corrupt(reason: "it does not belong here")
    }
    whole = []
  }

  private func step(_ kind: PieceKind, _ content: [UInt8]) throws -> Step {
    if kind != .baselineFile { try finishBaseline() }
    if kind != .chunks { blobs.end(take) }
    switch kind {
    case .start, .end: throw DatabaseError.corrupt(reason: "it starts twice")
    case .baseline: return try begin(content.lend { try BaselineMark($0) })
    case .baselineFile:
      baselineDigest.update(content)
      try references?.take(baseline: content)
      return .baselineFile(content)
    case .records: return .records(try records(content))
    case .chunks: return .chunks(try chunks(content))
    }
  }

  private func begin(_ mark: BaselineMark) throws -> Step {
    guard mark.sequence > head.sequence, mark.clock > head.clock.rawValue else {
      throw DatabaseError.corrupt(reason: "a baseline is of transaction \(mark.sequence)")
    }
    baseline = mark
    baselineDigest = Digest()
    return .baseline(mark)
  }

  private func finishBaseline() throws {
    guard let mark = baseline else { return }
    baseline = nil
    guard baselineDigest.current() == mark.digest else {
      throw DatabaseError.corrupt(
        reason: "the baseline of transaction \(mark.sequence) is not what was stored")
    }
    try references?.finish(mark)
    head = LogHead(mark)
    if let wantedTime, let last = lastTime, last < wantedTime, wantedTime < mark.time {
      isBetween = true
    }
    contents.moments.append(mark.sequence...mark.sequence)
    note(mark.time)
  }

  private func records(_ content: [UInt8]) throws -> [TransactionRecord] {
    let segment = try content.lend { try PieceOfRecords.segment($0) }
    guard segment.first == head.sequence.next else {
      throw DatabaseError.corrupt(reason: "record \(head.sequence.next) is missing")
    }
    beginAtZero()
    var records: [TransactionRecord] = []
    try segment.forEach { record in
      guard record.chained(to: head.link) == record.link,
        record.clock.rawValue > head.clock.rawValue
      else { throw DatabaseError.corrupt(reason: "the chain breaks at record \(record.sequence)") }
      head.advance(to: record)
      let oldest = contents.moments.removeLast().lowerBound
      contents.moments.append(oldest...record.sequence)
      note(record.time)
      try references?.take(record)
      records.append(record)
    }
    return records
  }

  /// Where no baseline comes first, the first moment is the empty database.
  private func beginAtZero() {
    if contents.moments.isEmpty { contents.moments = [SequenceNumber.zero ... .zero] }
  }

  /// Notes the time of the newest record.
  private func note(_ time: Int64) {
    lastTime = time
    contents.time = Date(microseconds: time)
    if let wantedTime, time <= wantedTime { found = head.sequence }
  }

  private func chunks(_ content: [UInt8]) throws -> [(key: [UInt8], value: [UInt8])] {
    let chunks = try content.lend { try PieceOfChunks.chunks($0) }
    for chunk in chunks {
      blobs.begin(chunk.key, take)
      blobs.add(try chunk.value.lend { try BlobChunk.content($0, key: chunk.key) })
    }
    return chunks
  }

  private func take(_ blob: BlobDigest.Blob) {
    guard blob.isWhole else { return }
    whole.insert(blob.hash)
    references?.add(blob.hash, size: blob.size)
  }

  private func finish(_ end: PartEnd) throws {
    try finishBaseline()
    blobs.end(take)
    beginAtZero()
    guard end.head.sequence == head.sequence, end.head.link == head.link else {
      throw DatabaseError.corrupt(reason: "it ends with transaction \(head.sequence)")
    }
    guard whole.isSuperset(of: end.blobs) else {
      throw DatabaseError.corrupt(reason: "a blob is not whole")
    }
    guard end.tags.allSatisfy({ $0.sequence <= head.sequence }) else {
      throw DatabaseError.corrupt(reason: "a tag is of a transaction that is not there")
    }
    contents.tags = end.tags
    contents.retention = end.retention
    // The next part continues after the head of this one.
    head = end.head
  }
}
