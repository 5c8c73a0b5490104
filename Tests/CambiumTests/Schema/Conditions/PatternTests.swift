// Goal: patterns find what they mean, and none takes longer than its size allows. Method: random
// patterns of the linear dialect on random texts against PCRE2; random patterns of `like` against a
// table of all prefixes; steps are counted, not timed.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A pattern") struct PatternTests {
  private func matches(_ pattern: String, _ text: String, ignoresCase: Bool = false) throws -> Bool
  {
    let expression = try LinearPattern(pattern, ignoresCase: ignoresCase)
    return try Array(text.utf8).lend { try expression.matches($0) }
  }

  // MARK: The linear dialect

  /// Random patterns, of which a few are none.
  private struct RandomPattern {
    var random: SeededGenerator

    mutating func text() -> String {
      let letters = ["a", "b", "c", "A", " ", "\n", "1", "é", "É", "ß", "\u{1F600}", "-", "_", "k"]
      return (0..<random.below(9)).map { _ in letters[random.below(letters.count)] }.joined()
    }

    mutating func pattern(_ depth: Int = 3) -> String {
      let parts = (0...random.below(3)).map { _ in part(depth) }.joined()
      return random.below(5) == 0 ? parts + "|" + part(depth) : parts
    }

    private mutating func part(_ depth: Int) -> String {
      let repetitions = ["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "{1,2}?", "++"]
      return atom(depth) + repetitions[random.below(repetitions.count)]
    }

    private mutating func atom(_ depth: Int) -> String {
      if depth > 0, random.below(4) == 0 {
        return (random.below(2) == 0 ? "(" : "(?:") + pattern(depth - 1) + ")"
      }
      let atoms = [
        "a", "b", "c", "é", "k", ".", "^", "$", "\\d", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B",
        "[abc]", "[^a]", "[a-c\\d]", "[^\\s\\W]", "[É-é]", "\\.", "\\x61", "\\x{1F600}", "\\n",
        "[-a]", "[a-]", "", "ß", "\\A", "\\z", "\\D",
      ]
      return atoms[random.below(atoms.count)]
    }
  }

  @Test(
    "of the linear dialect finds what PCRE2 finds", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func oracle(_ seed: UInt64) throws {
    var (compared, found) = (0, 0)
    var source = RandomPattern(random: SeededGenerator(seed: seed))
    for _ in 0..<3000 {
      let flags = ["", "", "", "(?i)", "(?s)", "(?is)"][source.random.below(6)]
      let pattern = flags + source.pattern()
      guard let linear = try? LinearPattern(pattern, ignoresCase: false) else { continue }
      let peer = try BacktrackingPattern(pattern, ignoresCase: false)
      for _ in 0..<6 {
        let text = source.text()
        var steps = 0
        let (own, other) = try Array(text.utf8).lend { bytes in
          (try linear.matches(bytes, steps: &steps), try? peer.matches(bytes))
        }
        let most = (text.unicodeScalars.count + 1) * linear.instructions.count
        try #require(steps <= most, "seed \(seed): /\(pattern)/ on \(text.debugDescription)")
        guard let other else { continue }
        try #require(own == other, "seed \(seed): /\(pattern)/ on \(text.debugDescription)")
        (compared, found) = (compared + 1, found + (own ? 1 : 0))
      }
    }
    #expect(compared > 5000 && found > 1000 && compared - found > 1000)
  }

  @Test(
    "of the linear dialect is refused where it is none",
    arguments: [
      "(", ")", "a)", "[", "[]", "[a", "a{", "a{2", "a{3,2}", "a**", "*", "+a", "a++", "(?=a)",
      "(?<n>a)", "\\1", "\\p{L}", "\\k", "[[a]]", "[a&&b]", "[z-a]", "^*", "\\", "a{256}",
      "(?m)a", "\\x{110000}", "]", "}",
    ])
  func refused(pattern: String) {
    #expect(throws: PatternError.self) { try LinearPattern(pattern, ignoresCase: false) }
  }

  @Test("of the linear dialect takes steps in proportion to the text, and has a bounded size")
  func steps() throws {
    let text = Array((String(repeating: "a", count: 2000) + "!").utf8)
    let nested = String(repeating: "(", count: 30) + "a" + String(repeating: "*)", count: 30) + "c"
    for pattern in ["(a+)+$", "(a|aa)+$", "(.*a){20}b", nested, "(a*)*(a*)*c", "(a?){200}a{200}$"] {
      let linear = try LinearPattern(pattern, ignoresCase: false)
      var steps = 0
      #expect(try text.lend { try linear.matches($0, steps: &steps) } == false, "\(pattern)")
      #expect(steps <= (text.count + 1) * linear.instructions.count, "\(pattern)")
    }
    for pattern in [
      "((a{100}){100}){100}", "((((){255}){255}){255}){255}", "(((a{0,9}){9}){9}){9}",
    ] {
      #expect(throws: PatternError.self) { try LinearPattern(pattern, ignoresCase: false) }
    }
    let deep = String(repeating: "(", count: 100_000)
    #expect(throws: PatternError.self) { try LinearPattern(deep, ignoresCase: false) }
  }

  @Test("takes letters of both cases for one where case does not count")
  func cases() throws {
    let pairs = [
      ("k", "\u{212A}"), ("\u{212A}", "k"), ("é", "É"), ("σ", "ς"), ("s", "\u{17F}"),
      ("[a-z]", "Q"),
      ("µ", "μ"), ("i", "I"),
    ]
    for (pattern, text) in pairs {
      #expect(try matches(pattern, text, ignoresCase: true), "\(pattern) and \(text)")
      let peer = try BacktrackingPattern(pattern, ignoresCase: true)
      #expect(try Array(text.utf8).lend { try peer.matches($0) }, "\(pattern) and \(text)")
    }
    for (pattern, text) in [("i", "ı"), ("ı", "I"), ("İ", "i"), ("[^a]", "A")] {
      #expect(try !matches(pattern, text, ignoresCase: true), "\(pattern) and \(text)")
      let peer = try BacktrackingPattern(pattern, ignoresCase: true)
      #expect(try !Array(text.utf8).lend { try peer.matches($0) }, "\(pattern) and \(text)")
    }
  }

  // MARK: PCRE2

  @Test("that backtracks for ever is refused, and what is written otherwise elsewhere translated")
  func backtracking() throws {
    let hostile = Array((String(repeating: "a", count: 34) + "!").utf8)
    for pattern in ["(a+)+\\1$", "^(?=(a+)+$)", "(?<=a)(\\w+\\s?)+$"] {
      let expression = try BacktrackingPattern(pattern, ignoresCase: false)
      let error = #expect(throws: QueryError.self) {
        try hostile.lend { try expression.matches($0) }
      }
      #expect(error?.reason.contains("too long") == true)
    }
    for pattern in ["(?=\\u{61})", "(?=\\u0061)", "(?=\\U00000061)", "(?=ab{,3}$)", "\\Qa\\E(?!b)"]
    {
      let expression = try BacktrackingPattern(pattern, ignoresCase: false)
      #expect(try Array("a".utf8).lend { try expression.matches($0) }, "\(pattern)")
    }
    for pattern in ["[a&&b](?=c)", "[a--b](?=c)", "[[a]b](?=c)", "\\y(?=a)", "(?=a", "\\u{zz}"] {
      #expect(throws: PatternError.self, "\(pattern)") {
        try BacktrackingPattern(pattern, ignoresCase: false)
      }
    }
  }

  // MARK: like

  /// By a table of all beginnings of pattern and text.
  private func isLike(_ text: String, _ pattern: String) -> Bool {
    let (text, pattern) = (Array(text), Array(pattern))
    var reached = [true] + Array(repeating: false, count: text.count)
    for wanted in pattern {
      var next = Array(repeating: false, count: text.count + 1)
      for place in 0...text.count {
        if wanted == "%" {
          next[place] = reached[place] || place > 0 && next[place - 1]
        } else if place > 0 {
          next[place] = reached[place - 1] && (wanted == "_" || wanted == text[place - 1])
        }
      }
      reached = next
    }
    return reached[text.count]
  }

  @Test("of like finds what it means in no more than n · m steps")
  func like() throws {
    var random = SeededGenerator(seed: 5)
    let letters = ["a", "b", "é", "e\u{301}", "\r\n", "_", "%", "%"]
    for _ in 0..<20_000 {
      let pattern = (0..<random.below(8)).map { _ in letters[random.below(8)] }.joined()
      let text = (0..<random.below(10)).map { _ in letters[random.below(5)] }.joined()
      let like = LikePattern(pattern, .binary)
      let found = try Array(text.utf8).lend { try like.matches($0) }
      try #require(found == isLike(text, pattern), "\(pattern.debugDescription): \(text)")
    }
    let text = Array(String(repeating: "a", count: 800).utf8)
    for pattern in ["%a%a%b%c", String(repeating: "%a_", count: 50) + "b", "%%%%%%%%b"] {
      var steps = 0
      let like = LikePattern(pattern, .binary)
      #expect(try !text.lend { try like.matches($0, steps: &steps) })
      #expect(steps <= (text.count + 1) * (pattern.count + 1), "\(pattern): \(steps)")
    }
    let folding = LikePattern("z_r%É", .ignoringCaseAndDiacritics)
    #expect(try Array("ZÜRich e".utf8).lend { try folding.matches($0) })
  }

  // MARK: Declarations

  private func declaring(_ condition: String) throws -> CollectionDefinition {
    var definition = CollectionDefinition()
    var index = IndexDefinition([.init("title")])
    index.condition = try Condition(parsing: condition)
    definition.indexes = [index]
    return definition
  }

  @Test("is declared where it is linear, in a record of format 2, and refused otherwise")
  func declared() throws {
    try withDatabase { database in
      for pattern in ["(a+)\\\\1", "(?=a)b", "a++", "\\\\p{L}"] {
        let definition = try declaring("title matches \"\(pattern)\"")
        let error = #expect(throws: DatabaseError.self) {
          try database.write { tx in try tx.declare("things", definition) }
        }
        #expect("\(try #require(error))".contains("cannot be declared"))
      }
      for (condition, number) in [("title matches /^(a+)+$/", 1), ("title like \"%a_b%\"", 1)] {
        let definition = try declaring(condition)
        #expect(try CollectionDefinition.format(of: definition.value.stored()) == 2)
        #expect(try CollectionDefinition(definition.value) == definition)
        try database.write { tx in
          try tx.declare("things", definition)
          for number in 10..<400 {
            try tx.set(NodePath(keys: ["things", .integer(Int64(number))]), to: ["title": "none"])
          }
          try tx.set("things/1", to: ["title": "aaaa"])
          try tx.set("things/2", to: ["title": "xaybz"])
          try tx.set("things/3", to: ["title": .string(String(repeating: "a", count: 40) + "!")])
        }
        let results = try QueryRun(
          try QueryDescription(parsing: "things where \(condition)"), on: database.snapshot())
        #expect(try results.count() == number)
        #expect(results.explanation.hasPrefix("use the index (title)"), "\(results.explanation)")
      }
      let plain = try declaring("title > \"a\" and title prefix \"b\"")
      #expect(try CollectionDefinition.format(of: plain.value.stored()) == 1)
    }
  }

  @Test("of a declaration without a dialect stays what it was")
  func former() throws {
    // As a log of format 1 has it: `like` had become an expression, whose `.` is a character.
    let value: Value = .map([
      "indexes": .array([
        .map(["terms": .array(["title"]), "where": "title matches /(?s)^.a(?=b).*$/"])
      ]), "version": 1,
    ])
    let definition = try CollectionDefinition(value)
    #expect(try definition.value == value)
    #expect(try CollectionDefinition.format(of: value.stored()) == 1)
    try withDatabase { database in
      try database.write { tx in
        try tx.declare("things", definition)
        try tx.set("things/1", to: ["title": "e\u{301}ab"])
        try tx.set("things/2", to: ["title": "ab"])
      }
      let plan = try #require(try database.snapshot().names.collections["things"]?.indexes[0])
      #expect(try database.snapshot().countedEntries(of: plan) == 1)
      // A query of the same text is by other rules, so that the index does not answer it.
      let results = try QueryRun(
        try QueryDescription(parsing: "things where title matches /(?s)^.a(?=b).*$/"),
        on: database.snapshot())
      #expect(try results.count() == 0)
      #expect(results.explanation.hasPrefix("scan things"))
    }
  }
}

extension Snapshot {
  /// The number of entries in an index.
  fileprivate func countedEntries(of index: IndexPlan) throws -> Int {
    try QueryRecords(self).countEntries(
      ClosedOpenBytes(prefix: IndexEntry.prefix(index.number)), max: .max)
  }
}
