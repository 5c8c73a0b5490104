// The names of properties that a condition depends on.

extension Condition {
  /// The names of the records' own properties that it tests, including references that it follows.
  package var propertyNames: Set<String> {
    Set(test.paths.flatMap { Condition.Test.names(in: $0) })
  }
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

  /// The paths that it names, outside of related records.
  var paths: [PropertyPath] {
    switch self {
    case .all(let tests), .any(let tests): tests.flatMap(\.paths)
    case .not(let other): other.paths
    case .compare(let path, _, _), .oneOf(let path, _), .text(let path, _, _, _),
      .contains(let path, _):
      [path]
    case .compareProperties(let path, _, let other): [path, other]
    case .related(.elements(let path), _, _): [path]
    case .related(.inverse, _, _): []
    }
  }
}
