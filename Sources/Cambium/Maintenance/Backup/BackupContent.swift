// The content of the pieces of a backup, by kind.
//
//     1  start         part u32 | format entry, as in the log | head
//     2  baseline      mark, as in the log; its data file follows
//     3  baseline file bytes of it
//     4  records       first u64 | last u64 | the records, one after the other, as they were stored
//     5  chunks        per chunk: key 36 bytes | length u32 | chunk, as in the log
//     6  end           head | policy, as in the log | tags u32, per tag: length varint, name,
//                      sequence u64 | blobs u32, per blob: hash 32 bytes
//
//     head             as in the log: sequence u64 | clock u64 | time i64 | 0 u64 | link 32 bytes
//
// The head of a start is the one that the parts before it end with: records continue after it, or a
// baseline begins a new range of them. The head of an end is the newest record so far. Chunks come
// before the records that need them. The blobs of an end are those that are whole since this part;
// its tags are all that there are.

import FoundationEssentials
import LMDB

/// The content of the piece with which a part of a backup begins.
struct PartStart: Equatable {
  /// The number of the part, from 1.
  var part: UInt32
  var format: FormatEntry
  /// The newest record of the parts before.
  var head: LogHead

  init(part: UInt32, format: FormatEntry, head: LogHead) {
    (self.part, self.format, self.head) = (part, format, head)
  }

  init(_ bytes: RawSpan) throws {
    part = try bytes.load(UInt32.self, at: 0)
    format = try FormatEntry(bytes.extracting(droppingFirst: 4))
    try bytes.check(40, LogHead.storedCount)
    head = try LogHead(bytes.extracting(droppingFirst: 40))
  }

  func stored() -> [UInt8] {
    return [UInt8](littleEndian: part) + format.stored() + head.stored()
  }
}

/// The content of the piece with which a part of a backup ends: all that the next part must know.
struct PartEnd: Equatable {
  var head: LogHead
  var retention = Retention()
  var tags: [CommitTag] = []
  /// The hashes of the blobs that are whole since this part.
  var blobs: [[UInt8]] = []

  private static let retentionCount = 25

  init(head: LogHead) { self.head = head }

  init(_ bytes: RawSpan) throws {
    head = try LogHead(bytes)
    try bytes.check(LogHead.storedCount, PartEnd.retentionCount)
    retention = try Retention(bytes.extracting(droppingFirst: LogHead.storedCount))
    var offset = LogHead.storedCount + PartEnd.retentionCount
    for _ in 0..<(try PartEnd.count(bytes, at: &offset)) {
      let count = try bytes.length(at: &offset)
      let name = try bytes.string(offset, count)
      let sequence = SequenceNumber(try bytes.load(UInt64.self, at: offset + count))
      offset += count + 8
      tags.append(CommitTag(name: name, sequence: sequence))
    }
    for _ in 0..<(try PartEnd.count(bytes, at: &offset)) {
      blobs.append(try bytes.array(offset, Digest.bytesCount))
      offset += Digest.bytesCount
    }
  }

  private static func count(_ bytes: RawSpan, at offset: inout Int) throws -> UInt32 {
    defer { offset += 4 }
    return try bytes.load(UInt32.self, at: offset)
  }

  func stored() -> [UInt8] {
    var bytes = head.stored() + retention.stored()
    bytes.append(littleEndian: UInt32(tags.count))
    for tag in tags {
      bytes.append(varint: UInt64(tag.name.utf8.count))
      bytes.append(utf8: tag.name)
      bytes.append(littleEndian: tag.sequence.rawValue)
    }
    bytes.append(littleEndian: UInt32(blobs.count))
    return blobs.reduce(into: bytes) { $0 += $1 }
  }
}

/// Chunks of blobs on their way.
enum PieceOfChunks {
  static func append(_ chunk: (key: [UInt8], value: [UInt8]), to bytes: inout [UInt8]) {
    bytes += chunk.key
    bytes.append(littleEndian: UInt32(chunk.value.count))
    bytes += chunk.value
  }

  static func chunks(_ bytes: RawSpan) throws -> [(key: [UInt8], value: [UInt8])] {
    let keyCount = Digest.bytesCount + 4
    var chunks: [(key: [UInt8], value: [UInt8])] = []
    var offset = 0
    while offset < bytes.byteCount {
      let key = try bytes.array(offset, keyCount)
      let count = Int(try bytes.load(UInt32.self, at: offset + keyCount))
      chunks.append((key, try bytes.array(offset + keyCount + 4, count)))
      offset += keyCount + 4 + count
    }
    return chunks
  }
}

/// Records on their way.
enum PieceOfRecords {
  static func stored(_ segment: Segment) -> [UInt8] {
    var bytes = [UInt8](littleEndian: segment.first.rawValue)
    bytes.append(littleEndian: segment.last.rawValue)
    return bytes + segment.records
  }

  static func segment(_ bytes: RawSpan) throws -> Segment {
    let first = SequenceNumber(try bytes.load(UInt64.self, at: 0))
    let last = SequenceNumber(try bytes.load(UInt64.self, at: 8))
    return Segment(first, last, records: try bytes.array(16, bytes.byteCount - 16))
  }
}

extension LogHead {
  /// The length of the stored form.
  static let storedCount = 32 + Digest.bytesCount
}
