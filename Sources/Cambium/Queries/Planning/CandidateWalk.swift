/// A walk over candidates that ends where enough have passed, as the planner sees it.
struct CandidateWalk {
  /// The share of the worst case that counts where the end is a guess.
  private static let doubt = 0.1
  /// The share of records that is taken to pass a test, or a filter in Swift, of which nothing is
  /// known.
  static let unknownShare = 0.25

  /// The candidates that are likely to be looked at.
  let count: Int
  /// The candidates that its cost counts. Where the end is a guess, some of all that there are
  /// count as well: those that pass may all lie at the end, and a limit must not tempt into a walk
  /// over everything where a few would do.
  let weight: Double

  /// One that looks at a known number.
  init(all count: Int) {
    self.count = count
    weight = Double(count)
  }

  /// One that ends early, if a share of the candidates passes.
  init(through candidates: Int, wanted: Int, share: Double) {
    let likely = min(Double(candidates), Double(wanted) / max(share, 1e-9))
    count = Int(likely)
    weight = likely + CandidateWalk.doubt * (Double(candidates) - likely)
  }

  /// The share of a collection's records that is likely to pass tests, which are assumed to be
  /// independent. Of one test it is known from an index that has counted what passes.
  static func share(
    of childCount: Int, passing tests: [Condition.Test], _ scans: [IndexScan]
  ) -> Double {
    tests.reduce(1.0) { share, test in
      let counts = scans.filter { !$0.isGuess && $0.consumed == [test] }.map(\.estimate)
      return share * (counts.min().map { Double($0) / Double(max(1, childCount)) } ?? unknownShare)
    }
  }
}

extension QueryDescription {
  /// The number of records that are needed out of a number of candidates.
  func wanted(of count: Int) -> Int {
    guard grouping == nil, !isDistinct, let limit else { return count }
    let (wanted, overflow) = limit.addingReportingOverflow(offset)
    return overflow ? count : min(count, wanted)
  }
}
