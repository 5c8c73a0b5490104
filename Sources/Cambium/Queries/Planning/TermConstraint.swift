import FoundationEssentials

/// The constraint that a condition puts on the values of one of an index's terms, as ranges of the
/// bytes that the term has in entries.
///
/// A value's bytes are never the beginning of another's. So the entries that have it are those from
/// its bytes up to the next that do not begin with them.
struct TermConstraint {
  /// Ascending, as the term is stored: turned, in a descending one.
  var ranges: [ClosedOpenBytes]
  /// True if each range is one value.
  var isPoints: Bool
  /// The tests that the ranges imply.
  var tests: [Condition.Test]
  /// True if everything inside the ranges passes the tests, so that they need not be run.
  var isExact: Bool

  /// The constraint that a test puts on a term; nil where it puts none.
  ///
  /// - Parameters:
  ///   - test: The test, whose path is the property of the term.
  ///   - term: The term of the index that it constrains.
  ///   - isPlural: True if there is an entry for each element.
  /// - Returns: The constraint.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a constant that cannot be stored.
  static func of(
    _ test: Condition.Test, _ term: IndexPlan.Term, isPlural: Bool
  ) throws -> TermConstraint? {
    let bounds = TermBounds(term)
    let found: TermBounds.Found?
    var isPoints = true
    switch test {
    case .contains(_, let value) where isPlural: found = try bounds.points([value])
    case _ where isPlural: return nil
    case .compare(_, .equal, let value): found = try bounds.points([value])
    case .oneOf(_, let values): found = try bounds.points(values)
    case .compare(_, let comparison, let value) where comparison != .notEqual:
      (found, isPoints) = (try bounds.ranges(comparison, value), false)
    case .text(_, let test, let text, let collation) where collation == term.collation:
      found = try bounds.text(test, text).map { ([$0], true) }
      isPoints = test == .equals
    default: found = nil
    }
    guard let found else { return nil }
    let ranges =
      term.isDescending
      ? found.ranges.map(isPoints ? \.turnedPoint : \.turned).reversed() : found.ranges
    return TermConstraint(
      ranges: ranges, isPoints: isPoints, tests: [test], isExact: found.isExact)
  }

  /// The conjunction of two constraints: the ranges that lie in both.
  ///
  /// Every bound is where a value begins or ends, so a range that is one value lies in another
  /// range as a whole or not at all.
  func and(_ other: TermConstraint) -> TermConstraint {
    var both: [ClosedOpenBytes] = []
    var (one, two) = (ranges[...], other.ranges[...])
    while let first = one.first, let second = two.first {
      let shared = first.intersection(second)
      if !shared.isEmpty { both.append(shared) }
      if first.ends(before: second) { one.removeFirst() } else { two.removeFirst() }
    }
    return TermConstraint(
      ranges: both, isPoints: isPoints || other.isPoints, tests: tests + other.tests,
      isExact: isExact && other.isExact)
  }
}

extension ClosedOpenBytes {
  /// The same range where every byte is turned.
  fileprivate var turned: ClosedOpenBytes {
    let lower = upper.map { ClosedOpenBytes.successor(turn($0)) ?? turn($0) } ?? []
    return ClosedOpenBytes(from: lower, upTo: ClosedOpenBytes.successor(turn(self.lower)))
  }

  /// The same for one value, whose bytes the next term's follow, so that they must be there whole.
  fileprivate var turnedPoint: ClosedOpenBytes { ClosedOpenBytes(prefix: turn(lower)) }

  private func turn(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }

  /// True if it ends before another range does.
  fileprivate func ends(before other: ClosedOpenBytes) -> Bool {
    guard let upper else { return false }
    return other.upper.map { upper.lexicographicallyPrecedes($0) } ?? true
  }
}

/// The bytes of a term between which values lie.
struct TermBounds {
  let term: IndexPlan.Term

  init(_ term: IndexPlan.Term) { self.term = term }

  /// Ranges, ascending; `isExact` where nothing else lies in them.
  typealias Found = (ranges: [ClosedOpenBytes], isExact: Bool)

  private var isReference: Bool { if case .reference = term.type { true } else { false } }

  /// True if decimals may lie beside other numbers, which are not compared by one order: an integer
  /// equals decimals and doubles, but no double equals a decimal.
  private var hasDecimalsApart: Bool { term.type == .any }

  /// A constant as the term's values are compared with it; nil where it can be compared with none
  /// by an index.
  private func constant(_ value: Value) -> Value? {
    let value = value.coerced(to: term.type)
    guard isReference else { return value }
    return ConditionScope.ResolvedPath.key(value, target: term.type.target)
      .map(StoredKey.value(of:))
  }

