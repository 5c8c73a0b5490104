// Making a new database out of a log.

import LMDB

extension Database {
  /// Makes a new database with the same log, up to a point. Named consumers are not taken over.
  ///
  /// - Parameters:
  ///   - path: Where; nothing may be there. It appears only when it is complete and durable.
  ///   - until: The last transaction to take over; all by default.
  ///   - progress: Called about ten times a second, on this thread; false cancels.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` naming the record where this log is damaged,
  ///   ``DatabaseError/misuse(reason:)`` where something is at the path,
  ///   ``DatabaseError/noDatabase(path:)`` where its parent is missing,
  ///   ``DatabaseError/full(reason:)``, `CancellationError`. Nothing is left then.
  /// - Complexity: copies the records up to there and all blobs; the new state is folded when it is
  ///   opened.
  public func replay(
    to path: String, until: SequenceNumber? = nil, progress: ProgressHandler? = nil
  ) throws {
    let head = try head
    let last = min(until ?? head, head)
    if Files.exists(path) {
      throw DatabaseError.misuse(reason: "\(path) exists already; choose a new path")
    }
    try translating {
      try Database.create(path, store.options) { copy in
        try LogCopy(from: store.log, to: copy, until: last, progress).run()
      }
    }
  }
}

/// Copies a log's records and blobs, checking both.
private struct LogCopy {
  private let source: Log
  private let target: Log
  private let last: SequenceNumber
  private let progress: ProgressHandler?
  private static let stepBytes = 16 << 20

  init(from source: Log, to target: Log, until last: SequenceNumber, _ progress: ProgressHandler?) {
    self.source = source
    self.target = target
    self.last = last
    self.progress = progress
  }

  func run() throws {
    try copyBlobs()
    var head = LogHead()
    let format = try source.read { try $0.format() }
    while head.sequence < last {
      let step = Progress(phase: "copy", done: head.sequence.rawValue, total: last.rawValue)
      if progress?(step) == false { throw CancellationError() }
      try makeRoom()
      let writer = try LogWriter(target)
      try writer.setFormat(format)
      try copyRecords(to: writer, &head)
      try writer.commit(head: head)
    }
  }

  private func copyRecords(to writer: borrowing LogWriter, _ head: inout LogHead) throws {
    var bytes = 0
    while head.sequence < last, bytes < LogCopy.stepBytes {
      let record = try source.read { try $0.record(head.sequence.next) }
      guard source.isNext(record, after: head.link) else {
        throw DatabaseError.corrupt(
          reason: "the chain of the log breaks at record \(record.sequence)")
      }
      try writer.append(record)
      head.advance(to: record)
      bytes += record.operations.count + 256
    }
  }

  private func copyBlobs() throws {
    var last: [UInt8] = []
    while true {
      let chunks = try source.read { try $0.chunks(after: last, bytes: LogCopy.stepBytes) }
      guard let newest = chunks.last else { return }
      try makeRoom()
      let writer = try LogWriter(target)
      for chunk in chunks { try writer.putChunk(chunk.key, chunk.value) }
      try writer.commit(head: LogHead())
      last = newest.key
    }
  }

  private func makeRoom() throws {
    if try !target.environment.hasRoom(for: LogCopy.stepBytes * 8) {
      try target.environment.growMap(headroom: LogCopy.stepBytes * 16)
    }
  }
}

extension LogReader {
  /// Stored chunks of blobs in order of their keys, after their checksums were checked.
  func chunks(
    after key: [UInt8], bytes: Int
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var chunks: [(key: [UInt8], value: [UInt8])] = []
    var count = 0
    var cursor = try Cursor(access, tables.blobs)
    var isThere = key.isEmpty ? try cursor.first() : try (key + [0]).lend { try cursor.seek($0) }
    while isThere, count < bytes {
      try cursor.withEntry { key, value in
        let key = key.array()
        _ = try BlobChunk.content(value, key: key)
        chunks.append((key, value.array()))
        count += value.byteCount
      }
      isThere = try cursor.next()
    }
    return chunks
  }
}
