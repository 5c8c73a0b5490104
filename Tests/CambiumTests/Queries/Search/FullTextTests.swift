// Goal: full text finds what SQLite's FTS5 finds, and ranks it alike. Method: the descriptions of
// Debian's packages, or where there is no apt, the project's own sources; the same queries, word by
// word, prefixes, phrases and combinations of them, of words that the texts have. FTS5's unicode61
// takes letters and digits as words as we do, but for scripts without spaces, which are left out;
// and its porter stemmer is one of Snowball's.
//
// CAMBIUM_TEXTS says how many texts; the gate takes few.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Full text") struct FullTextTests {
  private typealias Texts = [(title: String, body: String)]

  private static let count =
    ProcessInfo.processInfo.environment["CAMBIUM_TEXTS"].flatMap { Int($0) } ?? 1_500

  @Test(
    "finds and ranks what SQLite's does",
    arguments: [
      (String?.none, "unicode61 remove_diacritics 2"), ("porter", "porter unicode61"),
    ])
  func same(language: String?, tokenizer: String) throws {
    let texts = try FullTextTests.texts(FullTextTests.count)
    let sqlite = try FullTextSearch(texts, tokenizer: tokenizer)
    try withDatabase { database in
      try FullTextTests.load(texts, language, into: database)
      var random = SeededGenerator(seed: 1)
      let words = FullTextTests.words(texts)
      try database.read { snapshot in
        let view = try #require(try snapshot.names.collections["texts"]?.views.first)
        guard case .text(let plan) = view.content else { return }
        let reader = try TextReader(view.number, plan, in: snapshot)
        var found = 0
        for _ in 0..<400 {
          let query = FullTextTests.query(&random, words, texts)
          found += try FullTextTests.compare(query, reader, sqlite)
        }
        print("\(texts.count) texts, \(words.count) words, 400 queries found \(found) texts")
        #expect(found > 400)
      }
    }
  }

  /// Declares half of the time first, so that both ways of making a view are seen.
  private static func load(_ texts: Texts, _ language: String?, into database: Database) throws {
    var definition = CollectionDefinition()
    definition.properties = [
      PropertyDefinition("title", .string), PropertyDefinition("body", .string),
    ]
    definition.views = [ViewDefinition(.text(["title", "body"], language: language))]
    let middle = texts.count / 2
    try database.write { tx in try insert(texts, 0..<middle, tx) }
    try database.write { try $0.declare("texts", definition) }
    var start = middle
    while start < texts.count {
      let end = min(start + 1000, texts.count)
      try database.write { tx in try insert(texts, start..<end, tx) }
      start = end
    }
  }

  private static func insert(
    _ texts: Texts, _ range: Range<Int>, _ tx: borrowing Database.Transaction
  ) throws {
    for index in range {
      let (title, body) = texts[index]
      try tx.set(
        NodePath(keys: ["texts", .integer(Int64(index + 1))]),
        to: .map(["title": .string(title), "body": .string(body)]))
    }
  }

  // MARK: Queries

  /// A query in both languages, and whether its rank is the same in both.
  private struct ModelQuery {
    var own: String
    var sqlite: String
    var isRanked = false
  }

  private static func query(
    _ random: inout SeededGenerator, _ words: [String], _ texts: Texts
  ) -> ModelQuery {
    let (one, other) = (random.pick(words), random.pick(words))
    switch random.below(9) {
    case 0, 1: return ModelQuery(own: one, sqlite: "\"\(one)\"", isRanked: true)
    case 2:
      return ModelQuery(
        own: "\(one) \(other)", sqlite: "\"\(one)\" AND \"\(other)\"", isRanked: true)
    case 3:
      return ModelQuery(
        own: "\(one) OR \(other)", sqlite: "\"\(one)\" OR \"\(other)\"", isRanked: true)
    case 4:
      let prefix = String(one.prefix(3 + random.below(3)))
      return ModelQuery(own: prefix + "*", sqlite: "\"\(prefix)\" *", isRanked: true)
    case 5: return ModelQuery(own: "\(one) -\(other)", sqlite: "\"\(one)\" NOT \"\(other)\"")
    case 6: return ModelQuery(own: "title:\(one)", sqlite: "title : \"\(one)\"")
    default:
      let phrase = FullTextTests.phrase(&random, texts)
      return ModelQuery(own: "\"\(phrase)\"", sqlite: "\"\(phrase)\"")
    }
  }

  /// Two or three words in a row that some text has.
  private static func phrase(_ random: inout SeededGenerator, _ texts: Texts) -> String {
    let words = FullTextTests.words([random.pick(texts)], isSet: false)
    let start = random.below(max(words.count - 3, 1))
    return words[start..<min(start + 2 + random.below(2), words.count)].joined(separator: " ")
  }

  private static func compare(
    _ query: ModelQuery, _ reader: TextReader, _ sqlite: FullTextSearch
  ) throws -> Int {
    let made = try TextQueryPlan(try TextQuery(parsing: query.own), reader.plan)
    let expected = try sqlite.search(query.sqlite)
    let best = try reader.best(made, limit: 100_000)
    let rows = try best.map { hit in
      guard case .integer(let row) = try hit.key.lend({ try Key($0) }) else { return 0 }
      return Int(row)
    }
    #expect(Set(rows) == Set(expected.map(\.row)), "\(query.own)")
    #expect(rows.count == expected.count)
    if query.isRanked {
      let scores = Dictionary(expected.map { ($0.row, $0.score) }) { one, _ in one }
      for (row, hit) in zip(rows, best) {
        let score = scores[row] ?? 0
        // Of 50,000 texts, SQLite's older Unicode counts a word or two more or less.
        #expect(abs(hit.score - score) < 1e-9 + abs(score) * 1e-6, "\(query.own), \(row)")
      }
    }
    return rows.count
  }

  // MARK: Texts

  /// The words of more than two letters, each once; or all, in their order.
  private static func words(_ texts: Texts, isSet: Bool = true) -> [String] {
    var words: [String] = []
    for (title, body) in texts {
      for word in "\(title) \(body)".split(whereSeparator: { !$0.isASCII || !$0.isLetter }) {
        if word.utf8.count > 2 || !isSet { words.append(word.lowercased()) }
      }
    }
    return isSet ? Array(Set(words)).sorted() : words.isEmpty ? ["none"] : words
  }

  private static func texts(_ count: Int) throws -> Texts {
    let packages = try stanzas(of: "apt-cache dumpavail 2>/dev/null", bytes: count * 1_000)
    if packages.count >= count { return Array(packages.prefix(count)) }
    // Without apt, or without its lists: this project's sources.
    let root = Fixtures.tests.deletingLastPathComponent()
    let sources = "find '\(root.path())' -name '*.swift' -not -path '*/.build/*' | sort | xargs cat"
    return Array(try stanzas(of: sources, bytes: count * 1_000).prefix(count))
  }

  /// The output of a command, split at empty lines: of each piece its first line, and the others.
  private static func stanzas(of command: String, bytes: Int) throws -> Texts {
    let text = try output(of: "\(command) | head -c \(bytes)")
    var texts: Texts = []
    var rest = text[...]
    while let end = rest.firstRange(of: [0x0A, 0x0A])?.lowerBound {
      let lines = rest[..<end].split(separator: 0x0A, maxSplits: 1)
      let (title, body) = (lines.first ?? [], lines.dropFirst().first ?? [])
      let text = (String(decoding: title, as: UTF8.self), String(decoding: body, as: UTF8.self))
      if lines.count == 2, !hasIdeographs(text.1), !hasUs(text.1) { texts.append(text) }
      rest = rest[(end + 2)...]
    }
    return texts
  }

  /// True if the text has ideographs, which are split into words in another way than SQLite does.
  private static func hasIdeographs(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.isIdeographic }
  }

  /// True if the text has the word "us", as US English has it: FTS5's porter leaves words of two
  /// letters as they are, and makes the same of "use".
  private static func hasUs(_ text: String) -> Bool {
    text.split { !$0.isLetter && !$0.isNumber }.contains { $0.lowercased() == "us" }
  }

  private static func output(of command: String) throws -> [UInt8] {
    guard let pipe = unsafe popen(command, "r") else { return [] }
    defer { unsafe pclose(pipe) }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { return output }
      output += buffer[..<count]
    }
  }
}
