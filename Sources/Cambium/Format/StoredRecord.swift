/// A stored record that is kept: a part of bytes that others may share.
struct StoredRecord: Sendable, Equatable {
  let bytes: [UInt8]
  /// The offset at which the record begins.
  let offset: Int

  init(bytes: [UInt8], offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
  }

  /// Lends the record.
  @inline(__always)
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try bytes.lend { try body($0.extracting(droppingFirst: offset)) }
  }

  /// True if both have the same content.
  static func == (a: StoredRecord, b: StoredRecord) -> Bool {
    a.lend { a in b.lend { a.equals($0) } }
  }
}
