// One change inside a transaction, as logged. All decisions (ids, times, checks) were made before;
// applying an operation depends on nothing but the tree.
//
// Stored: a code, then per code:
//
//     01 set             path, kind u8, length, content (a stored value or record)
//     02 update          path, count, count × (name, length, value); length 0 takes the name out
//     03 increment       path, target, length, value
//     04 append          path, target, length, value
//     05 insert          path, target, position, length, value
//     06 removeElement   path, target, position
//     07 remove          path
//     08 restore         path, sequence number of the removal
//     09 move            path, path
//     0A define          number, length, name
//     0B event           length, name, length, value
//     0C declare         path, length, declaration as a value; length 0 takes it back
//     0D include         path, target, length, element of a set
//     0E exclude         path, target, length, element of a set
//     0F setEntry        path, property, length, key, length, value; length 0 takes the entry out
//     10 incrementEntry  path, property, length, key, length, value
//
// A transaction record with one of the last four is of format 2; so is one with a declaration that
// uses anything that format 1 does not know, see DefinitionCoding.swift.
//
// Counts, lengths, names, positions and numbers are varints. A target is 0 for the node's own
// value, or a name plus 1; a property is a name plus 1. A path is stored as the number of bytes
// that it shares with the path before it in this transaction, the number of bytes that follow, and
// those bytes.

/// A stored value or record, with its kind; empty for a node that has no content of its own.
struct Content: Equatable, Sendable {
  var kind: ContentKind
  var bytes: [UInt8]
}

/// The target of an operation on a value: a property, or the node's own value.
typealias Target = NameID?

/// One change inside a transaction.
///
/// It is indirect, since it is passed from step to step: a copy counts one reference, not one for
/// each path and value.
indirect enum Operation: Equatable, Sendable {
  case set(NodePath, Content)
  case update(NodePath, [PropertyUpdate])
  case change(NodePath, Target, ValueChange<[UInt8]>)
  case remove(NodePath)
  case restore(NodePath, removedAt: UInt64)
  case move(NodePath, to: NodePath)
  case define(NameID, String)
  case event(String, [UInt8])
  case declare(NodePath, [UInt8]?)

  /// The node that it concerns; the source of a move, and nil if it concerns none.
  var path: NodePath? {
    switch self {
    case .set(let path, _), .update(let path, _), .change(let path, _, _), .remove(let path),
      .restore(let path, _), .move(let path, _), .declare(let path, _):
      path
    case .define, .event: nil
    }
  }

  /// The node whose value it changes; nil if it changes only the tree's shape, or nothing in it.
  var changedPath: NodePath? {
    switch self {
    case .set(let path, _), .update(let path, _), .change(let path, _, _): path
    case .remove, .restore, .move, .define, .event, .declare: nil
    }
  }

  /// The numbers of the names that it uses.
  var names: [NameID] {
    get throws {
      switch self {
      case .set(_, let content) where content.kind == .record:
        try content.bytes.lend { try RecordBuilder($0).names }
      case .update(_, let updates): updates.map(\.name)
      case .change(_, let target, _): target.map { [$0] } ?? []
      case .define(let id, _): [id]
      case .set, .remove, .restore, .move, .event, .declare: []
      }
    }
  }

  /// Refuses invalid keys.
  func checkPaths() throws {
    try path?.checkKeys()
    if case .move(_, let destination) = self { try destination.checkKeys() }
  }

  /// A property's new stored value, or nil to remove it.
  struct PropertyUpdate: Equatable, Sendable {
    var name: NameID
    var value: [UInt8]?
  }
}

/// Writes operations one after the other.
struct OperationWriter: ~Copyable {
  private var buffer: ByteBuffer
  private(set) var count: UInt32 = 0
  /// The lowest record format that has these operations.
  private(set) var format = TransactionRecord.formats.lowerBound
  /// The bytes of the last path. They are copied: whoever made it may use its memory again.
  private var previous = ByteBuffer(capacity: 128)

  /// Reserves the number of bytes that are expected.
  init(expecting bytesCount: Int = 512) { buffer = ByteBuffer(capacity: bytesCount) }

  /// The bytes of all operations.
  ///
  /// - Complexity: O(*n*) for *n* bytes, which are copied.
  var bytes: [UInt8] { buffer.array() }

