/// Replaces tests behind references by the keys of the records that pass them.
///
///     origin.name prefix "John"          →    origin in ("JFK", "SJC")
///     flights by carrier any (delay > 60) →   id in ("UA", "AA")
///     members any (name = "Ada")          →   id in (7, 12)
///
/// The other collection is asked once, instead of a lookup for each record; and an index on the
/// reference can be used.
struct Semijoin {
  /// More keys are not remembered; the test stays where it is then.
  private static let keysMax = 100_000

  private let planner: QueryPlanner

  init(_ planner: QueryPlanner) { self.planner = planner }

  /// Replaces the tests that are cheaper as semijoins.
  ///
  /// - Parameters:
  ///   - test: The condition of the query.
  ///   - count: The number of records that it is likely to be run on.
  ///   - words: The list to which descriptions of the replacements are appended, for explaining.
  /// - Returns: The condition to be run instead.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func replacing(
    _ test: Condition.Test, count: Int, _ words: inout [String]
  ) throws -> Condition.Test {
    switch test {
    case .all(let tests):
      return .all(try tests.map { try replacing($0, count: count, &words) })
    case .any(let tests):
      return .any(try tests.map { try replacing($0, count: count, &words) })
    case .not(let other): return .not(try replacing(other, count: count, &words))
    case .related(.inverse(let collection, let property), let quantifier, let inner):
      return try inverse(collection, property, quantifier, inner, count, &words) ?? test
    case .related(.elements(let path), let quantifier, let inner):
      return try elements(path, quantifier, inner, count, &words) ?? test
    default:
      return try behindReference(test, count, &words) ?? test
    }
  }

  // MARK: To-one

  private func behindReference(
    _ test: Condition.Test, _ count: Int, _ words: inout [String]
  ) throws -> Condition.Test? {
    guard test.paths.count == 1, let path = test.paths.first, let hop = path.hops.first,
      !test.names(anyOf: planner.description.joins.map(\.name)),
      let reference = planner.scope.definition?[hop], reference.absence == nil,
      case .reference(let target) = reference.type
    else { return nil }
    let holdsForNull = try [0, 0].lend { record in
      try ConditionProgram(test, in: planner.scope).accepts(
        record, key: record, planner.records)
    }
    let inner = test.behindFirstHop
    let wanted = holdsForNull ? Condition.Test.not(inner) : inner
    guard try costOfAsking(target, wanted) < Double(count) * QueryPlanner.Cost.fetch,
      let keys = try keys(target, wanted)
    else { return nil }
    words.append(
      "first ask \(ConditionText.collection(target)) where \(wanted.brief): \(keys.count) found")
    let isOne = Condition.Test.oneOf(PropertyPath(hop), keys)
    return holdsForNull ? .not(isOne) : isOne
  }

  /// The cost of asking the other collection once.
  private func costOfAsking(_ collection: NodePath, _ test: Condition.Test) throws -> Double {
    let description = QueryDescription(collection, where: Condition(test))
    return try QueryPlanner(description, planner.records).estimatedCost()
  }

  /// The keys of the records that pass, as values; nil where there are too many.
  private func keys(_ collection: NodePath, _ test: Condition.Test) throws -> [Value]? {
    let run = try QueryRun(
      QueryDescription(collection, where: Condition(test)), planner.records)
    var keys: [Value] = []
    try run.forEach { key, _ in
      keys.append(StoredKey.value(of: try Key(key)))
      return keys.count <= Semijoin.keysMax
    }
    return keys.count <= Semijoin.keysMax ? keys : nil
  }

  // MARK: To-many

  private func inverse(
    _ collection: NodePath, _ property: String, _ quantifier: Condition.Quantifier,
    _ inner: Condition.Test, _ count: Int, _ words: inout [String]
  ) throws -> Condition.Test? {
    let far = try planner.records.presentCount(collection)
    let fanOut = Double(far) / Double(max(1, planner.childCount))
    // Only an index that is asked for each record makes the lookups short.
    let isEdge =
      planner.records.catalog.id(of: property).flatMap {
        planner.records.edge(collection, $0)
      } != nil
    let near =
      Double(count)
      * (isEdge ? QueryPlanner.Cost.fetch * (1 + fanOut) : Double(far) * planner.recordCost)
    // `all` is refuted by one that fails, the others are decided by one that passes.
    let wanted = quantifier == .all ? Condition.Test.not(inner) : inner
    guard try costOfAsking(collection, wanted) * 2 < near else { return nil }
    guard let keys = try referredKeys(collection, property, wanted) else { return nil }
    words.append(
      "first ask \(ConditionText.collection(collection)) where \(wanted.brief): they refer to "
        + "\(keys.count) by \(property)")
    let isOne = Condition.Test.oneOf(PropertyPath(nil), keys)
    return quantifier == .any ? isOne : .not(isOne)
  }

  /// The keys that records which pass refer to, each once; nil where there are too many.
  private func referredKeys(
    _ collection: NodePath, _ property: String, _ test: Condition.Test
  ) throws -> [Value]? {
    let values = try QueryPaths([PropertyPath(property)], in: planner.records.scope(of: collection))
    let run = try QueryRun(
      QueryDescription(collection, where: Condition(test)), planner.records)
    var keys: Set<[UInt8]> = []
    try run.forEach { own, record in
      let named = try values.lend(0, record, key: own, planner.records, StoredKey.all(namedBy:))
      keys.formUnion(named)
      return keys.count <= Semijoin.keysMax
    }
    if keys.count > Semijoin.keysMax { return nil }
    return try keys.sorted { $0.lexicographicallyPrecedes($1) }
      .map { StoredKey.value(of: try $0.lend { try Key($0) }) }
  }
}

