/// One step of a plan: its work in words, and where the planner estimates or the run counts, how
/// many records come out of it.
package struct QueryStep: Sendable {
  package let kind: Kind
  package let words: String
  /// The indexes or the view that it reads, by their names.
  package var indexes: [String] = []
  /// The number of records that the planner expects to look at.
  package var estimate: Int?
  /// The number that came out of it; nil where that is not counted.
  package var actual: Int?

  package enum Kind: String, Sendable {
    case view, semijoin, scan, keys, keyRange, index, intersection, correction, top, filter, join
    case count, group, sort, distinct, offset, limit
  }
}

/// The way in which a query was answered, for drawing it.
package struct QueryExplanation: Sendable {
  /// The steps, in the order in which records pass them.
  package let steps: [QueryStep]
  /// The number of records that the planner expected to look at; nil where a view answers.
  package let estimate: Int?
  package let entries: Int
  package let records: Int
  package let accepted: Int
  package let results: Int
  /// True if the run was ended early, so that the counts are those of a part.
  package var isPart = false
}

extension DynamicQuery {
  private struct EarlyEnd: Error {}

  /// Runs the query, and explains how it was answered.
  ///
  /// - Parameter isEnough: Asked now and then; true ends the run with the counts so far.
  /// - Returns: The plan with its counts.
  /// - Throws: As ``Walk/fetch()``.
  package func explanation(
    until isEnough: @escaping () -> Bool = { false }
  ) throws -> QueryExplanation {
    let run = try request.run()
    let check = request.check
    run.work.check = {
      try check?()
      if isEnough() { throw EarlyEnd() }
    }
    var isPart = false
    do { try read(run) { _ in true } } catch is EarlyEnd { isPart = true }
    var explanation = run.plan.explanation(run.work.counts)
    explanation.isPart = isPart
    return explanation
  }
}

extension QueryPlan {
  func explanation(_ counts: QueryCounts) -> QueryExplanation {
    QueryExplanation(
      steps: steps(counts), estimate: readsRecords ? access.estimate : nil,
      entries: counts.entries, records: counts.records, accepted: counts.accepted,
      results: counts.results)
  }

  /// The steps; with the counts of a run, where it was run.
  func steps(_ counts: QueryCounts?) -> [QueryStep] {
    let name = ConditionText.collection(description.collection)
    if let view {
      let words = "read the groups that a view of \(name) keeps, \(view.name)"
      return [QueryStep(kind: .view, words: words, indexes: [view.name], actual: counts?.results)]
    }
    if let counted {
      let words = "read the count that a view of \(name) keeps, \(counted.name)"
      return [
        QueryStep(kind: .view, words: words, indexes: [counted.name], actual: counts?.results)
      ]
    }
    if let checkpoint {
      let words =
        "take the groups that \(name) had after transaction \(checkpoint.sequence), which are kept "
        + "in memory, and what has changed in between, in \(checkpoint.changeCount) records"
      return [QueryStep(kind: .view, words: words, actual: counts?.results)]
    }
    var steps = preparations.map { QueryStep(kind: .semijoin, words: $0) }
    steps += accessSteps(name, counts)
    steps += shapingSteps
    if let counts, steps.count > preparations.count + 1 {
      steps[steps.count - 1].actual = counts.results
    }
    return steps
  }

  private func accessSteps(_ name: String, _ counts: QueryCounts?) -> [QueryStep] {
    var words = access.words(name)
    let looked = counts.map { max($0.entries, $0.records) }
    var steps = [
      QueryStep(
        kind: access.kind, words: words.removeFirst(), indexes: access.indexNames,
        estimate: access.estimate, actual: looked)
    ]
    steps += words.map { QueryStep(kind: .filter, words: $0, actual: counts?.accepted) }
    if description.hasFilter {
      steps.append(
        QueryStep(kind: .filter, words: "keep those that the filter in Swift accepts"))
    }
    return steps
  }

  /// The steps after the records are found.
  private var shapingSteps: [QueryStep] {
    var steps = joins.map { QueryStep(kind: .join, words: $0.words) }
    if joinedProgram != nil {
      steps.append(
        QueryStep(kind: .filter, words: "keep those where what is said of joined records holds"))
    }
    if let grouping = description.grouping {
      let names = grouping.paths.map(\.description).joined(separator: ", ")
      steps.append(
        QueryStep(
          kind: .group, words: "group by \(names.isEmpty ? "nothing" : names), in memory"))
    }
    if order != nil {
      let words = description.orderings.map(\.text).joined(separator: ", ")
      steps.append(QueryStep(kind: .sort, words: "sort by \(words)\(sortWords)"))
    }
    if description.isDistinct {
      steps.append(QueryStep(kind: .distinct, words: "leave out what is the same"))
    }
    if description.offset > 0 {
      steps.append(QueryStep(kind: .offset, words: "skip \(description.offset)"))
    }
    if let limit = description.limit {
      steps.append(QueryStep(kind: .limit, words: "end after \(limit)"))
    }
    return steps
  }

  private var sortWords: String {
    topCount.map { ", keeping the first \($0)" } ?? ""
  }
}

extension AccessPlan {
  fileprivate var kind: QueryStep.Kind {
    switch path {
    case .scan: .scan
    case .keys: .keys
    case .keyRange: .keyRange
    case .index: .index
    case .both: .intersection
    case .corrected: .correction
    case .top: .top
    }
  }

  fileprivate var indexNames: [String] {
    switch path {
    case .scan, .keys, .keyRange: []
    case .index(let scan): [scan.name]
    case .both(let one, let other): [one.name, other.name]
    case .corrected(let scan, _): [scan.name]
    case .top(let scan): [scan.name]
    }
  }
}
