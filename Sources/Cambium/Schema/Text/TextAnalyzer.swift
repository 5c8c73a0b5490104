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
  }

  /// Visits the terms of a text's words in UTF-8, in order.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - body: Takes the term of a word as written, that of the word without accents if it is
  ///     another one, and the range of the word.
  /// - Throws: Any error that `body` throws.
  /// - Complexity: O(*n*); no memory is allocated for a word in ASCII.
  func forEachWord(
    in text: RawSpan,
    _ body: (_ own: RawSpan, _ plain: RawSpan?, _ range: Range<Int>) throws -> Void
  ) throws {
    var scanner = WordScanner()
    var term = ByteBuffer(capacity: 128)
    while let (range, isASCII) = try scanner.next(in: text) {
      if isASCII {
        term.clear()
        Folding.append(text.extracting(range), .ignoringCase, to: &term)
        finish(&term)
        try term.lend { try body($0, nil, range) }
      } else {
        let terms = terms(text.extracting(range))
        try terms.own.lend { own in
          guard let plain = terms.plain else { return try body(own, nil, range) }
          try plain.lend { try body(own, $0, range) }
        }
      }
    }
  }

  /// The terms of a text's words.
  func terms(of text: String) throws -> [Terms] {
    var terms: [Terms] = []
    try Array(text.utf8).lend { text in
      try forEachWord(in: text) { own, plain, _ in
        terms.append(Terms(own: own.array(), plain: plain?.array()))
      }
    }
    return terms
  }

  /// The terms of a word that is not in ASCII.
  private func terms(_ word: RawSpan) -> Terms {
    var folded: [UInt8] = []
    folded.reserveCapacity(word.byteCount)
    TermFolding.append(word, to: &folded)
    if keepsDiacritics { return Terms(own: finished(folded)) }
    let own = cut(TermFolding.withoutDiacritics(stemmed(folded)))
    if stemmer == nil { return Terms(own: own) }
    let plain = finished(TermFolding.withoutDiacritics(folded))
    return Terms(own: own, plain: plain == own ? nil : plain)
  }

  /// Makes a term of a folded word.
  private func finish(_ word: inout ByteBuffer) {
    stem(&word)
    word.cut(to: min(word.count, TextAnalyzer.termBytesMax))
  }

  private func stem(_ word: inout ByteBuffer) {
    stemmer?.withLock { $0.stem(&word) }
  }

  private func finished(_ word: [UInt8]) -> [UInt8] { cut(stemmed(word)) }

  private func stemmed(_ word: [UInt8]) -> [UInt8] {
    var stem = ByteBuffer(capacity: word.count + 1)
    stem.append(array: word)
    self.stem(&stem)
    return stem.array()
  }

  private func cut(_ term: [UInt8]) -> [UInt8] { Array(term.prefix(TextAnalyzer.termBytesMax)) }
}
