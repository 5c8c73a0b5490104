// Goal: a stream of transactions has each of them once, in order, whenever it begins and however
// often it is broken off. Method: writers and streams at random, with printed seeds.

import Cambium
import Foundation
import Testing

@testable import CambiumServer

@Suite("A stream of transactions", .timeLimit(.minutes(2))) struct StreamTests {
  /// Opens a stream.
  private func open(
    _ fixture: InterfaceFixture, _ target: String, lastEvent: String? = nil
  ) async throws -> BodyPipe {
    var request = try #require(Request(.get, target: target))
    request.headers["last-event-id"] = lastEvent
    let response = await fixture.interface.answer(request)
    #expect(response.status == 200)
    guard case .pipe(let pipe) = response.body else { throw CancellationError() }
    return pipe
  }

  private func ids(_ text: String) -> [Int] {
    text.split(separator: "\n").compactMap { line in
      line.hasPrefix("id: ") ? Int(line.dropFirst(4)) : nil
    }
  }

  @Test("misses nothing and repeats nothing over breaks at any place", arguments: [1, 2, 3])
  func resumed(seed: Int) async throws {
    try await InterfaceFixture.with { fixture in
      let database = fixture.database
      let count = 150
      let writer = Task {
        for number in 1...count {
          let path = try NodePath("a/\(number % 7)")
          try await database.write { try $0.set(path, to: .integer(Int64(number))) }
        }
      }
      var seen: [Int] = []
      var state = seed
      while seen.count < count {
        let pipe = try await open(
          fixture, "/v1/changes?after=0", lastEvent: seen.last.map(String.init))
        let reader = PipeReading(pipe)
        state = (state &* 1_103_515_245 &+ 12345) % 2_147_483_648
        let goal = min(count - seen.count, 1 + state / 65536 % 40)
        while ids(reader.text).count < goal { guard await reader.more() else { break } }
        pipe.abandon()
        // Whole events only: the rest comes again.
        let whole = reader.text.components(separatedBy: "\n\n").dropLast().joined(separator: "\n")
        seen += ids(whole)
      }
      try await writer.value
      #expect(seen == Array(1...count), "seed \(seed)")
    }
  }

  @Test("has the line that tail prints, and only what is asked for")
  func line() async throws {
    try await InterfaceFixture.with { fixture in
      let database = fixture.database
      try await database.write { try $0.set("a", to: 1) }
      try await database.write { try $0.set("b", to: 1) }
      let pipe = try await open(fixture, "/v1/changes?after=0&path=b")
      let reader = PipeReading(pipe)
      try await database.write { try $0.set("a", to: 2) }
      try await database.write { try $0.set("b", to: 2) }
      while ids(reader.text).count < 2 { guard await reader.more() else { break } }
      pipe.abandon()
      #expect(ids(reader.text) == [2, 4])
      let log = try await fixture.ask("/v1/log?path=b&patch").text.split(separator: "\n")
      let data = reader.text.split(separator: "\n").filter { $0.hasPrefix("data: ") }
      #expect(data.map { $0.dropFirst(6) } == log)
    }
  }

  @Test("of a live query tells what came, and how it changed")
  func live() async throws {
    try await InterfaceFixture.with { fixture in
      try await fixture.database.write { try $0.set("t/1", to: .map(["n": 1])) }
      let pipe = try await open(fixture, "/v1/live?query=t+sort+-n")
      let reader = PipeReading(pipe)
      while !reader.text.contains("\n\n") { guard await reader.more() else { break } }
      try await fixture.database.write { try $0.set("t/2", to: .map(["n": 2])) }
      while ids(reader.text).count < 2 { guard await reader.more() else { break } }
      pipe.abandon()
      #expect(reader.text.contains(#""insertions":[{"at":0,"id":"2","values":{"n":2}}]"#))
    }
  }
}
