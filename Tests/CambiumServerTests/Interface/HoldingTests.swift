import Cambium
import Foundation
import Testing

@testable import CambiumServer

@Suite("The lists of who holds space back", .timeLimit(.minutes(1))) struct HoldingTests {
  @Test("have the snapshots of the server with their moments, the oldest first")
  func snapshots() async throws {
    try await InterfaceFixture.with { fixture in
      let database = fixture.database
      for number in Int64(1)...5 {
        try await database.write { try $0.set("a", to: .integer(number)) }
      }
      var held = [try database.snapshot()]
      for number in Int64(1)...2 {
        try await database.write { try $0.set("b", to: .integer(number)) }
      }
      held.append(try database.snapshot())
      // The server reads commits for its streams, and holds them for a moment.
      let lines = try await fixture.ask("/v1/readers").lines
      let first = try #require(lines.first)
      #expect(first["sequence"] == 5)
      #expect(first["behind"] == 2)
      #expect(lines.contains { $0["sequence"] == 7 && $0["behind"] == 0 })
      #expect(lines.allSatisfy { $0["process"] == .integer(Int64(getpid())) })
      #expect(lines.allSatisfy { $0["environment"] == "state" && $0["age"] != nil })
      let short = try await fixture.ask("/v1/readers?output=short").text
      #expect(short.hasPrefix("process \(getpid())  state, 2 behind: tx 5, for "))
      withExtendedLifetime(held) {}
      held = []
      while try await fixture.ask("/v1/readers").lines.contains(where: { $0["sequence"] == 5 }) {
        await Task.yield()
      }
    }
  }

  @Test("have the checkpoint with its size and its time, once there is one")
  func checkpoint() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Database.Options()
    options.checkpointGrowth = 4096
    let database = try Database(at: path, options: options)
    while try database.checkpoints().isEmpty {
      try await database.write { tx in
        for number in 0..<50 { try tx.set(NodePath("all/\(number)"), to: .string("\(UUID())")) }
      }
      database.finishCheckpoint()
    }
    let checkpoint = try #require(try database.checkpoints().first)
    #expect(checkpoint.sequence > .zero)
    let head = try database.head
    #expect(checkpoint.sequence <= head)
    #expect(checkpoint.bytes > 4096)
    #expect(checkpoint.made != nil)
    let hub = try CommitHub(database)
    let interface = CommandInterface(database, AnsweredRequests(database), hub, EventStreams())
    let request = try #require(Request(.get, target: "/v1/checkpoints"))
    let answer = await InterfaceFixture.Answer(await interface.answer(request))
    let line = try #require(try answer.lines.first)
    #expect(line["sequence"] == .integer(Int64(checkpoint.sequence.rawValue)))
    #expect(line["bytes"] == .integer(Int64(checkpoint.bytes)))
    #expect(line["made"] != nil)
    try await database.close()
  }

  @Test("are for those who may see everything")
  func scope() async throws {
    try await InterfaceFixture.with { fixture in
      let part = Caller(name: "part", scope: "a", canWrite: true)
      for name in ["readers", "checkpoints"] {
        let answer = try await fixture.ask("/v1/\(name)", caller: part)
        #expect(answer.status == 403)
        #expect(!answer.text.contains("process"))
        let both = try await fixture.ask("/v1/info?\(name)")
        #expect(both.status == 400)
      }
    }
  }
}
