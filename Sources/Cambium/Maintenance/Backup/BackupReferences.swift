import LMDB

/// The blobs that a backup's records and baselines refer to, and those that it holds whole.
///
/// Chunks come before the records that refer to them, so almost nothing waits here.
struct BackupReferences {
  private static let namedMax = 10

  /// The sizes of the blobs that are whole, by their hashes.
  private var whole: [[UInt8]: UInt64] = [:]
  /// The blobs that were not there when they were asked for, and who asked first.
  private var wanted: [Blob: String] = [:]
  /// The baseline that is being read.
  private var baseline: TemporaryFile?

  /// Notes a blob that is there.
  mutating func add(_ hash: [UInt8], size: UInt64) { whole[hash] = size }

  /// Notes what a record refers to.
  mutating func take(_ record: TransactionRecord) throws {
    try BlobReferences.forEach(in: record) { want($0, "record \(record.sequence)") }
  }

  /// Takes a piece of a baseline's file. A file it must be, since its pages refer to each other.
  mutating func take(baseline piece: [UInt8]) throws {
    let file = try baseline ?? TemporaryFile(in: Verifier.temporaryDirectory)
    try file.append(piece)
    baseline = file
  }

  /// Notes what a baseline refers to, after all of its pieces.
  mutating func finish(_ mark: BaselineMark) throws {
    guard let file = baseline else { return }
    baseline = nil
    do {
      try BlobReferences.forEach(inBaseline: { try TableScan(file, table: $0, seal: $1) }) {
        want($0, "the baseline of transaction \(mark.sequence)")
      }
    } catch let damage as FileDamage {
      throw DatabaseError.corrupt(
        reason: "the baseline of transaction \(mark.sequence): \(damage.reason)")
    }
  }

  private mutating func want(_ blob: Blob, _ place: @autoclosure () -> String) {
    if whole[blob.hash] != blob.size, wanted[blob] == nil { wanted[blob] = place() }
  }

  /// The blobs that are missing at the end, for people.
  var missing: [String] {
    let missing = wanted.filter { whole[$0.key.hash] != $0.key.size }
      .map { "\($0.value) refers to \($0.key.name), which is missing, or not whole" }.sorted()
    let rest = missing.count - BackupReferences.namedMax
    return missing.prefix(BackupReferences.namedMax)
      + (rest > 0 ? ["\(rest) more blobs are missing"] : [])
  }
}