  /// The number of bytes of all operations.
  var bytesCount: Int { buffer.count }

  /// The largest buffer that is kept, in bytes: more than a thousand records of common size.
  private static let keptMax = 256 << 10

  /// Discards all operations, and keeps the memory for others.
  mutating func clear() {
    buffer.clear(keeping: OperationWriter.keptMax)
    previous.clear()
    (count, format) = (0, TransactionRecord.formats.lowerBound)
  }

  /// A place to which the writer can return.
  struct Mark {
    fileprivate let length: Int
    let count: UInt32
    fileprivate let format: UInt8
    fileprivate let previous: [UInt8]
  }

  var mark: Mark {
    Mark(length: buffer.count, count: count, format: format, previous: previous.array())
  }

  /// Discards everything written after a mark.
  mutating func rewind(to mark: Mark) {
    buffer.cut(to: mark.length)
    count = mark.count
    format = mark.format
    previous.clear()
    previous.append(array: mark.previous)
  }

  /// Writes an operation.
  mutating func write(_ operation: Operation) {
    count += 1
    switch operation {
    case .set(let path, let content):
      start(1, path)
      buffer.append(content.kind.rawValue)
      append(content.bytes)
    case .update(let path, let updates):
      start(2, path)
      buffer.append(varint: UInt64(updates.count))
      for update in updates {
        buffer.append(varint: UInt64(update.name))
        append(update.value ?? [])
      }
    case .change(let path, let target, let change): write(path, target, change)
    case .remove(let path): start(7, path)
    case .restore(let path, let sequence):
      start(8, path)
      buffer.append(varint: sequence)
    case .move(let source, let destination):
      start(9, source)
      append(destination)
    case .define(let name, let text):
      buffer.append(10)
      buffer.append(varint: UInt64(name))
      append(Array(text.utf8))
    case .event(let name, let value):
      buffer.append(11)
      append(Array(name.utf8))
      append(value)
    case .declare(let path, let definition):
      if let definition { format = max(format, CollectionDefinition.format(of: definition)) }
      start(12, path)
      append(definition ?? [])
    }
  }

  private mutating func write(_ path: NodePath, _ target: Target, _ change: ValueChange<[UInt8]>) {
    if change.code > 12 { format = max(format, 2) }
    start(change.code, path)
    buffer.append(varint: target.map { UInt64($0) + 1 } ?? 0)
    if let key = change.key { append(Array(key.utf8)) }
    if let position = change.position { buffer.append(varint: position) }
    if change.payload != nil || change.key != nil { append(change.payload ?? []) }
  }

  private mutating func start(_ code: UInt8, _ path: NodePath) {
    buffer.append(code)
    append(path)
  }

  private mutating func append(_ stored: [UInt8]) {
    buffer.append(varint: UInt64(stored.count))
    buffer.append(array: stored)
  }

  private mutating func append(_ path: NodePath) {
    path.bytes.lend { own in
      let shared = previous.lend { own.sharedPrefix(with: $0) }
      let rest = own.extracting(droppingFirst: shared)
      buffer.append(varint: UInt64(shared))
      buffer.append(varint: UInt64(rest.byteCount))
      buffer.append(rest)
      previous.cut(to: shared)
      previous.append(rest)
    }
  }
}

extension ValueChange {
  /// The code of the operation that makes this change.
  fileprivate var code: UInt8 {
    switch self {
    case .increment: 3
    case .append: 4
    case .insert: 5
    case .removeElement: 6
    case .include: 13
    case .exclude: 14
    case .setEntry: 15
    case .incrementEntry: 16
    }
  }
}

