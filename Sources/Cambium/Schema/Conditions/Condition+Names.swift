// The names of properties that a condition depends on.

extension Condition {
  /// The names of the records' own properties that it tests, including references that it follows.
  package var propertyNames: Set<String> { test.propertyNames }
}

extension Condition.Test {
  /// The names of the record's own properties that a path may begin with. Names that belong
  /// together, as in `place.latitude`, may be one name or several.
  static func names(in path: PropertyPath) -> Set<String> {
    var names = Set([path.hops.first ?? path.property].compactMap { $0 })
    if let property = path.property, !path.hops.isEmpty {
      names.insert((path.hops + [property]).joined(separator: "."))
    }
    return names
  }

  fileprivate var propertyNames: Set<String> {
    func first(_ path: PropertyPath) -> Set<String> { Condition.Test.names(in: path) }
    switch self {
    case .all(let tests), .any(let tests):
      return tests.reduce(into: []) { $0.formUnion($1.propertyNames) }
    case .not(let other): return other.propertyNames
    case .compare(let path, _, _), .oneOf(let path, _), .text(let path, _, _, _),
      .contains(let path, _):
      return first(path)
    case .compareProperties(let path, _, let other): return first(path).union(first(other))
    case .related(.elements(let path), _, _): return first(path)
    case .related(.inverse, _, _): return []
    }
  }
}
