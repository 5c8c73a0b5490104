/// The planner's decision on how a query is answered.
///
/// It is an object, since it is large: a run of its own may go on changing it, and runs that share
/// one, as those of a live query do, leave it as it is.
final class QueryPlan {
  var description: QueryDescription
  /// The scope in which names are resolved for the records that are visited.
  let scope: ConditionScope
  var access: AccessPlan
  /// The order by which results are sorted; nil where they come in order.
  var order: QueryOrder?
  /// The order whose sort key a cursor stores when results come in order, but by no index, since
  /// the next page may be sorted; nil for others.
  var placeOrder: QueryOrder?
  /// The view that answers the query; nil where the records must be read.
  var view: QueryViewAnswer?
  /// The group of a view that says how many there are; nil where they must be counted.
  var counted: QueryViewCount?
  /// The checkpoint of a timeline with which the run has begun; nil where records were read.
  var checkpoint: UsedCheckpoint?
  /// The joins, and what holds for the joined records.
  var joins: [QueryJoin] = []
  var joinedProgram: ConditionProgram?
  /// The steps that were done before planning: semijoins whose other collection was queried first.
  var preparations: [String] = []

  init(description: QueryDescription, scope: ConditionScope, access: AccessPlan) {
    (self.description, self.scope, self.access) = (description, scope, access)
  }
}

extension QueryPlan {
  /// The plan in words, one step a line.
  ///
  /// - Parameter counts: The work that running it took, if it was run.
  /// - Returns: The lines, without a line feed at the end.
  func explained(_ counts: QueryCounts?) -> String {
    var lines = steps(counts).map(\.words)
    if !readsRecords { return lines.joined(separator: "\n") }
    lines.append("estimated: \(access.estimate) to look at")
    if let counts {
      let entries = counts.entries > 0 ? "\(counts.entries) entries, " : ""
      lines.append(
        "actual: \(entries)\(counts.records) records read, \(counts.accepted) accepted, "
          + "\(counts.results) results")
    }
    return lines.joined(separator: "\n")
  }

  /// The number of results that must be kept for sorting; nil for all.
  var topCount: Int? { description.isComputed ? nil : description.heapCount }

  /// True if the records, or entries of an index, are read.
  var readsRecords: Bool { view == nil && counted == nil && checkpoint == nil }

  /// True if results come in the order of an index's entries.
  var usesIndexOrder: Bool { order == nil && access.scan != nil }
}
