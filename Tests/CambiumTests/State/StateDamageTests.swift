// The state's file is damaged behind the database's back: a byte is changed, a page zeroed, or
// replaced by another, or two are exchanged. Then everything is read, and compared with what the
// sound database answers: an answer is right, or there is an error; none is wrong without a word,
// and nothing ends the process. `Tools/torture --measure damage` does the same for thousands, with
// all reading commands.

import Foundation
import Simulation
import Testing

@testable import Cambium

@Suite("A damaged state", .timeLimit(.minutes(3)))
struct StateDamageTests {
  private static let seed: UInt64 = 17

  @Test("answers rightly or with an error, and a rebuild mends it", arguments: [seed])
  func answers(seed: UInt64) throws {
    let place = try Place()
    try place.use { try Library.fill($0, seed: seed) }
    let answers = try place.use { database in try Library.questions.map { try $0.ask(database) } }
    try place.use { try expectSound($0) }
    let state = try place.state
    let sound = [UInt8](try Data(contentsOf: URL(filePath: state)))
    let kept = place.beside("kept")
    try FileManager.default.copyItem(atPath: place.path, toPath: kept)
    var random = SeededGenerator(seed: seed, 5)
    var counts = DamageCounts()
    for number in 0..<40 {
      let damage = StateDamage(of: sound, &random)
      try FileManager.default.removeItem(atPath: place.path)
      try FileManager.default.copyItem(atPath: kept, toPath: place.path)
      try Data(damage.applied(to: sound)).write(to: URL(filePath: state))
      try read(place, damage, answers, "\(number)", &counts)
    }
    print("seed \(seed)\n\(counts)")
    #expect(counts.failures.isEmpty, "\(counts.failures)")
  }

  @Test("answers rightly or with an error where a key seems to be of another parent")
  func parents() throws {
    let place = try Place()
    try place.use { try Library.fill($0, seed: Self.seed) }
    let answers = try place.use { database in try Library.questions.map { try $0.ask(database) } }
    let state = try place.state
    let sound = [UInt8](try Data(contentsOf: URL(filePath: state)))
    // The keys of the tree are the parent's id and the child's key: "b1" and three digits.
    let parents = sound.indices.dropLast(14).filter { start in
      sound[start..<(start + 7)].allSatisfy { $0 == 0 } && sound[start + 7] != 0
        && sound[start + 8..<(start + 11)] == [KeyTag.text, UInt8(ascii: "b"), UInt8(ascii: "1")]
    }
    try #require(parents.count > 1000)
    var random = SeededGenerator(seed: Self.seed, 6)
    var counts = DamageCounts()
    for number in 0..<12 {
      let damage = StateDamage(.byte(0x67), at: random.pick(parents) + 1)
      try Data(damage.applied(to: sound)).write(to: URL(filePath: state))
      try place.use { ask($0, damage, answers, "\(number)", &counts) }
    }
    print(counts)
    #expect(counts.failures.isEmpty, "\(counts.failures)")
  }

  private func read(
    _ place: Place, _ damage: StateDamage, _ answers: [String], _ number: String,
    _ counts: inout DamageCounts
  ) throws {
    try place.use { database in
      ask(database, damage, answers, number, &counts)
      try database.rebuild()
      for (question, answer) in zip(Library.questions, answers) {
        #expect(try question.ask(database) == answer, "\(damage), \(question.name)")
      }
    }
  }

  private func ask(
    _ database: Database, _ damage: StateDamage, _ answers: [String], _ number: String,
    _ counts: inout DamageCounts
  ) {
    for (question, answer) in zip(Library.questions, answers) {
      let found = try? question.ask(database)
      let outcome: DamageCounts.Outcome = found.map { $0 == answer ? .right : .wrong } ?? .error
      counts.add(damage.name, outcome, "\(number) \(damage), \(question.name)")
    }
  }
}
