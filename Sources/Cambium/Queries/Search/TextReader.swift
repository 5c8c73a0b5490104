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
  private let number: UInt32
  let plan: TextPlan
  private let reader: StateReader

  /// Has the changes of an open transaction written, which the view may lack.
  init(_ number: UInt32, _ plan: TextPlan, in snapshot: Snapshot) throws {
    try snapshot.transaction?.writeTexts()
    (self.number, self.plan) = (number, plan)
    reader = try snapshot.reader
  }

  /// The records that fit best, the best first; equally good ones in the order of their keys.
  ///
  /// - Complexity: O(found · log limit); memory for `limit` of them.
  func best(_ query: TextQueryPlan, limit: Int) throws -> [TextHit] {
    guard limit > 0, let totals = try TextTotals.read(number, plan.properties.count, reader)
    else { return [] }
    var leaves: [LeafCursor] = []
    let cursor = try self.cursor(query, &leaves)
    let ranking = TextRanking(totals, try leaves.map { try $0.records() })
    // Where a part has left a record behind, its leaves have, too.
    let counters =
      try query.mayFindInPart
      ? query.rankedLeaves.map { try LeafCursor($0, number, reader) } : leaves
    let all = try PostingCursor(TextEntry.recordsStart(number), reader)
    var best = FirstFew<TextHit>(limit)
    var counts = [Int](repeating: 0, count: counters.count)
    while let place = cursor.place {
      for (index, counter) in counters.enumerated() {
        try counter.seek(place)
        counts[index] = counter.place == place ? try counter.count() : 0
      }
      try all.seek(place)
      guard all.place == place else {
        throw DatabaseError.corrupt(reason: "view \(number) lacks a record; rebuild the state")
      }
      try add(place, all, &best) { ranking.score(counts, length: $0) }
      try cursor.next()
    }
    return best.sorted
  }

  /// Adds the record at a cursor over all records.
  private func add(
    _ place: [UInt8], _ all: PostingCursor, _ best: inout FirstFew<TextHit>,
    _ score: (_ length: UInt64) -> Double
  ) throws {
    try all.lendPayload { payload in
      var (offset, length) = (0, UInt64(0))
      for _ in plan.properties { length &+= try payload.varint(at: &offset) }
      // A key that the entries have cut is behind the lengths.
      let isCut = place.count == ViewKey.termRecordRoom
      let key = isCut ? payload.extracting(droppingFirst: offset).array() : place
      best.add(TextHit(key: key, score: score(length)))
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
    averageLength = Double(totals.lengths.reduce(0, &+)) / max(all, 1)
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
