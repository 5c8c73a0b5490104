// The rows of a live query in order, as many as its window needs and some more.
//
//     rank    0 … offset … offset + limit … kept   last row kept = bound   (rows not known)
//             └ before ┘ └── window ────┘ └ slack ┘
//
// A step takes the candidates' rows out, puts those in that they make now, trims, and fetches what
// is missing behind the last row, once. The diff follows from the ranks before and after: rows
// that no candidate made keep their order, so those that enter or leave the window are found at
// its ends.

import LMDB

/// The maintained rows of a query: its filter, order, limit and offset, or its pages.
///
/// Invariants:
/// 1. The places of `rows` ascend, and no two are equal. Asserted after each step.
/// 2. `rows` are all rows of the query from the extent's start up to the last of them; all rows
///    there are from there on if `isComplete`.
///    Proved by running the query again, in the tests.
/// 3. `roots` has exactly these rows, by their roots. Asserted after each step.
struct LiveRows {
  /// Fetches so many rows behind one, or from the first; nil for all.
  typealias Fetch = (_ last: PlacedResult?, _ most: Int?) throws -> [PlacedResult]

  /// A record whose rows may differ.
  struct Candidate {
    let key: [UInt8]
    /// The record as it is now; nil if it makes no rows.
    var record: StoredRecord?
    /// The rows that it makes now.
    var rows: [PlacedResult] = []
  }

  private var rows = ChunkedList<PlacedResult>()
  private var roots = RowsByRoot()
  private var isComplete = false
  private(set) var extent: WindowExtent

  init(_ extent: WindowExtent) { self.extent = extent }

  private var needed: Int? { extent.needed }
  private var slack: Int { extent.kept }

  /// The ranks of the window among some number of rows.
  private func window(of count: Int) -> Range<Int> { extent.window(of: count) }

  /// The rows of the window, in order.
  var visible: [PlacedResult] { window(of: rows.count).map { rows[$0] } }

  /// The first row that is kept.
  var first: PlacedResult? { rows.isEmpty ? nil : rows[0] }

  /// The last row that is kept, if there may be others behind it.
  var bound: PlacedResult? { isComplete ? nil : rows.lastElement }

  /// True if rows of a root are kept.
  func keeps(_ root: [UInt8]) -> Bool { roots.hasRows(of: root) }

  /// The number of rows that are kept, those of the slack included.
  var keptCount: Int { rows.count }

  /// True if the window needs rows from behind the last one once those of candidates are replaced.
  func refills(after candidates: [Candidate]) -> Bool {
    guard let needed, !isComplete else { return false }
    let bound = rows.lastElement
    let count = candidates.reduce(rows.count) { count, candidate in
      count - roots.rows(of: candidate.key).count + counting(candidate.rows, bound).count
    }
    return count < needed
  }

  // MARK: Steps

  /// Reads the first result.
  mutating func fill(_ fetch: Fetch) throws {
    let most = needed.map { $0 == 0 ? 0 : $0 + slack }
    let found = most == 0 ? [] : try fetch(nil, most)
    rows = ChunkedList(found)
    isComplete = most.map { $0 > 0 && found.count < $0 } ?? true
    roots = RowsByRoot()
    for row in found { roots.insert(row) }
    checkInvariants()
  }

  /// Replaces the rows of candidates.
  ///
  /// - Parameters:
  ///   - candidates: The candidates, with the rows that each makes now.
  ///   - fetch: Fetches what is missing behind the last row.
  /// - Returns: The difference of the windows.
  /// - Throws: The errors of `fetch`. The rows are then of no more use.
  /// - Complexity: O(*k* log *n*) for *k* rows of candidates among *n* that are kept.
  mutating func replace(_ candidates: [Candidate], _ fetch: Fetch) throws -> WindowDiff {
    if needed == 0 { return WindowDiff() }
    var step = Step(windowBefore: window(of: rows.count))
    let bound = isComplete ? nil : rows.lastElement
    for candidate in candidates { compare(candidate.key, candidate.rows, bound, &step) }
    step.removed.sort { $0.rank < $1.rank }
    for (rank, _) in step.removed.reversed() { roots.remove(rows.remove(at: rank)) }
    for row in step.arrived { insert(row) }
    trim()
    step.arrived += try refill(extent, fetch)
    checkInvariants()
    return step.diff(windowAfter: window(of: rows.count)) {
      rank(of: $0)
    } at: {
      rows[$0]
    }
  }

  /// Compares the rows that a root had with those that it makes now. A record may be joined to many
  /// others, so both are gone through once.
  private func compare(
    _ key: [UInt8], _ made: [PlacedResult], _ bound: PlacedResult?, _ step: inout Step
  ) {
    var old = roots.rows(of: key)
    if old.count > 1 { old.sort { $0.precedes($1) } }
    var now = counting(made, bound)
    if now.count > 1 { now.sort { $0.precedes($1) } }
    var next = 0
    for row in old {
      while next < now.count, now[next].precedes(row) {
        step.arrived.append(now[next])
        next += 1
      }
      let rank = place(of: row)
      if next < now.count, now[next].isAt(row) {
        step.kept.append((rank, row))
        next += 1
      } else {
        step.removed.append((rank, row))
      }
    }
    step.arrived += now[next...]
  }

