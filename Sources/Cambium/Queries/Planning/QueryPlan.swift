/// The planner's decision on how a query is answered.
struct QueryPlan {
  var description: QueryDescription
  /// The scope in which names are resolved for the records that are visited.
  let scope: ConditionScope
  /// The condition as it is run, in which tests behind references may have been replaced.
  var condition: Condition.Test
  var access: QueryAccess
  /// All of the condition; nil where it has none.
  var program: ConditionProgram?
  /// The part of it that is left where entries of the index are not cut; nil where nothing is.
  var residual: ConditionProgram?
  /// The tests that are left, for explaining.
  var residualTests: [Condition.Test] = []
  /// The order by which results are sorted; nil where they come in order.
  var order: QueryOrder?
  /// The order by which entries of the index that were cut are sorted again; nil where none can be.
  var cutOrder: QueryOrder?
  /// The order whose sort key a cursor stores when results come in order, but by no index, since
  /// the next page may be sorted; nil for others.
  var placeOrder: QueryOrder?
  /// The view that answers the query; nil where the records must be read.
  var view: QueryViewAnswer?
  /// The group of a view that says how many there are; nil where they must be counted.
  var counted: QueryViewCount?
  /// The joins, and what holds for the joined records.
  var joins: [QueryJoin] = []
  var joinedProgram: ConditionProgram?
  /// The estimated cost, in reads of one record, and the estimated number of results.
  var cost = 0.0
  var estimate = 0
  /// The steps that were done before planning: semijoins whose other collection was queried first.
  var preparations: [String] = []
}

/// The counts of the work that running a query took.
struct QueryCounts: Sendable {
  /// Entries of indexes, or keys, that were looked at.
  var entries = 0
  /// Records that were read.
  var records = 0
  /// Records that were read because others are related to them, if there are any.
  var related = 0
  /// Records that the condition accepts.
  var accepted = 0
  /// Results that were handed out.
  var results = 0
}

extension QueryPlan {
  /// The plan in words, one step a line.
  ///
  /// - Parameter counts: The work that running it took, if it was run.
  /// - Returns: The lines, without a line feed at the end.
  func explained(_ counts: QueryCounts?) -> String {
    let name = ConditionText.collection(description.collection)
    if let view {
      return "read the groups that a view of \(name) keeps, \(view.name)"
    }
    if let counted { return "read the count that a view of \(name) keeps, \(counted.name)" }
    var lines = preparations
    lines.append(accessWords)
    if !residualTests.isEmpty {
      lines.append("keep those where \(Condition.Test.all(residualTests).text)")
    }
    if description.hasFilter { lines.append("keep those that the filter in Swift accepts") }
    for join in joins { lines.append(join.words) }
    if joinedProgram != nil {
      lines.append("keep those where what is said of joined records holds")
    }
    if let grouping = description.grouping {
      let names = grouping.paths.map(\.description).joined(separator: ", ")
      lines.append("group by \(names.isEmpty ? "nothing" : names), in memory")
    }
    if order != nil {
      lines.append(
        "sort by \(description.orderings.map(\.text).joined(separator: ", "))\(sortWords)")
    }
    if description.isDistinct { lines.append("leave out what is the same") }
    if description.offset > 0 { lines.append("skip \(description.offset)") }
    if let limit = description.limit { lines.append("end after \(limit)") }
    lines.append("estimated: \(estimate) to look at")
    if let counts {
      let entries = counts.entries > 0 ? "\(counts.entries) entries, " : ""
      lines.append(
        "actual: \(entries)\(counts.records) records read, \(counts.accepted) accepted, "
          + "\(counts.results) results")
    }
    return lines.joined(separator: "\n")
  }

  private var sortWords: String {
    topCount.map { ", keeping the first \($0)" } ?? ""
  }

  /// The number of results that must be kept for sorting; nil for all.
  var topCount: Int? { description.isComputed ? nil : description.heapCount }

  private var accessWords: String {
    let name = ConditionText.collection(description.collection)
    switch access {
    case .scan(let isReversed): return "scan \(name)\(isReversed ? ", last key first" : "")"
    case .keys(let keys):
      return "look up \(keys.count) \(keys.count == 1 ? "key" : "keys") in \(name)"
    case .keyRange(_, let isReversed):
      return "scan a range of keys of \(name)\(isReversed ? ", last key first" : "")"
    case .index(let scan):
      let way = (scan.isReversed ? ", backwards" : "") + (scan.isCovering ? ", alone" : "")
      return "use \(words(scan)) of \(name)\(way)"
    case .both(let one, let other): return "intersect \(words(one)) and \(words(other)) of \(name)"
    case .corrected(let scan, let changed):
      return
        "use \(words(scan)) of \(name) as it is now, corrected by \(changed.count) changes since"
    case .top(let scan): return "take the first of the view \(scan.name) of \(name)"
    }
  }

  private func words(_ scan: IndexScan) -> String {
    scan.words.isEmpty
      ? "the index \(scan.name)"
      : "the index \(scan.name) where \(scan.words.joined(separator: " and "))"
  }
}
