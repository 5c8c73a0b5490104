// Conditions written in Swift: `$0.departureDelay > 60`. Each operator makes plain data.
//
// Measurements of the type checker led to this form: one overload of `where`, one condition per
// line, and rare cases (property against property, a Boolean by itself) marked as disfavoured.

import FoundationEssentials

extension Condition {
  /// Both hold.
  public static func && (a: Condition, b: Condition) -> Condition {
    if case .all(let tests) = a.test { return Condition(.all(tests + [b.test])) }
    return Condition(.all([a.test, b.test]))
  }

  /// One holds at least.
  public static func || (a: Condition, b: Condition) -> Condition {
    if case .any(let tests) = a.test { return Condition(.any(tests + [b.test])) }
    return Condition(.any([a.test, b.test]))
  }

  /// It does not hold.
  public static prefix func ! (a: Condition) -> Condition { Condition(.not(a.test)) }
}

extension Operand {
  fileprivate func compare<T: PropertyValue>(
    _ comparison: Condition.Comparison, _ value: T
  ) -> Condition {
    if path.guarantee == nil { return Condition(.compare(path, comparison, value.storedValue)) }
    let isOfEquality = comparison == .equal || comparison == .notEqual
    let (path, values) = compared([value], needing: isOfEquality ? .equality : .order)
    return Condition(.compare(path, comparison, values.first ?? .null))
  }

  fileprivate func compare<W: PropertyValue>(
    _ comparison: Condition.Comparison, _ other: Operand<W>
  ) -> Condition {
    Condition(.compareProperties(path, comparison, other.path))
  }

  /// Tests whether the property equals a value; nil is null.
  public static func == (a: Operand, b: V) -> Condition { a.compare(.equal, b) }

  /// Tests whether the property differs from a value.
  public static func != (a: Operand, b: V) -> Condition { a.compare(.notEqual, b) }

  /// Tests whether the property is one of some values.
  public func `in`(_ values: some Sequence<V.Base>) -> Condition {
    let (path, values) = compared(Array(values), needing: .equality)
    return Condition(.oneOf(path, values))
  }
}

extension Operand where V.Base: Comparable {
  /// Tests whether the property is less than a value; null never is.
  public static func < (a: Operand, b: V.Base) -> Condition { a.compare(.less, b) }

  /// Tests whether the property is less than or equal to a value; null never is.
  public static func <= (a: Operand, b: V.Base) -> Condition {
    a.compare(.lessOrEqual, b)
  }

  /// Tests whether the property is greater than a value; null never is.
  public static func > (a: Operand, b: V.Base) -> Condition { a.compare(.greater, b) }

  /// Tests whether the property is greater than or equal to a value; null never is.
  public static func >= (a: Operand, b: V.Base) -> Condition {
    a.compare(.greaterOrEqual, b)
  }

  /// Tests whether the property lies in a range, both bounds included.
  public func `in`(_ range: ClosedRange<V.Base>) -> Condition {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Tests whether the property lies in a range, without its upper bound.
  public func `in`(_ range: Range<V.Base>) -> Condition {
    self >= range.lowerBound && self < range.upperBound
  }
}

// The constraints on a property are on each call, not on an extension, so that the compiler reports
// a property of the wrong type, and not an unknown call.
extension Operand {
  private func text(_ test: Condition.TextTest, _ text: String, _ collation: Collation)
    -> Condition
  {
    Condition(.text(path, test, text, collation))
  }

  /// Tests whether the text equals another one, as the collation compares them.
  public func equals(_ other: String, _ collation: Collation = .ignoringCase) -> Condition
  where V.Base == String { text(.equals, other, collation) }

  /// Tests whether the text begins with another one.
  public func hasPrefix(_ prefix: String, _ collation: Collation = .binary) -> Condition
  where V.Base == String { text(.prefix, prefix, collation) }

  /// Tests whether the text ends with another one.
  public func hasSuffix(_ suffix: String, _ collation: Collation = .binary) -> Condition
  where V.Base == String { text(.suffix, suffix, collation) }

  /// Tests whether the text contains another one.
  public func contains(_ part: String, _ collation: Collation = .binary) -> Condition
  where V.Base == String { text(.contains, part, collation) }

