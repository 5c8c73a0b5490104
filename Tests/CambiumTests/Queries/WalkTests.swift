// Goal: whatever is walked lazily is walked in the same ways, with the same elements. Method: one
// generic check, for each kind of walk, against what a cursor gives.

import Simulation
import Testing

@testable import Cambium

@Suite("A walk")
struct WalkTests {
  @Test("of nodes, models, steps, changes and differences gives the same in every way")
  func ways() async throws {
    try await withDatabase { database in
      try await database.write { tx in
        for number in 0..<600 {
          try tx.set(NodePath(keys: ["items", .integer(Int64(number))]), to: ["n": .integer(1)])
        }
      }
      for number in 0..<3 {
        try await database.write { try $0.set("items/1/n", to: .integer(Int64(number))) }
      }
      let node = try database.snapshot()["items"]
      try await check(node.children, 600) { "\($0.path)" }
      try await check(node.children.reversed().limit(300), 300) { "\($0.path)" }
      try await check(database.history(of: "items/1/n"), 4) { "\($0)" }
      try await check(database.history(of: "items", .subtree), 603) { "\($0)" }
      try await check(database.commit(1).changes, 600) { "\($0)" }
      try await check(database.diff(from: .sequence(0), under: "items"), 600) { "\($0)" }
      var (count, visited) = (0, 0)
      try database.commits().forEach { _ in count += 1 }
      try node.descendants().forEach { _ in visited += 1 }
      #expect(count == 4 && visited == 601)
    }
  }

  @Test("of an open transaction stays there")
  func transactions() async throws {
    try await withDatabase { database in
      let children = try await database.write { tx in
        for number in 0..<300 {
          try tx.set(NodePath(keys: ["items", .integer(Int64(number))]), to: 1)
        }
        let children = tx["items"].children
        #expect(try children.withSequence { Array($0).count } == 300)
        return children
      }
      await #expect(throws: DatabaseError.self) {
        for try await _ in children.inBackground {}
      }
    }
  }

  private func check<W: Walk>(
    _ walk: W, _ count: Int, _ text: (W.Element) -> String
  ) async throws where W.Element: Sendable {
    let all = try walk.fetch().map(text)
    #expect(all.count == count && Set(all).count == count)
    var visited: [String] = []
    try walk.forEach { visited.append(text($0)) }
    #expect(visited == all)
    visited = []
    try walk.walk {
      visited.append(text($0))
      return visited.count < 2
    }
    #expect(visited == Array(all.prefix(2)))
    #expect(try walk.withSequence { $0.map(text) } == all)
    visited = []
    for try await element in walk.inBackground { visited.append(text(element)) }
    #expect(visited == all)
  }
}
