// From the paths of a query to the tree of roles: each path is followed from the role at which it
// begins, and steps that are there already are shared.

/// The roles that records play in a query.
struct DependencyTree {
  /// Each behind the role above it; the first has the rows' own records.
  private(set) var roles: [DependencyRole]
  /// The reason why changes cannot be followed to rows; nil where they can.
  private(set) var problem: String?
  private let scope: ConditionScope
  /// The roles of the joins, in order.
  private(set) var joined: [Int] = []

  init(
    _ description: QueryDescription, loading: [LoadedPath], in scope: ConditionScope
  ) throws {
    self.scope = scope
    var root = DependencyRole(collection: description.collection, upper: nil, edge: nil)
    root.isWhole = description.isOfRecords || description.hasFilter
    (root.decides, root.way) = (true, RoleWay(hops: [], names: []))
    roles = [root]
    for join in description.joins { try add(join, isWhole: description.isOfRecords) }
    if let test = description.condition?.test {
      try add(test, in: scope, from: 0, isRequired: true)
    }
    var deciding = description
    deciding.selection = nil
    for path in deciding.paths { try add(path, decides: true) }
    for path in description.selection ?? [] { try add(path, decides: description.isComputed) }
    for path in loading { try add(path) }
  }

  // MARK: Paths

  /// Adds a path from the rows' own records.
  private mutating func add(_ path: PropertyPath, decides: Bool) throws {
    let end = try follow(path, in: scope, from: 0, decides: decides)
    // Only a selection shows the key at which a path ends: a loaded relation shows records.
    if let end, !decides, end.resolved.property == nil, path.referrers == nil {
      roles[end.role].shown.hasKey = true
    }
  }

  /// Adds the steps of a path. All of its properties but the last are read to follow it.
  ///
  /// - Returns: The role at whose records it ends, and its resolved form; nil where it ends inside
  ///   of a dictionary, or at a join that is yet to come, which has nothing.
  private mutating func follow(
    _ path: PropertyPath, in scope: ConditionScope, from start: Int, decides: Bool,
    isTested: Bool = false
  ) throws -> (role: Int, resolved: ConditionScope.ResolvedPath)? {
    let resolved = try scope.resolve(path)
    var (role, inner) = (start, scope)
    for hop in resolved.hops {
      if let place = hop.joined {
        guard joined.indices.contains(place) else { return nil }
        role = joined[place]
      } else {
        read(hop.name, of: role, decides: decides)
        if case .map? = inner.definition?[hop.name]?.type {
          mark(role, decides: decides)
          return nil
        }
        role = step(
          from: role, .to(hop.name, hop.collection), hop.collection, decides: decides)
      }
      if !decides { roles[role].isSeen = true }
      inner = inner.entering(hop.collection)
    }
    if let property = resolved.property {
      read(property, of: role, decides: decides && !isTested)
    }
    mark(role, decides: decides)
    if let referrers = path.referrers {
      let far = counting(
        from: role, .inverse(referrers.property), referrers.collection,
        passing: referrers.condition?.test, decides: decides)
      let test = referrers.condition?.test ?? .all([])
      try enter(far, test, inner.entering(referrers.collection), decides: decides)
    }
    return (role, resolved)
  }

  private mutating func read(_ name: String, of role: Int, decides: Bool) {
    roles[role].names.insert(name)
    if decides {
      roles[role].uses.others.insert(name)
    } else {
      roles[role].shown.names.insert(name)
    }
  }

  /// Notes that a role decides which rows there are; with it all those above.
  private mutating func mark(_ role: Int, decides: Bool) {
    var next = decides ? role : nil
    while let role = next {
      roles[role].decides = true
      next = roles[role].upper
    }
  }

