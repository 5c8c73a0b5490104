// The state's file is damaged behind the database's back: a byte is changed, a page zeroed, or
// replaced by another, or two are exchanged. Then everything is read, and compared with what the
// sound database answers: an answer is right, or there is an error; none is wrong without a word,
// and nothing ends the process. `Tools/torture --measure damage` does the same for thousands, with
// all reading commands.

import Foundation
import Simulation
import Testing

@testable import Cambium

@Suite("A damaged state", .timeLimit(.minutes(10)))
struct StateDamageTests {
  private static let seed: UInt64 = 17

  @Test("answers rightly or with an error, and a rebuild mends it", arguments: [seed])
  func answers(seed: UInt64) throws {
    let original = try Original(seed: seed)
    try original.place.use { try expectSound($0) }
    var random = SeededGenerator(seed: seed, 5)
    var counts = DamageCounts()
    for number in 0..<40 {
      let damage = StateDamage(of: original.state, &random)
      try original.restore(with: damage)
      try read(original, damage, "\(number)", &counts)
    }
    print("seed \(seed)\n\(counts)")
    #expect(counts.failures.isEmpty, "\(counts.failures)")
  }

  @Test("answers rightly or with an error where a key seems to be of another parent")
  func parents() throws {
    let original = try Original(seed: Self.seed)
    let state = original.state
    // The keys of the tree are the parent's id and the child's key: "b1" and three digits.
    let parents = state.indices.dropLast(14).filter { start in
      state[start..<(start + 7)].allSatisfy { $0 == 0 } && state[start + 7] != 0
        && state[start + 8..<(start + 11)] == [KeyTag.text, UInt8(ascii: "b"), UInt8(ascii: "1")]
    }
    try #require(parents.count > 1000)
    var random = SeededGenerator(seed: Self.seed, 6)
    var counts = DamageCounts()
    for number in 0..<12 {
      let damage = StateDamage(.byte(0x67), at: random.pick(parents) + 1)
      try original.restore(with: damage)
      try original.place.use { ask($0, damage, original.answers, "\(number)", &counts) }
    }
    print(counts)
    #expect(counts.failures.isEmpty, "\(counts.failures)")
  }

  /// The sound database, from which every round starts anew: opening a damaged one may rebuild it,
  /// and its state then lies in another directory.
  private struct Original {
    let place: Place
    let answers: [String]
    /// The bytes of the state's file, and where it lies.
    let state: [UInt8]
    private let file: URL
    private let copy: String

    init(seed: UInt64) throws {
      place = try Place()
      try place.use { try Library.fill($0, seed: seed) }
      answers = try place.use { database in
        try Library.questions.map { try $0.ask(database) }
      }
      file = URL(filePath: try place.state)
      state = [UInt8](try Data(contentsOf: file))
      copy = place.beside("copy")
      try FileManager.default.copyItem(atPath: place.path, toPath: copy)
    }

    func restore(with damage: StateDamage) throws {
      try FileManager.default.removeItem(atPath: place.path)
      try FileManager.default.copyItem(atPath: copy, toPath: place.path)
      try Data(damage.applied(to: state)).write(to: file)
    }
  }

  private func read(
    _ original: Original, _ damage: StateDamage, _ number: String, _ counts: inout DamageCounts
  ) throws {
    try original.place.use { database in
      ask(database, damage, original.answers, number, &counts)
      try database.rebuild()
      for (question, answer) in zip(Library.questions, original.answers) {
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
