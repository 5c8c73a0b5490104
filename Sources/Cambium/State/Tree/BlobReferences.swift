import LMDB

/// Finds the blobs that stored values refer to.
enum BlobReferences {
  /// The length of a reference: a tag, a hash and a size.
  private static let bytesCount = 1 + Digest.bytesCount + 8

  /// Visits each reference in a stored value.
  static func forEach(in value: RawSpan, _ body: (Blob) throws -> Void) throws {
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.blob:
      let size = try value.load(UInt64.self, at: 1 + Digest.bytesCount)
      try body(Blob(hash: try value.array(1, Digest.bytesCount), size: size))
    case ValueTag.array: try forEachPart(of: value, isMap: false, body)
    case ValueTag.map: try forEachPart(of: value, isMap: true, body)
    default: break
    }
  }

  private static func forEachPart(
    of value: RawSpan, isMap: Bool, _ body: (Blob) throws -> Void
  ) throws {
    guard mayHold(value, from: 1) else { return }
    var offset = 1
    while offset < value.byteCount {
      if isMap { _ = try value.part(at: &offset) }
      try forEach(in: value.extracting(try value.part(at: &offset)), body)
    }
  }

  /// Excludes, by length and one search for a byte, almost all values without a reference.
  private static func mayHold(_ bytes: RawSpan, from start: Int) -> Bool {
    bytes.byteCount >= bytesCount && bytes.contains(ValueTag.blob, from: start)
  }

  /// Visits each reference in a node's content.
  static func forEach(
    in content: RawSpan, _ kind: ContentKind, _ body: (Blob) throws -> Void
  ) throws {
    switch kind {
    case .none: break
    case .scalar: try forEach(in: content, body)
    case .record:
      if content.byteCount < bytesCount { return }
      // Only the values are searched: tables have the byte of a blob's tag often.
      let table = try RecordTable(content)
      guard mayHold(content, from: table.valuesStart) else { return }
      var entries = try RecordEntries(content)
      while let (_, value) = try entries.next(content) {
        if value.count < bytesCount { continue }
        try forEach(in: content.extracting(value), body)
      }
    }
  }

  /// Excludes almost all operations without a reference: by lengths, and by the tags of a record's
  /// values.
  static func mayBe(in operation: Operation) -> Bool {
    switch operation {
    case .set(_, let content): content.bytes.lend { mayBe(in: $0, content.kind) }
    case .update(_, let updates):
      updates.contains { ($0.value?.count ?? 0) >= bytesCount }
    case .change(_, _, let change): (change.payload?.count ?? 0) >= bytesCount
    case .event(_, let value): value.count >= bytesCount
    case .declare: true
    case .remove, .restore, .move, .define: false
    }
  }

  private static func mayBe(in content: RawSpan, _ kind: ContentKind) -> Bool {
    if content.byteCount < bytesCount { return false }
    if kind != .record { return true }
    do {
      var entries = try RecordEntries(content)
      while let (_, value) = try entries.next(content) {
        if value.count < bytesCount { continue }
        let tag = try content.load(UInt8.self, at: value.lowerBound)
        if tag == ValueTag.blob || tag == ValueTag.array || tag == ValueTag.map { return true }
      }
      return false
    } catch {
      // The visit of the references throws it.
      return true
    }
  }

  /// Visits each reference in an operation.
  static func forEach(in operation: Operation, _ body: (Blob) throws -> Void) throws {
    switch operation {
    case .set(_, let content): try content.bytes.lend { try forEach(in: $0, content.kind, body) }
    case .update(_, let updates):
      for update in updates { try update.value?.lend { try forEach(in: $0, body) } }
    case .change(_, _, let change): try change.payload?.lend { try forEach(in: $0, body) }
    case .event(_, let value): try value.lend { try forEach(in: $0, body) }
    case .declare(_, let definition?): try definition.lend { try forEach(in: $0, body) }
    case .remove, .restore, .move, .define, .declare: break
    }
  }

  /// Visits each in the operations of a record.
  static func forEach(in record: TransactionRecord, _ body: (Blob) throws -> Void) throws {
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() { try forEach(in: operation, body) }
  }

  /// Visits each reference in the versions of a state, present and past.
  static func forEach(in state: State, _ body: (Blob) throws -> Void) throws {
    let transaction = try ReadTransaction(state.environment, tables: [])
    try transaction.access.forEach(state.tables.tree) { key, version in
      try forEach(ofVersion: version, key, body)
    }
    try transaction.access.forEach(state.tables.history) { _, entry in
      let (key, version) = try HistoryEntry.parts(entry)
      try forEach(ofVersion: entry.extracting(version), entry.extracting(key), body)
    }
  }

  /// Visits each reference in the versions of a baseline's file, present and past, without LMDB.
  /// `scan` opens the scan of one of its tables, whose entries have the given protection.
  static func forEach(
    inBaseline scan: (_ table: String, Seal) throws -> TableScan, _ body: (Blob) throws -> Void
  ) throws {
    var seal = Seal.none
    try forEachEntry(try scan("meta", .none)) { key, value in
      if key.array() == StateForm.name { seal = try StateForm.seal(value) }
    }
    try forEachEntry(try scan("tree", .none)) { try forEach(ofVersion: $1, $0, body) }
    try forEachEntry(try scan("history", seal)) { _, entry in
      let (key, version) = try HistoryEntry.parts(entry)
      try forEach(ofVersion: entry.extracting(version), entry.extracting(key), body)
    }
  }

  private static func forEachEntry(
    _ scan: TableScan, _ body: (RawSpan, RawSpan) throws -> Void
  ) throws {
    var scan = scan
    while let step = scan.next() {
      switch step {
      case .damage(let damage): throw damage
      case .entry(let key, let value):
        try key.lend { key in try value.lend { try body(key, $0) } }
      }
    }
  }

  private static func forEach(
    ofVersion version: RawSpan, _ key: RawSpan, _ body: (Blob) throws -> Void
  ) throws {
    let header = try NodeHeader(version, key: key)
    try forEach(in: version.extracting(droppingFirst: header.contentOffset), header.kind, body)
  }
}
