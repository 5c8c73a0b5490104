// Finding the blobs that were stored, and to which nothing refers.
//
//     candidates   the blobs whose leases have ended; where records are about to be dropped, also
//                  those that have no lease
//     unreferred   the candidates that no record, baseline or segment refers to
//     listed       of these, the ones whose lease has ended: BlobSweep.swift gives them up
//     adopted      the others get a lease: a restored backup, a repair, or an earlier version of
//                  the program has left them, and somebody may be about to refer to them
//
// A lease that has ended is removed in any case: a blob to which something refers needs none. A
// transaction that refers to a blob after it was listed is seen by BlobSweep.

import LMDB

/// Finds them; whoever compacts holds the lock meanwhile, so that nothing is dropped.
struct BlobCollection {
  /// The blobs that were found.
  struct Found {
    /// The blobs whose leases have ended.
    var ended: Set<[UInt8]>
    /// The candidates to which nothing refers.
    var unreferred: Set<[UInt8]>

    var isEmpty: Bool { ended.isEmpty && unreferred.isEmpty }
  }

  let directory: OpenDirectory
  let progress: ProgressReporter

  /// True if any lease has ended, of a blob or of an upload.
  func isDue() throws -> Bool {
    if UploadPart.hasLapsed(in: directory) { return true }
    guard let first = try firstEnd() else { return false }
    return first <= LeaseTime(directory).present
  }

  /// The end of the lease that ends first, in microseconds since 1970; nil if there are none.
  func firstEnd() throws -> Int64? {
    try directory.log.read { try BlobLeases($0).all().values.min() }
  }

  /// Finds the blobs.
  ///
  /// - Parameter withUnleased: True to look at all blobs, not only at those whose leases have
  ///   ended.
  /// - Returns: The blobs.
  /// - Throws: ``DatabaseError``, `CancellationError`.
  /// - Complexity: Reads all records, the baseline and the archive, in this order, but only while
  ///   there are candidates.
  func find(withUnleased: Bool) throws -> Found {
    let (leases, others) = try directory.log.read { log in
      let leases = try BlobLeases(log).all()
      guard withUnleased else { return (leases, Set<[UInt8]>()) }
      let others = try BlobCollection.hashes(in: log).subtracting(leases.keys)
      return (leases, others.subtracting(try log.blobsGivenUp()))
    }
    let now = LeaseTime(directory).present
    let ended = Set(leases.filter { $0.value <= now }.keys)
    var unreferred = ended.union(others)
    try strikeRecords(out: &unreferred)
    try strikeBaselines(out: &unreferred)
    try strikeArchive(out: &unreferred)
    return Found(ended: ended, unreferred: unreferred)
  }

  /// Lists and adopts some of the blobs that were found, at least one however late it is; the
  /// writer's turn is held.
  ///
  /// - Returns: The blobs that are left.
  func list(_ found: Found, until limit: ContinuousClock.Instant) throws -> Found {
    let now = LeaseTime(directory).present
    let adopted = LeaseTime(directory).end(after: BlobLeases.usual)
    return try directory.log.amend { log in
      var left = found
      var listed = Set(try log.reader.blobsGivenUp())
      repeat {
        if let hash = left.ended.popFirst() {
          let isUnreferred = left.unreferred.remove(hash) != nil
          // It may have been renewed meanwhile.
          guard let end = try BlobLeases(log.reader).end(of: hash), end <= now else { continue }
          try log.removeLease(of: hash)
          if isUnreferred { listed.insert(hash) }
        } else if let hash = left.unreferred.popFirst() {
          try log.lease(Blob(hash: hash, size: 0), until: adopted)
        }
      } while !left.isEmpty && ContinuousClock.now < limit
      try log.setBlobsGivenUp(listed.sorted { $0.lexicographicallyPrecedes($1) })
      return left
    }
  }

  // MARK: References

  private func strikeRecords(out blobs: inout Set<[UInt8]>) throws {
    if blobs.isEmpty { return }
    let (baseline, head) = try directory.log.read { (try $0.baseline(), try $0.head()) }
    var last = baseline.sequence
    while last < head.sequence, !blobs.isEmpty {
      let records = try directory.log.read { try $0.records(after: last, bytes: 1 << 20) }
      guard let newest = records.last else { return }
      for record in records { try BlobReferences.forEach(in: record) { blobs.remove($0.hash) } }
      last = newest.sequence
      try progress.tell("blobs", last.rawValue, head.sequence.rawValue)
    }
  }

  private func strikeBaselines(out blobs: inout Set<[UInt8]>) throws {
    let marks = try directory.log.read { [try $0.baseline(), try $0.archiveStart()] }
    for mark in marks where mark.sequence > .zero && !blobs.isEmpty {
      let path = "\(directory.path)/\(Baseline.directory(mark))/data.mdb"
      try BlobReferences.forEach(inBaseline: { try TableScan(path, table: $0, seal: $1) }) {
        blobs.remove($0.hash)
      }
    }
  }

  private func strikeArchive(out blobs: inout Set<[UInt8]>) throws {
    if blobs.isEmpty { return }
    var last = try directory.log.read { try $0.archiveStart().sequence }
    while !blobs.isEmpty, let segment = try directory.log.read({ try $0.segment(after: last) }) {
      try segment.forEach { try BlobReferences.forEach(in: $0) { blobs.remove($0.hash) } }
      if segment.last <= last {
        throw DatabaseError.corrupt(reason: "the archive is out of order behind \(last)")
      }
      last = segment.last
      try progress.tell("blobs", last.rawValue)
    }
  }

  /// The hashes of all blobs of which there is any chunk.
  private static func hashes(in log: LogReader) throws -> Set<[UInt8]> {
    var hashes: Set<[UInt8]> = []
    var bound: [UInt8] = [0]
    while let key = try log.chunkKey(.behind, bound) {
      let hash = Array(key.prefix(Digest.bytesCount))
      guard hashes.insert(hash).inserted else {
        throw DatabaseError.corrupt(reason: "the chunks of blobs are out of order")
      }
      bound = Blob.end(of: hash)
    }
    return hashes
  }
}
