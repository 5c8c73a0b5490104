// Goal: a request for a command that has a key is made once, and each copy gets one answer. Method:
// each command that writes is asked twice, and from several tasks at the same time; a command is
// broken off between two of its transactions. Tests/Server/safety kills the server's process.

import Cambium
import CambiumCommands
import Foundation
import Testing

@testable import CambiumServer

@Suite("Commands with a key", .timeLimit(.minutes(2))) struct KeptCommandTests {
  static let line = #"{"operations": [{"op": "increment", "path": "count"}]}"#

  /// Targets and bodies, with the status of the answer.
  static let calls: [(String, String, Int)] = [
    ("put?path=a", "1", 200), ("put?path=a&output=short", "1", 200),
    ("patch?path=things/1", #"{"m": 2}"#, 200), ("delete?path=things/2", "", 200),
    ("update?path=things&clauses=where+n+%3E+1+set+n+%3D+9", "", 200),
    ("delete?path=things&where=n+%3E+1", "", 200), ("move?path=things/1&newpath=b", "", 200),
    ("undo", "", 200), ("undo?who=ben", "", 200), ("redo", "", 200),
    ("revert?range=1..2", "", 200), ("tag?name=here", "", 200),
    ("tag?name=before&delete", "", 200),
    ("apply", line + "\n" + line, 200), ("put?path=a&if-seq=1", "1", 412),
    ("move?path=things/1&newpath=things/2", "", 409), ("delete?path=nowhere", "", 404),
    ("tag?name=a+b", "", 400), ("put?path=a", "{", 400), ("apply?dry-run", line, 200),
  ]

  private func prepare(_ database: Database) throws {
    for number in 1...3 {
      try database.write(metadata: ["actor": "anna"]) { tx in
        try tx.set(NodePath("things/\(number)"), to: ["n": .integer(Int64(number))])
      }
    }
    _ = try database.write { tx in try tx.tag("before", at: .sequence(1)) }
  }

  @Test(
    "are made once, and answered as the first time",
    arguments: KeptCommandTests.calls)
  func once(_ target: String, _ body: String, _ status: Int) async throws {
    try await InterfaceFixture.with { fixture in
      try prepare(fixture.database)
      let headers = ["idempotency-key": "k1"]
      let first = try await fixture.ask("/v1/" + target, .post, body: body, headers: headers)
      #expect(first.status == status, "\(first.text)")
      // A change meanwhile that would give another answer.
      let head = try await fixture.database.write { tx in
        try tx.set("nowhere", to: 1)
        return tx.sequence
      }
      let second = try await fixture.ask("/v1/" + target, .post, body: body, headers: headers)
      #expect(second.text == first.text)
      #expect(second.status == status)
      #expect(second.headers.contains { $0.name == "Idempotency-Replayed" && $0.value == "true" })
      for (name, value) in first.headers {
        #expect(second.headers.contains { $0.name == name && $0.value == value }, "\(name)")
      }
      let other = try await fixture.ask("/v1/put?path=c", .post, body: "2", headers: headers)
      #expect(other.status == 422)
      let headAfter = try fixture.database.head
      #expect(headAfter == head)
    }
  }

  @Test("are made each time without one, and for each caller")
  func others() async throws {
    try await InterfaceFixture.with { fixture in
      for _ in 0..<2 { _ = try await fixture.ask("/v1/apply", .post, body: Self.line) }
      let headers = ["idempotency-key": "k"]
      for name in ["anna", "ben"] {
        _ = try await fixture.ask(
          "/v1/apply", .post, body: Self.line, headers: headers,
          caller: Caller(name: name, scope: .root, canWrite: true))
      }
      let count = try fixture.database.read { try $0["count"].value }
      #expect(count == 4)
      let bad = try await fixture.ask(
        "/v1/apply", .post, body: Self.line, headers: ["idempotency-key": "a b"])
      #expect(bad.status == 400)
    }
  }

  @Test("are made once though copies of them come at the same time")
  func atTheSameTime() async throws {
    try await InterfaceFixture.with { fixture in
      let script = [String](repeating: Self.line, count: 4).joined(separator: "\n")
      for number in 0..<20 {
        let headers = ["idempotency-key": "k\(number)"]
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<4 {
            group.addTask {
              while true {
                let answer = try await fixture.ask(
                  "/v1/apply", .post, body: script, headers: headers)
                if answer.status != 409 { return answer.text }
              }
            }
          }
          return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
      }
      let count = try fixture.database.read { try $0["count"].value }
      #expect(count == 80)
    }
  }

  @Test("go on where they were broken off", arguments: 1...4)
  func brokenOff(_ lines: Int) async throws {
    try await InterfaceFixture.with { fixture in
      let script = [String](repeating: Self.line, count: 5).joined(separator: "\n")
      let headers = ["idempotency-key": "k"]
      let request = try fixture.request("/v1/apply", .post, body: script, headers: headers)
      let kept = try #require(try KeptCommand(request, fixture.answered, fixture.database))
      let none = try kept.answer()
      #expect(none == nil)
      var command = CommandRequest(.post, "apply", request)
      command.keeping = kept
      let database = fixture.database
      command.isAbandoned = { (try? database.head).map { $0.rawValue >= lines } ?? true }
      let ending = await CommandService(database).run(command, begin: { _ in }, to: { _ in })
      guard case .failed(let failure) = ending else { throw CancellationError() }
      #expect(failure.status == 503)
      let head = try database.head
      #expect(head.rawValue == lines)
      let answer = try await fixture.ask("/v1/apply", .post, body: script, headers: headers)
      #expect(answer.text == "{\"v\":1,\"transactions\":5,\"first\":1,\"last\":5,\"failed\":0}\n")
      let count = try database.read { try $0["count"].value }
      #expect(count == 5)
    }
  }

  @Test("have their answers in the database, where each process finds them")
  func durable() async throws {
    try await InterfaceFixture.with { fixture in
      let headers = ["idempotency-key": "k"]
      let first = try await fixture.ask("/v1/put?path=a", .post, body: "1", headers: headers)
      let request = try fixture.request("/v1/put?path=a", .post, body: "1", headers: headers)
      let elsewhere = AnsweredRequests(fixture.database)
      let kept = try #require(try KeptCommand(request, elsewhere, fixture.database))
      let answer = await InterfaceFixture.Answer(try #require(try kept.answer()))
      #expect(answer.text == first.text)
    }
  }

  @Test("are answered with less where the answer was long")
  func long() async throws {
    try await InterfaceFixture.with { fixture in
      for _ in 0..<2 {
        try await fixture.database.write { tx in
          for number in 0..<200 {
            let name = String(repeating: "n", count: 100) + "\(number)"
            try tx.set(NodePath("all/\(name)"), to: .integer(.random(in: 0...(.max))))
          }
        }
      }
      let headers = ["idempotency-key": "k"]
      let target = "/v1/undo?rev=1&skip-conflicts"
      let first = try await fixture.ask(target, .post, headers: headers)
      #expect(first.status == 200)
      #expect(first.text.utf8.count > KeptAnswer.textBytesMax)
      let second = try await fixture.ask(target, .post, headers: headers)
      #expect(second.text == "{\"v\":1,\"repeated\":true}\n")
      let head = try fixture.database.head
      #expect(head == 3)
    }
  }
}
