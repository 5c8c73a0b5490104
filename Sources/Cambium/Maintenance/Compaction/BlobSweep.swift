// Giving up the blobs that only dropped transactions referred to.
//
//     listed    while a baseline is made: what the old one and the dropped records refer to, and
//               the new one does not; the list is published with the baseline
//     checked   against the records that are left, up to the newest, in the writer's turn
//     given up  chunk by chunk, the last one first, so that a blob is there whole or not at all
//
// A content that is stored again is referred to later. So storing takes a blob off the list, and
// its lease keeps it from being listed. Where transactions are archived nothing is given up that
// they refer to, since any of their moments can be restored. Blobs to which nothing ever referred
// are listed by BlobCollection.swift.

/// Takes the steps of giving blobs up.
struct BlobSweep {
  /// For so long after an earlier version of the program stored it again a blob is not listed, in
  /// microseconds.
  static let grace: Int64 = 600_000_000

  let directory: OpenDirectory

  /// The blobs that a baseline, which a state holds as yet unchanged, and the records after it
  /// refer to.
  func referred(by state: State, upTo horizon: SequenceNumber) throws -> Set<[UInt8]> {
    var blobs: Set<[UInt8]> = []
    if try !hasBlobs { return blobs }
    try BlobReferences.forEach(in: state) { blobs.insert($0.hash) }
    try directory.log.read { log in
      try forEachReference(log, after: try log.baseline().sequence, upTo: horizon) {
        blobs.insert($0)
      }
    }
    return blobs
  }

  private var hasBlobs: Bool {
    get throws { try directory.log.read { try $0.hasBlobs() } }
  }

  /// Lists blobs with the commit that publishes a baseline, and forgets what was kept long ago.
  func list(_ blobs: Set<[UInt8]>, _ log: borrowing LogWriter) throws {
    var blobs = blobs.union(try log.reader.blobsGivenUp())
    let limit = WallClock.microseconds() - BlobSweep.grace
    for name in try log.reader.entryNames(startingWith: GivenUpBlobs.keptPrefix) {
      let kept = Int64(clamping: try log.reader.number(name) ?? 0)
      if kept < limit {
        try log.removeEntry(name)
      } else {
        blobs = blobs.filter { GivenUpBlobs.keptName($0) != name }
      }
    }
    let leased = try BlobLeases(log.reader).all()
    blobs = blobs.filter { leased[$0] == nil }
    try log.setBlobsGivenUp(blobs.sorted { $0.lexicographicallyPrecedes($1) })
  }

  /// Finds the listed blobs to which no record that is left refers.
  ///
  /// - Returns: The newest record that was looked at, and the hashes of the blobs that are still
  ///   listed.
  func unreferred() throws -> (upTo: SequenceNumber, blobs: Set<[UInt8]>) {
    try directory.log.read { log in
      var blobs = Set(try log.blobsGivenUp())
      let head = try log.head().sequence
      if blobs.isEmpty { return (head, blobs) }
      try forEachReference(log, after: try log.baseline().sequence, upTo: head) { blobs.remove($0) }
      return (head, blobs)
    }
  }

  /// Gives up some chunks, at least one however late it is; the writer's turn is held.
  ///
  /// - Returns: True if there may be more.
  func step(
    _ found: (upTo: SequenceNumber, blobs: Set<[UInt8]>), until end: ContinuousClock.Instant
  ) throws -> Bool {
    try directory.log.amend { log in
      let listed = try log.reader.blobsGivenUp()
      var blobs = found.blobs.intersection(listed)
      let head = try log.reader.head().sequence
      try forEachReference(log.reader, after: found.upTo, upTo: head) { blobs.remove($0) }
      repeat {
        guard let hash = blobs.first else { break }
        if try !log.removeLastChunk(of: hash) { blobs.remove(hash) }
      } while ContinuousClock.now < end
      try log.setBlobsGivenUp(blobs.sorted { $0.lexicographicallyPrecedes($1) })
      return !blobs.isEmpty
    }
  }

  private func forEachReference(
    _ log: LogReader, after: SequenceNumber, upTo last: SequenceNumber,
    _ body: ([UInt8]) -> Void
  ) throws {
    var sequence = after
    while sequence < last {
      sequence = sequence.next
      try BlobReferences.forEach(in: try log.record(sequence)) { body($0.hash) }
    }
  }
}
