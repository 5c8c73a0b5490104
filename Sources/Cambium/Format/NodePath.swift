/// The place of a node: the keys from the root down.
///
/// The text form joins the keys with `/` and escapes as RFC 6901 does: `~1` is a `/` inside a key,
/// `~0` a `~`. The empty text is the root. Paths of up to 128 KiB can be written to: 14,563 integer
/// keys, or 271 of the longest text keys. Moving can make deeper trees, which are read alike.
///
///     let path: NodePath = "users/ada/name"
///     let child = try path.appending("first")
///
/// A path holds its keys in their stored form, one after the other, text ended by a NUL. So
/// comparing the bytes of two paths gives *path order*: a node, then its children in key order,
/// each followed by its own.
public struct NodePath: Hashable, Comparable, Sendable {
  /// The most bytes of a path that is written to. It bounds the time to find a place again for each
  /// operation of a log, in which a path that shares all but its end with the one before takes five
  /// bytes. Older logs with longer paths are still readable.
  static let bytesMax = 1 << 17

  /// The keys' stored forms, one after the other.
  private(set) var bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The path without keys.
  public static let root = NodePath(bytes: [])

  /// Reads the text form.
  ///
  /// - Parameter text: Keys joined by `/`; one leading `/` is allowed.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` with the first invalid key.
  public init(_ text: some StringProtocol) throws(DatabaseError) {
    self.init(keys: try NodePath.keys(inText: Substring(text)))
  }

  /// Joins keys, from the root down.
  public init(keys: some Sequence<Key>) {
    var bytes: [UInt8] = []
    for key in keys { key.appendTerminated(to: &bytes) }
    self.init(bytes: bytes)
  }

  private static func keys(inText text: Substring) throws(DatabaseError) -> [Key] {
    let isRooted = text.utf8.first == UInt8(ascii: "/")
    let body = isRooted ? Substring(text.unicodeScalars.dropFirst()) : text
    if body.isEmpty { return [] }
    var keys: [Key] = []
    for part in body.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      keys.append(try Key(try NodePath.unescaped(Substring(part))))
    }
    return keys
  }

  private static func unescaped(_ part: Substring) throws(DatabaseError) -> String {
    guard part.utf8.contains(UInt8(ascii: "~")) else { return String(part) }
    var text = ""
    var rest = part.unicodeScalars.makeIterator()
    while let scalar = rest.next() {
      guard scalar == "~" else {
        text.unicodeScalars.append(scalar)
        continue
      }
      switch rest.next() {
      case "0": text.append("~")
      case "1": text.append("/")
      default: throw .badKey(String(part), reason: "after ~ there must be 0 (for ~) or 1 (for /)")
      }
    }
    return text
  }
}

extension NodePath {
  /// The keys from the root down.
  ///
  /// - Complexity: O(depth), and one array.
  public var keys: [Key] {
    var keys: [Key] = []
    var offset = 0
    while offset < bytes.count { keys.append(Key(terminatedIn: bytes, at: &offset)) }
    return keys
  }

  /// True if this is the root.
  public var isRoot: Bool { bytes.isEmpty }

  /// The number of keys; zero for the root.
  public var depth: Int {
    var depth = 0
    var offset = 0
    while offset < bytes.count {
      offset = Key.end(terminatedIn: bytes, at: offset)
      depth += 1
    }
    return depth
  }

  /// The last key, or nil for the root.
  public var last: Key? {
    guard !isRoot else { return nil }
    var offset = lastOffset
    return Key(terminatedIn: bytes, at: &offset)
  }

  /// The path without its last key, or nil for the root.
  public var parent: NodePath? { isRoot ? nil : NodePath(bytes: Array(bytes[..<lastOffset])) }

  /// The path of a child.
  public func appending(_ key: Key) -> NodePath {
    var path = NodePath.root
    path.become(self, appending: key)
    return path
  }

  /// Becomes the path of a child, in the memory that it has, if nobody shares it.
  mutating func become(_ parent: NodePath, appending key: Key) {
    bytes.removeAll(keeping: parent.bytes.count + key.bytesMax)
    bytes.append(contentsOf: parent.bytes)
    key.appendTerminated(to: &bytes)
  }

  /// The path of a descendant.
  public func appending(_ path: NodePath) -> NodePath { NodePath(bytes: bytes + path.bytes) }

  /// True if this is `ancestor` or is below it.
  public func isWithin(_ ancestor: NodePath) -> Bool { bytes.starts(with: ancestor.bytes) }

  /// The rest of this path below `ancestor`, or nil if it is not within it.
  public func relative(to ancestor: NodePath) -> NodePath? {
    isWithin(ancestor) ? NodePath(bytes: Array(bytes[ancestor.bytes.count...])) : nil
  }

  /// Refuses a path with an invalid key.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` with the key; also if the path is too long.
  func checkKeys() throws {
    if bytes.count > NodePath.bytesMax {
      throw DatabaseError.badKey(
        keys.last?.description ?? "",
        reason: "its path takes \(bytes.count) bytes; \(NodePath.bytesMax) is the limit")
    }
    var offset = 0
    while offset < bytes.count {
      let start = offset
      offset = Key.end(terminatedIn: bytes, at: offset)
      if bytes[start] == KeyTag.invalid {
        let text = String(decoding: bytes[(start + 1)..<(offset - 1)], as: UTF8.self)
        _ = try Key(text)
        throw DatabaseError.badKey(text, reason: "it holds the character U+0000")
      }
    }
  }

  /// Changes the stored keys in place, without copying them unless the path is shared.
  mutating func withBytes<R>(_ body: (inout [UInt8]) throws -> R) rethrows -> R {
    try body(&bytes)
  }

  /// The number of bytes of the parent's path.
  var parentCount: Int { isRoot ? 0 : lastOffset }

  /// The offset of the last key.
  private var lastOffset: Int {
    var offset = 0
    var next = 0
    while next < bytes.count {
      offset = next
      next = Key.end(terminatedIn: bytes, at: next)
    }
    return offset
  }

  /// Path order: a node, then everything below it.
  public static func < (a: NodePath, b: NodePath) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}

extension NodePath: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable,
  ExpressibleByStringLiteral
{
  /// The text form.
  public var description: String {
    keys.map { NodePath.escaped($0.description) }.joined(separator: "/")
  }

  /// The text form in quotes: `"users/ada"`.
  public var debugDescription: String { description.debugDescription }

  /// The texts of the keys.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: keys.map(\.description), displayStyle: .collection)
  }

  /// Makes a path from a literal; an invalid literal is a programmer's mistake and stops the
  /// program.
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { preconditionFailure("\(error)") }
  }

  /// A key's text as written in a path, with `~0` for `~` and `~1` for `/`.
  ///
  /// - Parameter key: The text without escapes.
  /// - Returns: The text with escapes.
  public static func escaped(_ key: String) -> String {
    guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
      return key
    }
    var text = ""
    for scalar in key.unicodeScalars {
      switch scalar {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
