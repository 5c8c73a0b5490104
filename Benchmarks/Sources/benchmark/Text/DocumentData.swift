/// Documents whose words are as rare as those of a language are: the n-th of them occurs n times as
/// rarely as the first.
struct DocumentData {
  private static let vocabularyCount = 40_000
  private static let wordsMean = 86

  let texts: [String]
  private let vocabulary: [String]

  init(count: Int) {
    let vocabulary = DocumentData.vocabulary()
    self.vocabulary = vocabulary
    var random = SeededGenerator(seed: 11)
    var weights: [Double] = []
    for rank in 1...vocabulary.count { weights.append((weights.last ?? 0) + 1 / Double(rank)) }
    texts = (0..<count).map { _ in
      let words = DocumentData.wordsMean / 2 + random.next(below: DocumentData.wordsMean)
      return (0..<words).map { _ in vocabulary[DocumentData.draw(weights, &random)] }
        .joined(separator: " ")
    }
  }

  /// Different words of two to four syllables, so that many have the same beginning.
  private static func vocabulary() -> [String] {
    var random = SeededGenerator(seed: 12)
    let (first, second) = (Array("bcdfghklmnprstvwz"), Array("aeiou"))
    var known: Set<String> = []
    var words: [String] = []
    while words.count < vocabularyCount {
      var word = ""
      for _ in 0..<(2 + random.next(below: 3)) {
        word.append(first[random.next(below: first.count)])
        word.append(second[random.next(below: second.count)])
      }
      if known.insert(word).inserted { words.append(word) }
    }
    return words
  }

  /// The place of a random word, by the sums of all weights up to each.
  private static func draw(_ sums: [Double], _ random: inout SeededGenerator) -> Int {
    let wanted = Double(random.next() >> 11) / Double(1 << 53) * (sums.last ?? 0)
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] <= wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Searches of each kind, from frequent words to rare ones.
  func searches(_ count: Int) -> [(name: String, searches: [DocumentSearch])] {
    let ranks = (0..<count).map { 3 + $0 * $0 * 4 }
    let words = ranks.map { vocabulary[$0] }
    var random = SeededGenerator(seed: 13)
    let pairs = (0..<count).map { _ -> String in
      let words = texts[random.next(below: texts.count)].split(separator: " ")
      let start = random.next(below: words.count - 1)
      return "\(words[start]) \(words[start + 1])"
    }
    return [
      ("search for a word", words.map { .word($0) }),
      ("search for two words", zip(words, words.reversed()).map { .all($0, $1) }),
      ("search for a beginning", words.map { .beginning(String($0.prefix(3))) }),
      ("search for a phrase", pairs.map { .phrase($0) }),
    ]
  }

  /// New texts of some documents.
  var changes: [(number: Int, text: String)] {
    let step = max(texts.count / 100, 1)
    return stride(from: 0, to: texts.count, by: step).map { index in
      (index + 1, texts[(index + 7) % texts.count])
    }
  }
}
