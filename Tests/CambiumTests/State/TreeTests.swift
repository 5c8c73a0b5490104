import FoundationEssentials
import Testing

@testable import Cambium

@Suite("The tree")
struct TreeTests {
  /// A few nodes of every kind: a record with children, single values, an array, a removed subtree.
  static func fill(_ database: Database) throws {
    try database.write { tx in
      try tx.set("ada", to: ["name": "Ada", "count": 1, "max": .integer(.max), "list": [1, 2]])
      try tx.set("ada/child", to: 1)
      try tx.set("number", to: 5)
      try tx.set("list", to: ["a", "b"])
      try tx.set("container/x/y", to: "y")
      try tx.set("gone/below", to: 1)
      try tx.set("left/below", to: 1)
    }
    try database.write { tx in
      try tx.remove("gone")
      try tx.move("left", to: "arrived")
    }
  }

  /// Calls on what `fill` makes, and why they must be refused.
  static let illegal: [(Call, Refusal)] = [
    // A name is a property or a child, never both.
    (.set("ada/name/x", 1), .exists),
    (.set("ada/name", ["x": 1]), .exists),
    (.set("ada", ["name": "Ada", "child": 2]), .exists),
    (.set("container", ["x": 2]), .exists),
    (.update("ada", [("child", 2)]), .exists),
    (.update("container", [("x", 2)]), .exists),
    (.change("ada", "child", .increment(by: 1)), .exists),
    (.change("ada", "child", .append(1)), .exists),
    (.move("number", to: "ada/name"), .exists),
    (.move("number", to: "ada/name/deeper"), .exists),
    (.restore("ada/name", removedAt: 2), .exists),
    // The root holds nothing and stays.
    (.set(.root, 1), .badValue),
    (.set(.root, ["name": 1]), .badValue),
    (.update(.root, [("name", 1)]), .badValue),
    (.change(.root, nil, .increment(by: 1)), .badValue),
    (.change(.root, nil, .append(1)), .badValue),
    (.remove(.root), .badValue),
    (.move(.root, to: "elsewhere"), .badValue),
    (.move("number", to: .root), .badValue),
    (.restore(.root, removedAt: 2), .badValue),
    // Properties need a record, or a node that can become one.
    (.update("nowhere", [("name", 1)]), .notFound),
    (.update("number", [("name", 1)]), .badValue),
    (.change("number", "count", .increment(by: 1)), .badValue),
    (.change("nowhere", "count", .increment(by: 1)), .notFound),
    // Numbers and arrays.
    (.change("ada", nil, .increment(by: 1)), .badValue),
    (.change("ada", "name", .increment(by: 1)), .badValue),
    (.change("ada", "max", .increment(by: 1)), .badValue),
    (.change("ada", "count", .increment(by: "1")), .badValue),
    (.change("list", nil, .increment(by: 1)), .badValue),
    (.change("number", nil, .append(1)), .badValue),
    (.change("ada", "name", .append(1)), .badValue),
    (.change("list", nil, .insert(1, at: 3)), .notFound),
    (.change("nowhere", nil, .insert(1, at: 1)), .notFound),
    (.change("list", nil, .removeElement(at: 2)), .notFound),
    (.change("ada", "count", .removeElement(at: 0)), .badValue),
    (.change("ada", "only defined", .removeElement(at: 0)), .notFound),
    (.change("nowhere", nil, .removeElement(at: 0)), .notFound),
    (.change("dictionary", nil, .setEntry(key: "x", 1)), .badValue),
    (.change("number", nil, .incrementEntry(key: "x", by: 1)), .badValue),
    // Subtrees.
    (.move("nowhere", to: "elsewhere"), .notFound),
    (.move("number", to: "ada"), .exists),
    (.move("container/x", to: "container"), .exists),
    (.move("container", to: "container"), .badValue),
    (.move("container", to: "container/x/deeper"), .badValue),
    (.restore("gone", removedAt: 1), .notFound),
    (.restore("gone", removedAt: 3), .notFound),
    (.restore("gone", removedAt: 1000), .notFound),
    (.restore("gone/below", removedAt: 2), .notFound),
    (.restore("left", removedAt: 2), .notFound),
    (.restore("number", removedAt: 2), .exists),
    (.restore("nowhere", removedAt: 2), .notFound),
    // Preconditions.
    (.expect("ada", at: 2), .conflict),
    (.expect("ada", at: 0), .conflict),
    (.expect("nowhere", at: 1), .conflict),
    (.expect("arrived", at: 1), .conflict),
  ]

