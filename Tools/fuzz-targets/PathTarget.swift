@testable import Cambium

/// Keys and paths, stored and as text: a choice, then the bytes.
enum PathTarget {
  static let target = FuzzTarget(name: "path", seeds: seeds, run: run)

  private static func seeds() throws -> [[UInt8]] {
    let texts = [
      "", "/", "users/ada/name", "a~1b/~0", "42/-5/007/-0", "9223372036854775807",
      "-9223372036854775808", "0192f0c1-2d3e-7f40-8abc-def012345678/x", "é/e\u{301}/😀", "a//b",
    ]
    let paths = texts.compactMap { try? NodePath($0) }.map(\.bytes)
    return texts.map { [0] + Array($0.utf8) } + paths.map { [1] + $0 }
      + paths.map { [2, UInt8($0.count % 256), 0] + $0 + paths[3] } + paths.map { [3] + $0 }
  }

  private static func run(_ input: inout FuzzInput) {
    switch input.byte() % 4 {
    case 0: if let text = String(validating: input.rest, as: UTF8.self) { check(text) }
    case 1:
      if let path = decoded(Array(input.rest)) { check(path) }
    case 2:
      let first = input.bytes(input.number(below: 256))
      if let a = decoded(first), let b = decoded(Array(input.rest)) { checkOrder(a, b) }
    default: checkKey(Array(input.rest))
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> NodePath? {
    unlessRefused("path") { try NodePath(checking: bytes) }
  }

  /// Text is refused as no key, or is read and written again.
  private static func check(_ text: String) {
    do throws(DatabaseError) {
      check(try NodePath(text))
      let key = try Key(text)
      require(Array(key.description.utf8) == Array(text.utf8), "the key \(text) has its own text")
      require(
        try Key(NodePath.escaped(text)) == key || NodePath.escaped(text) != text, "escapes are few")
      require(
        try NodePath(NodePath.escaped(text)) == NodePath(keys: [key]), "\(text) is one key, escaped"
      )
    } catch {
      guard case .badKey = error else { fatalError("fuzz: \(text) was refused with \(error)") }
    }
  }

  private static func check(_ path: NodePath) {
    require(NodePath(keys: path.keys) == path, "\(path) is its keys")
    require(path.depth == path.keys.count, "\(path) has its depth")
    require(path.last == path.keys.last, "\(path) has its last key")
    require(decoded(path.bytes) == path, "\(path) comes back from its stored form")
    mustSucceed("keys") { try path.checkKeys() }
    let text = path.description
    require(mustSucceed("reading \(text)") { try NodePath(text) } == path, "\(text) comes back")
    guard let parent = path.parent, let last = path.last else { return }
    require(parent.appending(last) == path && parent < path, "\(path) follows its parent")
    require(path.relative(to: parent) == NodePath(keys: [last]), "\(path) lies below its parent")
  }

  private static func checkOrder(_ a: NodePath, _ b: NodePath) {
    let order = a.keys.lexicographicallyPrecedes(b.keys)
    require((a < b) == order, "\(a) and \(b) have the order of their keys")
    require((a == b) == (a.keys == b.keys), "\(a) and \(b) are equal as their keys are")
    let joined = a.appending(b)
    require(joined.keys == a.keys + b.keys && joined.isWithin(a), "\(a) and \(b) are joined")
    require(joined.relative(to: a) == b, "\(b) is what follows \(a)")
  }

  private static func checkKey(_ bytes: [UInt8]) {
    guard let key = unlessRefused("key", { try bytes.lend { try Key($0) } }) else { return }
    var again: [UInt8] = []
    key.append(to: &again)
    require(again == bytes, "\(key) has one stored form")
    require(mustSucceed("the text of \(key)") { try Key(key.description) } == key, "\(key) is it")
    key.lendTreeKey(parent: 7) { found in
      require(found.array().dropFirst(8).elementsEqual(bytes), "\(key) is looked up where it is")
    }
  }
}
