import LMDB

/// Writes one file of a backup: what the log got since the one before, or all of it.
///
/// Records continue after those of the parts before. Where compaction has dropped them meanwhile, a
/// baseline begins a new range, and the backup keeps what it has of the old one.
struct BackupRun {
  private let directory: OpenDirectory
  private let pieces: PieceWriter
  private let progress: ProgressReporter
  private var end: PartEnd
  /// The blobs that the backup has whole.
  private var known: Set<[UInt8]>

  init(
    _ directory: OpenDirectory, after ends: [PartEnd], into pieces: PieceWriter,
    _ progress: ProgressHandler?
  ) {
    self.directory = directory
    self.pieces = pieces
    self.progress = ProgressReporter(progress)
    end = PartEnd(head: ends.last?.head ?? LogHead())
    known = Set(ends.flatMap(\.blobs))
  }

  /// Writes it, from the start to the end.
  ///
  /// - Returns: The end of the part.
  /// - Throws: ``DatabaseError``, `CancellationError`, and what the writer throws.
  mutating func run(part: Int) throws -> PartEnd {
    let format = try directory.log.read { try $0.format() }
    let start = PartStart(part: UInt32(part), format: format, head: end.head)
    try pieces.add(.start, start.stored())
    // Compaction may come further than the head was meanwhile; then the rest is added as well.
    while try !addUpToHead() {}
    let newest = end.head.sequence
    try progress.tell("backup", newest.rawValue, newest.rawValue)
    end.retention = try directory.log.read { try $0.retention() }
    end.tags = try directory.log.read { try $0.tags() }.filter { $0.sequence <= newest }
    try pieces.add(.end, end.stored())
    return end
  }

  /// Adds what the log has now.
  ///
  /// - Returns: True if that is all; false if a baseline has come beyond it, so that more must be
  ///   added.
  private mutating func addUpToHead() throws -> Bool {
    let target = try directory.log.read { try $0.head().sequence }
    // The backup is to have nothing that the database may lose with the power.
    try directory.log.sync()
    // Each blob that a record up to the target refers to is there before the record.
    try addBlobs()
    while true {
      try addBaselineIfNeeded()
      if end.head.sequence >= target { return end.head.sequence == target }
      try addRecords(to: target)
    }
  }

  // MARK: Records

  private mutating func addRecords(to target: SequenceNumber) throws {
    try progress.tell("backup", end.head.sequence.rawValue, target.rawValue)
    var segment = Segment(after: end.head.sequence)
    for record in try nextRecords() where record.sequence <= target {
      try directory.log.advance(&end.head, to: record)
      segment.append(record.stored())
      if segment.records.count >= BackupFile.pieceBytes {
        try pieces.add(.records, PieceOfRecords.stored(segment))
        segment = Segment(after: end.head.sequence)
      }
    }
    if !segment.records.isEmpty { try pieces.add(.records, PieceOfRecords.stored(segment)) }
  }

  /// Some of the records that come next; none where compaction has dropped them just now.
  private func nextRecords() throws -> [TransactionRecord] {
    let after = end.head.sequence
    do {
      return try directory.log.read { try $0.records(after: after, bytes: BackupFile.pieceBytes) }
    } catch DatabaseError.compacted {
      return []
    }
  }

  // MARK: Baselines

  /// Begins a range with a baseline where the records do not continue those that were written.
  private mutating func addBaselineIfNeeded() throws {
    for attempt in 0..<100 {
      guard let mark = try neededBaseline() else { break }
      guard mark.sequence > end.head.sequence, mark.clock > end.head.clock.rawValue else {
        throw BackupRun.otherHistory
      }
      let file = "\(directory.path)/\(Baseline.directory(mark))/data.mdb"
      // Where it is missing the next one has taken its place meanwhile, or it is lost.
      if !Files.exists(file) && attempt < 99 { continue }
      let reader = try FileReader(file)
      try addBlobs()
      try pieces.add(.baseline, mark.stored())
      let digest = try addFile(reader)
      if digest != mark.digest {
        throw DatabaseError.corrupt(
          reason: "the baseline of transaction \(mark.sequence) is not what was stored")
      }
      end.head = LogHead(mark)
    }
  }

  /// The baseline that must come before the next records, if any.
  private func neededBaseline() throws -> BaselineMark? {
    try directory.log.read { log in
      try log.goesOn(after: end.head.sequence) ? nil : try log.oldestBaseline()
    }
  }

  /// Adds a baseline's file, and returns its digest.
  private func addFile(_ reader: FileReader) throws -> [UInt8] {
    let digest = Digest()
    var count: UInt64 = 0
    while true {
      let bytes = try reader.read(BackupFile.pieceBytes)
      if bytes.isEmpty { return digest.finish() }
      digest.update(bytes)
      count += UInt64(bytes.count)
      try pieces.add(.baselineFile, bytes)
      try progress.tell("baseline", count)
    }
  }

  /// The error thrown when a backup cannot be continued with this database.
  static let otherHistory = DatabaseError.misuse(
    reason: "the backup is of another history of this database")

  // MARK: Blobs

  /// Adds the blobs that the backup does not have, in one walk over the chunks of all.
  ///
  /// Chunks are copied as they are stored. One that is being stored has only some of its chunks as
  /// yet; it does not count as known, so a later run adds it again.
  private mutating func addBlobs() throws {
    var place: [UInt8] = []
    var blob = BlobInspection()
    while true {
      let chunks = try directory.log.read { [known] in
        try $0.chunks(after: place, bytes: BackupFile.pieceBytes, without: known)
      }
      guard let newest = chunks.last else { break }
      var content: [UInt8] = []
      for chunk in chunks {
        if !blob.isOf(chunk.key) { try keep(blob) }
        try chunk.value.lend { try blob.add(chunk.key, $0) }
        PieceOfChunks.append(chunk, to: &content)
      }
      try pieces.add(.chunks, content)
      place = newest.key
      try progress.tell("blobs", UInt64(end.blobs.count))
    }
    try keep(blob)
  }

  /// Notes a blob, all of whose chunks were added, as one that the backup has.
  private mutating func keep(_ blob: BlobInspection) throws {
    guard !blob.hash.isEmpty, blob.isContiguous,
      try blob.endsShort || hasContent(blob.hash, chunkCount: blob.chunkCount)
    else { return }
    known.insert(blob.hash)
    end.blobs.append(blob.hash)
  }

  /// True if some chunks hold the content that a blob's address names.
  private func hasContent(_ hash: [UInt8], chunkCount: UInt32) throws -> Bool {
    let blob = Blob(hash: hash, size: UInt64(chunkCount) * UInt64(BlobChunks.chunkBytes))
    let digest = Digest()
    for number in 0..<chunkCount {
      digest.update(try directory.log.read { try $0.chunk(blob, number) })
    }
    return digest.finish() == hash
  }
}
