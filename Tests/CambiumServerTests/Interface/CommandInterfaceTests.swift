// Goal: under /v1/ a command says what it says on a command line, errors have their status, and
// pages together are the list. Method: a small database, every command asked; pages of every size
// are compared with the whole.

import Cambium
import Foundation
import Testing

@testable import CambiumServer

@Suite("The interface under /v1/", .timeLimit(.minutes(2))) struct CommandInterfaceTests {
  private func fill(_ database: Database) throws {
    for number in 1...30 {
      try database.write(metadata: ["actor": number % 3 == 0 ? "anna" : "ben"]) { tx in
        try tx.set(
          NodePath("things/\(number)"),
          to: .map(["n": .integer(Int64(number)), "kind": number % 2 == 0 ? "a" : "b"]))
        try tx.set(NodePath("notes/deep/\(number % 5)/x"), to: .integer(Int64(number)))
      }
    }
    for number in 1...10 {
      try database.write { tx in
        try tx.update("things/7", [("n", .integer(Int64(100 + number)))])
      }
    }
  }

  @Test("tells what the command prints with --json, byte for byte")
  func same() async throws {
    let calls: [(target: String, words: [String])] = [
      ("/v1/log?limit=5", ["log", "-n", "5"]),
      ("/v1/log?match=actor%3Danna&patch", ["log", "actor=anna", "--patch"]),
      ("/v1/log?reverse&path=things/7", ["log", "--reverse", "PATH", "things/7"]),
      ("/v1/show?rev=HEAD~2", ["show", "HEAD~2"]),
      ("/v1/tree?path=notes&depth=2", ["tree", "notes", "--depth", "2"]),
      ("/v1/history?path=things/7&limit=3", ["history", "things/7", "-n", "3"]),
      ("/v1/blame?path=things/7", ["blame", "things/7"]),
      ("/v1/diff?range=HEAD~5..", ["diff", "HEAD~5.."]),
      ("/v1/query?query=things+where+n+%3E+90", ["query", "things where n > 90"]),
      ("/v1/query?query=things&explain=true", ["query", "things", "--explain"]),
      ("/v1/query?query=things&explain&within=60000", ["query", "things", "--explain"]),
      ("/v1/schema", ["schema"]), ("/v1/consumers", ["consumers"]), ("/v1/tag", ["tag"]),
      ("/v1/checkpoints", ["info", "--checkpoints"]),
    ]
    try await InterfaceFixture.with { fixture in
      try fill(fixture.database)
      _ = try await fixture.database.tag("one", at: .sequence(3))
      for call in calls {
        let answer = try await fixture.ask(call.target)
        #expect(answer.status == 200, "\(call.target)")
        let words = call.words.filter { $0 != "PATH" }
        let printed = try Printed.text(words, fixture.database)
        #expect(answer.text == printed, "\(call.target)")
        #expect(answer.headers.contains { $0.name == "Cambium-Sequence" && $0.value == "40" })
      }
    }
  }

  @Test(
    "gives pages that together are the list",
    arguments: [
      "/v1/log?", "/v1/log?reverse&", "/v1/log?path=things/7&",
      "/v1/log?match=actor%3Danna&limit=7&",
      "/v1/log?reverse&limit=9&match=actor%3Dben&", "/v1/tree?", "/v1/tree?path=notes&depth=2&",
      "/v1/tree?path=things&depth=1&", "/v1/history?path=things/7&",
      "/v1/history?path=things/7&reverse&limit=6&", "/v1/diff?range=3..&",
      "/v1/diff?range=3..&stat&", "/v1/query?query=things+sort+-n&",
      "/v1/query?query=things+where+n+%3E+3+limit+11&",
      "/v1/query?query=things+%7C+group+by+kind+select+count&", "/v1/query?query=things+%7C+count&",
    ])
  func pages(_ target: String) async throws {
    try await InterfaceFixture.with { fixture in
      try fill(fixture.database)
      let whole = try await fixture.ask(String(target.dropLast())).lines
      #expect(!whole.isEmpty)
      for size in [1, 2, 7, 100] {
        var rows: [Value] = []
        var next: String? = "\(target)page=\(size)"
        while let address = next, rows.count <= whole.count {
          let answer = try await fixture.ask(address)
          #expect(answer.status == 200, "\(address): \(answer.text)")
          let page = try answer.page
          #expect(page.rows.count <= size)
          rows += page.rows
          next = page.next
        }
        #expect(rows == whole, "\(target) by \(size)")
      }
    }
  }

  @Test(
    "answers what is wrong with its status and its code",
    arguments: [
      ("GET", "/v1/nothing", 404, "not_found"), ("GET", "/v1/undo", 405, "method_not_allowed"),
      ("POST", "/v1/log", 405, "method_not_allowed"),
      ("GET", "/v1/log?lmit=3", 400, "unknown_parameter"), ("GET", "/v1/log?limit=x", 400, "usage"),
      ("GET", "/v1/log?limit=1&limit=2", 400, "usage"),
      ("GET", "/v1/log?cursor-file=/etc/passwd", 400, "unknown_parameter"),
      ("GET", "/v1/get?path=a&to=/tmp/x", 400, "unknown_parameter"),
      ("GET", "/v1/get", 400, "usage"), ("GET", "/v1/get?path=nowhere", 404, "not_found"),
      ("GET", "/v1/get?path=things", 404, "no_value"),
      ("GET", "/v1/show?rev=999", 404, "no_such_moment"),
      ("GET", "/v1/query?query=things+where+%3D", 400, "bad_query"),
      ("GET", "/v1/log?page=0", 400, "usage"), ("GET", "/v1/log?page=10001", 400, "usage"),
      ("POST", "/v1/put?path=a&value=1&if-seq=3", 412, "conflict"),
      ("POST", "/v1/undo?rev=31", 409, "undo_conflict"),
      ("POST", "/v1/move?path=things/1&newpath=things/2", 409, "exists"),
      ("GET", "/v1/jobs/none", 404, "not_found"),
    ])
  func errors(_ method: String, _ target: String, _ status: Int, _ code: String) async throws {
    try await InterfaceFixture.with { fixture in
      try fill(fixture.database)
      let answer = try await fixture.ask(target, try #require(Request.Method(rawValue: method)))
      #expect(answer.status == status, "\(answer.text)")
      let error = try JSONReader.value(of: answer.text, name: "answer")["error"]
      #expect(error?["code"] == .string(code))
      let head = try fixture.database.head
      #expect(head == 40)
    }
  }

  @Test("makes changes with who and why, and only for callers who may")
  func writing() async throws {
    try await InterfaceFixture.with { fixture in
      let reader = Caller(scope: .root, canWrite: false)
      let refused = try await fixture.ask("/v1/put?path=a", .post, body: "1", caller: reader)
      #expect(refused.status == 403)
      let writer = Caller(name: "anna", scope: .root, canWrite: true)
      let put = try await fixture.ask(
        "/v1/put?path=a&reason=test", .post, body: #"{"n": 1}"#, caller: writer)
      #expect(put.text == "{\"v\":1,\"sequence\":1}\n")
      let patch = try await fixture.ask("/v1/patch?path=a&actor=ben", .post, body: #"{"m": 2}"#)
      #expect(patch.status == 200, "\(patch.text)")
      let log = try await fixture.ask("/v1/log").lines
      #expect(log.map { $0["metadata"]?["actor"] } == ["anna", "ben"])
      #expect(log[0]["metadata"]?["reason"] == "test")
      let script = """
        {"operations": [{"op": "set", "path": "b", "value": 1}]}
        {"operations": [{"op": "set", "path": "c", "value": 2}]}
        """
      let preview = try await fixture.ask("/v1/apply?dry-run", .post, body: script)
      #expect(try preview.lines.count == 2)
      let broken = try await fixture.ask("/v1/apply", .post, body: script + "\n{\"oops\": 1}")
      #expect(broken.status == 400)
      let headBefore = try fixture.database.head
      #expect(headBefore == 2)
      let applied = try await fixture.ask("/v1/apply", .post, body: script)
      #expect(applied.status == 200, "\(applied.text)")
      let undone = try await fixture.ask("/v1/undo", .post)
      #expect(try JSONReader.value(of: undone.text, name: "")["undoes"] == [4])
      let head = try fixture.database.head
      #expect(head == 5)
    }
  }

  @Test("verifies as a job, and tells how it ends")
  func job() async throws {
    try await InterfaceFixture.with { fixture in
      try fill(fixture.database)
      let begun = try await fixture.ask("/v1/verify?replay", .post)
      #expect(begun.status == 202, "\(begun.text)")
      let place = try #require(begun.headers.first { $0.name == "Location" }?.value)
      // The stream ends with the job.
      let events = try await fixture.ask(place + "/events")
      #expect(events.text.contains("event: end\n"))
      let done = try JSONReader.value(of: try await fixture.ask(place).text, name: "")
      #expect(done["state"] == "done")
      #expect(done["result"]?["sound"] == true)
      let deleted = try await fixture.ask(place, .delete)
      #expect(deleted.status == 200)
      let gone = try await fixture.ask(place)
      #expect(gone.status == 404)
    }
  }

  @Test("streams a list that is longer than its memory, and breaks off with an error line")
  func long() async throws {
    try await InterfaceFixture.with { fixture in
      let text = Value.string(String(repeating: "x", count: 1000))
      try await fixture.database.write { tx in
        for number in 0..<2000 { try tx.set(NodePath("all/\(number)"), to: text) }
      }
      let answer = try await fixture.ask("/v1/tree?path=all")
      #expect(try answer.lines.count == 2001)
      #expect(!answer.isBroken)
    }
  }

  @Test("describes every command in OpenAPI")
  func openAPI() async throws {
    try await InterfaceFixture.with { fixture in
      let document = try JSONReader.value(
        of: try await fixture.ask("/v1/openapi.json").text, name: "openapi")
      let overview = try JSONReader.value(of: try await fixture.ask("/v1/").text, name: "")
      guard case .array(let commands)? = overview["commands"] else { throw CancellationError() }
      #expect(commands.count > 25)
      for command in commands {
        guard case .string(let href)? = command["href"],
          case .string(let method)? = command["method"]
        else { throw CancellationError() }
        #expect(document["paths"]?[href]?[method.lowercased()] != nil, "\(method) \(href)")
      }
    }
  }
}