// MARK: Several in one property

extension Semijoin {
  /// The records whose array, set or dictionary refers to others that pass: those are asked once,
  /// and the index on the references says who has them.
  private func elements(
    _ path: PropertyPath, _ quantifier: Condition.Quantifier, _ inner: Condition.Test,
    _ count: Int, _ words: inout [String]
  ) throws -> Condition.Test? {
    let (records, collection) = (planner.records, planner.description.collection)
    guard path.hops.isEmpty, path.function == nil, let property = path.property,
      let declared = planner.scope.definition?[property], declared.isEmptyWhereAbsent,
      let target = declared.target, let name = records.catalog.id(of: property),
      let index = records.edge(collection, name)
    else { return nil }
    // Without the semijoin, each record takes one lookup at least.
    let near = Double(count) * QueryPlanner.Cost.fetch
    // `all` is refuted by one that fails, the others are decided by one that passes.
    let wanted = quantifier == .all ? Condition.Test.not(inner) : inner
    guard try costOfAsking(target, wanted) * 2 < near, let keys = try keys(target, wanted),
      let referring = try referring(
        to: keys, by: name, collection, upTo: min(count, Semijoin.keysMax))
    else { return nil }
    words.append(
      "first ask \(ConditionText.collection(target)) where \(wanted.brief): \(keys.count) found, "
        + "to which \(referring.count) refer by the index \(index.name)")
    let isOne = Condition.Test.oneOf(PropertyPath(nil), referring)
    return quantifier == .any ? isOne : .not(isOne)
  }

  /// The keys of the records that refer to some, each once; nil where there are too many, or no
  /// fewer than those that would be looked at anyway.
  private func referring(
    to keys: [Value], by name: NameID, _ collection: NodePath, upTo limit: Int
  ) throws -> [Value]? {
    var referring: Set<[UInt8]> = []
    var entries = 0
    for key in keys {
      guard let stored = StoredKey.key(naming: key)?.stored else { continue }
      try stored.lend { key in
        try planner.records.forEach(in: collection, name, refersTo: key) { own, _ in
          referring.insert(own.array())
          entries += 1
          return entries < limit
        }
      }
      if entries >= limit { return nil }
    }
    return try referring.sorted { $0.lexicographicallyPrecedes($1) }
      .map { StoredKey.value(of: try $0.lend { try Key($0) }) }
  }
}

extension PropertyDefinition {
  /// True if a record without a value of its own refers to nothing.
  fileprivate var isEmptyWhereAbsent: Bool {
    switch absence {
    case nil, .null: true
    case .array(let elements): elements.isEmpty
    case .map(let entries): entries.members.isEmpty
    default: false
    }
  }
}

extension Condition.Test {
  /// True if a part of it could be answered by a semijoin.
  var hasFarSide: Bool {
    switch self {
    case .all(let tests), .any(let tests): tests.contains(where: \.hasFarSide)
    case .not(let other): other.hasFarSide
    case .related(.inverse, _, _): true
    case .related(.elements(let path), _, _): path.hops.isEmpty
    default: paths.count == 1 && paths.allSatisfy { !$0.hops.isEmpty }
    }
  }

  /// The test of one property, as the record sees it that the first reference leads to.
  fileprivate var behindFirstHop: Condition.Test {
    mapping { path in path.changed { $0.hops.removeFirst() } }
  }
}