  /// Tests whether the whole text matches a pattern, in which `%` stands for any text, even none,
  /// and `_` for one character: `like` of the query language.
  ///
  ///     query.where { $0.name.like("John%") }
  ///
  /// Patterns such as `John%`, `%John` and `%John%` cost no more than ``hasPrefix(_:_:)``,
  /// ``hasSuffix(_:_:)`` and `contains`; others take time in proportion to the lengths of pattern
  /// and text.
  public func like(_ pattern: String, _ collation: Collation = .binary) -> Condition
  where V.Base == String { Condition(.like(path, pattern, collation)) }

  /// Tests whether the text, or a part of it, matches a regular expression.
  ///
  ///     query.where { $0.name.matches("^(St|San) \\w+") }
  ///
  /// Expressions of literals, classes, `.`, `^`, `$`, groups, `|` and repetitions take time in
  /// proportion to the text's length, and can be declared in the conditions of indexes and views.
  /// Everything else that PCRE2 has is for queries: where such an expression takes too long on a
  /// text, the query throws. Scalars are compared, with Unicode's classes; `.` matches no line
  /// ending, and `$` holds at the end of the text.
  public func matches(_ pattern: String, _ collation: Collation = .binary) -> Condition
  where V.Base == String { text(.matches, pattern, collation) }

  /// Tests whether one of the elements is a value.
  public func contains(_ element: V.Base.Element) -> Condition
  where V.Base: Sequence, V.Base.Element: PropertyValue {
    Condition(.contains(path, element.storedValue))
  }

  /// Tests whether there is a value under a key.
  public func hasKey(_ key: V.Base.Key) -> Condition where V.Base: KeyedProperty {
    Condition(.contains(path, .string(key._keyText)))
  }

  /// Tests whether the value is of a case, by its name; the payload is not looked at.
  public func `is`(_ name: String) -> Condition where V.Base: UnionProperty {
    Condition(.contains(path, .string(name)))
  }
}

extension Operand where V.Base == String {
  /// The number of characters in the text.
  public var count: Operand<Int> { applying(.count) }
  /// The text in lower case.
  public var lowercased: Operand<String> { applying(.lowercased) }
}

extension Operand where V.Base == Date {
  /// The year of the moment, in UTC.
  public var year: Operand<Int> { applying(.year) }
  /// The month of the moment, 1 to 12, in UTC.
  public var month: Operand<Int> { applying(.month) }
  /// The day of the month, in UTC.
  public var day: Operand<Int> { applying(.day) }
  /// The hour of the day, 0 to 23, in UTC.
  public var hour: Operand<Int> { applying(.hour) }
}

extension Operand where V.Base: Sequence, V.Base.Element: PropertyValue {
  /// The number of elements.
  public var count: Operand<Int> { applying(.count) }
}

/// A dictionary that can be stored.
public protocol KeyedProperty: PropertyValue {
  /// The type of the keys that its values are stored under.
  associatedtype Key: DictionaryKey
}

extension Dictionary: KeyedProperty where Key: DictionaryKey, Value: PropertyValue {}

// MARK: Related models

extension ManyOperand {
  private func related(
    _ quantifier: Condition.Quantifier, _ condition: (Fields<Other>) -> Condition
  ) -> Condition {
    if let problem { return Condition(.compare(PropertyPath(problem: problem), .equal, .null)) }
    let condition = condition(Fields<Other>())
    // Others may lie in the same collection: they are not meant.
    guard let isOther = Other.schema.core.caseCondition else {
      return Condition(.related(many, quantifier, condition.test))
    }
    let test = quantifier == .all ? !isOther || condition : isOther && condition
    return Condition(.related(many, quantifier, test.test))
  }

  /// The reason why conditions cannot test the models; nil if they can.
  private var problem: String? {
    if let problem = owner.problem { return problem }
    if owner.hops.isEmpty { return nil }
    return """
      \(owner.hops.joined(separator: ".")): a condition asks about the models that refer to the \
      record itself; ask for those first, and test the reference with in(_:)
      """
  }

  /// Tests whether at least one of the models passes.
  public func any(@ConditionBuilder _ condition: (Fields<Other>) -> Condition) -> Condition {
    related(.any, condition)
  }

  /// Tests whether all of the models pass; if there are none, they do.
  public func all(@ConditionBuilder _ condition: (Fields<Other>) -> Condition) -> Condition {
    related(.all, condition)
  }

  /// Tests whether none of the models passes.
  public func none(@ConditionBuilder _ condition: (Fields<Other>) -> Condition) -> Condition {
    related(.none, condition)
  }

