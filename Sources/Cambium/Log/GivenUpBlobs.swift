// The blobs to which only dropped transactions referred, and which are removed chunk by chunk. In
// the log's `meta` table:
//
//     given up        hashes of the listed blobs, 32 bytes each
//     kept/<hash>     microseconds since 1970 u64: the time at which an earlier version of the
//                     program stored it again; leases have taken their place

/// The names of the entries about blobs that are being removed.
enum GivenUpBlobs {
  static let entryName = "given up"
  static let keptPrefix = "kept/"

  static func keptName(_ hash: [UInt8]) -> String {
    keptPrefix + hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension LogReader {
  /// The hashes of the blobs that are being removed.
  func blobsGivenUp() throws -> [[UInt8]] {
    try entry(GivenUpBlobs.entryName) { bytes in
      try stride(from: 0, to: bytes.byteCount, by: Digest.bytesCount).map {
        try bytes.array($0, Digest.bytesCount)
      }
    } ?? []
  }
}

extension LogWriter {
  /// Stores the hashes of the blobs that are being removed.
  func setBlobsGivenUp(_ hashes: [[UInt8]]) throws {
    if hashes.isEmpty { return try removeEntry(GivenUpBlobs.entryName) }
    try setEntry(GivenUpBlobs.entryName, Array(hashes.joined()))
  }

  /// Takes a blob off the list, since it is stored again, or a transaction refers to it.
  func keep(_ blob: Blob) throws {
    let listed = try reader.blobsGivenUp()
    if listed.contains(blob.hash) { try setBlobsGivenUp(listed.filter { $0 != blob.hash }) }
  }
}
