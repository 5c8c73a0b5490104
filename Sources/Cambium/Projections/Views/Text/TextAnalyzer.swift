// From text to terms, the same way for what is stored and for what is asked:
//
//     text ──words──▶ word ──folded──▶ word ──stemmed──▶ stem ──without diacritics──▶ term

import Synchronization

/// Finds the terms of texts. Any thread may use it; they take turns.
final class TextAnalyzer: Sendable {
  /// The longest term in bytes; a longer one is cut, in texts as in queries.
  static let termBytesMax = 128

  private let stemmer: Mutex<Stemmer>?
  private let keepsDiacritics: Bool

  /// Makes one.
  ///
  /// - Parameters:
  ///   - language: Whose rules find stems, by ISO 639 code or Snowball's name; nil for words as
  ///     they are.
  ///   - keepsDiacritics: Whether letters with and without accents are different.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a language without rules.
  init(language: String?, keepsDiacritics: Bool = false) throws {
    self.keepsDiacritics = keepsDiacritics
    if let language { stemmer = Mutex(try Stemmer(language)) } else { stemmer = nil }
  }

  /// Tells the terms of a text in UTF-8 in order, each with the bytes that it comes from.
  func forEachTerm(
    in text: RawSpan, _ body: (_ term: [UInt8], _ range: Range<Int>) throws -> Void
  ) throws {
    var scanner = WordScanner()
    while let (range, isASCII) = try scanner.next(in: text) {
      try body(term(text.extracting(range), isASCII: isASCII), range)
    }
  }

  /// The terms of a text.
  func terms(of text: String) throws -> [[UInt8]] {
    var terms: [[UInt8]] = []
    try Array(text.utf8).lend { try forEachTerm(in: $0) { term, _ in terms.append(term) } }
    return terms
  }

  private func term(_ word: RawSpan, isASCII: Bool) -> [UInt8] {
    var term: [UInt8] = []
    term.reserveCapacity(word.byteCount)
    TermFolding.append(word, isASCII: isASCII, to: &term)
    stemmer?.withLock { $0.stem(&term) }
    if !keepsDiacritics && !isASCII { term = TermFolding.withoutDiacritics(term) }
    if term.count > TextAnalyzer.termBytesMax {
      term.removeSubrange(TextAnalyzer.termBytesMax...)
    }
    return term
  }
}
