// Computes what a view of texts would say of records that it does not hold: those of a past moment.
// All of them are looked at once; memory grows with what is found.

/// Visits records with their keys.
typealias RecordWalk = (_ visit: (_ key: RawSpan, _ record: RawSpan) throws -> Void) throws -> Void

extension ViewPlan {
  /// Only the records that count.
  func counted(_ records: @escaping RecordWalk) -> RecordWalk {
    { visit in
      try records { key, record in if try self.has(record, key: key) { try visit(key, record) } }
    }
  }
}

extension TextPlan {
  /// The records that fit a query best, the best first, as the view would rank them.
  ///
  /// - Complexity: O(words of all records); memory for what is found.
  func best(
    _ query: TextQueryPlan, limit: Int, of records: RecordWalk
  ) throws -> [TextHit] {
    let leaves = query.rankedLeaves
    var totals = TextTotals(properties.count)
    var having = leaves.map { [UInt64](repeating: 0, count: $0.terms.count) }
    var found: [(key: [UInt8], counts: [Int], length: UInt64)] = []
    try records { key, record in
      let terms = try RecordTerms(self, record)
      if terms.isEmpty { return }
      totals.add(terms)
      for (index, leaf) in leaves.enumerated() {
        for place in leaf.terms.indices where terms.has(place, of: leaf) {
          having[index][place] += 1
        }
      }
      guard terms.matches(query) else { return }
      found.append((key.array(), leaves.map { terms.count(of: $0) }, terms.length))
    }
    let ranking = TextRanking(totals, having.map { $0.min() ?? 0 })
    let hits = found.map { item in
      TextHit(key: item.key, score: ranking.score(item.counts, length: item.length))
    }
    return Array(hits.sorted { $0.precedes($1) }.prefix(max(limit, 0)))
  }
}
