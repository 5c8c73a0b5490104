/// The way in which one operator of a live query follows changes, known before the query runs.
///
///     flights where carrier.name = "United" sort -delay limit 10
///
///     condition through references   bounded, by the records that refer to a changed one
///     order                          maintained
///     limit                          bounded, by one ordered read where the window runs short
struct OperatorNote: Hashable, Sendable {
  /// The ways.
  enum Maintenance: Hashable, Sendable {
    /// A change costs a lookup in what is kept of the results.
    case maintained
    /// A change may read other records; where these are too many, the query is run again.
    case bounded
    /// The query is run again, and its results are compared with the ones before.
    case rerun(String)
  }

  /// The operator, in words.
  let name: String
  let maintenance: Maintenance
  /// The state that is kept for a maintained operator, or the bound of another; nil for none.
  let detail: String?

  init(_ name: String, _ maintenance: Maintenance, _ detail: String? = nil) {
    (self.name, self.maintenance, self.detail) = (name, maintenance, detail)
  }

  /// The note as a line of `explain()`.
  var words: String {
    switch maintenance {
    case .maintained: "\(name): maintained\(detail.map { ", \($0)" } ?? "")"
    case .bounded: "\(name): bounded\(detail.map { ", \($0)" } ?? "")"
    case .rerun(let reason): "\(name): run again, since \(reason)"
    }
  }
}

extension Dependencies {
  /// The notes on the operators of a query, in the order in which they are applied.
  ///
  /// - Parameters:
  ///   - description: The query.
  ///   - loading: The relations that are loaded along.
  ///   - isSearch: True if the results are the best of a full text search.
  ///   - isPast: True if the moment that is asked about moves.
  /// - Returns: The notes; a condition on latitude and longitude is one on the record's own
  ///   properties.
  static func maintenance(
    of description: QueryDescription, loading: [LoadedPath] = [], isSearch: Bool = false,
    isPast: Bool = false
  ) -> [OperatorNote] {
    var notes: [OperatorNote] = []
    if isPast {
      notes.append(
        .init("moment", .rerun("no index has the records of the past")))
    }
    if isSearch {
      notes.append(
        .init("search", .rerun("the score of a text depends on the texts of all other records")))
    }
    notes += description.conditionNotes + description.joins.map(\.note)
    notes += description.grouping.map(\.notes) ?? []
    notes += description.shapeNotes
    if !loading.isEmpty {
      notes.append(
        .init("relations loaded along", .bounded, "by the records that are shown with results"))
    }
    return notes
  }
}

extension QueryDescription {
  /// The notes on the tests that records must pass.
  fileprivate var conditionNotes: [OperatorNote] {
    var notes: [OperatorNote] = []
    if let test = condition?.test {
      if test.readsOwn { notes.append(.init("condition", .maintained)) }
      if test.paths.contains(where: { !$0.hops.isEmpty && !isJoined($0) }) {
        notes.append(.init("condition through references", .bounded, .referring))
      }
      if test.paths.contains(where: { $0.referrers != nil }) {
        notes.append(.init("condition on a count of related records", .bounded, .referring))
      }
      if test.paths.contains(where: isJoined) {
        notes.append(.init("condition on joined records", .bounded, .referring))
      }
      notes += test.quantifiers.map { .init("\($0) of related records", .bounded, .referring) }
    }
    if hasFilter {
      notes.append(
        .init(
          "filter in Swift", .maintained,
          "called for each changed record, and again when it is shown; must be pure"))
    }
    return notes
  }

  /// The notes on the order, the window and the form of the results.
  fileprivate var shapeNotes: [OperatorNote] {
    var notes: [OperatorNote] = []
    if isDistinct {
      notes.append(.init("distinct", .maintained, "keeping the records of each value"))
    }
    if !orderings.isEmpty { notes.append(orderNote) }
    if limit != nil || offset > 0 { notes.append(windowNote) }
    if let selection {
      let isOwn = selection.allSatisfy(\.isOwn)
      notes.append(
        isOwn
          ? .init("selection", .maintained)
          : .init("selection", .bounded, "by the records that are shown with results"))
    }
    if outcome != .list { notes.append(.init(outcome.rawValue, .maintained)) }
    return notes
  }

  private var orderNote: OperatorNote {
    if grouping != nil { return .init("order of groups", .maintained, "keeping all groups") }
    return orderings.allSatisfy { $0.path.isOwn }
      ? .init("order", .maintained) : .init("order", .bounded, .referring)
  }

  private var windowNote: OperatorNote {
    let name = limit == nil ? "offset" : offset > 0 ? "limit and offset" : "limit"
    return isComputed
      ? .init(name, .maintained, "keeping all of them")
      : .init(name, .bounded, "by one ordered read where the window runs short")
  }

  private func isJoined(_ path: PropertyPath) -> Bool {
    joins.contains { $0.name == path.hops.first }
  }
}

extension QueryDescription.Join {
  fileprivate var note: OperatorNote {
    let collection = ConditionText.collection(collection)
    return .init(
      "\(isLeft ? "left join" : "join") of \(collection)", .bounded,
      "by the records that a changed one is or was beside")
  }
}

extension QueryDescription.Grouping {
  fileprivate var notes: [OperatorNote] {
    var notes: [OperatorNote] = []
    if !paths.isEmpty { notes.append(.init("groups", .maintained, "keeping each group")) }
    notes += aggregates.map { aggregate in
      switch aggregate.kind {
      case .count, .sum, .average: .init(aggregate.name, .maintained)
      case .minimum, .maximum:
        .init(aggregate.name, .maintained, "keeping all values in order")
      }
    }
    if condition != nil { notes.append(.init("having", .maintained)) }
    return notes
  }
}

extension Condition.Test {
  /// True if it tests a property of the record itself.
  fileprivate var readsOwn: Bool { paths.contains { $0.isOwn } }

  /// The quantifiers in it, each once, also those inside of one another.
  fileprivate var quantifiers: [String] {
    func all(_ test: Condition.Test) -> [Condition.Quantifier] {
      switch test {
      case .all(let tests), .any(let tests): tests.flatMap(all)
      case .not(let other): all(other)
      case .related(_, let quantifier, let inner): [quantifier] + all(inner)
      default: []
      }
    }
    return Set(all(self).map(\.rawValue)).sorted()
  }
}

extension String? {
  /// The bound of operators that read referenced records.
  fileprivate static var referring: String { "by the records that lead to a changed one" }
}
