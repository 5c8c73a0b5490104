import Cambium
import Foundation
import Testing

@testable import CambiumServer

/// A record of a declared collection.
private struct Reading: Model {
  typealias Key = String
  var id = ID()
  var place = ""
  var time = Date(timeIntervalSince1970: 0)
  var amount: Decimal?
  var count: Int?
  var share: Double?
  var tags: [String] = []
  var key: UUID?

  static let schema = ModelSchema<Reading>("readings") {
    Property(\.place).validated("must not be empty") { !$0.isEmpty }
    Index(\.count)
    Index(\.time)
  }
}

@Suite("The Firebase dialect in detail") struct FirebaseServiceTests {
  private func client() throws -> FirebaseClient { try FirebaseClient(try .inMemory()) }

  @Test(
    "refuses what Firebase refuses, with its statuses",
    arguments: [
      (Request.Method.get, "/a", "", ["limitToFirst": "1"], 400),
      (.get, "/a", "", ["orderBy": "age"], 400),
      (.get, "/a", "", ["orderBy": "\"a\"", "limitToFirst": "1", "limitToLast": "1"], 400),
      (.get, "/a", "", ["orderBy": "\"a\"", "limitToFirst": "0"], 400),
      (.get, "/a", "", ["orderBy": "\"$key\"", "startAt": "5"], 400),
      (.get, "/a", "", ["orderBy": "\"a\"", "equalTo": "5", "startAt": "5"], 400),
      (.get, "/a", "", ["orderBy": "\"a\"", "startAt": "{}"], 400),
      (.get, "/a", "", ["orderBy": "\"a\"", "shallow": "true"], 400),
      (.get, "/a", "", ["callback": "f"], 400), (.get, "/a", "", ["print": "no"], 400),
      (.get, "/a", "", ["timeout": "3"], 400), (.get, "/a", "", ["timeout": "16min"], 400),
      (.get, "/a", "", ["at": "yesterweek"], 400), (.get, "/a", "", ["at": "99"], 400),
      (.put, "/a.b", "1", [:], 400), (.put, "/a%24", "1", [:], 400), (.put, "/a", "", [:], 400),
      (.put, "/a", "{", [:], 400), (.put, "/a", #"{"x.y":1}"#, [:], 400),
      (.put, "/a", #"{"":1}"#, [:], 400), (.put, "/a", #"{".priority":3,"b":1}"#, [:], 400),
      (.put, "/a", #"{".sv":"no"}"#, [:], 400), (.put, "/a", "1", ["at": "1"], 400),
      (.put, "/a", "1", ["writeSizeLimit": "vast"], 400),
      (.patch, "/a", "3", [:], 400), (.patch, "/a", #"{"b":1,"b/c":2}"#, [:], 400),
      (.patch, "/a", #"{"b.c":1}"#, [:], 400), (.put, "/%ZZ", "1", [:], 400),
    ])
  func refusals(
    _ method: Request.Method, _ path: String, _ body: String, _ parameters: [String: String],
    _ status: Int
  ) async throws {
    let client = try client()
    let answer = await client.ask(method, path, body, parameters.map { ($0.key, $0.value) })
    #expect(answer.status == status, "\(answer.body)")
    guard case .object(let members) = try answer.tree, case .leaf(.string) = members["error"] else {
      Issue.record("no error in \(answer.body)")
      return
    }
    #expect(try client.database.head == .zero)
  }

  @Test("holds the limits of depth and of keys")
  func limits() async throws {
    let client = try client()
    let deep = "/" + (1...32).map { "k\($0)" }.joined(separator: "/")
    #expect(await client.ask(.put, deep, "1").status == 200)
    #expect(await client.ask(.put, deep + "/x", "1").status == 400)
    #expect(await client.ask(.put, deep, #"{"x":1}"#).status == 400)
    let key = String(repeating: "k", count: 480)
    #expect(await client.ask(.put, "/\(key)", "1").status == 200)
    #expect(await client.ask(.put, "/\(key)k", "1").status == 400)
    #expect(await client.ask(.put, "/x", "{\"\(key)k\":1}").status == 400)
    let long = String(repeating: "k", count: 769)
    #expect(await client.ask(.put, "/x", "{\"\(long)\":1}").body.contains("768"))
  }

  @Test("writes server values, and adds to numbers")
  func serverValues() async throws {
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    let database = try Database.inMemory()
    let service = FirebaseService(
      database: database, answered: AnsweredRequests(database), hub: try CommitHub(database),
      events: EventStreams(), clock: { now })
    func put(_ path: String, _ body: String) async -> String {
      let request = Request(method: .put, path: path, body: Array(body.utf8))
      guard case .bytes(let bytes) = await service.answer(request).body else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(await put("/t.json", #"{".sv":"timestamp"}"#) == "1700000000000")
    #expect(await put("/n.json", #"{".sv":{"increment":2}}"#) == "2")
    #expect(await put("/n.json", #"{".sv":{"increment":0.5}}"#) == "2.5")
    #expect(await put("/m.json", #"{"a":{".sv":{"increment":-1}}}"#) == #"{"a":-1}"#)
    #expect(await put("/m.json", #"{"a":{".sv":{"increment":-1}}}"#) == #"{"a":-2}"#)
    #expect(await put("/s.json", "\"x\"") == "\"x\"")
    #expect(await put("/s.json", #"{".sv":{"increment":7}}"#) == "7")
  }

  @Test("renders dense integer keys as arrays, except in exports and shallow answers")
  func arrays() async throws {
    let client = try client()
    _ = await client.ask(.put, "/a", #"{"0":"x","1":"y","3":"z"}"#)
    #expect(await client.ask(.get, "/a").body == #"["x","y",null,"z"]"#)
    #expect(await client.ask(.get, "/a", "", [("format", "export")]).body.hasPrefix("{"))
    #expect(
      await client.ask(.get, "/a", "", [("shallow", "true")]).body == #"{"0":"x","1":"y","3":"z"}"#)
    _ = await client.ask(.put, "/b", #"{"0":"x","9":"y"}"#)
    #expect(await client.ask(.get, "/b").body == #"{"0":"x","9":"y"}"#)
    #expect(
      await client.ask(.get, "/", "", [("shallow", "true")]).body == #"{"a":true,"b":true}"#)
    #expect(
      await client.ask(.get, "/b", "", [("print", "pretty")]).body
        == "{\n  \"0\": \"x\",\n  \"9\": \"y\"\n}\n")
  }

  /// A tag is base64: one of 4,096 begins as the mark of a weak one does.
  @Test("knows a tag again that begins with W/")
  func tagsThatLookWeak() async throws {
    func tag(of json: String) -> String {
      var tag = FirebaseETag()
      tag.add(Array(json.utf8))
      return tag.text
    }
    let texts = (0..<100_000).lazy.map { #""The text of the number \#($0)""# }
    let text = try #require(texts.first { tag(of: $0).hasPrefix("W/") })
    let tag = tag(of: text)
    let client = try client()
    _ = await client.ask(.put, "/a", text)
    let seen = await client.ask(.get, "/a", headers: ["x-firebase-etag": "true"])
    #expect(seen.response[header: "ETag"] == tag)
    for header in [tag, "\"\(tag)\"", "W/\"\(tag)\"", "other, \(tag)", "W/\"other\", \(tag)", "*"] {
      let same = await client.ask(.get, "/a", headers: ["if-none-match": header])
      #expect(same.status == 304, "\(header)")
    }
    for header in ["W/\(tag)", String(tag.dropFirst(2)), "null_etag"] {
      let other = await client.ask(.get, "/a", headers: ["if-none-match": header])
      #expect(other.status == 200, "\(header)")
    }
  }

  @Test("reads the past, and says at which transaction")
  func past() async throws {
    let client = try client()
    for number in 1...3 { _ = await client.ask(.put, "/a/b", "\(number)") }
    let past = await client.ask(.get, "/a", "", [("at", "2")])
    #expect(past.body == #"{"b":2}"#)
    #expect(past.response[header: "X-Cambium-Sequence"] == "2")
    #expect(await client.ask(.get, "/a", "", [("at", "2000-01-01")]).body == "null")
  }

  @Test("keeps to the caller's scope, in reading, writing and listening")
  func scope() async throws {
    var client = try client()
    _ = await client.ask(.put, "/", #"{"a":{"b":1},"z":2}"#)
    client.caller = Caller(scope: "a", canWrite: true)
    #expect(await client.ask(.get, "/a/b").body == "1")
    for path in ["/", "/z", "/aa"] {
      let answer = await client.ask(.get, path)
      #expect(answer.status == 401)
      #expect(answer.body == #"{"error":"Permission denied"}"#)
      #expect(await client.ask(.put, path, "1").status == 401)
      await #expect(throws: FirebaseClient.Refused.self) { try await client.listen(path) }
    }
    #expect(await client.ask(.patch, "/a", #"{"b":3}"#).status == 200)
    // A node above the scope that is left empty stays: it is not the caller's.
    #expect(await client.ask(.delete, "/a/b").status == 200)
    client.caller = Caller(scope: .root, canWrite: false)
    #expect(await client.ask(.put, "/a", "1").status == 401)
    #expect(
      await client.ask(.post, "/a", "1", headers: ["x-http-method-override": "DELETE"]).status
        == 401)
    #expect(await client.ask(.get, "/").body == #"{"z":2}"#)
  }

  @Test("lets a POST stand for another method")
  func override() async throws {
    let client = try client()
    let patch = ["x-http-method-override": "PATCH"]
    #expect(await client.ask(.post, "/a", #"{"b":1}"#, headers: patch).status == 200)
    #expect(
      await client.ask(.get, "/a", headers: ["x-http-method-override": "DELETE"]).body
        == #"{"b":1}"#)
  }

  @Test("makes push ids that rise, also while the clock stands")
  func pushIDs() {
    let ids = PushIDs(clock: { Date(timeIntervalSince1970: 1_700_000_000) })
    let made = (0..<10_000).map { _ in ids.next() }
    #expect(zip(made, made.dropFirst()).allSatisfy { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(made.allSatisfy { $0.hasPrefix("-Nj") && $0.utf8.count == 20 })
  }

  // MARK: Records

  private func readings() async throws -> FirebaseClient {
    let database = try Database.inMemory(for: Reading.self)
    try await database.write { tx in
      for number in 1...20 {
        var reading = Reading(id: .init("r\(number)"))
        reading.place = "p\(number % 3)"
        reading.time = Date(timeIntervalSince1970: Double(number) / 2)
        reading.count = number % 4 == 0 ? nil : number % 5
        reading.amount = Decimal(number) / 4
        reading.tags = ["x", "y"]
        try tx.insert(reading)
      }
    }
    return try FirebaseClient(database)
  }

  private func path(_ number: Int) -> String {
    "/readings/r\(number)"
  }

  @Test("shows records with their properties, and writes values of the declared types")
  func records() async throws {
    let client = try await readings()
    let read = await client.ask(.get, path(1))
    #expect(
      try read.tree
        == NaiveTree(
          text: """
            {"place":"p1","time":"1970-01-01T00:00:00.5Z","amount":0.25,"count":1,"tags":["x","y"]}
            """))
    let head = try client.database.head
    #expect(await client.ask(.put, path(1), read.body).status == 200)
    #expect(try client.database.head == head, "what was read is written back without a trace")
    let patch =
      #"{"time":"2020-01-01T00:00:00Z","amount":"12.50","share":2,"tags/1":"z","note":"n"}"#
    let patched = await client.ask(.patch, path(1), patch)
    #expect(patched.status == 200, "\(patched.body)")
    let node = try client.database.snapshot()[try NodePath(path(1))]
    #expect(try node["time"] == .date(Date(timeIntervalSince1970: 1_577_836_800)))
    #expect(try node["amount"] == .decimal(Decimal(string: "12.50") ?? 0))
    #expect(try node["share"] == .double(2))
    #expect(try node["tags"] == ["x", "z"])
    #expect(try node["note"] == "n")
    #expect(try client.database.verify().isSound)
  }

  @Test(
    "refuses what a declared property cannot hold, and leaves all as it was",
    arguments: [
      #"{"time":"soon"}"#, #"{"count":"many"}"#, #"{"count":1.5}"#, #"{"amount":true}"#,
      #"{"tags":"x"}"#, #"{"key":"no"}"#, #"{"place":{"a":1}}"#,
    ])
  func misfits(_ body: String) async throws {
    let client = try await readings()
    let head = try client.database.head
    let answer = await client.ask(.patch, path(2), body)
    #expect(answer.status == 400)
    #expect(answer.body.contains("declared"), "\(answer.body)")
    #expect(try client.database.head == head)
  }

  @Test("makes records of new children of a declared collection")
  func newRecord() async throws {
    let client = try await readings()
    let answer = await client.ask(
      .put, path(99), #"{"place":"q","time":"2020-01-01","count":4,"extra":{"a":1}}"#)
    #expect(answer.status == 200, "\(answer.body)")
    let found = try client.database.query(Reading.self).where { $0.place == "q" }.fetch()
    #expect(found.map(\.count) == [4])
    #expect(found.map(\.time) == [Date(timeIntervalSince1970: 1_577_836_800)])
    #expect(await client.ask(.get, path(99) + "/extra/a").body == "1")
    #expect(await client.ask(.delete, path(99)).status == 200)
    #expect(try client.database.query(Reading.self).count() == 20)
  }

  @Test(
    "answers by an index what a walk over all answers, and says where there is none",
    arguments: [
      [("limitToFirst", "7")], [("limitToLast", "7")], [("startAt", "2"), ("limitToFirst", "4")],
      [("endAt", "2")], [("endBefore", "2"), ("limitToLast", "9")], [("equalTo", "3")],
      [("equalTo", "null")], [("startAfter", "1"), ("endAt", "3")], [("startAt", "\"x\"")],
      [("endAt", "false")], [("endAt", "\"x\""), ("limitToLast", "3")], [("startAt", "1.5")],
    ])
  func indexes(_ parameters: [(String, String)]) async throws {
    let client = try await readings()
    let indexed = [("orderBy", "\"count\"")] + parameters
    let answer = await client.ask(.get, "/readings", "", indexed)
    #expect(answer.status == 200, "\(answer.body)")
    #expect(answer.response[header: "X-Cambium-Unindexed"] == nil)
    var query = NaiveQuery(orderBy: "count")
    for (name, value) in parameters {
      let json = try JSONReader.value(of: value, name: name, isTyped: false)
      switch name {
      case "startAt": query.startAt = json
      case "startAfter": query.startAfter = json
      case "endAt": query.endAt = json
      case "endBefore": query.endBefore = json
      case "equalTo": (query.startAt, query.endAt) = (json, json)
      case "limitToFirst": query.first = Int(value)
      default: query.last = Int(value)
      }
    }
    let all = try await client.ask(.get, "/readings").tree
    #expect(try answer.tree == query.answer(all))
    let other = await client.ask(.get, "/readings", "", [("orderBy", "\"place\"")])
    #expect(other.response[header: "X-Cambium-Unindexed"] == "readings/place")
  }

  @Test("orders by dates, and compares them with the texts that stand for them")
  func dates() async throws {
    let client = try await readings()
    let answer = await client.ask(
      .get, "/readings", "",
      [
        ("orderBy", "\"time\""), ("startAt", "\"1970-01-01T00:00:08Z\""),
        ("endBefore", "\"1970-01-01T00:00:09.5Z\""),
      ])
    #expect(try answer.tree.children.count == 3)
    #expect(answer.response[header: "X-Cambium-Unindexed"] == nil)
  }
}
