// Goal: one key for each text, one text for each key, and one order, whichever way it is asked for.
// Method: cases that decide, and random text and keys from a seed against plain models.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A key")
struct KeyTests {
  static func stored(_ key: Key) -> [UInt8] {
    var bytes: [UInt8] = []
    key.append(to: &bytes)
    return bytes
  }

  @Test(
    "is an integer when its text is a canonical one",
    arguments: [
      ("0", 0), ("1", 1), ("-1", -1), ("42", 42), ("-42", -42), ("100", 100),
      ("9223372036854775807", .max), ("-9223372036854775808", .min),
    ] as [(String, Int64)])
  func integers(_ text: String, _ number: Int64) throws {
    #expect(try Key(text) == .integer(number))
    #expect(Key.integer(number).description == text)
  }

  @Test(
    "is text when it only looks like an integer",
    arguments: [
      "-0", "00", "01", "-01", "+1", " 1", "1 ", "1.0", "1e3", "-", "--1", "0x1", "1_000", "١", "१",
      "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1\u{301}",
      "100000000000000000000000000000000000",
    ])
  func almostIntegers(_ text: String) throws {
    #expect(try Key(text) == .text(text))
    #expect(try Key(text).description.utf8.elementsEqual(text.utf8))
  }

  @Test("is a UUID when its text is one in lower case")
  func uuids() throws {
    let text = "0192f0c1-2d3e-7f40-8abc-def012345678"
    let uuid = try #require(UUID(uuidString: text))
    #expect(try Key(text) == .uuid(uuid))
    #expect(Key.uuid(uuid).description == text)
    let zero = "00000000-0000-0000-0000-000000000000"
    #expect(try Key(zero).description == zero)
    for other in [
      text.uppercased(), "0192f0c1-2d3e-7f40-8abc-DEF012345678", "{\(text)}", "\(text)0",
      String(text.dropLast()), "0192f0c12d3e7f408abcdef012345678",
      "0192f0c1-2d3e-7f40-8abc+def012345678",
      "0192f0c1-2d3e-7f40-8abcdef0-12345678", "g192f0c1-2d3e-7f40-8abc-def012345678",
    ] {
      #expect(try Key(other) == .text(other))
      #expect(try Key(other).description == other)
    }
  }

  @Test("has the text that it was made from", arguments: FormatSeeds.first(6))
  func description(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    for _ in 0..<1_000 {
      let text = random.keyText()
      let key = try Key(text)
      #expect(Array(key.description.utf8) == Array(text.utf8), "seed \(seed)")
      #expect(try Key(Substring(("x" + text).unicodeScalars.dropFirst())) == key, "seed \(seed)")
    }
    for _ in 0..<1_000 {
      let key = random.key()
      #expect(try Key(key.description) == key, "\(key), seed \(seed)")
    }
  }

  @Test("that is bad is refused by name")
  func badKeys() throws {
    let long = String(repeating: "é", count: 240)
    #expect(long.utf8.count == Key.textBytesMax)
    #expect(try Key(long).description == long)
    let cases = [
      ("", "it is empty"), (long + "x", "it has 481 bytes; 480 is the limit"),
      ("a\u{0}b", "it holds the character U+0000"), ("\u{0}", "it holds the character U+0000"),
      (String(repeating: "9", count: 481), "it has 481 bytes; 480 is the limit"),
    ]
    for (text, reason) in cases {
      #expect(throws: DatabaseError.badKey(text, reason: reason)) { try Key(text) }
    }
  }

  @Test("is not normalized")
  func equality() throws {
    let pairs = [("é", "e\u{301}"), ("\u{212B}", "\u{C5}"), ("\u{AC00}", "\u{1100}\u{1161}")]
    for (a, b) in pairs {
      let (one, other) = (try Key(a), try Key(b))
      #expect(one != other && (one < other) != (other < one))
      #expect(Set([one, other]).count == 2)
      #expect(Self.stored(one) != Self.stored(other))
    }
    #expect(Key.integer(1) != .text("one") && Key.integer(0) != .uuid(UUID()))
  }
}

// MARK: The stored form

extension KeyTests {
  @Test("comes back from its stored form", arguments: FormatSeeds.first(4))
  func roundTrip(seed: UInt64) throws {
    var random = FormatRandom(seed: 100 + seed)
    for _ in 0..<1_000 {
      let key = random.key()
      #expect(try Self.stored(key).lend { try Key($0) } == key, "\(key), seed \(seed)")
      var path: [UInt8] = [9, 9]
      key.appendTerminated(to: &path)
      path += [1, 0]
      var offset = 2
      #expect(Key.end(terminatedIn: path, at: 2) == path.count - 2)
      #expect(Key(terminatedIn: path, at: &offset) == key, "seed \(seed)")
      #expect(offset == path.count - 2)
    }
  }