  @Test("refuses what cannot be done, and nothing has changed then")
  func refuses() throws {
    try withDatabase { database in
      try TreeTests.fill(database)
      try database.write { tx in try tx.define("only defined", "child", "x") }
      let before = try database.snapshot().root.rows()
      try database.write { tx in
        for (call, refusal) in TreeTests.illegal {
          let error = #expect(throws: DatabaseError.self) { _ = try call.perform(tx) }
          #expect(error.flatMap { Refusal($0) } == refusal, "\(call)")
          try requireSame(tx[.root].rows(), before, "after \(call)")
        }
        for error in [
          #expect(throws: DatabaseError.self) { try tx.insert(1, at: -1, into: "list") },
          #expect(throws: DatabaseError.self) { try tx.removeElement(at: -1, from: "list") },
        ] {
          #expect(error.flatMap { Refusal($0) } == .notFound)
        }
      }
      #expect(try database.head == 3)
    }
  }

  @Test("takes paths of properties where they stand for one")
  func propertyPaths() throws {
    try withDatabase { database in
      try TreeTests.fill(database)
      try database.write { tx in
        try tx.set("ada/name", to: "Countess")
        #expect(try tx["ada"]["name"] == "Countess")
        #expect(try tx["ada/name"].value == "Countess")
        #expect(try tx["ada/name"].exists)
        #expect(try tx["ada/name"].modified == nil)
        #expect(try tx.remove("ada/name"))
        #expect(try !tx["ada/name"].exists)
        // Nothing keeps the name now, so a child may have it.
        try tx.set("ada/name", to: "child")
        #expect(try tx["ada"]["name"] == nil)
        #expect(try tx["ada"].childCount == 2)
      }
    }
  }

  @Test("adds to numbers and keeps their kind")
  func increments() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.increment("new", by: 2)
        try tx.increment("new", by: -5)
        #expect(try tx["new"].value == -3)
        try tx.increment("new", by: 0.5)
        #expect(try tx["new"].value == -2.5)
        try tx.set("record", to: ["big": .integer(.max - 1)])
        try tx.increment("record", "big", by: 1)
        try tx.increment("record", "new", by: 0.25)
        #expect(try tx["record"].value == ["big": .integer(.max), "new": 0.25])
      }
    }
  }

  @Test("changes arrays in place")
  func arrays() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.append(2, to: "list")
        try tx.append("x", to: "list")
        try tx.insert(1, at: 0, into: "list")
        try tx.insert([.null], at: 3, into: "list")
        #expect(try tx["list"].value == [1, 2, "x", [.null]])
        try tx.removeElement(at: 2, from: "list")
        #expect(try tx["list"].value == [1, 2, [.null]])
        try tx.set("container/child", to: 0)
        try tx.append(1, to: "container", "list")
        #expect(try tx["container"].value == ["list": [1]])
      }
    }
  }

  @Test(
    "refuses keys that cannot be one",
    arguments: ["", "a\u{0}b", String(repeating: "x", count: Key.textBytesMax + 1)])
  func badKeys(text: String) throws {
    try withDatabase { database in
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set(NodePath(keys: [.text(text)]), to: 1) }
      }
      #expect(throws: DatabaseError.self) {
        let record = ValueMap([(name: text, value: Value.integer(1))])
        try database.write { tx in try tx.set("record", to: .map(record)) }
      }
      let head = try database.head
      #expect(head == 0)
    }
  }
}

