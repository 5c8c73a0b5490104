// Sizes of the log's content, so that no other code depends on its tables.

import LMDB

extension LogReader {
  /// True if any blob is stored.
  func hasBlobs() throws -> Bool { try access.count(tables.blobs) > 0 }

  /// The bytes of the pages that hold records.
  func recordsBytes() throws -> UInt64 { try access.size(tables.records) }

  /// Visits the lengths of the entries of all records after one, in order.
  func forEachRecordEntry(
    after sequence: SequenceNumber, _ body: (_ key: Int, _ value: Int) -> Void
  ) throws {
    var cursor = try Cursor(access, tables.records)
    var isThere = try LogTables.recordKey(sequence.next, part: 0).lend { try cursor.seek($0) }
    while isThere {
      cursor.withEntry { body($0.byteCount, $1.byteCount) }
      isThere = try cursor.next()
    }
  }

  /// Visits all segments in order, each with the bytes of its entry.
  func forEachSegment(_ body: (Segment, _ bytes: Int) throws -> Void) throws {
    var cursor = try Cursor(access, tables.segments)
    var isThere = try cursor.first()
    while isThere {
      let (segment, bytes) = try cursor.withEntry {
        (try Segment(key: $0, $1), $0.byteCount + $1.byteCount)
      }
      try body(segment, bytes)
      isThere = try cursor.next()
    }
  }

  /// The bytes of the keys and values of the chunks, and of the small entries.
  func contentBytes() throws -> (blobs: Int, entries: Int) {
    (try access.contentBytes(of: tables.blobs), try access.contentBytes(of: tables.meta))
  }
}

extension Access {
  /// The bytes of all keys and values of a table, with their seals.
  func contentBytes(of table: Table) throws -> Int {
    var bytes = 0
    var cursor = try Cursor(self, table)
    var isThere = try cursor.first()
    while isThere {
      cursor.withEntry { bytes += $0.byteCount + $1.byteCount + table.sealBytes }
      isThere = try cursor.next()
    }
    return bytes
  }
}
