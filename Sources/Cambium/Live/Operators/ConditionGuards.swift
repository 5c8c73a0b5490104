// The part of a condition by which changes are found that may concern it. The narrowest part of a
// conjunction is enough: a record that fails it before and after a step is in no result of either
// moment, also where the result has a limit.
//
//     origin = "JFK" and delay > 60 and carrier.name = "United"    →   origin in ["JFK"]
//     origin = "JFK" or destination = "JFK"                        →   both, each by itself
//     not (origin = "JFK" or delay <= 60)                          →   delay > 60, or of no number
//     not origin = "JFK"                                           →   any

/// Makes tests of changes from conditions.
struct ConditionGuards {
  private let scope: ConditionScope

  init(_ scope: ConditionScope) { self.scope = scope }

  /// The tests of which a change must pass one to concern a condition; nil where it need pass none.
  func tests(_ test: Condition.Test) throws -> [LiveGuard.Test]? { try narrowest(test)?.tests }

  /// A part of a condition as tests of changes, of which one must pass, and its expected width: the
  /// place among ``Width``.
  private typealias Choice = (width: Width, tests: [LiveGuard.Test])

  /// The expected number of records that pass a test, the smallest first.
  private enum Width: Int, Comparable {
    case keys, values, prefix, range, half

    static func < (a: Width, b: Width) -> Bool { a.rawValue < b.rawValue }
  }

  /// The narrowest part of a test; nil where it has none.
  private func narrowest(_ test: Condition.Test) throws -> Choice? {
    switch test {
    case .all(let tests):
      let parts = try tests.flatMap(\.conjuncts).compactMap { try narrowest($0) }
      return (parts + (try constraints(tests))).min { $0.width < $1.width }
    case .any(let tests):
      var all: Choice = (.keys, [])
      for test in tests {
        guard let one = try narrowest(test) else { return nil }
        all = (max(all.width, one.width), all.tests + one.tests)
      }
      return all
    case .not(let other): return try negated(other)
    case .compare(PropertyPath(nil), .equal, let value): return keys([value])
    case .oneOf(PropertyPath(nil), let values): return keys(values)
    default: return try constraint([test])
    }
  }

  /// The narrowest part of the negation of a test.
  private func negated(_ test: Condition.Test) throws -> Choice? {
    switch test {
    case .not(let other): return try narrowest(other)
    case .all(let tests): return try narrowest(.any(tests.map { .not($0) }))
    case .any(let tests): return try narrowest(.all(tests.map { .not($0) }))
    case .compare(let path, .notEqual, let value):
      return try narrowest(.compare(path, .equal, value))
    case .compare(_, let comparison, _) where comparison != .equal:
      return try constraint([test], isNegated: true)
    default: return nil
    }
  }

  /// The guards of properties that several tests of a conjunction constrain.
  private func constraints(_ tests: [Condition.Test]) throws -> [Choice] {
    var own: [PropertyPath: [Condition.Test]] = [:]
    for test in tests.flatMap(\.conjuncts) {
      if case .compare(let path, let comparison, _) = test, comparison != .notEqual {
        own[path, default: []].append(test)
      }
    }
    return try own.values.filter { $0.count > 1 }.compactMap { try constraint($0) }
  }

  private func keys(_ values: [Value]) -> Choice {
    let keys = values.compactMap { ConditionScope.ResolvedPath.key($0, target: nil)?.stored }
    return (.keys, [.keys(Set(keys))])
  }

