import Cambium
import Simulation

/// Asks a database questions whose answers follow from the script alone, and compares.
///
/// It knows nothing of folds: the answers are worked out by plain Swift from the records that the
/// script has written. Each question is put twice, once so that an index or a view answers it, and
/// once so that only the records can; at a past moment the same texts are asked again.
struct Judge {
  let script: Script

  /// Asks all questions about a moment.
  func judge(_ snapshot: Snapshot, at moment: UInt64) throws {
    for question in questions(at: moment) {
      for text in question.texts {
        let found = try answer(text, question.columns, snapshot)
        let rows = question.isOrdered ? found : Judge.sorted(found)
        let expected = question.isOrdered ? question.rows : Judge.sorted(question.rows)
        try demand(
          rows == expected,
          "P4: at transaction \(moment) `\(text)` gives \(rows), not \(expected)")
      }
    }
    for search in searches(at: moment) {
      let query = try TextQuery(parsing: search.word)
      let found = try snapshot.search(search.collection, for: query, limit: 1_000)
      let keys = found.map(\.key).sorted()
      try demand(
        keys == search.keys,
        "P4: at transaction \(moment) `\(search.word)` finds \(keys) in \(search.collection), "
          + "not \(search.keys)")
    }
  }

  private func answer(
    _ text: String, _ columns: [String], _ snapshot: Snapshot
  ) throws -> [[Value]] {
    let query = try snapshot.records(text)
    if columns == [JudgedQuery.count] { return [[.integer(Int64(try query.count()))]] }
    return try query.fetch().map { record in
      columns.map { $0 == JudgedQuery.key ? Judge.value(record.key) : record[$0] ?? .null }
    }
  }

  private static func value(_ key: Key?) -> Value {
    switch key {
    case .integer(let number)?: .integer(number)
    case .text(let text)?: .string(text)
    default: .null
    }
  }

  /// The rows in an order that has nothing to do with their values.
  private static func sorted(_ rows: [[Value]]) -> [[Value]] {
    rows.map { ("\($0)", $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func questions(at moment: UInt64) -> [JudgedQuery] {
    let world = script.worlds[Int(moment)]
    var random = SeededGenerator(seed: moment, 53)
    if script.isAboutStaff { return StaffQuestions(world, &random).all }
    if !script.members.isEmpty { return MemberQuestions(world, &random).all }
    // Two of them, by turns: there are many survivors.
    let turn = Int(moment) % Script.letters.count
    return (0..<2).flatMap { index in
      let collection = Script.letters[(turn + index) % Script.letters.count]
      return LetterQuestions(collection, world).all
    }
  }

  /// A word, and the records whose texts have it.
  private struct Search {
    let collection: NodePath
    let word: String
    let keys: [Key]
  }

  private func searches(at moment: UInt64) -> [Search] {
    guard moment > 0 else { return [] }
    let world = script.worlds[Int(moment)]
    if script.isAboutStaff {
      return Staff.names.map { search($0, in: Staff.path, of: "name", world) }
    }
    if !script.members.isEmpty { return [] }
    let collection = Script.letters[Int(moment) % Script.letters.count]
    let texts = world.records(of: collection).compactMap { $0.values["q"]?.text }
    let words = texts.prefix(1).flatMap { $0.split(separator: " ").map(String.init) }
    return words.map { search($0, in: collection, of: "q", world) }
  }

  private func search(
    _ word: String, in collection: NodePath, of property: String, _ world: World
  ) -> Search {
    let records = world.records(of: collection).filter {
      $0.values[property]?.text?.split(separator: " ").contains { $0 == word } ?? false
    }
    return Search(collection: collection, word: word, keys: records.map(\.key).sorted())
  }
}

/// A question in several forms, and its answer.
struct JudgedQuery {
  /// The first is answered by an index or a view, where the database has one; the others read the
  /// records.
  let texts: [String]
  /// The names of the values of a row.
  let columns: [String]
  let rows: [[Value]]
  let isOrdered: Bool

  /// The column that is a record's key, and the one that is the answer to `| count`.
  static let (key, count) = ("id", "count")

  init(_ texts: [String], _ columns: [String], _ rows: [[Value]], isOrdered: Bool = true) {
    (self.texts, self.columns, self.rows, self.isOrdered) = (texts, columns, rows, isOrdered)
  }
}

extension Value {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// Less than, equal to or greater than another: by kind first, as the article Values and types
  /// has it; of the kinds that scripts write into what is sorted.
  func order(_ other: Value) -> Int {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a < b ? -1 : a == b ? 0 : 1
    case (.string(let a), .string(let b)):
      a == b ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    default: kind - other.kind
    }
  }

  private var kind: Int {
    switch self {
    case .null: 0
    case .integer: 1
    case .string: 2
    default: 3
    }
  }
}
