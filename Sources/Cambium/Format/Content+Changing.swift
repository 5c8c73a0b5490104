// The parts of a content, and the content after an operation.

extension Content {
  /// Takes the content out of a version; nil if the node has none of its own.
  init?(_ header: NodeHeader, _ version: RawSpan) {
    self.init(header.kind, version.extracting(droppingFirst: header.contentOffset).array())
  }

  /// Makes the content of a node of a kind; nil if the node has none of its own.
  init?(_ kind: ContentKind, _ bytes: [UInt8]) {
    if kind == .none { return nil }
    self.init(kind: kind, bytes: bytes)
  }

  /// The content of a node that has none of its own.
  static let nothing = Content(kind: .none, bytes: [])

  /// The properties; none unless it is a record.
  func properties() throws -> RecordBuilder {
    kind == .record ? try bytes.lend { try RecordBuilder($0) } : RecordBuilder()
  }

  /// The stored value of a property, or the node's own.
  func value(of target: Target) throws -> [UInt8]? {
    guard let target else { return kind == .scalar ? bytes : nil }
    return try properties()[target]
  }

  /// The content after an operation on a value.
  static func applying(_ operation: Operation, to old: Content?) throws -> Content? {
    switch operation {
    case .set(_, let content): return Content(content.kind, content.bytes)
    case .change(let path, nil, let change):
      let value = try change.applied(to: try old?.value(of: nil), path)
      return value.map { Content(kind: .scalar, bytes: $0) }
    case .update, .change:
      var record = try old?.properties() ?? RecordBuilder()
      try record.apply(operation)
      return Content(kind: .record, bytes: record.stored())
    case .remove, .restore, .move, .define, .event, .declare: return old
    }
  }
}

extension RecordBuilder {
  /// Changes properties as an operation says.
  mutating func apply(_ operation: Operation) throws {
    switch operation {
    case .update(_, let updates): for update in updates { self[update.name] = update.value }
    case .change(let path, let name?, let change):
      self[name] = try change.applied(to: self[name], path)
    default: break
    }
  }
}