/// Reads operations one after the other.
///
/// A path may share all but its end with the one before, so that five bytes represent thousands. So
/// the previous path is changed in place unless it is still in use, and only the new part is
/// checked: reading takes time in proportion to the bytes that are read.
struct OperationReader {
  private let bytes: [UInt8]
  /// The number of bytes that were read.
  private(set) var offset = 0
  private var previous = NodePath.root
  /// The ends of that path's keys.
  private var keyEnds: [Int] = []
  /// The number of bytes of paths that were checked, for tests.
  private(set) var checkedPathBytes = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next operation, or nil at the end.
  mutating func next() throws -> Operation? {
    guard offset < bytes.count else { return nil }
    let code = bytes[offset]
    offset += 1
    switch code {
    case 1:
      let path = try path()
      guard let kind = ContentKind(rawValue: try byte()) else { throw damaged() }
      let content = Content(kind: kind, bytes: try stored())
      guard content.bytes.isEmpty == (kind == .none) else { throw damaged() }
      return .set(path, content)
    case 2: return .update(try path(), try updates())
    case 3...6, 13, 14: return .change(try path(), try target(), try change(code))
    case 15, 16: return .change(try path(), try property(), try change(code))
    case 7: return .remove(try path())
    case 8: return .restore(try path(), removedAt: try varint())
    case 9: return .move(try path(), to: try path())
    case 10: return .define(try nameID(try varint()), try text())
    case 11: return .event(try text(), try stored())
    case 12:
      let path = try path()
      let definition = try stored()
      return .declare(path, definition.isEmpty ? nil : definition)
    default: throw damaged()
    }
  }

  private mutating func change(_ code: UInt8) throws -> ValueChange<[UInt8]> {
    switch code {
    case 3: return .increment(by: try stored())
    case 4: return .append(try stored())
    case 5:
      let position = try varint()
      return .insert(try stored(), at: position)
    case 6: return .removeElement(at: try varint())
    case 13: return .include(try stored())
    case 14: return .exclude(try stored())
    case 15:
      let (key, value) = (try text(), try stored())
      return .setEntry(key: key, value.isEmpty ? nil : value)
    default: return .incrementEntry(key: try text(), by: try stored())
    }
  }

  private mutating func byte() throws -> UInt8 {
    guard offset < bytes.count else { throw damaged() }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func varint() throws -> UInt64 {
    var offset = offset
    defer { self.offset = offset }
    return try bytes.lend { try $0.varint(at: &offset) }
  }

  private mutating func stored() throws -> [UInt8] {
    let count = try varint()
    guard count <= UInt64(bytes.count - offset) else { throw damaged() }
    defer { offset += Int(count) }
    return Array(bytes[offset..<(offset + Int(count))])
  }

  private mutating func text() throws -> String {
    let utf8 = try stored()
    return try utf8.lend { try $0.string(0, $0.byteCount) }
  }

  private mutating func nameID(_ value: UInt64) throws -> NameID {
    guard let name = NameID(exactly: value) else { throw damaged() }
    return name
  }

  private mutating func target() throws -> Target {
    let value = try varint()
    return value == 0 ? nil : try nameID(value - 1)
  }

  /// A target that must be a property, since the node's own value is never a map.
  private mutating func property() throws -> Target {
    guard let name = try target() else { throw damaged() }
    return name
  }

  private mutating func updates() throws -> [Operation.PropertyUpdate] {
    var updates: [Operation.PropertyUpdate] = []
    for _ in 0..<(try varint()) {
      let name = try nameID(try varint())
      let value = try stored()
      updates.append(.init(name: name, value: value.isEmpty ? nil : value))
    }
    return updates
  }

  private mutating func path() throws -> NodePath {
    let shared = try varint()
    guard shared <= UInt64(previous.bytes.count) else { throw damaged() }
    let count = try varint()
    guard count <= UInt64(bytes.count - offset) else { throw damaged() }
    let rest = offset..<(offset + Int(count))
    offset = rest.upperBound
    // The cut may be inside a key, whose rest is then a different key.
    while let end = keyEnds.last, end > Int(shared) { keyEnds.removeLast() }
    let sound = keyEnds.last ?? 0
    try previous.withBytes { path in
      path.removeLast(path.count - Int(shared))
      path.append(contentsOf: bytes[rest])
      checkedPathBytes += path.count - sound
      try NodePath.check(path, from: sound) { keyEnds.append($0) }
    }
    return previous
  }

  private func damaged() -> DatabaseError {
    .corrupt(reason: "an operation in the log is damaged at byte \(offset)")
  }
}

extension Operation {
  /// The nodes that it names.
  var paths: [NodePath] {
    switch self {
    case .move(let source, let destination): [source, destination]
    case .declare: []
    default: path.map { [$0] } ?? []
    }
  }
}
