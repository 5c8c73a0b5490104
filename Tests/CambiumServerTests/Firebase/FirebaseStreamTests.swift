import Cambium
import Foundation
import Simulation
import Testing

@testable import CambiumServer

/// Goal: a client that applies the events to the first `put` has what a fresh GET gives, whoever
/// writes, also after it came back.
///
/// Method: streams of many nodes and queries, random writers, random breaks; at every rest each
/// stream's tree is compared with a GET, and its ids rise.
@Suite("Firebase's streams") struct FirebaseStreamTests {
  /// A stream, and the question that it answers.
  private struct Listener {
    let path: String
    let parameters: [(String, String)]
    var reader: EventReader
  }

  private func hasRisingIDs(_ reader: EventReader) -> Bool {
    zip(reader.ids, reader.ids.dropFirst()).allSatisfy { $0 < $1 }
  }

  @Test(
    "lead to what a GET gives, whoever writes and however often they break",
    arguments: SeededGenerator.seeds(430_000, 509_454, 739_668, drawn: 8))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      var run = RandomRun(client, seed: seed)
      if seed % 2 == 0 { try await run.writeRecords(database) }
      var listeners: [Listener] = []
      for index in 0..<12 {
        let path = FirebaseClient.path(run.maker.path(2))
        let parameters = index < 5 ? [] : run.maker.query().parameters
        listeners.append(
          Listener(
            path: path, parameters: parameters,
            reader: try await client.listen(path, parameters)))
      }
      for _ in 0..<12 {
        for _ in 0..<(run.maker.generator.below(5) + 1) { try await run.step() }
        if run.maker.generator.oneIn(2) {
          let number = Int64(run.maker.generator.below(5))
          try await database.write { tx in
            try tx.set("a/outside", to: ["name": .integer(number)])
            try tx.set("k/1/deep", to: true)
          }
          run.model = try await client.ask(.get, "/").tree
        }
        for index in listeners.indices {
          if run.maker.generator.oneIn(4) {
            let old = listeners[index]
            try old.reader.readAvailable()
            old.reader.close()
            try await run.step()
            listeners[index].reader = try await client.listen(
              old.path, old.parameters, after: old.reader.lastID)
            listeners[index].reader.takeOver(old.reader)
          }
          let listener = listeners[index]
          let isSettled = try await client.settle(
            listener.reader, listener.path, listener.parameters)
          let fresh = await client.ask(.get, listener.path, "", listener.parameters)
          #expect(
            isSettled,
            """
            seed \(seed): \(listener.path) \(listener.parameters): \(listener.reader.tree.text) is \
            not \(fresh.body) after \(listener.reader.events)
            """)
          if !isSettled { return }
          #expect(hasRisingIDs(listener.reader), "seed \(seed): \(listener.reader.events)")
        }
      }
    }
  }

  /// The events that a stream gets for some writes, without their ids.
  private func events(
    _ path: String, _ parameters: [(String, String)] = [], before: String,
    _ writes: (FirebaseClient) async throws -> Void
  ) async throws -> [String] {
    let database = try Database.inMemory()
    return try await FirebaseClient.following(database) { client in
      _ = await client.ask(.put, "/", before)
      let listener = Listener(
        path: path, parameters: parameters, reader: try await client.listen(path, parameters))
      let sentinel = Listener(
        path: "/sentinel", parameters: [], reader: try await client.listen("/sentinel"))
      try await writes(client)
      // Commits are told in order: once this one is, all before are.
      _ = await client.ask(.put, "/sentinel", "1")
      #expect(try await client.settle(sentinel.reader, sentinel.path))
      #expect(try await client.settle(listener.reader, path, parameters))
      return listener.reader.events.map { "\($0.name) \($0.data)" }
    }
  }

  @Test("tell a value as a put at its path, below the listened node")
  func put() async throws {
    let events = try await events("/users", before: #"{"users":{"bob":{"age":1}}}"#) {
      _ = await $0.ask(.put, "/users/bob/age", "31")
    }
    #expect(
      events == [
        #"put {"path":"/","data":{"bob":{"age":1}}}"#, #"put {"path":"/bob/age","data":31}"#,
      ])
  }

  @Test("tell a new node as one put, as Firebase does, and a removed one at its highest place")
  func push() async throws {
    let events = try await events("/users", before: #"{"users":{"bob":1}}"#) {
      _ = await $0.ask(.put, "/users/eve", #"{"name":"Eve","address":{"city":"Oslo"}}"#)
      _ = await $0.ask(.delete, "/users/eve/name")
      _ = await $0.ask(.delete, "/users/eve/address/city")
    }
    #expect(
      events == [
        #"put {"path":"/","data":{"bob":1}}"#,
        #"put {"path":"/eve","data":{"address":{"city":"Oslo"},"name":"Eve"}}"#,
        #"put {"path":"/eve/name","data":null}"#, #"put {"path":"/eve","data":null}"#,
      ])
  }

  @Test("tell all places of a commit in one patch, as high as they have in common")
  func patch() async throws {
    let before = #"{"top":{"users":{"bob":{"age":1,"a":{"b":1}}},"n":1}}"#
    let events = try await events("/top", before: before) {
      _ = await $0.ask(.patch, "/top/users/bob", #"{"age":26,"a/b":"X 1"}"#)
      _ = await $0.ask(.patch, "/top", #"{"n":2,"users/bob/age":null}"#)
    }
    #expect(
      events.dropFirst() == [
        #"patch {"path":"/users/bob","data":{"a/b":"X 1","age":26}}"#,
        #"patch {"path":"/","data":{"n":2,"users/bob/age":null}}"#,
      ])
  }

  @Test("tell a write above as a put of the whole, and nothing where nothing changes")
  func above() async throws {
    let events = try await events("/a/b", before: #"{"a":{"b":{"c":1}},"z":1}"#) {
      _ = await $0.ask(.put, "/z", "2")
      _ = await $0.ask(.put, "/a/b/c", "1")
      _ = await $0.ask(.delete, "/a")
    }
    #expect(events == [#"put {"path":"/","data":{"c":1}}"#, #"put {"path":"/","data":null}"#])
  }

  @Test("of a query tell what comes into its window and what goes")
  func window() async throws {
    let events = try await events(
      "/s", [("orderBy", "\"$value\""), ("limitToLast", "2")],
      before: #"{"s":{"a":1,"b":2,"c":3}}"#
    ) {
      _ = await $0.ask(.put, "/s/a", "1.5")
      _ = await $0.ask(.put, "/s/d", "9")
      _ = await $0.ask(.delete, "/s/d")
    }
    #expect(
      events == [
        #"put {"path":"/","data":{"b":2,"c":3}}"#, #"patch {"path":"/","data":{"b":null,"d":9}}"#,
        #"patch {"path":"/","data":{"b":2,"d":null}}"#,
      ])
  }

  /// Writes to a node that holds a single value as no client of the dialect can.
  private func mix(_ client: FirebaseClient) async throws {
    try await client.database.write { try $0.set("a/b/c", to: 1) }
    try await client.database.write { try $0.set("a/b", to: 6) }
    try await client.database.write { try $0.remove("a/b/c") }
    try await client.database.write { try $0.set("a/b/c/d", to: 2) }
    try await client.database.write { try $0.clear("a/b") }
  }

  private static let mixed = [
    #"{".value":5,"c":1}"#, #"{".value":6,"c":1}"#, "6", #"{".value":6,"c":{"d":2}}"#,
    #"{"c":{"d":2}}"#,
  ]

  @Test(
    "tell a node as a whole that gets children beside its value, or keeps a value without them",
    arguments: ["/a", "/a/b"])
  func mixed(path: String) async throws {
    let isAbove = path == "/a"
    let events = try await events(path, before: #"{"a":{"b":5}}"#) { try await mix($0) }
    let place = isAbove ? "/b" : "/"
    #expect(events.first == "put {\"path\":\"/\",\"data\":\(isAbove ? #"{"b":5}"# : "5")}")
    #expect(
      events.dropFirst() == Self.mixed.map { "put {\"path\":\"\(place)\",\"data\":\($0)}" }[...])
  }

  @Test(
    "of a query tell such a node as a whole, by its key and by its value",
    arguments: ["\"$key\"", "\"$value\""])
  func mixedInWindow(order: String) async throws {
    let parameters = [("orderBy", order), ("limitToLast", "2")]
    let events = try await events("/a", parameters, before: #"{"a":{"0":1,"a":2,"b":5}}"#) {
      try await mix($0)
    }
    #expect(
      events.dropFirst() == Self.mixed.map { "put {\"path\":\"/b\",\"data\":\($0)}" }[...])
  }

  @Test("tell such a node as a whole to a client that comes back")
  func mixedResumed() async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      _ = await client.ask(.put, "/", #"{"a":{"b":5}}"#)
      for (path, place) in [("/a", "/b"), ("/a/b", "/")] {
        let back = try await client.listen(path, after: "1")
        if path == "/a" { try await mix(client) }
        #expect(try await client.settle(back, path))
        let again = try await client.listen(path, after: "1")
        try again.readAvailable()
        let data = Self.mixed.map { "{\"path\":\"\(place)\",\"data\":\($0)}" }
        #expect(again.events.map(\.data) == data)
      }
    }
  }

  private func people(_ age: Value) -> CollectionDefinition {
    var definition = CollectionDefinition()
    var property = PropertyDefinition("age", .integer)
    property.absence = age
    definition.properties = [property]
    return definition
  }

  @Test(
    "tell the records of a collection whose declared defaults change",
    arguments: [
      ("/", []), ("/people/bob", []), ("/people/bob/age", []),
      ("/people", [("orderBy", "\"age\""), ("endAt", "3")]),
    ] as [(String, [(String, String)])])
  func defaults(path: String, parameters: [(String, String)]) async throws {
    let database = try Database.inMemory()
    try await database.write { tx in
      try tx.set("people/ada", to: ["age": 36])
      try tx.set("people/bob", to: ["name": "Bob"])
    }
    try await FirebaseClient.following(database) { client in
      let reader = try await client.listen(path, parameters)
      #expect(try await client.settle(reader, path, parameters))
      for age in [3, 3, 4, nil] as [Value?] {
        try await database.declare("people", age.map { people($0) })
        let bob = await client.ask(.get, "/people/bob/age").body
        #expect(bob == age.map { "\($0)" } ?? "null")
        #expect(try await client.settle(reader, path, parameters), "\(reader.events)")
      }
      // The same declaration again is no change.
      #expect(reader.events.count == 4)
    }
  }

  @Test("show the past with the defaults of then")
  func pastDefaults() async throws {
    let client = try FirebaseClient(try .inMemory())
    try await client.database.write { try $0.set("people/bob", to: ["name": "Bob"]) }
    try await client.database.declare("people", people(3))
    let then = try client.database.head
    try await client.database.declare("people", people(4))
    #expect(await client.ask(.get, "/people/bob/age").body == "4")
    #expect(await client.ask(.get, "/people/bob/age", "", [("at", "\(then)")]).body == "3")
  }

  @Test("go on after the last event that was seen, and begin anew where the log does not reach")
  func resume() async throws {
    let database = try Database.inMemory()
    try await FirebaseClient.following(database) { client in
      _ = await client.ask(.put, "/a", "1")
      let first = Listener(path: "/a", parameters: [], reader: try await client.listen("/a"))
      #expect(try await client.settle(first.reader, first.path))
      first.reader.close()
      for number in 2...4 { _ = await client.ask(.put, "/a", "\(number)") }
      // A server that starts anew knows nothing of the client.
      let restarted = try FirebaseClient(database)
      let back = try await restarted.listen("/a", after: first.reader.lastID)
      try back.readAvailable()
      #expect(back.events.map(\.id) == ["2", "3", "4"])
      #expect(back.tree == NaiveTree(json: 4))
      let future = try await restarted.listen("/a", after: "99")
      try future.readAvailable()
      #expect(future.events.map(\.data) == [#"{"path":"/","data":4}"#])
    }
  }

  @Test("that listen elsewhere are not looked at")
  func index() async throws {
    let database = try Database.inMemory()
    let client = try FirebaseClient(database)
    let channels = FirebaseChannels(position: 0)
    let view = FirebaseView(try database.snapshot())
    for number in 0..<1000 {
      let request = Request(method: .get, path: "/")
      let stream = try #require(client.events.open(for: request))
      let path = try NodePath("rooms/\(number)/messages")
      let told = try FirebaseTold(path: path, query: nil, view)
      #expect(channels.join(stream, told, at: 0) != nil)
    }
    let found = channels.advance(to: 1, [.init(path: "rooms/7/messages/x/text")])
    #expect(found.map { "\($0.channel.path)" } == ["rooms/7/messages"])
    #expect(channels.advance(to: 2, [.init(path: "rooms")]).count == 1000)
    #expect(channels.advance(to: 3, [.init(path: "users/7")]).isEmpty)
  }
}
