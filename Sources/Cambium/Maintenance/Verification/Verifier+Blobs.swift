// Demanding the blobs that records and baselines refer to.
//
// A blob may be gone to which only dropped or erased transactions referred. The records and
// baselines that are left refer to none of those.

import LMDB

extension Verifier {
  /// Notes the blobs that an operation refers to and the log does not have.
  mutating func demandBlobs(of operation: Operation, _ sequence: SequenceNumber) throws {
    try BlobReferences.forEach(in: operation) { try require($0, "record \(sequence)") }
  }

  /// Notes the blobs that the baselines refer to and the log does not have.
  mutating func checkReferences() throws {
    if hasDamage { return }
    let marks = try directory.log.read { [try $0.baseline(), try $0.archiveStart()] }
    for mark in marks where mark.sequence > .zero {
      let path = "\(directory.path)/\(Baseline.directory(mark))/data.mdb"
      do {
        try BlobReferences.forEach(inBaseline: { try TableScan(path, table: $0, seal: $1) }) {
          try require($0, "the baseline of transaction \(mark.sequence)")
        }
      } catch let damage as FileDamage {
        result.add("log", "the baseline of transaction \(mark.sequence): \(damage.reason)")
      }
      try progress.tell("blobs", 0)
    }
  }

  private mutating func require(_ blob: Blob, _ place: String) throws {
    guard try demand.isNewlyMissing(blob) else { return }
    // The rest can be checked all the same.
    notedFindings += result.findings.count < 100 ? 1 : 0
    result.add("log", "\(place) refers to \(blob.name), which is missing, or not whole")
  }
}