  /// The role at the end of a step that leads to records which count by themselves; those that fail
  /// a test do not matter to who takes it.
  private mutating func counting(
    from upper: Int, _ edge: DependencyRole.Edge, _ collection: NodePath?,
    passing test: Condition.Test? = nil, decides: Bool
  ) -> Int {
    let role = step(from: upper, edge, collection, passing: test, decides: decides)
    roles[role].uses.areCounted = true
    return role
  }

  /// The role at the end of a step. Records that fail a test do not matter to who takes it.
  private mutating func step(
    from upper: Int, _ edge: DependencyRole.Edge, _ collection: NodePath?,
    passing test: Condition.Test? = nil, decides: Bool
  ) -> Int {
    if let name = edge.ownName { read(name, of: upper, decides: decides) }
    let known = roles.firstIndex {
      $0.upper == upper && $0.edge == edge && $0.collection == collection && $0.way.join == nil
    }
    if let known {
      let tests = roles[known].passing
      roles[known].passing = test.flatMap { test in tests.map { $0 + [test] } }
    } else {
      append(upper, edge, collection, passing: test)
    }
    let role = known ?? roles.count - 1
    if let name = edge.farName { read(name, of: role, decides: decides) }
    if !decides { roles[role].isSeen = true }
    return role
  }

  private mutating func append(
    _ upper: Int, _ edge: DependencyRole.Edge, _ collection: NodePath?,
    passing test: Condition.Test?
  ) {
    var role = DependencyRole(collection: collection, upper: upper, edge: edge)
    // A join may lead elsewhere than the references that it joins by: a path means these.
    if case .reference(let name) = edge, let above = roles[upper].collection,
      scope.find(above)?[name]?.type.target == collection
    {
      role.way.hops = roles[upper].way.hops.map { $0 + [name] }
      role.way.names = roles[upper].way.names.map { $0 + [name] }
    }
    (role.isWhole, role.passing) = (collection == nil, test.map { [$0] })
    if roles[upper].collection == nil {
      problem = problem ?? "a path leads on from records of which no collection is declared"
    }
    roles.append(role)
  }

  // MARK: Conditions

  /// Adds the steps of a condition, which decides which rows there are, or only what is shown
  /// beside them.
  private mutating func add(
    _ test: Condition.Test, in scope: ConditionScope, from role: Int, decides: Bool = true,
    isRequired: Bool = false
  ) throws {
    switch test {
    case .all(let tests):
      for test in tests {
        try add(test, in: scope, from: role, decides: decides, isRequired: isRequired)
      }
    case .any(let tests):
      for test in tests { try add(test, in: scope, from: role, decides: decides) }
    case .not(let other): try add(other, in: scope, from: role, decides: decides)
    case .related(.inverse(let collection, let property), let quantifier, let inner):
      let far = counting(
        from: role, .inverse(property), collection, passing: quantifier.wanted(inner),
        decides: decides)
      try enter(far, inner, scope.entering(collection), decides: decides)
    case .related(.elements(let path), let quantifier, let inner):
      guard let end = try follow(path, in: scope, from: role, decides: decides),
        let property = end.resolved.property
      else { return }
      let collection = end.resolved.definition?.target
      let far = counting(
        from: end.role, .to(property, collection), collection, passing: quantifier.wanted(inner),
        decides: decides)
      try enter(far, inner, scope.entering(collection), decides: decides)
    default: try addSingle(test, in: scope, from: role, decides: decides, isRequired: isRequired)
    }
  }

  /// Adds a test of one property, or of two.
  private mutating func addSingle(
    _ test: Condition.Test, in scope: ConditionScope, from role: Int, decides: Bool,
    isRequired: Bool
  ) throws {
    guard decides, test.paths.count == 1, let path = test.paths.first, path.function == nil else {
      for path in test.paths { _ = try follow(path, in: scope, from: role, decides: decides) }
      return
    }
    guard let end = try follow(path, in: scope, from: role, decides: true, isTested: true) else {
      return
    }
    let own = test.mapping { _ in PropertyPath(end.resolved.property) }
    if isRequired {
      roles[end.role].uses.required.append(own)
    } else {
      roles[end.role].uses.tests.append(own)
    }
  }

