// The content of the fixture of format 1: every operation, every kind of value and key, records and
// blobs in each of their forms, in transactions whose content leaves nothing to chance.

import FoundationEssentials

@testable import Cambium

enum FixtureContent {
  /// The moments whose whole tree is in the dump.
  static let moments: [UInt64] = [0, 1, 5, 7, 9, 28]

  /// Writes all of it to an empty database.
  static func write(to database: Database) throws {
    try writeValues(to: database)
    try writeChanges(to: database)
    try writeSubtrees(to: database)
    for number in 1...14 as ClosedRange<Int64> {
      try database.write { tx in try tx.set("counter", to: ["value": .integer(number)]) }
    }
    try writeLargeThings(to: database)
    try writePositions(to: database)
  }

  private static func child(_ parent: String, _ key: Key) -> NodePath {
    NodePath(keys: [.text(parent), key])
  }

  // MARK: Values and keys: transactions 1 and 2

  private static func writeValues(to database: Database) throws {
    let metadata = ["who": "ada", "why": "d\u{E9}but", "": "no name", "e\u{301}": ""]
    try database.write(metadata: metadata) { tx in
      try tx.define("defined only", "value", "e\u{301}")
      for (index, golden) in GoldenValue.all.enumerated() {
        let key = Key.integer(Int64(index))
        if !golden.value.isMap { try tx.set(child("values", key), to: golden.value) }
        try tx.set(child("records", key), to: ["value": golden.value])
      }
      try tx.set("records/empty", to: [:])
      try tx.set(
        "records/mixed", to: ["\u{E9}": 1, "e\u{301}": 2, "42": 3, "a/b": ["c": [4, 5.5]]])
    }
    try database.write { tx in
      for key in keys { try tx.set(child("keys", key), to: .string(key.description)) }
      try tx.set(NodePath(keys: (0..<40).map { Key.integer($0) }), to: "deep")
    }
  }

  private static let keys: [Key] = [
    .integer(.min), -1, 0, 42, .integer(.max), .uuid(GoldenValue.uuid), "-0", "007", "a/b", "c~d",
    "\u{E9}", "e\u{301}", " ", "\u{1F1E9}\u{1F1EA}", "\u{10FFFF}", "\u{1}",
    .text(String(repeating: "x", count: Key.textBytesMax)),
  ]

  // MARK: One node's operations: transactions 3 to 5

  private static func writeChanges(to database: Database) throws {
    try database.write(metadata: ["step": "update"]) { tx in
      try tx.update("records/mixed", ["42": nil, "new": "property", "a/b": 7])
      try tx.update("keys", ["from a container": true])
      try tx.set("records/mixed/new", to: "set by its path")
    }
    try database.write(metadata: ["step": "increment"]) { tx in
      try tx.increment("numbers/made", by: 5)
      try tx.increment("numbers/made", by: -7)
      try tx.increment("numbers/double", by: 0.5)
      try tx.increment("records/mixed", "\u{E9}", by: 1.25)
      try tx.increment("records/mixed", "fresh", by: .integer(.max))
    }
    try database.write(metadata: ["step": "arrays"]) { tx in
      for element in ["a", "b", "c"] as [Value] { try tx.append(element, to: "list") }
      try tx.insert("between", at: 1, into: "list")
      try tx.removeElement(at: 3, from: "list")
      try tx.append(["in": "a map"], to: "records/mixed", "list")
      try tx.insert(.null, at: 0, into: "records/mixed", "list")
      try tx.insert(1, at: 2, into: "records/mixed", "list")
      try tx.removeElement(at: 0, from: "records/mixed", "list")
    }
  }

  // MARK: Subtrees and events: transactions 6 to 12

  private static func writeSubtrees(to database: Database) throws {
    try database.write(metadata: ["step": "tree"]) { tx in
      for number in 0..<5 as Range<Int64> {
        try tx.set(NodePath(keys: ["tree", "a", .integer(number)]), to: .integer(number))
        try tx.set(
          NodePath(keys: ["tree", "b", "under", .integer(number)]), to: ["n": .integer(number)])
      }
    }
    try database.write(metadata: ["step": "remove"]) { tx in
      try tx.remove("tree/a/3")
      try tx.remove("tree/b")
      try tx.remove("records/mixed/new")
    }
    try database.write(metadata: ["step": "restore"]) { tx in
      try tx.restore("tree/b", removedAt: 7)
      try tx.set("tree/b/under/9", to: "after it came back")
    }
    try database.write(metadata: ["step": "move"]) { tx in
      try tx.move("tree/b/under", to: "elsewhere/and/deeper")
      try tx.set("tree/b/under", to: "in its place")
      try tx.remove("tree/a/4")
      try tx.set("tree/a/4", to: "anew")
    }
    try database.write { tx in
      try tx.event("sold", ["what": "book", "price": .decimal(12)])
      try tx.event("", .null)
      try tx.event("e\u{301}v\u{E9}nement", [1, "two"])
    }
    struct Undone: Error {}
    try database.write(metadata: ["step": "attempt"]) { tx in
      try tx.set("kept", to: 1)
      do {
        try tx.attempt {
          try tx.set("gone", to: ["never defined": 1])
          throw Undone()
        }
      } catch is Undone {}
      try tx.set("kept too", to: ["defined after": 2])
    }
    try database.write { tx in try tx.remove("kept") }
  }

  // MARK: Large things: transactions 27 and 28; before them the counter's fourteen

  private static func writeLargeThings(to database: Database) throws {
    try database.write(metadata: ["step": "large record"]) { tx in
      var record = ValueMap()
      for number in 0..<300 as Range<Int64> { record["property \(number)"] = .integer(number) }
      try tx.set("large", to: .map(record))
    }
    try database.write(metadata: ["step": "blobs"]) { tx in
      for (index, content) in blobs.enumerated() {
        let blob = try tx.store(content)
        try tx.set(child("blobs", .integer(Int64(index))), to: .blob(blob))
      }
    }
  }

  /// An empty one, one chunk as it is, one chunk compressed, and two chunks.
  static let blobs: [Data] = [
    Data(), Data("Cambium".utf8), Data(repeating: 7, count: 5_000),
    Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) }),
  ]

  private static func writePositions(to database: Database) throws {
    try database.write { tx in
      try tx.advance("mailer", to: 5)
      try tx.saveCursor("import", 42)
    }
  }
}