  /// The rows that lie in the part that is kept.
  private func counting(_ made: [PlacedResult], _ bound: PlacedResult?) -> [PlacedResult] {
    made.filter { row in
      !extent.isBefore(row) && bound.map { !$0.precedes(row) } ?? true
    }
  }

  private mutating func insert(_ row: PlacedResult) {
    insert(row, at: place(of: row))
  }

  /// Drops rows far behind the window.
  private mutating func trim() {
    guard let needed, rows.count > needed + 2 * slack else { return }
    while rows.count > needed + slack { roots.remove(rows.remove(at: rows.count - 1)) }
    isComplete = false
  }

  /// Fetches what is missing behind the last row for a part of the result. Nothing has changed if
  /// that fails.
  private mutating func refill(
    _ extent: WindowExtent, _ fetch: Fetch
  ) throws -> [PlacedResult] {
    guard let needed = extent.needed, rows.count < needed, !isComplete else { return [] }
    let most = needed + extent.kept - rows.count
    let found = try fetch(rows.lastElement, most)
    isComplete = found.count < most
    for row in found { insert(row, at: rows.count) }
    return found
  }

  // MARK: Pages

  /// True if there is a row behind the window, where the extent says that it is to be known.
  var hasNext: Bool { rows.count > window(of: rows.count).upperBound }

  /// Takes more rows into the window behind its last, and leaves out others at its front.
  ///
  /// - Parameters:
  ///   - count: The number of rows by which the window grows.
  ///   - most: The most rows of the window then; nil for no limit. It is no less than `count`.
  ///   - fetch: As ``replace(_:_:)`` has it.
  /// - Returns: The difference of the windows.
  /// - Throws: The errors of `fetch`; nothing has changed then.
  mutating func goOn(by count: Int, keeping most: Int?, _ fetch: Fetch) throws -> WindowDiff {
    guard let limit = extent.limit, hasNext else { return WindowDiff() }
    let before = window(of: rows.count)
    let excess = most.map { max(0, limit + count - $0) } ?? 0
    var wider = extent
    wider.limit = limit + count
    _ = try refill(wider, fetch)
    extent = wider
    let after = window(of: rows.count)
    var diff = WindowDiff()
    diff.deletions = (0..<excess).map { WindowDiff.Place(position: $0, row: rows[$0]) }
    diff.insertions = (before.upperBound..<after.upperBound).map {
      WindowDiff.Place(position: $0 - excess, row: rows[$0])
    }
    for _ in 0..<excess { roots.remove(rows.remove(at: 0)) }
    if excess > 0 { extent.start = rows[0].place }
    extent.limit = limit + count - excess
    checkInvariants()
    return diff
  }

  /// Takes rows into the window before its first, and leaves out others at its end.
  ///
  /// - Parameters:
  ///   - found: The rows right before the first, in order.
  ///   - isFirst: True if there are no others before them.
  ///   - most: The most rows of the window then; nil for no limit. It is no less than their number.
  /// - Returns: The difference of the windows.
  mutating func goBack(
    over found: [PlacedResult], isFirst: Bool, keeping most: Int?
  ) -> WindowDiff {
    guard let limit = extent.limit else { return WindowDiff() }
    let before = window(of: rows.count)
    for (rank, row) in found.enumerated() { insert(row, at: rank) }
    extent.start = isFirst ? nil : found.first?.place ?? extent.start
    extent.limit = min(limit + found.count, most ?? .max)
    let after = window(of: rows.count)
    var diff = WindowDiff()
    let left = max(0, after.upperBound - found.count)
    diff.deletions = (min(left, before.upperBound)..<before.upperBound).map {
      WindowDiff.Place(position: $0, row: rows[$0 + found.count])
    }
    diff.insertions = found.indices.map { WindowDiff.Place(position: $0, row: found[$0]) }
    trim()
    checkInvariants()
    return diff
  }

  // MARK: Ranks

  /// The rank that a row has, or would have.
  private func place(of row: PlacedResult) -> Int {
    row.lendPlace { place in
      rows.position { row in row.lendPlace { $0.precedes(place) } }
    }
  }

  /// The rank of a row; nil if it is not kept.
  private func rank(of row: PlacedResult) -> Int? {
    let rank = place(of: row)
    return rank < rows.count && rows[rank].isAt(row) ? rank : nil
  }

  private mutating func insert(_ row: PlacedResult, at rank: Int) {
    rows.insert(row, at: rank)
    roots.insert(row)
  }

  private func checkInvariants() {
    assert(roots.count == rows.count, "roots of other rows")
    assert(
      (1..<max(1, rows.count)).allSatisfy {
        rows[$0 - 1].precedes(rows[$0])
      }, "rows out of order")
  }
}

extension WeightedList {
  fileprivate var lastElement: Element? { count == 0 ? nil : self[count - 1] }
}
