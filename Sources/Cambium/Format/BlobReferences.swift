import LMDB

/// Finds the blobs that stored values refer to.
enum BlobReferences {
  /// Visits the hash of each in a stored value.
  static func forEach(in value: RawSpan, _ body: ([UInt8]) -> Void) throws {
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.blob: body(try value.array(1, Digest.bytesCount))
    case ValueTag.array: try forEachPart(of: value, isMap: false, body)
    case ValueTag.map: try forEachPart(of: value, isMap: true, body)
    default: break
    }
  }

  private static func forEachPart(
    of value: RawSpan, isMap: Bool, _ body: ([UInt8]) -> Void
  ) throws {
    guard value.contains(ValueTag.blob, from: 1) else { return }
    var offset = 1
    while offset < value.byteCount {
      if isMap {
        let name = try value.length(at: &offset)
        offset += name
      }
      let count = try value.length(at: &offset)
      try forEach(in: value.extracting(offset..<(offset + count)), body)
      offset += count
    }
  }

  /// Visits the hash of each in what a node holds.
  static func forEach(
    in content: RawSpan, _ kind: ContentKind, _ body: ([UInt8]) -> Void
  ) throws {
    switch kind {
    case .none: break
    case .scalar: try forEach(in: content, body)
    case .record:
      guard content.contains(ValueTag.blob, from: 0) else { return }
      let table = try RecordTable(content)
      for index in 0..<table.count {
        try forEach(in: content.extracting(try table.value(content, index)), body)
      }
    }
  }

  /// Visits the hash of each in an operation.
  static func forEach(in operation: Operation, _ body: ([UInt8]) -> Void) throws {
    switch operation {
    case .set(_, let content): try content.bytes.lend { try forEach(in: $0, content.kind, body) }
    case .update(_, let updates):
      for value in updates.compactMap(\.value) { try value.lend { try forEach(in: $0, body) } }
    case .append(_, _, let value), .insert(_, _, _, let value), .event(_, let value):
      try value.lend { try forEach(in: $0, body) }
    case .edit(_, _, let edit): try edit.value?.lend { try forEach(in: $0, body) }
    case .declare(_, let definition?): try definition.lend { try forEach(in: $0, body) }
    case .increment, .removeElement, .remove, .restore, .move, .define, .declare: break
    }
  }

  /// Visits the hash of each in the versions that a state holds, present and past.
  static func forEach(in state: State, _ body: ([UInt8]) -> Void) throws {
    let transaction = try ReadTransaction(state.environment, tables: [])
    var nodes = try Cursor(transaction.access, state.tables.tree)
    var isThere = try nodes.first()
    while isThere {
      try nodes.withEntry { key, version in try forEach(ofVersion: version, key, body) }
      isThere = try nodes.next()
    }
    var past = try Cursor(transaction.access, state.tables.history)
    isThere = try past.first()
    while isThere {
      try past.withEntry { _, entry in
        let (key, version) = try HistoryEntry.parts(entry)
        try forEach(ofVersion: entry.extracting(version), entry.extracting(key), body)
      }
      isThere = try past.next()
    }
  }

  private static func forEach(
    ofVersion version: RawSpan, _ key: RawSpan, _ body: ([UInt8]) -> Void
  ) throws {
    let header = try NodeHeader(version, key: key)
    try forEach(in: version.extracting(droppingFirst: header.contentOffset), header.kind, body)
  }
}
