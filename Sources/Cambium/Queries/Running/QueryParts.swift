// Reading the results of one run part by part: each part begins where the one before ended, without
// planning again, and nothing is lent in between.
//
//     in the order of an index or of the keys ──▶ a cursor continues after the last result
//     sorted ──▶ the sorted results are kept, in memory or in a file
//     groups, distinct values ──▶ these are made once and kept in the same way

/// The state of a run that is read part by part.
struct QueryParts {
  /// The number of results in the next part.
  var most: Int
  var window: QueryWindow
  var isOver = false
  /// The results that had to be sorted, or computed, as far as they are left.
  var sorted: SortedResults?
}

/// The range of results that are returned.
///
/// A run copies it while it visits results: access to a class's variable is checked at run time.
struct QueryWindow {
  var skipped: Int
  var left: Int
  var handed = 0
  /// The number of results after which the visit ends.
  var most = Int.max

  /// True if no result is left out.
  var isAll: Bool { skipped == 0 && left == .max }

  var goesOn: Bool { left > 0 && handed < most }

  /// Counts a result, and returns true if it is skipped.
  @inline(__always)
  mutating func skips() -> Bool {
    if skipped > 0 {
      skipped -= 1
      return true
    }
    handed += 1
    left -= 1
    return false
  }
}

extension QueryDescription {
  /// The results that are wanted; of computed ones all records.
  func window(ofRecords: Bool = false) -> QueryWindow {
    if isComputed && ofRecords { return QueryWindow(skipped: 0, left: .max) }
    return QueryWindow(skipped: offset, left: limit ?? .max)
  }

  /// The number of first results that are needed; nil for all, or for more than a heap may hold.
  var heapCount: Int? {
    let window = window()
    let (count, overflow) = window.left.addingReportingOverflow(window.skipped)
    return overflow || count > QuerySorting.heapMax ? nil : count
  }
}

extension QueryRun {
  /// Has the results read part by part, each of so many.
  func beginParts(of most: Int) throws {
    parts = QueryParts(most: most, window: plan.description.window())
    parts?.isOver = plan.description.limit == 0
    if plan.resumes || plan.description.isComputed { return }
    plan.order = try QueryOrder(plan.description.orderings, in: plan.scope)
  }
}

extension QueryPlan {
  /// True if a cursor says where the next part begins, or results are sorted and kept.
  fileprivate var resumes: Bool {
    if order != nil { return true }
    return switch access.path {
    case .scan, .keys, .keyRange, .index: true
    case .both, .corrected, .top: false
    }
  }
}
