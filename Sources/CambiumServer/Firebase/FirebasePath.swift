import Cambium

/// The rules for keys and paths, and how requests name them.
///
/// Writes keep Firebase's rules, so that its clients leave a database that Firebase could have.
/// Reads need not: `readme.md` can be a key in Cambium.
enum FirebasePath {
  /// The most bytes of a key in Firebase. A key of Cambium's has `Key.textBytesMax`, which is less.
  static let keyBytesMax = 768
  /// The most keys of a path that is written to, and the most levels of a tree.
  static let depthMax = 32

  /// The path that a request names: `/users/ada.json`, percent-encoded.
  ///
  /// - Throws: ``FirebaseError`` where it does not end in `.json`, or a key is invalid.
  static func read(_ path: String) throws -> NodePath {
    guard path.hasSuffix(".json") else {
      throw FirebaseError(404, "append .json to the path to use the REST API")
    }
    return try NodePath(keys: keys(in: path.dropLast(5)))
  }

  /// The keys of a path in a URL. An encoded slash is part of a key.
  private static func keys(in path: some StringProtocol) throws -> [Key] {
    try path.utf8.split(separator: UInt8(ascii: "/")).map { part in
      guard let text = decoded(Array(part)) else {
        throw FirebaseError.bad("Invalid path: the URL has an invalid percent-encoding")
      }
      return try key(text)
    }
  }

  /// The keys of a path in a body or a parameter: `address/street`.
  static func keys(inText text: String) throws -> [Key] {
    try text.split(separator: "/").map { try key(String($0)) }
  }

  private static func key(_ text: String) throws -> Key {
    if text.utf8.count > keyBytesMax {
      throw FirebaseError.bad("Invalid path: a key has more than \(keyBytesMax) bytes")
    }
    do { return try Key(text) } catch { throw FirebaseError.bad("Invalid path: \(error)") }
  }

  /// Checks that a path may be written to.
  static func checkWritable(_ path: NodePath) throws {
    let keys = path.keys
    if keys.count > depthMax {
      throw FirebaseError.bad("Invalid path: it is deeper than \(depthMax) levels")
    }
    for key in keys where !isAllowed(key.description) {
      throw FirebaseError.bad(
        "Invalid path: Paths must be non-empty strings and can't contain \".\", \"#\", \"$\", "
          + "\"[\", or \"]\"")
    }
  }

  /// True if Firebase allows a key.
  static func isAllowed(_ key: String) -> Bool {
    !key.isEmpty
      && key.utf8.allSatisfy { byte in
        switch byte {
        case 0..<0x20, 0x7F: false
        case UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "["),
          UInt8(ascii: "]"), UInt8(ascii: "/"):
          false
        default: true
        }
      }
  }

  /// The text of a path below a listened node, for events: `/`, `/bob/age`.
  static func text(_ keys: some Sequence<Key>) -> String {
    "/" + keys.map(\.description).joined(separator: "/")
  }

  /// Percent-decoded UTF-8; nil where it is neither.
  private static func decoded(_ bytes: [UInt8]) -> String? {
    var output: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "%") else {
        output.append(bytes[index])
        index += 1
        continue
      }
      guard index + 2 < bytes.count, let high = ASCII.hexDigit(bytes[index + 1]),
        let low = ASCII.hexDigit(bytes[index + 2])
      else { return nil }
      output.append(high << 4 | low)
      index += 3
    }
    return String(validating: output, as: UTF8.self)
  }
}
