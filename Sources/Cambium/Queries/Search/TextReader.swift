// Searching a text view: the records that a query finds, in the order of their keys as they are
// found, or the best first.
//
// The score of a record is BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, 2009), the
// words of all properties counted together. As in SQLite's FTS5, a term that most records have adds
// next to nothing to the score, rather than lowering it.

import LMDB

/// A record that a query finds.
struct TextHit: Equatable, Sendable, Ranked {
  /// The record's key, in its stored form.
  var key: [UInt8]
  /// The relevance of the record; a higher score is a better match.
  var score: Double

  func precedes(_ other: TextHit) -> Bool {
    score == other.score ? key.lexicographicallyPrecedes(other.key) : score > other.score
  }
}

/// Searches a text view at present, or in an open transaction.
struct TextReader {
  let number: UInt32
  let plan: TextPlan
  let reader: StateReader

  /// The records that fit best, the best first; equally good ones in the order of their keys.
  ///
  /// - Complexity: O(found · log limit); memory for `limit` of them.
  func best(_ query: TextQueryPlan, limit: Int) throws -> [TextHit] {
    guard limit > 0, let totals = try totals() else { return [] }
    var leaves: [LeafCursor] = []
    let cursor = try self.cursor(query, &leaves)
    let ranking = TextRanking(totals, leaves.map(\.records))
    // Where a part has left a record behind, its leaves have, too.
    let counters =
      try query.mayFindInPart
      ? query.rankedLeaves.map { try LeafCursor($0, number, reader) } : leaves
    var best = FirstFew<TextHit>(limit)
    while let place = cursor.place {
      let counts = try counters.map { counter in
        try counter.seek(place)
        return counter.place == place ? counter.count : 0
      }
      let score = ranking.score(counts, length: try length(of: place))
      best.add(TextHit(key: try key(of: place), score: score))
      try cursor.next()
    }
    return best.sorted
  }

  /// The number of records that have words, and the number of those words.
  func totals() throws -> TextTotals? {
    try TextEntry.totalsKey(number).lend { key in
      try reader.access.get(reader.tables.views, key) { try TextTotals(plan, $0) }
    }
  }

  private func lengths<R>(of place: [UInt8], _ body: (RawSpan) throws -> R) throws -> R {
    let key = TextEntry.recordsStart(number) + place
    guard let result = try key.lend({ try reader.access.get(reader.tables.views, $0, body) })
    else {
      throw DatabaseError.corrupt(reason: "view \(number) lacks a record; rebuild the state")
    }
    return result
  }

  private func length(of place: [UInt8]) throws -> UInt64 {
    try lengths(of: place) { bytes in
      var offset = 0
      return try plan.properties.reduce(0) { sum, _ in sum + (try bytes.varint(at: &offset)) }
    }
  }

  /// The key of a record, which its entries may have cut.
  private func key(of place: [UInt8]) throws -> [UInt8] {
    if place.count < ViewKey.termRecordRoom { return place }
    return try lengths(of: place) { bytes in
      var offset = 0
      for _ in plan.properties { _ = try bytes.varint(at: &offset) }
      return try bytes.array(offset, bytes.byteCount - offset)
    }
  }

  /// The cursor of a query; its leaves count for the rank, unless they are excluded.
  private func cursor(
    _ query: TextQueryPlan, _ leaves: inout [LeafCursor]
  ) throws -> any TextCursor {
    switch query {
    case .terms(let leaf):
      let cursor = try LeafCursor(leaf, number, reader)
      leaves.append(cursor)
      return cursor
    case .all(let queries) where queries.isEmpty:
      return try RestCursor(number, reader, except: nil)
    case .all(let queries):
      // Queries that exclude records are asked last.
      return try AllCursor(ordered(queries).map { try self.cursor($0, &leaves) })
    case .any(let queries): return AnyCursor(try queries.map { try self.cursor($0, &leaves) })
    case .not(let query):
      var ignored: [LeafCursor] = []
      return try RestCursor(number, reader, except: try self.cursor(query, &ignored))
    }
  }

  private func ordered(_ queries: [TextQueryPlan]) -> [TextQueryPlan] {
    func isNot(_ query: TextQueryPlan) -> Bool { if case .not = query { true } else { false } }
    return queries.filter { !isNot($0) } + queries.filter(isNot)
  }
}

/// Scores records by BM25.
struct TextRanking {
  private static let saturation = 1.2
  private static let lengthWeight = 0.75

  private let weights: [Double]
  private let averageLength: Double

  /// - Parameters:
  ///   - totals: The number of all records, and of their words.
  ///   - records: The number of records that each leaf of the query finds.
  init(_ totals: TextTotals, _ records: [UInt64]) {
    let all = Double(totals.records)
    weights = records.map { count in
      let weight = log((all - Double(count) + 0.5) / (Double(count) + 0.5))
      return weight > 0 ? weight : 1e-6
    }
    averageLength = Double(totals.lengths.reduce(0, +)) / max(all, 1)
  }

  /// The score of a record.
  ///
  /// - Parameters:
  ///   - counts: The number of times that the record matches each leaf of the query.
  ///   - length: The number of words in the record.
  /// - Returns: The score; 0 for a record that matches no leaf.
  func score(_ counts: [Int], length: UInt64) -> Double {
    let relative = averageLength > 0 ? Double(length) / averageLength : 0
    let damping =
      TextRanking.saturation
      * (1 - TextRanking.lengthWeight + TextRanking.lengthWeight * relative)
    var score = 0.0
    for (weight, count) in zip(weights, counts) where count > 0 {
      let frequency = Double(count)
      score += weight * frequency * (TextRanking.saturation + 1) / (frequency + damping)
    }
    return score
  }
}
