import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Text analysis") struct TextAnalysisTests {
  private func terms(
    _ text: String, _ language: String? = nil, keepsDiacritics: Bool = false
  ) throws -> [String] {
    let analyzer = try TextAnalyzer(language: language, keepsDiacritics: keepsDiacritics)
    return try analyzer.terms(of: text).map { String(decoding: $0.own, as: UTF8.self) }
  }

  @Test("cuts words at what is no letter, digit or mark")
  func words() throws {
    #expect(
      try terms("Hello, World! don't x86_64 3.14 a-b") == [
        "hello", "world", "don", "t", "x86", "64", "3", "14", "a", "b",
      ])
    #expect(try terms("") == [])
    #expect(try terms(" … — ") == [])
    #expect(try terms("l’avion") == ["l", "avion"])
    #expect(try terms("Привет, мир") == ["привет", "мир"])
    #expect(try terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"])
    #expect(try terms("शक्ति", keepsDiacritics: true) == ["शक्ति"])
  }

  @Test("takes each letter of a script without spaces as a word")
  func unspaced() throws {
    #expect(try terms("東京タワー2階") == ["東", "京", "タ", "ワ", "ー", "2", "階"])
    #expect(try terms("ภาษา") == ["ภ", "า", "ษ", "า"])
    #expect(try terms("서울 특별시") == ["서울", "특별시"])
  }

  @Test("folds case, accents and ways of writing them")
  func folding() throws {
    #expect(
      try terms("ÉLÈVE e\u{301}le\u{300}ve élève eleve") == [
        "eleve", "eleve", "eleve", "eleve",
      ])
    #expect(try terms("É e\u{301}", keepsDiacritics: true) == ["é", "é"])
    #expect(
      try terms("STRASSE Straße ΣΊΣΥΦΟΣ σίσυφος") == [
        "strasse", "strasse", "σισυφοσ", "σισυφοσ",
      ])
    #expect(try terms("co\u{AD}operate ﬁn") == ["cooperate", "fin"])
  }

  @Test("finds stems by the language's rules")
  func stems() throws {
    #expect(try terms("running runs easily", "en") == ["run", "run", "easili"])
    #expect(try terms("Häuser Haus", "de") == ["haus", "haus"])
    #expect(try terms("continuité continue", "fr") == ["continu", "continu"])
    #expect(throws: DatabaseError.self) { try TextAnalyzer(language: "xx") }
  }

  @Test("finds a word with accents by the word without them, in every language")
  func accentsAndStems() throws {
    func plain(_ word: String, _ language: String) throws -> String {
      let terms = try TextAnalyzer(language: language).terms(of: word)[0]
      return String(decoding: terms.plain ?? terms.own, as: UTF8.self)
    }
    let words = [
      "résumé", "fiancée", "cafés", "naïvely", "mangées", "canción", "Häuser", "nação", "città",
      "għaliex", "élèves", "coöperation", "Übungen", "žluťoučký", "școală",
    ]
    for language in Stemmer.languages {
      for word in words {
        let bare = String(
          decoding: TermFolding.withoutDiacritics(Array(word.lowercased().utf8)), as: UTF8.self)
        #expect(try plain(word, language) == plain(bare, language), "\(word) in \(language)")
      }
    }
    // The accents of a language still count for its rules.
    #expect(try terms("новый новая", "ru") == ["нов", "нов"])
  }

  @Test("cuts what is too long, and does not stumble over what is not UTF-8")
  func hostile() throws {
    let long = try terms(String(repeating: "ab", count: 500))
    #expect(long.map(\.utf8.count) == [TextAnalyzer.termBytesMax])
    let analyzer = try TextAnalyzer(language: "en")
    var random = SeededGenerator(seed: 1)
    for _ in 0..<500 {
      let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
      try bytes.lend { text in
        var last = 0
        try analyzer.forEachWord(in: text) { _, _, range in
          #expect(range.lowerBound >= last && range.upperBound <= text.byteCount)
          last = range.upperBound
        }
      }
    }
  }
}

@Suite("A text query") struct TextQueryTests {
  @Test(
    "is read and written",
    arguments: [
      ("one", TextQuery.word("one")),
      ("wor*", .prefix("wor")),
      ("\"in a row\"", .phrase("in a row")),
      ("\"in a r\"*", .phrase("in a r", isPrefix: true)),
      ("a b", .all([.word("a"), .word("b")])),
      ("a OR b c", .any([.word("a"), .all([.word("b"), .word("c")])])),
      ("a -b", .all([.word("a"), .not(.word("b"))])),
      ("-(a OR b)", .not(.any([.word("a"), .word("b")]))),
      ("title:a b", .all([.within("title", .word("a")), .word("b")])),
      ("title:(a b)", .within("title", .all([.word("a"), .word("b")]))),
      ("title:\"a b\"", .within("title", .phrase("a b"))),
      ("ORDER ANDROID", .all([.word("ORDER"), .word("ANDROID")])),
    ])
  func roundTrip(text: String, query: TextQuery) throws {
    #expect(try TextQuery(parsing: text) == query)
    #expect(query.description == text)
  }

