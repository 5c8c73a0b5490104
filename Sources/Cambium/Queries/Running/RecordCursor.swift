import LMDB

/// Finds records below one node at the moment that is asked, one after the other.
struct RecordCursor: ~Copyable {
  private var present: NearLookup
  private var treeKey = ByteBuffer()
  private let node: UInt64
  private let reader: StateReader
  private let moment: UInt64?

  /// The number of keys that are best announced together.
  static let expectedMax = NearLookup.expectedMax

  init(_ records: QueryRecords, node: UInt64) throws {
    reader = records.reader
    moment = records.snapshot.moment
    self.node = node
    present = NearLookup(reader.access, reader.tables.tree)
  }

  /// True if it is worth while to announce keys: see ``NearLookup/isScattered``.
  var isScattered: Bool { moment == nil && present.isScattered }

  /// Announces a key whose record is about to be asked for; see ``NearLookup/expect(_:)``.
  mutating func expect(_ key: RawSpan) {
    treeKey.clear()
    treeKey.append(bigEndian: node)
    treeKey.append(key)
    treeKey.lend { present.expect($0) }
  }

  /// Lends the record of a key.
  ///
  /// - Returns: nil where there is none.
  @inline(__always)
  mutating func lend<R>(_ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    treeKey.clear()
    treeKey.append(bigEndian: node)
    treeKey.append(key)
    if moment != nil { return try lendPast(body) }
    return try treeKey.lend { treeKey in
      try present.lend(treeKey) { version in
        try RecordCursor.lend(NodeHeader(version, key: treeKey), version, body)
      }
    } ?? nil
  }

  private func lendPast<R>(_ body: (RawSpan) throws -> R) throws -> R? {
    try treeKey.lend { treeKey in
      try reader.version(treeKey, asOf: moment) { try RecordCursor.lend($0, $1, body) }
    } ?? nil
  }

  @inline(__always)
  private static func lend<R>(
    _ header: NodeHeader, _ version: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    guard header.kind == .record else { return nil }
    return try body(version.extracting(droppingFirst: header.contentOffset))
  }
}
