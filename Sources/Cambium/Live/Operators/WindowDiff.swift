// The difference of two windows of rows, by their positions.

/// The rows that a step has changed, moved, taken out or brought in. Positions are in the window.
struct WindowDiff {
  /// A row at a position of the window, and the reason why it is told.
  struct Place {
    var position: Int
    var row: PlacedResult
    /// True if nothing has happened to the row itself: the window has moved over it.
    var isShift = false
  }

  /// Ascending by the position before.
  var deletions: [Place] = []
  /// Ascending by the position after.
  var insertions: [Place] = []
  /// Rows with another place that stay in the window, by the position after.
  var moved: [(from: Int, to: Int, row: PlacedResult)] = []
  /// Rows of candidates that stay in the window, by the position after.
  var survivors: [(before: Int, after: Int, row: PlacedResult)] = []

  /// The positions after of the rows that must be told as moves: the others of ``moved`` have kept
  /// their place among the rows that stay.
  var toldMoves: Set<Int> {
    let moves = MovedRows.moves(
      removed: deletions.map(\.position), inserted: insertions.map(\.position),
      touched: moved.map { ListMove(before: $0.from, after: $0.to) })
    return Set(moves.map(\.after))
  }

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moved.isEmpty && survivors.isEmpty
  }
}

extension LiveRows {
  /// The record of a step.
  struct Step {
    let windowBefore: Range<Int>
    /// Rows that were taken out, with their ranks before.
    var removed: [(rank: Int, row: PlacedResult)] = []
    /// Rows that were put in, by candidates or fetched.
    var arrived: [PlacedResult] = []
    /// Rows of candidates that have the place that they had, with their ranks before.
    var kept: [(rank: Int, row: PlacedResult)] = []

    init(windowBefore: Range<Int>) { self.windowBefore = windowBefore }

    /// The difference of the windows.
    ///
    /// - Parameters:
    ///   - windowAfter: The window's ranks after the step.
    ///   - rank: The rank of a row after the step; nil if it is not kept.
    ///   - row: The row at a rank after the step.
    /// - Returns: The difference.
    func diff(
      windowAfter: Range<Int>, _ rank: (PlacedResult) -> Int?, at row: (Int) -> PlacedResult
    ) -> WindowDiff {
      var diff = WindowDiff()
      if removed.isEmpty && arrived.isEmpty && windowAfter == windowBefore {
        for (rank, row) in kept where windowAfter.contains(rank) {
          let position = rank - windowAfter.lowerBound
          diff.survivors.append((position, position, row))
        }
        if kept.count > 1 { diff.survivors.sort { $0.after < $1.after } }
        return diff
      }
      let after = arrived.compactMap { row in rank(row).map { (rank: $0, row: row) } }
        .sorted { $0.rank < $1.rank }
      addShifts(after.map(\.rank), windowAfter, row, &diff)
      addChanged(after, windowAfter, &diff)
      for (before, row) in kept where windowBefore.contains(before) {
        guard let now = rank(row), windowAfter.contains(now) else { continue }
        diff.survivors.append(
          (before - windowBefore.lowerBound, now - windowAfter.lowerBound, row))
      }
      diff.deletions.sort { $0.position < $1.position }
      diff.insertions.sort { $0.position < $1.position }
      diff.survivors.sort { $0.after < $1.after }
      diff.moved.sort { $0.to < $1.to }
      return diff
    }

    /// Tells of rows that have kept their place, and that the window leaves or takes in.
    private func addShifts(
      _ arrivedRanks: [Int], _ windowAfter: Range<Int>, _ row: (Int) -> PlacedResult,
      _ diff: inout WindowDiff
    ) {
      let removedRanks = removed.map(\.rank)
      let before = Step.untouched(windowBefore, removedRanks)
      let after = Step.untouched(windowAfter, arrivedRanks)
      for rank in Step.ranks(ofUntouched: Step.ends(of: before, outside: after), removedRanks) {
        diff.deletions.append(
          .init(position: rank - windowBefore.lowerBound, row: Step.nothing, isShift: true))
      }
      for rank in Step.ranks(ofUntouched: Step.ends(of: after, outside: before), arrivedRanks) {
        diff.insertions.append(
          .init(position: rank - windowAfter.lowerBound, row: row(rank), isShift: true))
      }
    }

    /// A row that left by the window's movement is known by its position alone.
    private static let nothing = PlacedResult(place: [], identity: ResultIdentity(key: []))

    /// The numbers of a range that do not lie in another, in O(k) for *k* of them.
    private static func ends(of range: Range<Int>, outside other: Range<Int>) -> [Int] {
      if other.isEmpty { return Array(range) }
      let low = range.lowerBound..<max(range.lowerBound, min(range.upperBound, other.lowerBound))
      let high = max(low.upperBound, min(range.upperBound, other.upperBound))..<range.upperBound
      return Array(low) + Array(high)
    }

    /// The numbers, among rows that were not touched, of those in a window.
    private static func untouched(_ window: Range<Int>, _ touched: [Int]) -> Range<Int> {
      func number(_ rank: Int) -> Int { rank - touched.prefix { $0 < rank }.count }
      return number(window.lowerBound)..<number(window.upperBound)
    }

    /// The ranks of rows that were not touched, by their numbers among these; all ascending.
    private static func ranks(ofUntouched numbers: [Int], _ touched: [Int]) -> [Int] {
      var passed = 0
      return numbers.map { number in
        while passed < touched.count, touched[passed] <= number + passed { passed += 1 }
        return number + passed
      }
    }

    /// Tells of rows that were taken out or put in.
    private func addChanged(
      _ after: [(rank: Int, row: PlacedResult)], _ windowAfter: Range<Int>, _ diff: inout WindowDiff
    ) {
      let gone = removed.filter { windowBefore.contains($0.rank) }
      let come = after.filter { windowAfter.contains($0.rank) }
      // Most steps have the one or the other.
      var ranks: [ResultIdentity: Int] = [:]
      if !come.isEmpty { for (rank, row) in gone { ranks[row.identity] = rank } }
      for (rank, row) in come {
        let position = rank - windowAfter.lowerBound
        if let old = gone.isEmpty ? nil : ranks.removeValue(forKey: row.identity) {
          let before = old - windowBefore.lowerBound
          diff.moved.append((before, position, row))
          diff.survivors.append((before, position, row))
        } else {
          diff.insertions.append(.init(position: position, row: row))
        }
      }
      for (rank, row) in gone where come.isEmpty || ranks[row.identity] != nil {
        diff.deletions.append(.init(position: rank - windowBefore.lowerBound, row: row))
      }
    }
  }
}

// MARK: Whole results

extension WindowDiff {
  /// Compares two results row by row.
  ///
  /// - Complexity: O(n log n).
  init(from before: [PlacedResult], to after: [PlacedResult]) {
    var positions: [ResultIdentity: Int] = [:]
    for (position, row) in before.enumerated() { positions[row.identity] = position }
    for (position, row) in after.enumerated() {
      if let old = positions.removeValue(forKey: row.identity) {
        survivors.append((old, position, row))
        moved.append((old, position, row))
      } else {
        insertions.append(Place(position: position, row: row))
      }
    }
    deletions = positions.values.sorted().map { Place(position: $0, row: before[$0]) }
  }
}

extension WindowDiff {
  /// Replaces all rows of a window.
  init(replacing count: Int, with after: [PlacedResult]) {
    let unknown = PlacedResult(place: [], identity: ResultIdentity(key: []))
    deletions = (0..<count).map { Place(position: $0, row: unknown) }
    insertions = after.enumerated().map { Place(position: $0.offset, row: $0.element) }
  }
}