  private func bytes(_ value: Value) throws -> [UInt8] {
    try OrderedBytes.of(value, as: term.type, term.collation)
  }

  // MARK: Equality

  /// The ranges of some values, ascending, each once; nil where the index cannot find them.
  func points(_ values: [Value]) throws -> Found? {
    var (all, isExact) = ([[UInt8]](), true)
    for value in values {
      guard let found = try points(value) else { return nil }
      all += found.bytes
      isExact = isExact && found.isExact
    }
    all.sort { $0.lexicographicallyPrecedes($1) }
    var ranges: [ClosedOpenBytes] = []
    for point in all where ranges.last?.lower != point {
      ranges.append(ClosedOpenBytes(prefix: point))
    }
    return (ranges, isExact)
  }

  /// The bytes of the values that equal a constant.
  private func points(_ value: Value) throws -> (bytes: [[UInt8]], isExact: Bool)? {
    if value == .null { return ([[OrderedBytes.null]], true) }
    guard let value = constant(value) else { return nil }
    switch (value, term.type) {
    // No decimal is infinite, but integers among them compare with it.
    case (.double, .decimal): return nil
    case (.integer, .any):
      return ([try bytes(value), try OrderedBytes.of(value, as: .decimal)], true)
    case (.decimal(let number), .any), (.decimal(let number), .integer),
      (.decimal(let number), .double):
      let decimals = hasDecimalsApart ? [try bytes(value)] : []
      // Doubles lie among the integers, and do not equal decimals.
      let whole = try OrderedDecimal(number).wholeNumber.map { [try bytes(.integer($0))] }
      return (decimals + (whole ?? []), whole == nil)
    case (.string, _): return ([try bytes(value)], term.collation == .binary || isReference)
    default: return ([try bytes(value)], true)
    }
  }

  // MARK: Order

  /// The ranges of a comparison, each within one kind of values; nil where the index cannot find
  /// them.
  func ranges(_ comparison: Condition.Comparison, _ value: Value) throws -> Found? {
    guard value != .null, let value = constant(value) else { return nil }
    switch (value, term.type) {
    case (.double, .decimal): return nil
    case (.string, _) where term.collation != .binary && !isReference: return nil
    case (.integer, .any):
      let kinds = [try bytes(value), try OrderedBytes.of(value, as: .decimal)]
      return (kinds.compactMap { TermBounds.range(comparison, $0) }, true)
    case (.decimal(let number), .any), (.decimal(let number), .integer),
      (.decimal(let number), .double):
      let decimals =
        hasDecimalsApart ? TermBounds.range(comparison, try bytes(value)).map { [$0] } ?? [] : []
      return (try wholeNumbers(comparison, number) + decimals, false)
    default:
      return TermBounds.range(comparison, try bytes(value)).map { ([$0], true) }
    }
  }

  /// A range that has all integers which compare so with a decimal, and a few others.
  private func wholeNumbers(
    _ comparison: Condition.Comparison, _ number: Decimal
  ) throws -> [ClosedOpenBytes] {
    guard let near = OrderedDecimal(number).nearWholeNumbers else {
      // Not a number comes behind all of them.
      let isLess = comparison == .less || comparison == .lessOrEqual
      return isLess ? [ClosedOpenBytes(prefix: [OrderedBytes.number])] : []
    }
    let range =
      switch comparison {
      case .less, .lessOrEqual:
        TermBounds.range(.lessOrEqual, try bytes(.integer(near.upperBound)))
      default: TermBounds.range(.greaterOrEqual, try bytes(.integer(near.lowerBound)))
      }
    return range.map { [$0] } ?? []
  }

  /// The range of a comparison, within the kind of its constant.
  private static func range(
    _ comparison: Condition.Comparison, _ bytes: [UInt8]
  ) -> ClosedOpenBytes? {
    guard let kind = ClosedOpenBytes(kindOf: bytes) else { return nil }
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

  /// The range of a text, or of those that begin with one.
  func text(_ test: Condition.TextTest, _ text: String) throws -> ClosedOpenBytes? {
    guard !isReference, test == .equals || test == .prefix else { return nil }
    var bytes = try OrderedBytes.of(.string(text), as: term.type, term.collation)
    // Without the NUL that ends it, the text may continue.
    if test == .prefix { bytes.removeLast() }
    return ClosedOpenBytes(prefix: bytes)
  }
}

extension ClosedOpenBytes {
  /// The range of all values that compare with one.
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