  /// Tests whether there are no models.
  public var isEmpty: Condition { none { _ in } }
}

extension Operand {
  /// Tests whether at least one of the models that the elements refer to passes.
  public func any(
    @ConditionBuilder _ condition: (Fields<V.Base.Element.Referred>) -> Condition
  ) -> Condition where V.Base: Sequence, V.Base.Element: ReferringProperty {
    ManyOperand(elements: path).any(condition)
  }

  /// Tests whether all of the models that the elements refer to pass; if there are none, they do.
  public func all(
    @ConditionBuilder _ condition: (Fields<V.Base.Element.Referred>) -> Condition
  ) -> Condition where V.Base: Sequence, V.Base.Element: ReferringProperty {
    ManyOperand(elements: path).all(condition)
  }

  /// Tests whether none of the models that the elements refer to passes.
  public func none(
    @ConditionBuilder _ condition: (Fields<V.Base.Element.Referred>) -> Condition
  ) -> Condition where V.Base: Sequence, V.Base.Element: ReferringProperty {
    ManyOperand(elements: path).none(condition)
  }
}

// MARK: Property against property

extension Operand {
  /// Tests whether two properties have the same value.
  @_disfavoredOverload
  public static func == <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.equal, b) }

  /// Tests whether two properties have different values.
  @_disfavoredOverload
  public static func != <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.notEqual, b) }
}

extension Operand where V.Base: Comparable {
  /// Tests whether a property is less than another.
  @_disfavoredOverload
  public static func < <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.less, b) }

  /// Tests whether a property is less than another, or equal to it.
  @_disfavoredOverload
  public static func <= <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.lessOrEqual, b) }

  /// Tests whether a property is greater than another.
  @_disfavoredOverload
  public static func > <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.greater, b) }

  /// Tests whether a property is greater than another, or equal to it.
  @_disfavoredOverload
  public static func >= <W: PropertyValue>(a: Operand, b: Operand<W>) -> Condition
  where W.Base == V.Base { a.compare(.greaterOrEqual, b) }
}

// MARK: A Boolean by itself

extension Operand where V.Base == Bool {
  fileprivate var isTrue: Condition { compare(.equal, true) }

  /// Tests whether the property is not true.
  public static prefix func ! (a: Operand) -> Condition { !a.isTrue }

  /// Both hold.
  @_disfavoredOverload
  public static func && (a: Operand, b: Condition) -> Condition { a.isTrue && b }

  /// Both hold.
  @_disfavoredOverload
  public static func && (a: Condition, b: Operand) -> Condition { a && b.isTrue }

  /// Both hold.
  @_disfavoredOverload
  public static func && (a: Operand, b: Operand) -> Condition { a.isTrue && b.isTrue }

  /// One holds at least.
  @_disfavoredOverload
  public static func || (a: Operand, b: Condition) -> Condition { a.isTrue || b }

  /// One holds at least.
  @_disfavoredOverload
  public static func || (a: Condition, b: Operand) -> Condition { a || b.isTrue }

  /// One holds at least.
  @_disfavoredOverload
  public static func || (a: Operand, b: Operand) -> Condition { a.isTrue || b.isTrue }
}

/// Takes one condition per line; all must hold. `if`, `if let`, `switch` and `for` work inside.
@resultBuilder public enum ConditionBuilder {
  /// Takes a condition.
  public static func buildExpression(_ condition: Condition) -> Condition { condition }

  /// Takes a Boolean property.
  @_disfavoredOverload
  public static func buildExpression(_ property: Operand<Bool>) -> Condition { property.isTrue }

  /// Without a line everything passes.
  public static func buildBlock() -> Condition { Condition(.all([])) }

  /// Takes the first line.
  public static func buildPartialBlock(first condition: Condition) -> Condition { condition }

  /// Takes the next line.
  public static func buildPartialBlock(accumulated: Condition, next: Condition) -> Condition {
    accumulated && next
  }

  /// Takes what is under an `if` without an `else`.
  public static func buildOptional(_ condition: Condition?) -> Condition {
    condition ?? Condition(.all([]))
  }

  /// Takes one branch.
  public static func buildEither(first condition: Condition) -> Condition { condition }

  /// Takes the other branch.
  public static func buildEither(second condition: Condition) -> Condition { condition }

  /// Takes what a loop makes; all must hold.
  public static func buildArray(_ conditions: [Condition]) -> Condition {
    Condition(.all(conditions.map(\.test)))
  }
}
