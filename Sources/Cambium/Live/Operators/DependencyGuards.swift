/// Makes the guards of a query: the changes that it must see.
struct DependencyGuards {
  private let description: QueryDescription
  private let roles: [DependencyRole]
  private let scope: ConditionScope

  init(_ description: QueryDescription, _ roles: [DependencyRole], _ scope: ConditionScope) {
    self.description = description
    self.roles = roles
    self.scope = scope
  }

  /// The guards of the rows' own records and of all others that decide.
  var all: [LiveGuard] {
    get throws {
      // Nil where every change must be seen.
      var tests: [NodePath: [LiveGuard.Test]?] = [:]
      func add(_ other: [LiveGuard.Test]?, _ collection: NodePath) {
        let known = tests[collection] ?? .some([])
        tests[collection] = .some(known.flatMap { known in other.map { known + $0 } })
      }
      let own = try description.condition.flatMap { try ConditionGuards(scope).tests($0.test) }
      add(own, description.collection)
      for role in roles.dropFirst() where role.decides || role.shown(in: roles) == nil {
        guard let collection = role.collection else { continue }
        let guards = ConditionGuards(scope.entering(collection))
        add(try role.passing.flatMap { try guards.tests(.any($0)) }, collection)
      }
      return tests.sorted { $0.key < $1.key }.flatMap { collection, tests in
        (tests ?? [.any]).map { LiveGuard(collection: collection, test: $0) }
      }
    }
  }

  /// The relations whose records are only shown.
  static func shown(_ roles: [DependencyRole]) -> [LoadedPath] {
    roles.dropFirst().filter { !$0.decides }.compactMap { $0.shown(in: roles) }
  }
}

extension LoadedPath {
  /// The guard of the records that a relation leads to at present.
  ///
  /// - Parameters:
  ///   - keys: The keys that ``RelatedKeys`` finds by its path for the records that are shown.
  ///   - records: The records at the moment.
  /// - Returns: The guard, which also lets those pass that begin to refer, where others refer.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func guarding(_ keys: Set<[UInt8]>, _ records: QueryRecords) throws -> LiveGuard {
    guard let inverse else { return LiveGuard(collection: collection, test: .keys(keys)) }
    // Only references have the same ordered bytes however they name a key.
    guard let type = records.definition(of: collection)?[inverse]?.type, type.hasFormOfReferences
    else { return LiveGuard(collection: collection, test: .any) }
    let ranges = try keys.map { key in
      let value = StoredKey.value(of: try key.lend { try Key($0) })
      return ClosedOpenBytes(prefix: try OrderedBytes.of(value, as: type.element))
    }
    return LiveGuard(
      collection: collection,
      test: .values(property: inverse, type: type, collation: .binary, ranges: ranges.inOrder))
  }
}

extension PropertyType {
  /// True if values, or the elements of arrays, have the ordered bytes of references.
  fileprivate var hasFormOfReferences: Bool {
    switch self {
    case .reference, .array(.reference): true
    default: false
    }
  }
}

extension DependencyRole {
  /// The relation that leads to records that are only shown; nil where no path of references does.
  func shown(in roles: [DependencyRole]) -> LoadedPath? {
    guard let collection, let upper, let hops = roles[upper].hops else { return nil }
    switch edge {
    case .reference(let name):
      return LoadedPath(path: PropertyPath(hops: hops, name), collection: collection)
    case .inverse(let name):
      return LoadedPath(path: PropertyPath(hops: hops, nil), collection: collection, inverse: name)
    default: return nil
    }
  }
}
