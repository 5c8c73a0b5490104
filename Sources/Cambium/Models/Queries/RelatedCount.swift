/// The number of models that refer to one: a value that can be selected, loaded along, sorted by
/// and tested.
///
///     let rows = try issues.select(\.title, \.comments.count).fetch()
///     let busiest = issues.order(by: \.comments.count.descending).limit(10)
///     let open = issues.where { $0.comments.where { !$0.isSpam }.count > 3 }
///
/// The entries of the index on the reference are counted; no model is read, unless there is a
/// condition. Without an index, as at a past moment, one walk over the collection counts for all.
///
/// Where a reference leads to nothing, nothing refers to it: the number is 0.
public struct RelatedCount: PropertyTerm, OrderTerm, RelationTerm {
  /// The number, as a property.
  public let operand: Operand<Int>
  private let loaded: LoadedPath

  init<Other: Model>(_ type: Other.Type, _ many: ManyOperand<Other>, where condition: Condition?) {
    let core = Other.schema.core
    let path: PropertyPath
    var inverse: String?
    switch many.many {
    case .inverse(let collection, let property):
      let referrers = CountedReferrers(collection, by: property, where: condition)
      var count = PropertyPath(counting: referrers, of: many.owner.hops)
      count.problem = many.owner.problem
      (path, inverse) = (count, property)
    case .elements:
      path = PropertyPath(problem: "the elements of an array are counted without a condition")
    }
    operand = Operand(path: path, core: core, offset: nil)
    loaded = LoadedPath(
      path: many.path, collection: core.path, inverse: inverse, condition: condition,
      isCount: true)
  }

  /// The smallest number first.
  public var ordering: Ordering { operand.ordering }

  /// The largest number first.
  public var descending: Ordering { ordering.descending }

  /// The number beside each model.
  public var relation: Relation<Int> {
    let (problem, referrers) = (operand.path.problem, operand.path.referrers)
    var path = loaded.path
    path.problem = problem ?? path.problem
    let words =
      referrers.map { referrers in
        let name = ConditionText.collection(referrers.collection)
        let condition = referrers.condition.map { " where \($0)" } ?? ""
        return "count \(name) that refer by \(referrers.property)\(condition)"
      } ?? ""
    return Relation(path: path, words: words, loaded: loaded) { records in
      guard let referrers else { throw QueryError("only models that refer are counted") }
      let scope = records.scope(of: referrers.collection)
      let property = scope.catalog.id(of: referrers.property) ?? .max
      let program = try ConditionProgram(referrers.condition?.test ?? .all([]), in: scope)
      return { keys in
        let numbers = RelatedNumbers(keys, referrers, property, program)
        return RelationReader(keys, walks: false, find: numbers.find, make: numbers.number)
      }
    }
  }
}

/// Counts the records that refer to the keys of batches.
private final class RelatedNumbers {
  private let keys: RelatedKeys
  private let referrers: CountedReferrers
  private let property: NameID
  private let program: ConditionProgram
  private var known: [[UInt8]: Int] = [:]

  init(
    _ keys: RelatedKeys, _ referrers: CountedReferrers, _ property: NameID,
    _ program: ConditionProgram
  ) {
    (self.keys, self.referrers) = (keys, referrers)
    (self.property, self.program) = (property, program)
  }

  func find(_ wanted: [[UInt8]]) throws {
    known.removeAll(keepingCapacity: true)
    let isIndexed = keys.records.edge(referrers.collection, property) != nil
    if isIndexed { keys.counts.indexReads += wanted.count } else { keys.counts.walks = 1 }
    for key in wanted {
      known[key] = try key.lend {
        try keys.records.count(referrers, property, refersTo: $0, passing: program)
      }
    }
  }

  func number(of keys: [[UInt8]]) -> Int { keys.reduce(0) { $0 + (known[$1] ?? 0) } }
}

extension ManyOperand {
  /// The number of the models.
  public var count: RelatedCount {
    RelatedCount(Other.self, self, where: Other.schema.core.caseCondition)
  }
}

extension RelatedCount {
  /// Tests whether there are so many.
  public static func == (a: RelatedCount, b: Int) -> Condition { a.operand == b }
  /// Tests whether there are more or fewer.
  public static func != (a: RelatedCount, b: Int) -> Condition { a.operand != b }
  /// Tests whether there are fewer.
  public static func < (a: RelatedCount, b: Int) -> Condition { a.operand < b }
  /// Tests whether there are so many at most.
  public static func <= (a: RelatedCount, b: Int) -> Condition { a.operand <= b }
  /// Tests whether there are more.
  public static func > (a: RelatedCount, b: Int) -> Condition { a.operand > b }
  /// Tests whether there are so many at least.
  public static func >= (a: RelatedCount, b: Int) -> Condition { a.operand >= b }
}