  @Test("may be written in other ways")
  func variants() throws {
    let both = TextQuery.all([.word("a"), .not(.word("b"))])
    #expect(try TextQuery(parsing: "  a AND NOT b ") == both)
    #expect(try TextQuery(parsing: "a NOT b") == both)
    #expect(try TextQuery(parsing: "(a)") == .word("a"))
    #expect(try TextQuery(parsing: "10:30") == .within("10", .word("30")))
    #expect(try TextQuery(parsing: "a:-b") == .word("a:-b"))
    #expect(try TextQuery(parsing: "a\"b\"") == .all([.word("a"), .phrase("b")]))
  }

  @Test(
    "says what is wrong, and where",
    arguments: [
      ("", 1, "a word is missing here"),
      ("a (b", 3, "there is no ')' to this '('"),
      ("a b)", 4, "there is no '(' to this ')'"),
      ("a \"b", 3, "this quotation mark is not closed"),
      ("a \"-\"", 3, "there is no word between these quotation marks"),
      ("a OR", 5, "a word is missing here"),
      ("OR a", 1, "a word is missing before this"),
      ("(a OR)", 6, "a word is missing before this ')'"),
      ("(a AND)", 7, "something must follow AND"),
      ("(NOT)", 5, "a word is missing before this ')'"),
      ("a\n\u{301}b", 3, "'\u{301}b' begins or ends with a mark that joins the space beside it"),
      ("a\u{600}\nb", 1, "'a\u{600}' begins or ends with a mark that joins the space beside it"),
      ("a AND", 6, "something must follow AND"),
      ("a *", 3, "a word is missing before this '*'"),
      ("a !?", 3, "'!?' has neither letters nor digits"),
      ("-", 2, "a word is missing here"),
      ("()", 2, "a word is missing before this ')'"),
    ])
  func errors(text: String, column: Int, reason: String) {
    #expect(throws: TextQueryError(column: column, reason: reason)) {
      try TextQuery(parsing: text)
    }
  }

  @Test("refuses what nests too deep")
  func depth() {
    #expect(throws: TextQueryError.self) {
      try TextQuery(parsing: String(repeating: "(", count: 10_000))
    }
    #expect(throws: TextQueryError.self) {
      try TextQuery(parsing: String(repeating: "-", count: 10_000))
    }
  }

  @Test(
    "takes anything that people type",
    arguments: [
      ("", TextQuery.any([])), ("\"", .any([])), (" - * ( \"\" ", .any([])), ("-whale", .any([])),
      ("white whale", .all([.word("white"), .word("whale")])),
      ("https://a.org/b?c=d", .phrase("https://a.org/b?c=d")),
      ("title:whale", .phrase("title:whale")),
      ("\"in a row", .phrase("in a row")), ("\"in a r\"*", .phrase("in a r", isPrefix: true)),
      ("whal* -white", .all([.prefix("whal"), .not(.word("white"))])),
      ("a OR b c", .any([.word("a"), .all([.word("b"), .word("c")])])),
      ("a OR", .word("a")), ("AND a", .word("a")), ("OR", .phrase("OR")),
      ("a NOT b", .all([.word("a"), .not(.word("b"))])), ("a NOT", .word("a")),
      ("(a) [b]", .all([.phrase("a"), .phrase("b")])), ("C++", .word("C")),
      ("a - b", .all([.word("a"), .word("b")])), ("well-known", .phrase("well-known")),
      ("-\"a b\"c", .all([.word("c"), .not(.phrase("a b"))])),
    ])
  func anyText(text: String, query: TextQuery) {
    #expect(TextQuery(anyText: text) == query)
  }

  @Test("of anything that people type can be written down and run")
  func anyTextAtRandom() throws {
    let pieces = [
      "\"", "*", "-", "(", ")", ":", " ", "OR", "AND", "NOT", "a", "é", "whale", "https://",
      "\u{0}",
      "\u{1F600}", "ा", "\u{301}", "東", "1", "\n", "'", "--", "\u{200F}", "\\",
    ]
    var random = SeededGenerator(seed: 11)
    try withDatabase { database in
      var definition = CollectionDefinition()
      definition.views = [ViewDefinition(.text(["title"], language: "en"))]
      try database.write { tx in
        try tx.declare("books", definition)
        try tx.set("books/1", to: ["title": "The whale, a résumé of 1 東 é"])
      }
      let snapshot = try database.snapshot()
      for _ in 0..<3000 {
        let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
        let query = TextQuery(anyText: text)
        let found = try snapshot.search("books", anyText: text)
        if query == .any([]) {
          #expect(found.isEmpty)
        } else {
          #expect(try TextQuery(parsing: query.description) == query, "\(text.debugDescription)")
        }
      }
      let long = String(repeating: "whale \"", count: 50_000)
      #expect(try snapshot.search("books", anyText: long).count == 1)
    }
  }
}
