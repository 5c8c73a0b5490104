import Cambium
import Foundation
import Testing

@testable import CambiumServer

/// Goal: a request with an `Idempotency-Key` is made once, and answered alike each time.
@Suite("Firebase's requests with a key") struct FirebaseRepeatTests {
  /// Sends a request with a key.
  private func ask(
    _ client: FirebaseClient, _ method: Request.Method, _ path: String, _ body: String,
    key: String = "k", headers: [String: String] = [:]
  ) async -> FirebaseClient.Answer {
    let headers = headers.merging(["idempotency-key": key]) { $1 }
    return await client.ask(method, path, body, headers: headers)
  }

  private static let requests: [(Request.Method, String, String)] = [
    (.post, "/list", #"{"n":1}"#), (.put, "/n", #"{".sv":{"increment":2}}"#),
    (.put, "/t", #"{".sv":"timestamp"}"#), (.put, "/plain", #"{"a":[1,2.5,"x"],"b":true}"#),
    (.put, "/n/half", #"{".sv":{"increment":0.5}}"#),
    (.patch, "/", #"{"n":{".sv":{"increment":1}},"deep/at":{".sv":"timestamp"},"gone":null}"#),
    (
      .patch, "/",
      #"{"m":{"a":{".sv":{"increment":3}},"b":{".sv":{"increment":4}}},"z":{".sv":"timestamp"}}"#
    ), (.delete, "/plain", ""),
  ]

  @Test("are made once, and answered alike", arguments: 0..<8)
  func once(index: Int) async throws {
    let (method, path, body) = Self.requests[index]
    let client = try FirebaseClient(.inMemory())
    _ = await client.ask(.put, "/", #"{"n":40,"m":{"b":1},"plain":{"b":2},"list":{"x":0}}"#)
    let first = await ask(client, method, path, body)
    #expect(first.status == 200)
    let left = await client.ask(.get, "/").body
    let head = try client.database.head
    #expect(head == 2)
    let second = await ask(client, method, path, body)
    #expect(second.status == 200 && second.body == first.body)
    #expect(await client.ask(.get, "/").body == left)
    #expect(try client.database.head == head)
    // Somebody else's write in between is not taken back, and does not change the answer.
    _ = await client.ask(.put, "/", #"{"n":7,"z":1}"#)
    let third = await ask(client, method, path, body)
    #expect(third.status == 200 && third.body == first.body)
    #expect(await client.ask(.get, "/").body == #"{"n":7,"z":1}"#)
    // With another key it is another request.
    let other = await ask(client, method, path, body, key: "l")
    #expect(other.status == 200)
    if method == .post { #expect(other.body != first.body) }
  }

  @Test("may have a receipt as long as they are themselves")
  func many() async throws {
    let client = try FirebaseClient(.inMemory())
    let members = { (value: String) in
      (0..<3_000).map { "\"n\($0)\":\(value)" }.joined(separator: ",")
    }
    _ = await client.ask(.put, "/n", "{\(members("1234567"))}")
    let body = "{\(members(#"{".sv":{"increment":1}}"#))}"
    let first = await ask(client, .patch, "/n", body)
    #expect(first.status == 200)
    _ = await client.ask(.delete, "/n")
    let again = await ask(client, .patch, "/n", body)
    #expect(again.status == 200 && again.body == first.body)
    #expect(first.body.contains(#""n2999":1234568"#))
    #expect(await client.ask(.get, "/n").body == "null")
  }

  @Test("push one value, however many copies come at once")
  func copies() async throws {
    let client = try FirebaseClient(.inMemory())
    let bodies = await withTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { await ask(client, .post, "/list", "1").body } }
      return await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(bodies.count == 1)
    #expect(try await client.ask(.get, "/list").tree.children.count == 1)
  }

  @Test("are known after a restart of the server")
  func restart() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var answers: [[String]] = []
    for _ in 0..<3 {
      let database = try Database(at: path)
      let client = try FirebaseClient(database)
      answers.append([
        await ask(client, .post, "/list", "1", key: "a").body,
        await ask(client, .put, "/n", #"{".sv":{"increment":2}}"#, key: "b").body,
      ])
      #expect(await client.ask(.get, "/n").body == "2")
      #expect(try await client.ask(.get, "/list").tree.children.count == 1)
      #expect(try database.head == 2)
      let findings = try database.verify().findings
      #expect(findings.isEmpty)
      try await database.close()
    }
    #expect(answers[1] == answers[0] && answers[2] == answers[0])
  }

  @Test("are refused where the key is that of another request, and where it cannot be one")
  func reused() async throws {
    let client = try FirebaseClient(.inMemory())
    #expect(await ask(client, .post, "/a", "1").status == 200)
    #expect(await ask(client, .post, "/a", "2").status == 422)
    #expect(await ask(client, .post, "/b", "1").status == 422)
    #expect(await ask(client, .put, "/a", "1").status == 422)
    #expect(
      await ask(client, .post, "/a", "1", headers: ["x-http-method-override": "PUT"]).status == 422)
    let malformed = await ask(client, .put, "/a", "1", key: "a b")
    #expect(malformed.status == 400 && malformed.body.hasPrefix(#"{"error":"an Idempotency-Key"#))
    #expect(try client.database.head == 1)
    // A key counts for its caller alone.
    var other = client
    other.caller.name = "other"
    #expect(await ask(other, .put, "/a", "3").status == 200)
  }

  @Test("with a condition are answered as the first time, be it met or not")
  func condition() async throws {
    let client = try FirebaseClient(.inMemory())
    _ = await client.ask(.put, "/a", "1")
    let seen = await client.ask(.get, "/a", headers: ["x-firebase-etag": "true"])
    let tag = try #require(seen.response[header: "ETag"])
    let condition = ["if-match": tag]
    // The write itself makes its condition false.
    let first = await ask(client, .put, "/a", "2", headers: condition)
    let second = await ask(client, .put, "/a", "2", headers: condition)
    #expect(first.status == 200 && second.status == 200 && second.body == "2")
    let changed = try #require(first.response[header: "ETag"])
    #expect(second.response[header: "ETag"] == changed && changed != tag)
    // A refusal stays one: its sender may have done something else since.
    let refused = await ask(client, .put, "/a", "3", key: "l", headers: condition)
    #expect(refused.status == 412 && refused.body == "2")
    #expect(refused.response[header: "ETag"] == changed)
    _ = await client.ask(.put, "/a", "1")
    let again = await ask(client, .put, "/a", "3", key: "l", headers: condition)
    #expect(again.status == 412 && again.body == "1")
    #expect(await client.ask(.get, "/a").body == "1")
    // Without a key it is made.
    #expect(await client.ask(.put, "/a", "3", headers: condition).status == 200)
  }

  @Test("with a condition are made once, however many copies come at once")
  func copiesWithCondition() async throws {
    let client = try FirebaseClient(.inMemory())
    let statuses = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<20 {
        group.addTask {
          await ask(client, .put, "/a", "1", headers: ["if-match": "null_etag"]).status
        }
      }
      return await group.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    #expect(statuses == [200])
    #expect(try client.database.head == 1)
  }
}
