// Dependencies in words, for `explain()`.

extension DependencyRole {
  /// The dependency in words: `airports by origin: maintained, by the index (origin) of flights`.
  func words(_ roles: [DependencyRole], _ records: QueryRecords) -> String {
    guard let upper, let edge, let above = roles[upper].collection, let collection else {
      return "records that a path leads to: run again, since no collection is declared"
    }
    let (name, other) = (ConditionText.collection(collection), ConditionText.collection(above))
    let alias = way.join == nil ? "" : way.names.map { " as \($0[0])" } ?? ""
    let head = "\(name)\(alias) by \(edge.words)"
    guard edge.isWalked(above, records) else {
      let way = edge.index(above, records).map { "by the index \($0.name) of \(other)" }
      return "\(head): maintained, \(way ?? "by the keys that they name")"
    }
    return
      "\(head): bounded, a change of \(name) walks all \(other): no index on \(edge.property)"
  }
}

extension DependencyRole.Edge {
  /// The property by which records above are found.
  fileprivate var property: String {
    switch self {
    case .reference(let name), .path(let name), .inverse(let name): name
    case .join(let edge): edge.outer.description
    }
  }

  fileprivate var words: String {
    switch self {
    case .reference(let name), .path(let name): name
    case .inverse(let name): "their \(name)"
    case .join(let edge): "the join on \(edge.outer) = \(PropertyPath(edge.inner))"
    }
  }

  /// The index that finds records above; nil for none.
  fileprivate func index(_ above: NodePath, _ records: QueryRecords) -> IndexPlan? {
    switch self {
    case .reference(let name):
      records.catalog.id(of: name).flatMap { records.edge(above, $0) }
    case .join(let edge) where edge.inner != nil: JoinedValue.index(edge, above, records)
    default: nil
    }
  }

  /// True if records above are found by a walk over their collection.
  fileprivate func isWalked(_ above: NodePath, _ records: QueryRecords) -> Bool {
    switch self {
    case .inverse: false
    case .join(let edge) where edge.outer == PropertyPath(nil): false
    default: index(above, records) == nil
    }
  }
}
