/// The ascending subsequence of a sequence with the greatest total weight.
///
/// With equal weights this is a longest ascending subsequence. One pass finds, for each value, the
/// heaviest subsequence that ends with it, among those that end with a smaller one; a Fenwick tree
/// over the values' ranks answers that in O(log *m*).
enum HeaviestAscent {
  /// Says of each value whether it belongs to the subsequence, in O(*m* log *m*).
  ///
  /// - Parameters:
  ///   - values: Numbers that all differ.
  ///   - weights: One positive weight for each value; 1 for each unless given.
  /// - Returns: True for a value that belongs to it, in the order of the values.
  static func kept(_ values: [Int], weights: [Int]? = nil) -> [Bool] {
    var ranks = [Int](repeating: 0, count: values.count)
    for (rank, index) in values.indices.sorted(by: { values[$0] < values[$1] }).enumerated() {
      ranks[index] = rank + 1
    }
    var best = PrefixMaximum(count: values.count)
    var previous: [Int?] = []
    for index in values.indices {
      let (weight, last) = best.upTo(ranks[index])
      previous.append(last)
      best.raise(ranks[index], to: weight + (weights?[index] ?? 1), index)
    }
    var kept = [Bool](repeating: false, count: values.count)
    var next = best.upTo(values.count).index
    while let index = next {
      kept[index] = true
      next = previous[index]
    }
    return kept
  }
}

/// A Fenwick tree of the greatest weight among the first ranks, and whose it is.
private struct PrefixMaximum {
  private var nodes: [(weight: Int, index: Int?)]

  init(count: Int) { nodes = Array(repeating: (0, nil), count: count + 1) }

  func upTo(_ rank: Int) -> (weight: Int, index: Int?) {
    var (rank, best) = (rank, nodes[0])
    while rank > 0 {
      if nodes[rank].weight > best.weight { best = nodes[rank] }
      rank &= rank - 1
    }
    return best
  }

  mutating func raise(_ rank: Int, to weight: Int, _ index: Int) {
    var rank = rank
    while rank < nodes.count {
      if weight > nodes[rank].weight { nodes[rank] = (weight, index) }
      rank += rank & -rank
    }
  }
}
