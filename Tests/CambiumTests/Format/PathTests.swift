// Goal: text and path say the same, whatever is in the keys, and the order of paths is that of a
// walk. Method: cases that decide, and random paths from a seed against lists of keys.

import Simulation
import Testing

@testable import Cambium

@Suite("A path")
struct PathTests {
  @Test("is its keys joined by slashes")
  func text() throws {
    let uuid = "0192f0c1-2d3e-7f40-8abc-def012345678"
    let cases: [(String, [Key])] = [
      ("", []), ("/", []), ("a", ["a"]), ("/a", ["a"]),
      ("users/ada/name", ["users", "ada", "name"]),
      ("/users/42/-7", ["users", 42, -7]), ("a/\(uuid)", ["a", try Key(uuid)]),
      ("a b/ ", ["a b", " "]),
    ]
    for (text, keys) in cases {
      #expect(try NodePath(text).keys == keys)
      let plain = text.hasPrefix("/") ? String(text.dropFirst()) : text
      #expect(try NodePath(text).description == plain)
    }
    #expect(NodePath.root.isRoot && NodePath.root.keys.isEmpty)
  }

  @Test(
    "escapes slash and tilde",
    arguments: [
      ("~1", "/"), ("~0", "~"), ("~01", "~1"), ("~10", "/0"), ("a~1b~0c", "a/b~c"), ("~0~0", "~~"),
      ("~1~1", "//"), ("~1\u{301}", "/\u{301}"), ("~0\u{301}", "~\u{301}"),
    ])
  func escapes(_ text: String, _ key: String) throws {
    let path = try NodePath(text)
    #expect(path.keys == [.text(key)])
    #expect(Array(path.description.utf8) == Array(text.utf8))
    #expect(NodePath.escaped(key).utf8.elementsEqual(text.utf8))
    #expect(try NodePath("x/\(text)/y").keys == ["x", .text(key), "y"])
  }

  @Test("with a bad key is refused, and the key is named")
  func badKeys() throws {
    let long = String(repeating: "x", count: 481)
    let cases = [
      ("a//b", "", "it is empty"), ("a/", "", "it is empty"), ("//", "", "it is empty"),
      ("//a", "", "it is empty"), ("a/b\u{0}/c", "b\u{0}", "it holds the character U+0000"),
      ("a/\(long)/\u{0}", long, "it has 481 bytes; 480 is the limit"),
      ("a/~", "~", "after ~ there must be 0 (for ~) or 1 (for /)"),
      ("a/b~2/c", "b~2", "after ~ there must be 0 (for ~) or 1 (for /)"),
      ("~\u{301}0", "~\u{301}0", "after ~ there must be 0 (for ~) or 1 (for /)"),
    ]
    for (text, key, reason) in cases {
      #expect(throws: DatabaseError.badKey(key, reason: reason), "\(text)") { try NodePath(text) }
    }
  }

  @Test("takes a key that starts with a combining mark for what it is")
  func combiningMarks() throws {
    let key = Key.text("\u{301}a")
    for text in ["\u{301}a", "/\u{301}a"] { #expect(try NodePath(text).keys == [key], "\(text)") }
    for text in ["x/\u{301}a", "/x/\u{301}a"] { #expect(try NodePath(text).keys == ["x", key]) }
  }

  @Test("has the text and the keys that it was made from", arguments: FormatSeeds.first(6))
  func roundTrip(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    for _ in 0..<500 {
      let keys = (0..<random.below(8)).map { _ in random.key() }
      let path = NodePath(keys: keys)
      #expect(path.keys == keys, "seed \(seed)")
      #expect(try NodePath(path.description) == path, "\(path), seed \(seed)")
      #expect(try NodePath("/" + path.description) == path, "\(path), seed \(seed)")
      #expect(try NodePath(checking: path.bytes) == path, "\(path), seed \(seed)")
      #expect(keys.reduce(NodePath.root) { $0.appending($1) } == path, "seed \(seed)")
    }
  }

  @Test("knows its parts", arguments: FormatSeeds.first(4))
  func parts(seed: UInt64) throws {
    var random = FormatRandom(seed: 100 + seed)
    for _ in 0..<500 {
      let keys = (0..<random.below(8)).map { _ in random.key() }
      let path = NodePath(keys: keys)
      #expect(path.depth == keys.count && path.isRoot == keys.isEmpty)
      #expect(path.last == keys.last, "seed \(seed)")
      #expect(path.parent == (keys.isEmpty ? nil : NodePath(keys: keys.dropLast())), "seed \(seed)")
      #expect(path.parentCount == path.parent?.bytes.count ?? 0)
      let place = random.below(keys.count + 1)
      let (above, below) = (NodePath(keys: keys[..<place]), NodePath(keys: keys[place...]))
      #expect(path.isWithin(above) && path.relative(to: above) == below, "seed \(seed)")
      #expect(above.appending(below) == path)
    }
  }

  @Test("lies within another only by whole keys")
  func within() throws {
    let ancestor: NodePath = "users/ada"
    for path: NodePath in ["users/ada", "users/ada/x", "users/ada/x/y"] {
      #expect(path.isWithin(ancestor) && path.isWithin(.root))
    }
    for path in ["users/ad", "users/adam", "users", "ada", "", "users/ada~1x"] as [NodePath] {
      #expect(!path.isWithin(ancestor) && path.relative(to: ancestor) == nil)
    }
    let (composed, combining): (NodePath, NodePath) = ("é/x", "e\u{301}/x")
    #expect(!combining.isWithin("é") && composed != combining)
    #expect(
      !("users/1" as NodePath).isWithin("users/10") && !("users/10" as NodePath).isWithin("users/1")
    )
  }

  @Test("is in path order: a node, then what is below it, by key", arguments: FormatSeeds.first(4))
  func order(seed: UInt64) throws {
    var random = FormatRandom(seed: 200 + seed)
    let keys = (0..<6).map { _ in random.key() } + ["a", "ab", "a\u{1}", 1, -1]
    let paths = (0..<150).map { _ in
      NodePath(keys: (0..<random.below(5)).map { _ in random.pick(keys) })
    }
    for a in paths {
      for b in paths {
        let isBefore = a.keys.lexicographicallyPrecedes(b.keys)
        #expect((a < b) == isBefore, "\(a), \(b), seed \(seed)")
        #expect((a == b) == (a.keys == b.keys), "\(a), \(b), seed \(seed)")
      }
    }
  }

  @Test("made from damaged bytes is an error")
  func damagedBytes() throws {
    let damaged = [
      "00", "03", "03 00", "03 61", "04 61 00", "01 80", "02 00", "03 61 00 03", "03 61 00 03 00",
      "03 FF 00", "03 61 00 00", "03" + String(repeating: "61", count: 481) + "00",
    ]
    for hex in damaged {
      #expect(throws: DatabaseError.self, "\(hex)") { try NodePath(checking: [UInt8](hex: hex)) }
    }
  }

  @Test("of 10,000 keys is walked without recursion")
  func depth() throws {
    let keys = (0..<10_000).map { Key.integer(Int64($0)) }
    let path = NodePath(keys: keys)
    #expect(path.depth == 10_000 && path.keys == keys && path.last == 9_999)
    #expect(try NodePath(path.description) == path)
  }
}
