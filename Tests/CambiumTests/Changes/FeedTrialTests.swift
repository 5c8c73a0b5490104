// Goal: whatever fails, feeds continue without a gap, a duplicate or a step back.
//
// Each seed is a history of several rounds. In each a process writes and is killed at a step of a
// write, another consumes and is killed after some transactions, and this one writes, rebuilds the
// state, and observes: slowly, and cancelled again and again.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Feeds in a random history", .timeLimit(.minutes(3)))
struct FeedTrialTests {
  private let place: Place

  init() throws { place = try Place() }

  /// The random choices of one round.
  private struct Round: Codable, Sendable {
    var diesAfterLog: Bool
    var writes: Int
    var consumed: Int
    var ownWrites: Int
    var rebuilds: Bool

    init(_ random: inout SeededGenerator) {
      diesAfterLog = random.oneIn(2)
      writes = 1 + random.below(25)
      consumed = 1 + random.below(20)
      ownWrites = random.below(20)
      rebuilds = random.oneIn(2)
    }
  }

  private static func step(_ tx: borrowing Database.Transaction) throws {
    try tx.increment("count", by: 1)
    try tx.set(NodePath(keys: ["n", .integer(Int64(tx.sequence.rawValue % 7))]), to: 1)
  }

  private static func isEnd(_ commit: Commit) -> Bool {
    commit.events.contains { $0.name == "end" }
  }

  @Test(
    "know no gap, no duplicate and no way back",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func history(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let database = try place.open()
    async let slow = database.followSlowly(.milliseconds(2)) { Self.isEnd($0) }
    async let restarted = database.followWithRestarts(seed: seed) { Self.isEnd($0) }
    for number in 0..<4 {
      let round = Round(&random)
      async let writer: Void = writeAndDie(round)
      async let consumer: Void = consumeAndDie(round, number)
      for _ in 0..<round.ownWrites { try await database.write { try Self.step($0) } }
      if round.rebuilds { try await database.rebuild() }
      _ = try await (writer, consumer)
      try expectConsumed(number)
    }
    try await database.write { tx in try tx.event("end") }
    let head = try database.head.rawValue
    #expect(try await slow.rawValue == head)
    #expect(try await restarted.rawValue == head)
    let position = try database.consumer("mailer").position().rawValue
    let rest = try await sequences(
      Int(head - position), of: try database.consumer("mailer").commits())
    #expect(rest == numbers(position + 1, head))
    #expect(try database.read { try $0["count"].value } == .integer(Int64(head - 1)))
    try expectSound(database)
    try await database.close()
    try place.expectSound()
  }

  // MARK: Processes that are killed

  private func writeAndDie(_ round: Round) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = place.path as String, round = round as Round] in
      let database = try Database.openToDie(
        at: path, afterLog: round.diesAfterLog, count: round.writes)
      while true { try database.commit { try FeedTrialTests.step($0) } }
    }
  }

  /// Consumes in a process that notes the first and the last transaction that it was given, and any
  /// that did not follow the one before.
  private func consumeAndDie(_ round: Round, _ number: Int) async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [
        path = place.path as String, notes = place.beside("notes-\(number)") as String,
        limit = round.consumed as Int
      ] in
      let first = try WakeFile(path: "\(notes)-first")
      let last = try WakeFile(path: "\(notes)-last")
      let database = try Database(at: path)
      let consumer = database.consumer("mailer")
      killAfter(milliseconds: 500)
      var (count, previous) = (0, try consumer.position())
      for try await commit in try consumer.commits() {
        if commit.sequence != previous.next { try Signal.send("\(notes)-broken") }
        if count == 0 { first.write(commit.sequence.rawValue) }
        previous = commit.sequence
        count += 1
        last.write(previous.rawValue)
        if count == limit { kill(getpid(), SIGKILL) }
        try consumer.advance(to: previous)
        if count.isMultiple(of: 3) { try database.writer.flush() }
      }
    }
  }

  /// Checks the transactions that the consumer of a round was given: all in order, beginning with
  /// one that was given before or comes right after.
  private func expectConsumed(_ number: Int) throws {
    #expect(!Files.exists(place.beside("notes-\(number)-broken")))
    guard let first = try WakeFile(path: place.beside("notes-\(number)-first")).read() else {
      return
    }
    let before = try (0..<number).compactMap {
      try WakeFile(path: place.beside("notes-\($0)-last")).read()
    }
    #expect(first <= (before.max() ?? 0) + 1)
  }
}
