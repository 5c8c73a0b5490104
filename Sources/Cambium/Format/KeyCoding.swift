// The stored form of keys (drawn in Key.swift), alone as part of a table's key and in a row as a
// path. Text is ended by a NUL in a path, and by the end of the bytes otherwise.

import FoundationEssentials

extension Key {
  /// Adds the stored form as the end of a table's key.
  @inline(__always)
  func append(to bytes: inout [UInt8]) {
    switch self {
    case .integer(let value):
      bytes.append(KeyTag.integer)
      bytes.append(bigEndian: UInt64(bitPattern: value) ^ (1 << 63))
    case .uuid(let value):
      bytes.append(KeyTag.uuid)
      bytes.append(uuid: value)
    case .text(let value):
      bytes.append(KeyTag.text)
      bytes.append(contentsOf: value.utf8)
    }
  }

  /// The maximum length of the stored form in bytes, with the terminator that text has in a path.
  @inline(__always)
  var bytesMax: Int {
    switch self {
    case .integer: 9
    case .uuid: 17
    case .text(let text): text.utf8.count + 2
    }
  }

  /// Adds the stored form as a part of a path.
  ///
  /// Text made by hand, as in `Key.text("42")`, becomes the key that it reads as. A text that
  /// cannot be a key gets a tag of its own, under which nothing is ever stored; writing such a path
  /// is an error.
  func appendTerminated(to bytes: inout [UInt8]) {
    guard case .text(let text) = self else { return append(to: &bytes) }
    if let key = try? Key(text) {
      key.append(to: &bytes)
      if case .text = key { bytes.append(0) }
    } else {
      bytes.append(KeyTag.invalid)
      bytes.append(contentsOf: text.utf8.lazy.filter { $0 != 0 })
      bytes.append(0)
    }
  }

  /// Reads the key at the end of a table's key.
  init(_ bytes: RawSpan) throws {
    switch (try bytes.load(UInt8.self, at: 0), bytes.byteCount) {
    case (KeyTag.integer, 9): self = .integer(try Key.integer(bytes))
    case (KeyTag.uuid, 17):
      self = .uuid(try bytes.uuid(at: 1))
    case (KeyTag.text, 2...(Key.textBytesMax + 1)) where try bytes.isTextKey:
      self = .text(try bytes.string(1, bytes.byteCount - 1))
    default:
      throw DatabaseError.corrupt(reason: "a stored key is not one")
    }
  }

  /// The number that an integer's stored form has.
  @inline(__always)
  static func integer(_ bytes: RawSpan) throws -> Int64 {
    Int64(bitPattern: try bytes.bigEndian(at: 1) ^ (1 << 63))
  }

  /// Reads a part of a path that is known to be valid.
  init(terminatedIn bytes: [UInt8], at offset: inout Int) {
    let end = Key.end(terminatedIn: bytes, at: offset)
    let tag = bytes[offset]
    let key = Array(bytes[offset..<(tag == KeyTag.text ? end - 1 : end)])
    offset = end
    if tag == KeyTag.invalid {
      self = .text(String(decoding: key.dropFirst().dropLast(), as: UTF8.self))
      return
    }
    do { self = try key.lend { try Key($0) } } catch {
      preconditionFailure("unsound path: \(error)")
    }
  }

  /// The end of a part of a path that is known to be valid.
  @inline(__always)
  static func end(terminatedIn bytes: [UInt8], at offset: Int) -> Int {
    switch bytes[offset] {
    case KeyTag.integer: return offset + 9
    case KeyTag.uuid: return offset + 17
    default:
      var end = offset + 1
      while bytes[end] != 0 { end += 1 }
      return end + 1
    }
  }

  /// A fresh key: a UUID of version 7, so that later ones sort later and inserting appends.
  ///
  /// - Complexity: about 0.5 µs; Foundation's `UUID()` takes 3 µs on Linux.
  package static func unique() -> Key { .uuid(UniqueIdentifiers.shared.next()) }
}

extension ByteSink where Self: ~Copyable {
  /// Adds a UUID's 16 bytes.
  @inline(__always)
  mutating func append(uuid: UUID) {
    unsafe withUnsafeBytes(of: uuid.uuid) { unsafe append($0.bytes) }
  }
}

extension RawSpan {
  /// True if a stored text key is valid: it has no NUL, and does not read as an integer or a UUID,
  /// since a key would then have two stored forms.
  fileprivate var isTextKey: Bool {
    get throws {
      if contains(0, from: 1) { return false }
      let first = try load(UInt8.self, at: 1)
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
      guard isDigit || first == UInt8(ascii: "-") || byteCount == 37 else { return true }
      guard case .text? = try? Key(string(1, byteCount - 1)) else { return false }
      return true
    }
  }

  /// Sixteen bytes as a UUID.
  @inline(__always)
  func uuid(at offset: Int) throws -> UUID {
    try check(offset, 16)
    return unsafe withUnsafeBytes {
      unsafe UUID(uuid: $0.loadUnaligned(fromByteOffset: offset, as: uuid_t.self))
    }
  }
}

extension NodePath {
  /// Takes stored bytes, after checking every key.
  init(checking bytes: [UInt8]) throws {
    try NodePath.check(bytes, from: 0) { _ in }
    self.init(bytes: bytes)
  }

  /// Checks the stored keys from one on; `visit` takes the end of each.
  static func check(_ bytes: [UInt8], from start: Int, _ visit: (Int) -> Void) throws {
    var offset = start
    while offset < bytes.count {
      let end = try NodePath.checkedEnd(bytes, offset)
      let isText = bytes[offset] == KeyTag.text
      try bytes.lend { _ = try Key($0.extracting(offset..<(isText ? end - 1 : end))) }
      visit(end)
      offset = end
    }
  }

  private static func checkedEnd(_ bytes: [UInt8], _ offset: Int) throws -> Int {
    let end: Int
    switch bytes[offset] {
    case KeyTag.integer: end = offset + 9
    case KeyTag.uuid: end = offset + 17
    default: end = (bytes[offset...].firstIndex(of: 0) ?? bytes.count) + 1
    }
    guard end <= bytes.count else {
      throw DatabaseError.corrupt(reason: "a stored path ends early")
    }
    return end
  }
}

extension Key {
  /// The stored form as the end of a table's key.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(bytesMax)
    append(to: &bytes)
    return bytes
  }
}
