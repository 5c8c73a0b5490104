/// The way to the records that may be results: where they are read, and the tests that each of them
/// still has to pass.
struct AccessPlan {
  var path: QueryAccess
  /// All of the condition on a record; nil where it has none.
  let program: ConditionProgram?
  /// The part of it that is left where entries of the index are not cut; nil where nothing is.
  let residual: ConditionProgram?
  /// The tests that are left, for explaining.
  let residualTests: [Condition.Test]
  /// The order by which entries of the index that were cut are sorted again; nil where none can be.
  let cutOrder: QueryOrder?
  /// The estimated cost, in reads of one record, and the estimated number of records.
  let cost: Double
  let estimate: Int

  /// The range of an index that records are found by.
  var scan: IndexScan? { if case .index(let scan) = path { scan } else { nil } }
}

extension AccessPlan {
  /// The steps in words, a line for each; the collection has a name.
  func words(_ name: String) -> [String] {
    if residualTests.isEmpty { return [pathWords(name)] }
    return [pathWords(name), "keep those where \(Condition.Test.all(residualTests).brief)"]
  }

  private func pathWords(_ name: String) -> String {
    switch path {
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
