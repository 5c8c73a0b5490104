/// The collections whose records a query's answer depends on, found before it is run: for whoever
/// may only let some of them be asked.
package struct QueryReach: Sendable {
  /// The collection that is asked, those that are joined, those whose records refer to its own, and
  /// those that declared references lead to.
  package private(set) var collections: Set<NodePath> = []
  /// True if a path follows a value that no declaration calls a reference: the records say then
  /// where it leads.
  package private(set) var isOpen = false

  fileprivate init(_ query: QueryDescription, _ records: QueryRecords) throws {
    collections.insert(query.collection)
    var scope = records.scope(of: query.collection)
    scope.joined = query.joins.map { ($0.name, $0.collection) }
    for join in query.joins {
      collections.insert(join.collection)
      try add(join.condition?.test, in: scope.entering(join.collection))
    }
    for path in query.paths { try add(path, in: scope) }
    try add(query.condition?.test, in: scope)
    // The names in it are those of the groups' values, which the paths above are read for.
    try addRelated(query.grouping?.condition?.test, in: scope)
  }

  private mutating func add(_ test: Condition.Test?, in scope: ConditionScope) throws {
    guard let test else { return }
    for path in test.paths { try add(path, in: scope) }
    try addRelated(test, in: scope)
  }

  /// Adds what tests of related records need.
  private mutating func addRelated(_ test: Condition.Test?, in scope: ConditionScope) throws {
    switch test {
    case .all(let tests)?, .any(let tests)?: for test in tests { try addRelated(test, in: scope) }
    case .not(let other)?: try addRelated(other, in: scope)
    case .related(.inverse(let collection, _), _, let inner)?:
      collections.insert(collection)
      try add(inner, in: scope.entering(collection))
    case .related(.elements(let path), _, let inner)?:
      let target = try add(path, in: scope)?.definition?.target
      isOpen = isOpen || target == nil
      if let target { collections.insert(target) }
      try add(inner, in: scope.entering(target))
    default: break
    }
  }

  @discardableResult
  private mutating func add(
    _ path: PropertyPath, in scope: ConditionScope
  ) throws -> ConditionScope.ResolvedPath? {
    let resolved = try scope.resolve(path)
    for hop in resolved.hops {
      guard let collection = hop.collection else {
        isOpen = true
        continue
      }
      collections.insert(collection)
    }
    guard let referrers = path.referrers else { return resolved }
    collections.insert(referrers.collection)
    try add(referrers.condition?.test, in: scope.entering(referrers.collection))
    return resolved
  }
}

extension DynamicQuery {
  /// The collections that the answer depends on.
  ///
  /// - Throws: ``QueryError`` for a path that leads nowhere; ``DatabaseError``.
  package func reach() throws -> QueryReach {
    try QueryReach(request.description, QueryRecords(request.snapshot()))
  }
}
