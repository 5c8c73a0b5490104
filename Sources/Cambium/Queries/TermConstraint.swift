/// What a condition says about the values of one of an index's terms, as stretches of the bytes
/// that the term has in entries.
///
/// A value's bytes are never the beginning of another's. So the entries that have it are those from
/// its bytes up to the next that do not begin with them.
struct TermConstraint {
  /// Ascending, as the term is stored: turned, in a descending one.
  var ranges: [ClosedOpenBytes]
  /// Whether each range is one value.
  var isPoints: Bool
  /// The tests that the ranges stand for.
  var tests: [Condition.Test]
  /// Whether what is inside passes the tests, so that they need not be run.
  var isExact: Bool

  /// What a test says about a term; nil where that is nothing.
  ///
  /// - Parameters:
  ///   - test: The test, whose path is the property of the term.
  ///   - term: The term.
  ///   - isPlural: Whether there is an entry for each element.
  /// - Returns: The constraint.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a constant that cannot be stored.
  static func of(
    _ test: Condition.Test, _ term: IndexPlan.Term, isPlural: Bool
  ) throws -> TermConstraint? {
    let bounds = TermBounds(term)
    let found: (ranges: [ClosedOpenBytes], isPoints: Bool, isExact: Bool)?
    switch test {
    case .contains(_, let value) where isPlural:
      found = try bounds.points([value]).map { ($0, true, bounds.isBinary(value)) }
    case _ where isPlural: return nil
    case .compare(_, .equal, .null):
      found = ([ClosedOpenBytes(prefix: [OrderedBytes.null])], true, true)
    case .compare(_, .equal, let value):
      found = try bounds.points([value]).map { ($0, true, bounds.isBinary(value)) }
    case .oneOf(_, let values):
      found = try bounds.points(values).map { ($0, true, values.allSatisfy(bounds.isBinary)) }
    case .compare(_, let comparison, let value) where comparison != .notEqual:
      found = try bounds.range(comparison, value).map { ([$0], false, true) }
    case .text(_, let test, let text, let collation) where collation == term.collation:
      found = try bounds.text(test, text).map { ([$0], test == .equals, true) }
    default: found = nil
    }
    guard let found else { return nil }
    let ranges =
      term.isDescending
      ? found.ranges.map(found.isPoints ? \.turnedPoint : \.turned).reversed() : found.ranges
    return TermConstraint(
      ranges: ranges, isPoints: found.isPoints, tests: [test], isExact: found.isExact)
  }

  /// What two constraints say together; nil where they cannot be put together.
  func and(_ other: TermConstraint) -> TermConstraint? {
    if isPoints != other.isPoints { return nil }
    guard ranges.count == 1, other.ranges.count == 1 else { return nil }
    let (one, two) = (ranges[0], other.ranges[0])
    let lower = one.lower.lexicographicallyPrecedes(two.lower) ? two.lower : one.lower
    var upper = one.upper ?? two.upper
    if let a = one.upper, let b = two.upper { upper = a.lexicographicallyPrecedes(b) ? a : b }
    return TermConstraint(
      ranges: [ClosedOpenBytes(from: lower, upTo: upper)], isPoints: isPoints,
      tests: tests + other.tests, isExact: isExact && other.isExact)
  }
}

extension ClosedOpenBytes {
  /// The same stretch where every byte is turned.
  fileprivate var turned: ClosedOpenBytes {
    let lower = upper.map { ClosedOpenBytes.successor(turn($0)) ?? turn($0) } ?? []
    return ClosedOpenBytes(from: lower, upTo: ClosedOpenBytes.successor(turn(self.lower)))
  }

  /// The same for one value, whose bytes the next term's follow, so that they must be there whole.
  fileprivate var turnedPoint: ClosedOpenBytes { ClosedOpenBytes(prefix: turn(lower)) }

  private func turn(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }
}

/// The bytes of a term between which values lie.
struct TermBounds {
  let term: IndexPlan.Term

  init(_ term: IndexPlan.Term) { self.term = term }

  /// Whether the index tells all from a constant that a comparison does: not where it takes texts
  /// that differ in case for one.
  func isBinary(_ value: Value) -> Bool {
    if case .string = value { return term.collation == .binary || isReference }
    return true
  }

  private var isReference: Bool { if case .reference = term.type { true } else { false } }

  /// The bytes of a constant, or nil where values of other kinds would equal it.
  private func bytes(_ value: Value) throws -> [UInt8]? {
    var value = value.coerced(to: term.type)
    if isReference {
      guard let key = ConditionScope.ResolvedPath.key(value, target: term.type.target) else {
        return nil
      }
      value = StoredKey.value(of: key)
    }
    switch (value, term.type) {
    case (.null, _): return nil
    // An integer equals decimals, which lie elsewhere where anything may be stored.
    case (.integer, .any), (.decimal, .any), (.decimal, .integer), (.decimal, .double): return nil
    // No decimal is infinite, but integers among them compare with it.
    case (.double, .decimal): return nil
    default: return try OrderedBytes.of(value, as: term.type, term.collation)
    }
  }

  /// The stretches of some values, ascending, each once.
  func points(_ values: [Value]) throws -> [ClosedOpenBytes]? {
    var points: [[UInt8]] = []
    for value in values {
      if value == .null {
        points.append([OrderedBytes.null])
      } else {
        guard let bytes = try bytes(value) else { return nil }
        points.append(bytes)
      }
    }
    points.sort { $0.lexicographicallyPrecedes($1) }
    var ranges: [ClosedOpenBytes] = []
    for point in points where ranges.last?.lower != point {
      ranges.append(ClosedOpenBytes(prefix: point))
    }
    return ranges
  }

  /// The stretch of a comparison, within the kind of its constant.
  func range(_ comparison: Condition.Comparison, _ value: Value) throws -> ClosedOpenBytes? {
    if case .string = value, !isBinary(value) { return nil }
    guard let bytes = try bytes(value), let kind = ClosedOpenBytes(kindOf: bytes) else {
      return nil
    }
    switch comparison {
    case .less: return ClosedOpenBytes(from: kind.lower, upTo: bytes)
    case .lessOrEqual:
      return ClosedOpenBytes(from: kind.lower, upTo: ClosedOpenBytes.successor(bytes))
    case .greater:
      return ClosedOpenBytes(from: ClosedOpenBytes.successor(bytes) ?? bytes, upTo: kind.upper)
    case .greaterOrEqual: return ClosedOpenBytes(from: bytes, upTo: kind.upper)
    default: return nil
    }
  }

  /// The stretch of a text, or of those that begin with one.
  func text(_ test: Condition.TextTest, _ text: String) throws -> ClosedOpenBytes? {
    guard !isReference, test == .equals || test == .prefix else { return nil }
    var bytes = try OrderedBytes.of(.string(text), as: term.type, term.collation)
    // Without the NUL that ends it, the text may go on.
    if test == .prefix { bytes.removeLast() }
    return ClosedOpenBytes(prefix: bytes)
  }
}

extension ClosedOpenBytes {
  /// The stretch of all values that compare with one.
  fileprivate init?(kindOf bytes: [UInt8]) {
    guard let tag = bytes.first else { return nil }
    switch tag {
    case 0x01, 0x02: self.init(from: [0x01], upTo: [0x03])
    case OrderedBytes.number, OrderedBytes.decimal, OrderedBytes.date, OrderedBytes.uuid,
      OrderedBytes.string, OrderedBytes.data:
      self.init(prefix: [tag])
    case OrderedBytes.reference: self.init(prefix: Array(bytes.prefix(2)))
    default: return nil
    }
  }
}