  @Test("is ordered as its stored bytes are", arguments: FormatSeeds.first(4))
  func order(seed: UInt64) throws {
    var random = FormatRandom(seed: 200 + seed)
    var keys = (0..<120).map { _ in random.key() }
    keys += FormatRandom.integerBorders.map { .integer($0) }
    keys += ["a", "aa", "a\u{1}", "b", "é", "z"].map { Key.text($0) }
    for a in keys {
      for b in keys {
        let (x, y) = (Self.stored(a), Self.stored(b))
        #expect((a < b) == x.lexicographicallyPrecedes(y), "\(a), \(b), seed \(seed)")
        #expect((a == b) == (x == y), "\(a), \(b), seed \(seed)")
        if a == b { #expect(a.hashValue == b.hashValue) }
      }
    }
  }

  @Test("sorts integers by value, then UUIDs, then text")
  func kinds() throws {
    let sorted: [Key] = [
      .integer(.min), -129, -1, 0, 1, 9, 10, 255, 256, .integer(.max),
      "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "!", "-0", "007", "A", "a", "ab", "b", "é", "\u{10FFFF}",
    ]
    #expect(sorted.shuffled().sorted() == sorted)
  }

  @Test("is lent for a lookup as it is stored", arguments: FormatSeeds.first(2))
  func treeKey(seed: UInt64) throws {
    var random = FormatRandom(seed: 300 + seed)
    let longest = Key.text(String(repeating: "x", count: Key.textBytesMax))
    for key in [longest, .integer(.min), .integer(.max)] + (0..<1_000).map({ _ in random.key() }) {
      let parent = random.next()
      var expected: [UInt8] = []
      expected.append(bigEndian: parent)
      key.append(to: &expected)
      #expect(key.lendTreeKey(parent: parent) { $0.array() } == expected, "\(key), seed \(seed)")
    }
  }

  @Test("that is too long to be stored is lent as something that is never found")
  func treeKeyOfBadKey() {
    for count in [481, 500, 5_000] {
      let key = Key.text(String(repeating: "x", count: count))
      #expect(key.lendTreeKey(parent: 1) { $0.byteCount } == 8)
    }
  }

  @Test("made from damaged bytes is an error")
  func damagedBytes() throws {
    let damaged = [
      "", "00", "01", "02", "03", "04 61", "01 80 00 00 00 00 00 00",
      "01 80 00 00 00 00 00 00 00 00",
      "02 00", "02" + String(repeating: "00", count: 15), "02" + String(repeating: "00", count: 17),
      "03 FF", "03 C3", "03 ED A0 80", "03" + String(repeating: "61", count: 481),
    ]
    for hex in damaged {
      #expect(throws: DatabaseError.self) { try [UInt8](hex: hex).lend { try Key($0) } }
    }
  }

  @Test(
    "has one stored form: text with a NUL, or that reads as another kind, is refused",
    arguments: [
      "a\u{0}b", "\u{0}", "a\u{0}", "0", "42", "-5", "9223372036854775807",
      "0192f0c1-2d3e-7f40-8abc-def012345678",
    ])
  func foreignText(_ text: String) throws {
    let bytes = [KeyTag.text] + Array(text.utf8)
    let refusal = DatabaseError.corrupt(reason: "a stored key is not one")
    #expect(throws: refusal) { try bytes.lend { try Key($0) } }
    if !text.utf8.contains(0) {
      #expect(throws: refusal) { try NodePath(checking: bytes + [0]) }
    }
  }
}

// MARK: Keys made by hand

extension KeyTests {
  @Test("made by hand of a text that reads as another is that other in a path")
  func canonical() throws {
    let uuid = "0192f0c1-2d3e-7f40-8abc-def012345678"
    for text in ["42", "-5", uuid, "plain"] {
      #expect(NodePath(keys: [.text(text), "x"]) == NodePath(keys: [try Key(text), "x"]))
    }
  }

  @Test("made by hand that cannot be one is refused by name, and harms nothing")
  func handmade() throws {
    let long = String(repeating: "x", count: 481)
    try withDatabase { database in
      try database.write { tx in try tx.set("a/b", to: 1) }
      for (text, name) in [("", ""), ("a\u{0}b", "ab"), ("\u{0}", ""), (long, long)] {
        let bad = Key.text(text)
        for path in [
          NodePath(keys: [bad]), NodePath(keys: ["a", bad]), NodePath(keys: [bad, "a", 1]),
        ] {
          #expect(path.depth == path.keys.count && path.parent?.depth == path.depth - 1)
          try expectRefused(path, name, database)
        }
      }
      #expect(try database.head == 1)
    }
  }

  private func expectRefused(_ path: NodePath, _ name: String, _ database: Database) throws {
    let writes: [(borrowing Database.Transaction) throws -> Void] = [
      { try $0.set(path, to: 1) }, { try $0.set(path, to: ["p": 1]) },
      { try $0.increment(path, by: 1) },
      { try $0.append(1, to: path) }, { try $0.move("a/b", to: path) },
    ]
    for write in writes {
      let error = #expect(throws: DatabaseError.self) { try database.write { try write($0) } }
      guard case .badKey(name, _)? = error else {
        Issue.record("\(error.map { "\($0)" } ?? "no error") for \(path.bytes)")
        continue
      }
    }
    let node = try database.snapshot()[path]
    #expect(try node.exists == false)
    #expect(try node.value == nil)
    #expect(try node.children.fetch().isEmpty)
  }
}