  /// Adds the test of related records.
  private mutating func enter(
    _ role: Int, _ test: Condition.Test, _ scope: ConditionScope, decides: Bool
  ) throws {
    mark(role, decides: decides)
    try add(test, in: scope, from: role, decides: decides)
  }

  // MARK: Joins and relations

  private mutating func add(_ join: QueryDescription.Join, isWhole: Bool) throws {
    // Nothing is joined by a path that has nothing, and the joins behind keep their places.
    let outer = try follow(join.outer, in: scope, from: 0, decides: true)
    let (upper, edge) = (outer?.role ?? 0, edge(join, outer?.resolved.property))
    if let name = edge.ownName { read(name, of: upper, decides: true) }
    // Each join has a role of its own: a test of one joined record says nothing about another.
    append(upper, edge, join.collection, passing: join.condition?.test)
    let role = roles.count - 1
    if let name = edge.farName { read(name, of: role, decides: true) }
    roles[role].uses.areCounted = true
    (roles[role].way.names, roles[role].way.join) = ([join.name], joined.count)
    joined.append(role)
    if join.outer.referrers != nil {
      problem = problem ?? "a join compares the number of related records"
    }
    if isWhole { (roles[role].isWhole, roles[role].isDelivered) = (true, true) }
    mark(role, decides: true)
    if let test = join.condition?.test {
      try add(test, in: scope.entering(join.collection), from: role)
    }
  }

  private func edge(_ join: QueryDescription.Join, _ property: String?) -> DependencyRole.Edge {
    if let property, join.inner == nil, join.outer.function == nil { return .reference(property) }
    let inner = scope.find(join.collection)
    return .join(
      .init(
        outer: PropertyPath(property, join.outer.function), inner: join.inner,
        type: join.inner.flatMap { inner?[$0]?.type } ?? .any))
  }

  private mutating func add(_ loaded: LoadedPath) throws {
    guard let end = try follow(loaded.path, in: scope, from: 0, decides: false) else { return }
    let edge: DependencyRole.Edge
    if let inverse = loaded.inverse {
      edge = .inverse(inverse)
    } else if let property = end.resolved.property {
      edge = .reference(property)
    } else if roles[end.role].collection == loaded.collection {
      return (roles[end.role].isWhole, roles[end.role].isDelivered) = (true, true)
    } else {
      edge = .join(.init(outer: PropertyPath(nil), inner: nil, type: .any))
    }
    let far = step(
      from: end.role, edge, loaded.collection, passing: loaded.condition?.test, decides: false)
    if !loaded.isCount { roles[far].isWhole = true }
    if loaded.isWhole { roles[far].isDelivered = true }
    let inner = scope.entering(loaded.collection)
    if let test = loaded.condition?.test { try add(test, in: inner, from: far, decides: false) }
    for ordering in loaded.orderings {
      _ = try follow(ordering.path, in: inner, from: far, decides: false)
    }
  }
}

extension Condition.Quantifier {
  /// The test that decides: `all` is refuted by one record that fails.
  fileprivate func wanted(_ test: Condition.Test) -> Condition.Test {
    self == .all ? .not(test) : test
  }
}

extension DependencyRole.Edge {
  /// The edge along a property, which names keys of a collection, or is the whole path.
  fileprivate static func to(_ property: String, _ collection: NodePath?) -> Self {
    collection == nil ? .path(property) : .reference(property)
  }

  /// The property of the record above that makes the edge.
  var ownName: String? {
    switch self {
    case .reference(let name), .path(let name): name
    case .inverse: nil
    case .join(let edge): edge.outer.property
    }
  }

  /// The property of the record below that makes the edge.
  fileprivate var farName: String? {
    switch self {
    case .reference, .path: nil
    case .inverse(let name): name
    case .join(let edge): edge.inner
    }
  }
}
