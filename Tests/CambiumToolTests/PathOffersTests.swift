// Goal: every path that can be meant is offered, few are looked at, and nothing that is read fails.
// Method: random keys of all kinds, and every start of each; what is offered is compared with all
// keys, filtered.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("Offers of paths", .timeLimit(.minutes(1)))
struct PathOffersTests {
  private static func withDatabase(
    _ fill: (borrowing Database.Transaction) throws -> Void, _ body: (PathOffers) throws -> Void
  ) throws {
    try GitFixture.withFolder { folder in
      let path = folder + "/a.cambium"
      let database = try Database(at: path)
      try database.write { tx in try fill(tx) }
      #expect(try database.verify().isSound)
      try database.close()
      try body(PathOffers(database: path, base: .root))
    }
  }

  @Test("are the keys that start with what is written", arguments: [1, 2, 3] as [UInt64])
  func complete(_ seed: UInt64) throws {
    var random = InterchangeRandom(seed: seed)
    var keys = Set((0..<60).map { _ in random.key() })
    for number in [0, 1, -1, 12, 120, 129, 1200, -12, -120, -129, 130, .min, .max] as [Int64] {
      keys.insert(.integer(number))
    }
    let all = keys.filter { Terminal.escaped($0.description) == $0.description }
      .map { NodePath.escaped($0.description) }
    try Self.withDatabase { tx in
      for key in keys { try tx.set(NodePath(keys: ["c", key]), to: 1) }
    } _: { offers in
      for start in Set(all.flatMap { key in (0...key.count).map { String(key.prefix($0)) } }) {
        let expected = all.filter { $0.utf8.starts(with: start.utf8) }.map { "c/" + $0 }
        #expect(Set(offers.offers(for: "c/" + start)) == Set(expected), "\(start)")
      }
    }
  }

  @Test("are few where there are many children, and the last is among them")
  func bounded() throws {
    try Self.withDatabase { tx in
      for number in 0..<5000 { try tx.set(NodePath(keys: ["c", .integer(Int64(number))]), to: 1) }
      for number in 0..<3000 { try tx.set(try NodePath("c/name\(10_000 + number)"), to: 1) }
    } _: { offers in
      let all = offers.offers(for: "c/")
      #expect(all.count == PathOffers.most + 1 && all.last == "c/name12999")
      let names = offers.offers(for: "c/na")
      #expect(names.count == PathOffers.most + 1 && names.first == "c/name10000")
      #expect(offers.offers(for: "c/499").count == 11)
    }
  }

  @Test("have a slash where something is below, and the properties of a record")
  func kinds() throws {
    try Self.withDatabase { tx in
      try tx.set("a/b", to: ["name": 1, "no": 2, "x/y": 3])
      try tx.set("a/b/node", to: 1)
      try tx.set("a/\u{1B}[0m", to: 1)
    } _: { offers in
      #expect(offers.offers(for: "") == ["a/"])
      #expect(offers.offers(for: "/") == ["/a/"])
      #expect(offers.offers(for: "a/") == ["a/b/"])
      #expect(offers.offers(for: "a/b/n") == ["a/b/node", "a/b/name", "a/b/no"])
      #expect(offers.offers(for: "a/b/x~") == ["a/b/x~1y"])
      let below = PathOffers(database: offers.database, base: "a")
      #expect(below.offers(for: "b/na") == ["b/name"] && below.offers(for: "/a") == ["/a/"])
    }
  }

  @Test("are none where there is no database, no node and no path")
  func silent() throws {
    #expect(PathOffers(database: "/nowhere", base: .root).offers(for: "a") == [])
    try Self.withDatabase { tx in
      try tx.set("a", to: 1)
    } _: { offers in
      #expect(offers.offers(for: "b/") == [] && offers.offers(for: "a//") == [])
      #expect(offers.offers(for: "~9/") == [] && offers.offers(for: "~9") == [])
    }
  }
}
