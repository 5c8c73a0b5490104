// The times up to which blobs are kept though nothing refers to them. In the log's `meta` table:
//
//     lease/<hash>    microseconds since 1970 u64: its end; hash in hexadecimal digits
//
// Whoever stores a blob, or its first chunks, leaves a lease with them. While there is an entry,
// the blob is not given up. Compaction looks at those that have ended, see BlobCollection.swift.

/// Reads them.
struct BlobLeases {
  static let prefix = "lease/"

  /// The lease of whoever does not ask for another, in microseconds: a day.
  static let usual: Int64 = 86_400_000_000

  let log: LogReader

  init(_ log: LogReader) { self.log = log }

  static func name(_ hash: [UInt8]) -> String {
    prefix + hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The hash in an entry's name; nil if it is not one.
  private static func hash(in name: [UInt8]) -> [UInt8]? {
    let digits = name.dropFirst(prefix.utf8.count).compactMap { ASCII.hexDigit($0) }
    guard digits.count == 2 * Digest.bytesCount else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The end of a blob's lease, in microseconds since 1970; nil if it has none.
  func end(of hash: [UInt8]) throws -> Int64? {
    try log.number(BlobLeases.name(hash)).map { Int64(clamping: $0) }
  }

  /// The ends of all leases, by the blobs' hashes.
  func all() throws -> [[UInt8]: Int64] {
    var leases: [[UInt8]: Int64] = [:]
    try log.forEachEntry(startingWith: Array(BlobLeases.prefix.utf8)) { name, value in
      guard let hash = BlobLeases.hash(in: name) else { return }
      leases[hash] = Int64(clamping: try value.load(UInt64.self, at: 0))
    }
    return leases
  }
}

extension LogWriter {
  /// Keeps a blob up to a time at least.
  func lease(_ blob: Blob, until end: Int64) throws {
    try keep(blob)
    if let present = try BlobLeases(reader).end(of: blob.hash), present >= end { return }
    try setNumber(BlobLeases.name(blob.hash), to: UInt64(clamping: end))
  }

  /// Removes the entry of a lease that has ended.
  func removeLease(of hash: [UInt8]) throws { try removeEntry(BlobLeases.name(hash)) }
}
