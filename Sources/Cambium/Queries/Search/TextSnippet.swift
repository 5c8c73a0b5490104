// A short piece of a text around what was looked for: the run of words that has the most different
// terms of the query, then the most of them, then the first.

/// A piece of a text, with the places of what was found.
public struct TextSnippet: Hashable, Sendable {
  /// The piece.
  public let text: String
  /// The places in it of the words that were looked for.
  public let highlights: [Range<String.Index>]
  /// True if the text begins earlier.
  public let isCutAtStart: Bool
  /// True if the text continues after the piece.
  public let isCutAtEnd: Bool
}

extension TextPlan {
  /// The piece of a text that shows best what a query has found.
  ///
  /// - Parameters:
  ///   - text: A text of the record.
  ///   - query: The query; words that it excludes do not count.
  ///   - words: The largest number of words in the piece.
  /// - Returns: The piece; the beginning of the text where no word is found.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func snippet(of text: String, for query: TextQueryPlan, words: Int) throws -> TextSnippet {
    let bytes = Array(text.utf8)
    var found: [(range: Range<Int>, term: Int?)] = []
    let wanted = query.wantedTerms
    try bytes.lend { span in
      try analyzer.forEachWord(in: span) { own, plain, range in
        let term = wanted.firstIndex { wanted in
          if wanted.fits(own) { return true }
          guard let plain else { return false }
          return wanted.fits(plain)
        }
        found.append((range, term))
      }
    }
    let window = TextPlan.bestWindow(found.map(\.term), max(words, 1))
    return TextPlan.snippet(text, found.map { ($0.range, $0.term != nil) }, window)
  }

  /// The run of words to show.
  private static func bestWindow(_ terms: [Int?], _ words: Int) -> Range<Int> {
    let length = min(words, terms.count)
    var best = (start: 0, different: 0, all: 0)
    var counts: [Int: Int] = [:]
    var all = 0
    for (index, term) in terms.enumerated() {
      if let term {
        counts[term, default: 0] += 1
        all += 1
      }
      if index >= length, let gone = terms[index - length] {
        counts[gone, default: 1] -= 1
        if counts[gone] == 0 { counts[gone] = nil }
        all -= 1
      }
      let start = max(index - length + 1, 0)
      if (counts.count, all) > (best.different, best.all) { best = (start, counts.count, all) }
    }
    // Where all matches are near the start, the piece begins there.
    return best.start..<(best.start + length)
  }

  private static func snippet(
    _ text: String, _ words: [(range: Range<Int>, isWanted: Bool)], _ window: Range<Int>
  ) -> TextSnippet {
    let isStart = window.lowerBound == 0
    let isEnd = window.upperBound == words.count
    let start = isStart ? 0 : words[window.lowerBound].range.lowerBound
    let end = isEnd ? text.utf8.count : words[window.upperBound - 1].range.upperBound
    let piece = String(decoding: Array(text.utf8)[start..<end], as: UTF8.self)
    let highlights = words[window].filter(\.isWanted).map { word in
      let from = piece.utf8.index(piece.startIndex, offsetBy: word.range.lowerBound - start)
      return from..<piece.utf8.index(from, offsetBy: word.range.count)
    }
    return TextSnippet(
      text: piece, highlights: highlights, isCutAtStart: !isStart, isCutAtEnd: !isEnd)
  }
}

extension TextQueryPlan {
  /// The terms that are looked for.
  fileprivate var wantedTerms: [WantedTerm] {
    switch self {
    case .terms(let leaf):
      leaf.terms.enumerated().map {
        WantedTerm(term: $1, isPrefix: leaf.isPrefix && $0 == leaf.terms.count - 1)
      }
    case .all(let queries), .any(let queries): queries.flatMap(\.wantedTerms)
    case .not: []
    }
  }
}

/// A term that is looked for.
private struct WantedTerm {
  let term: [UInt8]
  /// True if it may be the beginning of one.
  let isPrefix: Bool

  /// True if it is a word's term.
  func fits(_ other: RawSpan) -> Bool {
    term.lend { isPrefix ? other.starts(with: $0) : other.equals($0) }
  }
}
