// Related models with a condition, an order and a limit for each model that they are loaded beside,
// and their number.
//
//     issues ──▶ keys of a batch ──▶ one run for each key, planned once ──▶ models, or a number

/// Some of the models that belong to each model of a query: those that pass a condition, in an
/// order, up to a limit for each. It is what `with(_:)` of ``ModelQuery`` loads along.
///
///     let issues = database.query(Issue.self).order(by: \.modified.descending).limit(50)
///     let rows = try issues.with(
///       \.author, \.comments.count, { $0.comments.order(by: \.posted.descending).limit(3) }
///     ).fetch()
///
/// An index on the reference and the order, here `Index(\.issue, \.posted)`, is read for each model
/// until the limit is reached. With an index on the reference alone, all that refer to the model
/// are read, and the first few kept. Without an index, as at a past moment, one walk over the
/// collection finds the keys for a batch of models.
///
/// Without an order, models that refer come by their keys, those of an array in its order.
public struct RelatedQuery<Other: Model>: RelationTerm {
  private let many: ManyOperand<Other>
  private var description: QueryDescription

  init(_ many: ManyOperand<Other>) {
    let core = Other.schema.core
    self.many = many
    description = QueryDescription(core.path, where: core.caseCondition)
  }

  private func changed(_ change: (inout QueryDescription) -> Void) -> RelatedQuery {
    var copy = self
    change(&copy.description)
    return copy
  }

  /// Narrows to what passes, one condition per line; a second call narrows further.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<Other>) -> Condition
  ) -> RelatedQuery {
    let condition = condition(Fields<Other>())
    return changed { $0.condition = $0.condition.map { $0 && condition } ?? condition }
  }

  /// Sorts; a second call sorts among equals. Ties come in the order of the keys, or against it
  /// where an index is walked backwards: name the id last where that matters.
  public func order<each T: OrderTerm>(
    by terms: repeat @escaping (Fields<Other>) -> each T
  ) -> RelatedQuery {
    sorted(by: Fields<Other>.orderings(repeat (each terms)(Fields<Other>())))
  }

  /// Sorts; the terms are evaluated by the caller, since a pack of closures that is passed on twice
  /// ends programs with Swift 6.3.
  fileprivate func sorted(by orderings: [Ordering]) -> RelatedQuery {
    changed { $0.orderings += orderings }
  }

  /// Ends after so many for each model.
  public func limit(_ count: Int) -> RelatedQuery { changed { $0.limit = max(count, 0) } }

  /// The number of those that pass; a limit does not count.
  public var count: RelatedCount {
    RelatedCount(Other.self, many, where: description.condition)
  }

  /// The models that pass, in order.
  public var relation: Relation<[Other]> {
    let inverse = many.inverse
    let loaded = LoadedPath(
      path: many.path, collection: description.collection, inverse: inverse,
      condition: description.condition, orderings: description.orderings)
    return Relation(path: many.path, words: words(inverse), loaded: loaded) { records in
      let core = Other.schema.core
      let binding = try core.check(description, on: records.snapshot)
      try core.checkAsked(Set([inverse].compactMap { $0 }), records.snapshot)
      let plan = try RelatedPlan(description, by: inverse, records)
      return { keys in
        let isValid = try plan.isValid(for: keys.records)
        let plan = try isValid ? plan : RelatedPlan(description, by: inverse, keys.records)
        let models = ModelListOf<Other>(binding)
        let finder = RelatedQueryFinder(keys, plan, models)
        keys.words = finder.words
        return RelationReader(keys, walks: finder.walks, find: finder.find) {
          models.models(at: try finder.places(of: $0))
        }
      }
    }
  }

  private func words(_ inverse: String?) -> String {
    let name = ConditionText.collection(description.collection)
    var words = inverse.map { "load \(name) that refer by \($0)" } ?? "load \(name) by \(many.path)"
    if let condition = description.condition { words += " where \(condition)" }
    if !description.orderings.isEmpty {
      words += " sorted by \(description.orderings.map(\.text).joined(separator: ", "))"
    }
    return description.limit.map { "\(words), \($0) for each" } ?? words
  }
}

extension ManyOperand {
  /// The property by which the models refer; nil where they are referred to.
  fileprivate var inverse: String? {
    if case .inverse(_, let property) = many { property } else { nil }
  }

  /// The models that pass, for loading and counting.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<Other>) -> Condition
  ) -> RelatedQuery<Other> { RelatedQuery(self).where(condition) }

  /// The models in an order, for loading.
  public func order<each T: OrderTerm>(
    by terms: repeat @escaping (Fields<Other>) -> each T
  ) -> RelatedQuery<Other> {
    RelatedQuery(self).sorted(
      by: Fields<Other>.orderings(repeat (each terms)(Fields<Other>())))
  }

  /// The first models by their keys, so many for each model, for loading.
  public func limit(_ count: Int) -> RelatedQuery<Other> { RelatedQuery(self).limit(count) }
}

extension Operand where V.Base: Sequence, V.Base.Element: ReferringProperty {
  /// The models that the elements refer to and that pass, for loading.
  public func `where`(
    @ConditionBuilder _ condition: (Fields<V.Base.Element.Referred>) -> Condition
  ) -> RelatedQuery<V.Base.Element.Referred> {
    RelatedQuery(ManyOperand(elements: path)).where(condition)
  }

  /// The models that the elements refer to, in an order, for loading.
  public func order<each T: OrderTerm>(
    by terms: repeat @escaping (Fields<V.Base.Element.Referred>) -> each T
  ) -> RelatedQuery<V.Base.Element.Referred> {
    typealias Others = Fields<V.Base.Element.Referred>
    return RelatedQuery(ManyOperand(elements: path)).sorted(
      by: Others.orderings(repeat (each terms)(Others())))
  }

  /// The first models that the elements refer to, so many for each model, for loading.
  public func limit(_ count: Int) -> RelatedQuery<V.Base.Element.Referred> {
    RelatedQuery(ManyOperand(elements: path)).limit(count)
  }
}

/// Finds the records of a ``RelatedQuery`` for batches of models.
private final class RelatedQueryFinder {
  private let keys: RelatedKeys
  private let run: RelatedRun
  private let isInverse: Bool
  private let list: ModelList
  private var known: [[UInt8]: [Int]] = [:]

  init(_ keys: RelatedKeys, _ plan: RelatedPlan, _ list: ModelList) {
    (self.keys, self.list, isInverse) = (keys, list, plan.property != nil)
    run = RelatedRun(plan, keys.records)
  }

  var walks: Bool { run.walks }
  var words: String { run.words }

  /// Finds the records that refer to different keys.
  func find(_ wanted: [[UInt8]]) throws {
    known.removeAll(keepingCapacity: true)
    list.removeAll()
    if !isInverse || wanted.isEmpty { return }
    if walks { keys.counts.walks += 1 } else { keys.counts.indexReads += wanted.count }
    try run.prepare(for: wanted)
    for key in wanted {
      let first = list.count
      try run.forEach(refersTo: key) { own, record in try list.append(own, record) }
      known[key] = Array(first..<list.count)
    }
    keys.counts.recordsRead = run.recordsRead
  }

  /// The places of those that belong to one model, whose path leads to some keys.
  func places(of keys: [[UInt8]]) throws -> [Int] {
    if isInverse { return keys.flatMap { known[$0] ?? [] } }
    let first = list.count
    self.keys.counts.lookups += keys.count
    try run.forEach(of: keys) { own, record in try list.append(own, record) }
    return Array(first..<list.count)
  }
}
