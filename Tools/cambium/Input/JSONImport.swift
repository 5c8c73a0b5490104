import Cambium
import FoundationEssentials

/// JSON becomes nodes, streamed.
///
/// | input | becomes |
/// |---|---|
/// | each line of `.jsonl`, each element of a document's array | a child of the node, named by its
/// key: an object a record, with all that it holds |
/// | such an object, with `--children`; a document that is an object | a node, with a child for
/// each member |
/// | an object in it that holds only scalars, with `--records` | a record |
/// | a scalar, an array, an empty object | a value |
struct JSONImport {
  /// An object with more members or bytes than these becomes children even with `--records`.
  static let recordMembersMax = 64
  static let recordBytesMax = 2 << 10

  let key: RowKey
  let makesRecords: Bool
  /// True if members of rows become children.
  var makesChildren = false

  /// Imports a value from each line.
  func runLines(_ source: consuming ByteSource, _ rows: RowImport, _ bar: ProgressBar) throws {
    var reader = try JSONReader(source, form: .lines, isTyped: true)
    try rows.take(&reader, bar) { value, _ in try row(of: value, rows) }
  }

  /// Imports a document: an array's elements as rows, an object's members as children.
  func runDocument(_ source: consuming ByteSource, _ rows: RowImport, _ bar: ProgressBar) throws {
    var reader = try JSONReader(source, isTyped: true)
    guard let first = try reader.next() else { return try rows.finish() }
    switch first {
    case .beginArray:
      return try rows.take(&reader, bar) { value, _ in try row(of: value, rows) }
    case .beginObject: try runMembers(&reader, rows, bar)
    default:
      let value = try reader.value(from: first)
      try rows.takeRow([(rows.into, value)])
    }
    // Anything after the document is an error, found before the last batch is committed.
    _ = try reader.next()
    try rows.finish()
  }

  // MARK: Rows

  private func row(of value: Value, _ rows: RowImport) throws -> RowImport.Row {
    let path = rows.into.appending(try rowKey(value))
    return RowImport.Row(
      key: key.columns.isEmpty ? nil : path,
      nodes: makesChildren ? try nodes(of: value, at: path) : [(path, value)])
  }

  private func rowKey(_ value: Value) throws -> Key {
    try key.key { column in
      guard case .map(let record) = value, let member = record[column],
        let text = JSONImport.keyText(member)
      else { throw ValidationError("expected a scalar \(column) for the key") }
      return text
    }
  }

  /// The text of a member as part of a key; nil where it is no scalar.
  static func keyText(_ value: Value) -> String? {
    switch value {
    case .string(let text): text
    case .integer(let number): String(number)
    case .uuid(let id): id.uuidString.lowercased()
    case .bool(let flag): flag ? "true" : "false"
    case .double, .decimal, .date: JSONWriter.text(value)
    case .null, .data, .array, .map, .reference, .blob: nil
    }
  }

  /// The nodes that a whole value sets: itself, or its members, each at its own place.
  private func nodes(of value: Value, at path: NodePath) throws -> [RowImport.Node] {
    var nodes: [RowImport.Node] = []
    var rest = [(path, value)]
    while let (path, value) = rest.popLast() {
      guard case .map(let record) = value, !record.isEmpty, !isRecord(record) else {
        nodes.append((path, value))
        continue
      }
      for member in record.members.reversed() {
        rest.append((path.appending(try Key(member.name)), member.value))
      }
    }
    return nodes
  }

  private func isRecord(_ record: ValueMap) -> Bool {
    guard makesRecords, record.count <= JSONImport.recordMembersMax else { return false }
    var bytes = 0
    for member in record.members {
      switch member.value {
      case .map, .array: return false
      case .string(let text): bytes += text.utf8.count
      case .data(let data): bytes += data.count
      default: bytes += 9
      }
      bytes += member.name.utf8.count
    }
    return bytes <= JSONImport.recordBytesMax
  }

  // MARK: A document's object

  /// Walks the objects of a document without holding them: only their paths, one per level.
  private func runMembers(
    _ reader: inout JSONReader, _ rows: RowImport, _ bar: ProgressBar
  ) throws {
    var walk = MemberWalk(import: self, rows: rows)
    var count = 0
    while let event = try reader.next() {
      count += 1
      let (done, total) = reader.progress
      if count % 1024 == 0 { bar.update("import", done, of: total) }
      do {
        if try !walk.step(event, &reader) { break }
      } catch DatabaseError.badKey(_, let reason) {
        throw reader.error(
          at: reader.eventOffset, "expected a name that can be a key, but \(reason)")
      }
    }
  }

  private struct MemberWalk {
    let `import`: JSONImport
    let rows: RowImport
    private var levels: [NodePath]
    private var name: Key?
    /// The scalars of the innermost object so far, while it may become a record.
    private var collected: ValueMap? = ValueMap()

    init(import: JSONImport, rows: RowImport) {
      self.import = `import`
      self.rows = rows
      levels = [rows.into]
    }

    /// Takes an event; false after the end of the outermost object.
    mutating func step(_ event: JSONEvent, _ reader: inout JSONReader) throws -> Bool {
      switch event {
      case .name(let text): name = try Key(text)
      case .beginObject:
        try spill()
        levels.append(place)
        collected = ValueMap()
      case .endObject:
        try close()
        levels.removeLast()
        return !levels.isEmpty
      case .beginArray, .endArray, .scalar:
        let value = try reader.value(from: event)
        try take(value)
      }
      return true
    }

    private var place: NodePath {
      let parent = levels.last ?? rows.into
      return name.map { parent.appending($0) } ?? parent
    }

    private mutating func take(_ value: Value) throws {
      guard let name, var record = collected else { return try rows.takeRow([(place, value)]) }
      record[name.description] = value
      collected = record
      let isDocument = levels.count == 1
      if isDocument || !`import`.isRecord(record) { try spill() }
    }

    /// Gives up on a record: what was collected becomes children.
    private mutating func spill() throws {
      guard let record = collected, let parent = levels.last else { return }
      collected = nil
      for member in record.members {
        try rows.takeRow([(parent.appending(try Key(member.name)), member.value)])
      }
    }

    /// Ends an object: what is still collected is all of it.
    private mutating func close() throws {
      guard let record = collected, let path = levels.last, levels.count > 1 else {
        return try spill()
      }
      collected = nil
      if record.isEmpty || `import`.isRecord(record) {
        try rows.takeRow([(path, .map(record))])
      } else {
        collected = record
        try spill()
      }
    }

  }
}
