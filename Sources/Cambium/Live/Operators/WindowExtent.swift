/// The part of an ordered result that a live query shows, and the rows that it keeps for it.
struct WindowExtent: Sendable {
  /// The number of rows that are left out before the window.
  var offset = 0
  /// The most rows of the window; nil for all.
  var limit: Int?
  /// The place before which rows do not count: the window stays there, whatever happens before it.
  /// Nil for the beginning.
  var start: [UInt8]?
  /// The number of rows that are kept behind the window, so that most removals fetch nothing; nil
  /// for a quarter of the window.
  var slack: Int?
  /// True if one row behind the window is known as long as there is any.
  var knowsNext = false

  /// True if it leaves out rows.
  var isBounded: Bool { limit != nil || offset > 0 || start != nil }

  /// The number of rows that must be known; nil for all.
  var needed: Int? {
    limit.flatMap { limit in
      if limit == 0 { return 0 }
      let (sum, overflow) = limit.addingReportingOverflow(offset)
      // More than there can be, with room for what is kept behind.
      return overflow || sum > 1 << 40 ? nil : sum + (knowsNext ? 1 : 0)
    }
  }

  /// The number of rows to keep behind those that are needed.
  var kept: Int { slack ?? 16 + min(limit ?? 0, 1 << 40) / 4 }

  /// The ranks of the window among some number of rows.
  func window(of count: Int) -> Range<Int> {
    let start = min(offset, count)
    return start..<min(count, needed.map { $0 - (knowsNext && $0 > 0 ? 1 : 0) } ?? count)
  }

  /// True if a row lies before the part that counts.
  func isBefore(_ row: PlacedResult) -> Bool {
    start.map { row.precedes($0) } ?? false
  }
}