  /// The values that tests of one property of the record itself leave; nil where they leave any.
  private func constraint(
    _ tests: [Condition.Test], isNegated: Bool = false
  ) throws -> Choice? {
    guard let first = tests.first, let (path, collation) = first.guarded,
      case let resolved = try scope.resolve(path), resolved.hops.isEmpty,
      let property = resolved.property, scope.catalog.id(of: property) != nil
    else { return nil }
    let type = resolved.definition?.type ?? .any
    let isPlural = if case .array = type { first.asksForElement } else { false }
    guard isPlural || type.isOrdered,
      tests.allSatisfy({ $0.isGuard(of: type.element, resolved.isTextKey) })
    else { return nil }
    let resolver = Resolver(
      definition: scope.definition ?? CollectionDefinition(), catalog: scope.catalog)
    let term = try IndexPlan.Term(.init(property, collation: collation), resolver)
    var found: TermConstraint?
    for test in tests {
      guard let one = try TermConstraint.of(test, term, isPlural: isPlural) else { continue }
      found = found?.and(one) ?? one
    }
    guard let found, !isNegated || found.isExact else { return nil }
    var ranges = found.ranges.filter { !$0.isEmpty }
    if isNegated { ranges = ranges.complement }
    let absent = [UInt8](repeating: OrderedBytes.null, count: 1)
    if try isPlural ? term.standIn != .null : standsIn(term, ranges) {
      ranges.append(ClosedOpenBytes(prefix: absent))
    }
    return (
      width(found, first, type),
      [.values(property: property, type: type, collation: collation, ranges: ranges.inOrder)]
    )
  }

  /// True if an absent value, or null, stands for one in some ranges.
  private func standsIn(_ term: IndexPlan.Term, _ ranges: [ClosedOpenBytes]) throws -> Bool {
    try [term.standIn.ofAbsence, term.standIn.ofNull].contains { value in
      if value.isEmpty { return false }
      var bytes = ByteBuffer()
      try value.lend {
        try OrderedBytes.append(stored: $0, as: term.type, term.collation, to: &bytes)
      }
      return bytes.lend { bytes in ranges.contains { $0.contains(bytes) } }
    }
  }

  private func width(
    _ constraint: TermConstraint, _ test: Condition.Test, _ type: PropertyType
  ) -> Width {
    if constraint.isPoints {
      let isNull = constraint.ranges.contains { $0.lower == [OrderedBytes.null] }
      return type == .bool || isNull ? .half : .values
    }
    if case .text = test { return .prefix }
    return constraint.tests.count > 1 ? .range : .half
  }
}

extension PropertyType {
  /// True if a value has ordered bytes of its own, and not those of its stored form.
  fileprivate var isOrdered: Bool {
    switch self {
    case .array, .map, .keyed, .blob: false
    default: true
    }
  }
}

extension Condition.Test {
  /// The path and the collation of a test that ranges of ordered bytes may express.
  fileprivate var guarded: (PropertyPath, Collation)? {
    switch self {
    case .compare(let path, _, _), .oneOf(let path, _), .contains(let path, _):
      path.function == nil ? (path, .binary) : nil
    case .text(let path, _, _, let collation): path.function == nil ? (path, collation) : nil
    default: nil
    }
  }

  /// True if it asks for an element of an array.
  fileprivate var asksForElement: Bool { if case .contains = self { true } else { false } }

  /// True if the ranges of a test have all values of a type that pass it.
  fileprivate func isGuard(of type: PropertyType, _ isTextKey: Bool) -> Bool {
    switch self {
    case .compare(_, .equal, let value): value.isScalar(for: type)
    case .compare(_, let comparison, let value):
      comparison != .notEqual && !isTextKey && value.isScalar(for: type)
    case .oneOf(_, let values): values.allSatisfy { $0.isScalar(for: type) }
    case .contains(_, let value): value != .null && value.isScalar(for: type)
    default: true
    }
  }
}

extension Value {
  /// True if a value compares with those of a type as their ordered bytes do.
  fileprivate func isScalar(for type: PropertyType) -> Bool {
    switch self {
    case .null, .bool, .integer, .double, .string, .data, .date, .uuid, .decimal: true
    case .reference: if case .reference = type { true } else { false }
    default: false
    }
  }
}

extension [ClosedOpenBytes] {
  /// The ranges of everything that lies in none of these, which ascend.
  fileprivate var complement: [ClosedOpenBytes] {
    var (others, start): ([ClosedOpenBytes], [UInt8]?) = ([], [])
    for range in self {
      if let start { others.append(ClosedOpenBytes(from: start, upTo: range.lower)) }
      start = range.upper
    }
    if let start { others.append(ClosedOpenBytes(from: start, upTo: nil)) }
    return others.filter { !$0.isEmpty }
  }

  /// The ranges in ascending order.
  var inOrder: [ClosedOpenBytes] {
    sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
  }
}
