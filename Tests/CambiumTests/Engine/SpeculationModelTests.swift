// Goal: a speculation answers everything as the same write does, at any moment. Method: random
// histories; a copy of the database that ends with the moment, in which the same transaction is
// committed.

import Foundation
import Simulation
import Testing

@testable import Cambium

@Suite("A speculation, against the same write in a copy")
struct SpeculationModelTests {
  /// The result of a transaction: all answers, and its record as a commit shows it.
  private struct Outcome: Equatable {
    var refusals: [String] = []
    var sequence = SequenceNumber.zero
    var answers: [String] = []
    var changes: [Change] = []
    var operations: [LoggedOperation] = []
    var events: [Event] = []
    var metadata: [String: String] = [:]
  }

  private let metadata = ["reason": "what if"]

  private func speculate(
    _ database: Database, at moment: Moment, _ seed: UInt64
  ) throws -> Outcome {
    try database.speculate(at: moment, metadata: metadata, actor: "ada") { tx in
      try RandomVillage.change(seed, tx)
    } reading: { after in
      Outcome(
        refusals: after.result, sequence: after.sequence,
        answers: try RandomVillage.answers(after.snapshot), changes: try after.changes.fetch(),
        operations: try after.operations(), events: try after.events, metadata: after.metadata)
    }
  }

  private func commit(_ copy: Database, _ seed: UInt64) throws -> Outcome {
    var outcome = Outcome()
    outcome.metadata = metadata.merging(["actor": "ada"]) { $1 }
    (outcome.refusals, outcome.sequence) = try copy.write(metadata: metadata, actor: "ada") { tx in
      (try RandomVillage.change(seed, tx), tx.sequence)
    }
    outcome.answers = try copy.read { try RandomVillage.answers($0) }
    guard try copy.head == outcome.sequence else { return outcome }
    let commit = try copy.commit(outcome.sequence)
    outcome.changes = try commit.changes.fetch()
    outcome.operations = try commit.operations()
    outcome.events = commit.events
    #expect(commit.metadata == outcome.metadata)
    return outcome
  }

  /// Compares a speculation with the write in a copy that ends with the moment.
  private func compare(
    _ database: Database, at moment: Moment, _ seed: UInt64, _ place: String
  ) throws {
    let sequence = try database.snapshot(at: moment).sequence
    try? FileManager.default.removeItem(atPath: place)
    try database.replay(to: place, until: sequence)
    let copy = try Database(at: place)
    defer { try? copy.close() }
    let head = try database.head
    let expected = Result { try commit(copy, seed) }
    let found = Result { try speculate(database, at: moment, seed) }
    #expect(try database.head == head)
    switch (found, expected) {
    case (.success(let found), .success(let expected)):
      try requireSame(found.answers, expected.answers, "transaction \(seed) at \(sequence)")
      #expect(found == expected, "transaction \(seed) at \(sequence)")
    case (.failure(let found), .failure(let expected)):
      #expect("\(found)" == "\(expected)", "transaction \(seed) at \(sequence)")
    default: throw Divergence("\(seed) at \(sequence): \(found), not \(expected)")
    }
  }

  private func write(_ database: Database, _ count: Int, _ random: inout SeededGenerator) {
    for _ in 0..<count {
      let seed = random.next()
      _ = try? database.write { tx in try RandomVillage.change(seed, tx) }
    }
  }

  @Test("gives the same answers, changes and errors", arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func sameAnswers(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    try withDatabase { database in
      try database.write { try RandomVillage.declare($0) }
      for round in 0..<6 {
        write(database, 12, &random)
        if round == 3 { try database.compact(upTo: SequenceNumber(try database.head.rawValue / 2)) }
        let digest = try expectSound(database)
        for trial in 0..<5 {
          let (head, oldest) = (try database.head.rawValue, try database.horizon.rawValue)
          let past = SequenceNumber(oldest + UInt64(random.below(Int(head - oldest) + 1)))
          try compare(
            database, at: trial < 2 ? .now : .sequence(past), random.next(),
            "\(directory.path)/copy")
        }
        #expect(try expectSound(database) == digest)
      }
    }
  }

  @Test("folds a past moment from a checkpoint where there is one before it")
  func checkpoint() throws {
    var random = SeededGenerator(seed: 7)
    let directory = try TemporaryDirectory()
    try withDatabase({ $0.checkpointGrowth = 1 }) { database in
      try database.write { try RandomVillage.declare($0) }
      write(database, 30, &random)
      database.finishCheckpoint()
      let checkpoint = try #require(try Checkpoint.newest(database.directory)).mark.sequence
      write(database, 10, &random)
      for moment in [checkpoint, checkpoint.next, checkpoint.previous] {
        try compare(database, at: .sequence(moment), random.next(), "\(directory.path)/copy")
      }
      // One that cannot be read is not needed.
      if let newest = try Checkpoint.newest(database.directory) {
        try? FileManager.default.removeItem(atPath: newest.path)
        try compare(
          database, at: .sequence(newest.mark.sequence), random.next(), "\(directory.path)/copy")
      }
    }
  }

  @Test("is the same in a database that is open for reading only")
  func readOnly() throws {
    var random = SeededGenerator(seed: 8)
    let (place, directory) = (try Place(), try TemporaryDirectory())
    try place.use { database in
      try database.write { try RandomVillage.declare($0) }
      write(database, 30, &random)
    }
    let before = try place.listing().filter { !$0.contains("lock.mdb") }
    try place.use({ $0.readOnly = true }) { database in
      for moment in [.now, .sequence(9), .sequence(try database.head)] as [Moment] {
        try compare(database, at: moment, random.next(), "\(directory.path)/copy")
      }
    }
    #expect(try place.listing().filter { !$0.contains("lock.mdb") } == before)
    try place.expectSound()
  }
}
