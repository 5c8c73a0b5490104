// From text to terms, in the same way for stored texts and for queries:
//
//     text ──words──▶ word ──folded──▶ word ──stemmed──▶ stem ──without diacritics──▶ term
//                                        └──without diacritics──▶ word ──stemmed──▶ other term
//
// Stemming rules know the accents of their language: without them French takes "continuité" and
// "continue" for different words, and Russian most of its adjectives. But a user who types "resume"
// wants to find "résumé" as well, whose stem the rules derive differently. So a word with accents
// has two terms in a language, if they differ: that of the word as written, and that of the word
// without accents.

import Synchronization

/// Finds the terms of texts. Any thread may use it; they take turns.
final class TextAnalyzer: Sendable {
  /// The longest term in bytes; a longer one is cut, in texts as in queries.
  static let termBytesMax = 128

  private let stemmer: Mutex<Stemmer>?
  private let keepsDiacritics: Bool

  /// Makes an analyzer.
  ///
  /// - Parameters:
  ///   - language: The language whose rules find stems, by ISO 639 code or Snowball's name; nil for
  ///     words without stemming.
  ///   - keepsDiacritics: True if letters with and without accents are different.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a language without rules.
  init(language: String?, keepsDiacritics: Bool = false) throws {
    self.keepsDiacritics = keepsDiacritics
    if let language { stemmer = Mutex(try Stemmer(language)) } else { stemmer = nil }
  }

  /// The terms of one word.
  struct Terms: Equatable, Sendable {
    /// The term of the word as written.
    var own: [UInt8]
    /// The term of the word without accents; nil if it is the same.
    var plain: [UInt8]?

    /// True if one of them passes a test.
    func contains(where test: ([UInt8]) -> Bool) -> Bool {
      test(own) || plain.map(test) ?? false
    }
  }

  /// Visits the terms of a text's words in UTF-8, in order, each with the range of its word.
  func forEachWord(
    in text: RawSpan, _ body: (_ terms: Terms, _ range: Range<Int>) throws -> Void
  ) throws {
    var scanner = WordScanner()
    while let (range, isASCII) = try scanner.next(in: text) {
      try body(terms(text.extracting(range), isASCII: isASCII), range)
    }
  }

  /// The terms of a text's words.
  func terms(of text: String) throws -> [Terms] {
    var terms: [Terms] = []
    try Array(text.utf8).lend { try forEachWord(in: $0) { word, _ in terms.append(word) } }
    return terms
  }

  private func terms(_ word: RawSpan, isASCII: Bool) -> Terms {
    var folded: [UInt8] = []
    folded.reserveCapacity(word.byteCount)
    TermFolding.append(word, isASCII: isASCII, to: &folded)
    if isASCII || keepsDiacritics { return Terms(own: cut(stemmed(folded))) }
    let own = cut(TermFolding.withoutDiacritics(stemmed(folded)))
    if stemmer == nil { return Terms(own: own) }
    let plain = cut(stemmed(TermFolding.withoutDiacritics(folded)))
    return Terms(own: own, plain: plain == own ? nil : plain)
  }

  private func stemmed(_ word: [UInt8]) -> [UInt8] {
    var stem = word
    stemmer?.withLock { $0.stem(&stem) }
    return stem
  }

  private func cut(_ term: [UInt8]) -> [UInt8] { Array(term.prefix(TextAnalyzer.termBytesMax)) }
}