@Suite("A deep or wide tree")
struct LargeTreeTests {
  static let isLarge = ProcessInfo.processInfo.environment["CAMBIUM_LARGE"] == "1"
  private static let depth = 10_000

  @Test("of 10,000 levels can be written, read, walked, moved and removed")
  func deep() throws {
    let levels = (0..<LargeTreeTests.depth).map { Key.integer(Int64($0 % 7)) }
    let path = NodePath(keys: levels)
    try withDatabase { database in
      try database.write { tx in try tx.set(path, to: "bottom") }
      try database.read { snapshot in
        #expect(try snapshot[path].value == "bottom")
        try LargeTreeTests.expectChain(snapshot.root, LargeTreeTests.depth)
      }
      try database.write { tx in try tx.move(NodePath(keys: levels.prefix(2)), to: "moved/here") }
      let moved = try database.snapshot()
      #expect(try moved[NodePath(keys: ["moved", "here"] + levels.dropFirst(2))].value == "bottom")
      #expect(try !moved[path].exists)
      try database.write { tx in try tx.remove("moved") }
      #expect(try database.commit(3).changes.fetch().map(\.old) == ["bottom"])
      try LargeTreeTests.expectChain(
        try database.snapshot(at: .sequence(1)).root, LargeTreeTests.depth)
      try database.write { tx in try tx.restore("moved", removedAt: 3) }
      try LargeTreeTests.expectChain(try database.snapshot()["moved"], LargeTreeTests.depth - 1)
    }
  }

  /// Walks a chain of nodes to its end.
  private static func expectChain(_ node: Node, _ count: Int) throws {
    var nodes = try node.descendants(includingSelf: false)
    var depth = 0
    var last: Value?
    while let node = try nodes.next() {
      depth += 1
      last = try node.value
    }
    #expect(depth == count)
    #expect(last == "bottom")
  }

  @Test("with 100,000 children under a node finds, counts and walks them")
  func wide() throws { try LargeTreeTests.checkWide(100_000) }

  @Test(
    "with 1,000,000 children under a node finds, counts and walks them",
    .enabled(if: LargeTreeTests.isLarge, "takes minutes; set CAMBIUM_LARGE=1"))
  func veryWide() throws { try LargeTreeTests.checkWide(1_000_000) }

  private static func checkWide(_ count: Int) throws {
    try withDatabase { database in
      try addChildren(count, to: "wide", in: database)
      let head = try database.head
      try database.write { tx in
        try tx.remove("wide/7")
        try tx.set("wide/late", to: "late")
      }
      try database.read { snapshot in
        #expect(try snapshot["wide"].childCount == count)
        #expect(try snapshot[NodePath("wide/\(count - 1)")].value == .integer(Int64(count - 1)))
        try expectWalk(snapshot["wide"], count, except: 7)
        let last = snapshot["wide"].children.reversed().limit(2)
        #expect(try last.keys() == ["late", .integer(Int64(count - 1))])
      }
      try database.read(at: .sequence(head)) { snapshot in
        #expect(try snapshot["wide/7"].value == 7)
        #expect(try snapshot["wide"].children.from(6).limit(3).keys() == [6, 7, 8])
        try expectWalk(snapshot["wide"], count, except: nil)
      }
    }
  }

  /// Walks numbered children, which come in order.
  private static func expectWalk(_ node: Node, _ count: Int, except missing: Int64?) throws {
    var next: Int64 = 0
    try node.children.forEach { child in
      if child.key == "late" { return }
      if next == missing { next += 1 }
      if child.key != .integer(next) { Issue.record("child \(next) is \(child.path)") }
      next += 1
    }
    #expect(next == Int64(count))
  }
}

/// Adds numbered children, 10,000 in a transaction.
func addChildren(_ count: Int, to path: NodePath, in database: Database) throws {
  for start in stride(from: 0, to: count, by: 10_000) {
    try database.write { tx in
      for number in start..<min(start + 10_000, count) {
        try tx.set(path.appending(.integer(Int64(number))), to: .integer(Int64(number)))
      }
    }
  }
}
