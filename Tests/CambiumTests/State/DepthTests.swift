// Goal: depth costs time in proportion to it, never to its square, in all that reads a log or a
// tree.
// Method: hostile operations, whose work is counted; and trees of 80,000 levels, made by moving, or
// by a log of before there was a limit for paths. A walk that copied a path for each level would
// take minutes.

import LMDB
import Testing

@testable import Cambium

@Suite("Depth", .timeLimit(.minutes(3)))
struct DepthTests {
  private let place: Place

  init() throws { place = try Place() }

  private static func path(_ levels: Int, below root: String) -> NodePath {
    NodePath(keys: [.text(root)] + [Key](repeating: .text("a"), count: levels))
  }

  // MARK: Operations

  /// Operations that each share all of a long path, or all but its end, in a few bytes.
  private static func hostile(pathBytes: Int, count: Int) -> [UInt8] {
    let path = NodePath(keys: [Key](repeating: .integer(7), count: pathBytes / 9))
    var bytes: [UInt8] = [7, 0]
    bytes.append(varint: UInt64(path.bytes.count))
    bytes += path.bytes
    let short = path.bytes.count - 9
    for number in 0..<count {
      bytes.append(7)
      bytes.append(varint: UInt64(number % 2 == 0 ? short : short - 3))
      let key = NodePath(keys: [.integer(Int64(number))]).bytes
      // In the middle of a key, of which the rest follows.
      let rest = number % 2 == 0 ? key : Array(path.bytes[(short - 3)..<short]) + key
      bytes.append(varint: UInt64(rest.count))
      bytes += rest
    }
    return bytes
  }

  @Test("of paths that operations share is read once")
  func operations() throws {
    let bytes = Self.hostile(pathBytes: 500_000, count: 40_000)
    var reader = OperationReader(bytes)
    var count = 0
    while let operation = try reader.next() {
      if case .remove(let path) = operation, count % 10_000 == 1 { #expect(path.depth == 55_555) }
      count += 1
    }
    #expect(count == 40_001)
    #expect(reader.checkedPathBytes < 2 * bytes.count)
  }

  @Test("is read as if each path were read by itself, also where a key is cut")
  func cutKeys() throws {
    let bytes = Self.hostile(pathBytes: 90, count: 50)
    var reader = OperationReader(bytes)
    var paths: [NodePath] = []
    while case .remove(let path)? = try reader.next() { paths.append(path) }
    #expect(paths.count == 51)
    for (number, path) in paths.dropFirst().enumerated() {
      #expect(try NodePath(checking: path.bytes) == path)
      #expect(path.last == .integer(Int64(number)) && path.depth == 10)
    }
    // A key that is cut must still be a key with what follows.
    var wrong: [UInt8] = [7, 0, 9] + NodePath(keys: [.integer(7)]).bytes
    wrong += [7, 5, 1, 0]
    var damaged = OperationReader(wrong)
    _ = try damaged.next()
    #expect(throws: DatabaseError.self) { try damaged.next() }
  }

  // MARK: Trees

  @Test("of what is written is limited by the bytes of the path")
  func limit() throws {
    let longest = NodePath(keys: [Key](repeating: .integer(1), count: NodePath.bytesMax / 9))
    let longer = longest.appending(.integer(1))
    try place.use { database in
      try database.write { tx in try tx.set(longest, to: 1) }
      for body in [
        { tx in try tx.set(longer, to: ["a": 1]) }, { tx in try tx.append(1, to: longer) },
        { tx in try tx.move(NodePath(keys: [.integer(1)]), to: longer) },
      ] as [(borrowing Database.Transaction) throws -> Void] {
        let error = #expect(throws: DatabaseError.self) { try database.write { try body($0) } }
        if case .badKey(_, let reason)? = error, reason.contains("131072") { continue }
        Issue.record("\(error as Any)")
      }
      #expect(try database.head == 1)
      #expect(try database.read { try $0[longest].value } == 1)
      try expectSound(database)
    }
  }

  @Test("of 80,000 levels, which moving has made, is walked, verified and made anew")
  func moved() throws {
    try place.use { database in
      let chains = 5
      for chain in 0..<chains {
        try database.write { tx in try tx.set(Self.path(16_000, below: "c\(chain)"), to: 1) }
      }
      for chain in 1..<chains {
        let bottom = Self.path(16_000, below: "c\(chain)")
        let top = try NodePath("c\(chain - 1)")
        try database.write { tx in try tx.move(top, to: bottom.appending(.text("x"))) }
      }
      var walk = try database.snapshot().root.descendants()
      var count = 0
      while let node = try walk.next() {
        count += 1
        #expect(node.key != nil)
      }
      #expect(count == 80_005)
      let digest = try expectSound(database)
      try database.rebuild()
      #expect(try expectSound(database) == digest)
    }
  }

  @Test("beyond the limit in a log of before is read as ever")
  func old() throws {
    try place.fill(1)
    try place.appendToLog(Self.path(80_000, below: "old"), 7)
    try place.use { database in
      #expect(try database.read { try $0[Self.path(80_000, below: "old")].value } == 7)
      #expect(try database.verify().nodes == 80_003)
      try expectSound(database)
    }
  }

  @Test("does not change what a walk gives, whoever keeps its nodes")
  func keptNodes() throws {
    try place.use { database in
      try database.write { tx in
        for path in ["a", "a/b/c", "a/b/d/e", "a/f", "g/h/i", "j"] as [NodePath] {
          try tx.set(path, to: 1)
        }
      }
      let expected = ["a", "a/b", "a/b/c", "a/b/d", "a/b/d/e", "a/f", "g", "g/h", "g/h/i", "j"]
      var walk = try database.snapshot().root.descendants()
      var nodes: [Node] = []
      while let node = try walk.next() { nodes.append(node) }
      #expect(nodes.map(\.path.description) == expected)
      try database.write { tx in
        var walk = try tx[.root].descendants()
        var paths: [String] = []
        while let node = try walk.next() { paths.append(node.path.description) }
        #expect(paths == expected)
      }
      try expectSound(database)
    }
  }
}
