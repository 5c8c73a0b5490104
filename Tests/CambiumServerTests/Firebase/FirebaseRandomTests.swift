import Cambium
import Foundation
import Simulation
import Testing

@testable import CambiumServer

/// Goal: whatever clients do, the tree is the one that Firebase would have.
///
/// Method: random requests go to the service and to a nested dictionary, over nodes, over records
/// that somebody else has written, and over arrays; after each the answers and the trees are equal.
@Suite("The Firebase dialect") struct FirebaseRandomTests {
  @Test(
    "answers random requests as a nested dictionary does",
    arguments: SeededGenerator.seeds(1, 2, 3, 4, drawn: 8))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    let database = try Database.inMemory()
    let client = try FirebaseClient(database)
    var run = RandomRun(client, seed: seed)
    if seed % 2 == 0 { try await run.writeRecords(database) }
    for _ in 0..<150 { try await run.step() }
    #expect(try database.verify().isSound, "seed \(seed)")
  }
}

/// One history of requests.
struct RandomRun {
  let client: FirebaseClient
  let seed: UInt64
  var maker: NaiveMaker
  var model = NaiveTree.null

  init(_ client: FirebaseClient, seed: UInt64) {
    self.client = client
    self.seed = seed
    maker = NaiveMaker(seed: seed)
  }

  /// Writes as an app of Cambium's does: records, with properties of many kinds, and children.
  mutating func writeRecords(_ database: Database) async throws {
    try await database.write { tx in
      try tx.set("a", to: ["name": "Ada", "b": ["c": 5, "0": true], "2": [1, 2, 3]])
      try tx.set("a/c", to: ["name": 1])
      try tx.set("b/a", to: ["x", 2, true])
      try tx.set("c", to: 7)
    }
    model = try await client.ask(.get, "/").tree
    #expect(
      try model
        == NaiveTree(
          text: """
            {"a":{"name":"Ada","b":{"c":5,"0":true},"2":[1,2,3],"c":{"name":1}},
            "b":{"a":["x",2,true]},"c":7}
            """))
  }

  mutating func step() async throws {
    let path = maker.path()
    switch maker.generator.below(10) {
    case 0, 1, 2: try await put(path)
    case 3, 4: try await patch(path)
    case 5: try await push(path)
    case 6: try await delete(path)
    case 7: try await putIfMatch(path)
    default: break
    }
    let whole = await client.ask(.get, "/")
    #expect(try whole.tree == model, "seed \(seed)")
    let place = maker.path()
    let part = await client.ask(.get, FirebaseClient.path(place))
    #expect(try part.tree == model[place], "seed \(seed)")
    try await query(maker.path(2))
  }

  /// The root cannot be a scalar in Cambium.
  private func isTaken(_ path: [String], _ tree: NaiveTree) -> Bool {
    if path.isEmpty, case .leaf = tree { return false }
    return true
  }

  private mutating func put(_ path: [String]) async throws {
    let tree = maker.tree()
    let answer = await client.ask(.put, FirebaseClient.path(path), tree.text)
    if isTaken(path, tree) {
      #expect(answer.status == 200, "seed \(seed): \(answer.body)")
      #expect(try answer.tree == tree, "seed \(seed)")
      model[path] = tree
    } else {
      #expect(answer.status == 400, "seed \(seed): \(answer.body)")
    }
  }

  private mutating func patch(_ path: [String]) async throws {
    var changes: [String: NaiveTree] = [:]
    for _ in 0..<maker.generator.below(4) {
      let keys = maker.path(2)
      if !keys.isEmpty { changes[keys.joined(separator: "/")] = maker.tree() }
    }
    let names = Array(changes.keys)
    let overlap = names.contains { a in names.contains { $0.hasPrefix(a + "/") } }
    let body = JSONWriter.text(
      .map(ValueMap(changes.map { ($0.key, $0.value.json) })), isPlain: true)
    let answer = await client.ask(.patch, FirebaseClient.path(path), body)
    guard !overlap else {
      #expect(answer.status == 400, "seed \(seed): \(answer.body)")
      return
    }
    #expect(answer.status == 200, "seed \(seed): \(answer.body)")
    for (name, tree) in changes {
      model[path + name.split(separator: "/").map(String.init)] = tree
    }
  }

  private mutating func push(_ path: [String]) async throws {
    let tree = maker.tree()
    let answer = await client.ask(.post, FirebaseClient.path(path), tree.text)
    #expect(answer.status == 200, "seed \(seed): \(answer.body)")
    guard case .leaf(.string(let name)) = try answer.tree[["name"]] else {
      Issue.record("seed \(seed): no name in \(answer.body)")
      return
    }
    #expect(name.utf8.count == 20)
    model[path + [name]] = tree
  }

  private mutating func delete(_ path: [String]) async throws {
    let answer = await client.ask(.delete, FirebaseClient.path(path))
    #expect(answer.status == 200 && answer.body == "null", "seed \(seed): \(answer.body)")
    model[path] = .null
  }

  private mutating func putIfMatch(_ path: [String]) async throws {
    let address = FirebaseClient.path(path)
    let seen = await client.ask(.get, address, headers: ["x-firebase-etag": "true"])
    let tag = seen.response[header: "ETag"] ?? ""
    #expect((tag == "null_etag") == (model[path] == .null), "seed \(seed)")
    let same = await client.ask(.get, address, headers: ["if-none-match": tag])
    #expect(same.status == 304, "seed \(seed)")
    let other = maker.path()
    if maker.generator.oneIn(2) { try await put(other) }
    let isSame = try await client.ask(.get, address).tree == seen.tree
    let tree = maker.tree()
    guard isTaken(path, tree) else { return }
    let answer = await client.ask(.put, address, tree.text, headers: ["if-match": tag])
    #expect(answer.status == (isSame ? 200 : 412), "seed \(seed): \(answer.body)")
    if isSame {
      model[path] = tree
    } else {
      #expect(try answer.tree == model[path], "seed \(seed)")
    }
    let now = await client.ask(.get, address, headers: ["x-firebase-etag": "true"])
    #expect(answer.response[header: "ETag"] == now.response[header: "ETag"], "seed \(seed)")
  }

  private mutating func query(_ path: [String]) async throws {
    let query = maker.query()
    let answer = await client.ask(.get, FirebaseClient.path(path), "", query.parameters)
    #expect(answer.status == 200, "seed \(seed): \(answer.body)")
    #expect(
      try answer.tree == query.answer(model[path]),
      "seed \(seed): \(query.parameters) of \(model[path].text)")
  }
}
