/// Finds the word that was probably meant.
enum Suggestion {
  /// The nearest of the words, if it is near enough to be a slip: one that starts with what was
  /// written, or differs by an edit for every three letters.
  static func nearest(to word: String, in words: [String]) -> String? {
    if word.utf8.count >= 2, let longer = words.first(where: { $0.hasPrefix(word) }) {
      return longer
    }
    let limit = word.count <= 3 ? 1 : word.count / 3
    let distances = words.map { (word: $0, distance: distance(word, $0)) }
    return distances.filter { $0.distance <= max(1, limit) }.min { $0.distance < $1.distance }?.word
  }

  /// Says on standard error that no record has ever had a property, and which was probably meant.
  static func warn(ofUnknown name: String, among known: [String]) {
    let hint = nearest(to: name, in: known).map { "; did you mean \($0)?" } ?? ""
    System.note("no record has ever had a property '\(name)'\(hint)")
  }

  /// The number of letters to insert, delete, replace or swap with their neighbour.
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
        var best = min(replaced, last[j + 1] + 1, row[j] + 1)
        if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
          best = min(best, beforeLast[j - 1] + 1)
        }
        row.append(best)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
