/// A test of one record, as data: it is printed and read as text, stored with an index, planned,
/// and run on a record's bytes.
///
/// Nulls are as in Swift, not as in SQL: a test has two outcomes. An absent value is null; null
/// equals null and nothing else, and is neither less nor greater than anything.
public struct Condition: Hashable, Sendable {
  /// The test.
  package indirect enum Test: Hashable, Sendable {
    /// All of the tests pass; true if there are none.
    case all([Test])
    /// At least one of the tests passes; false if there are none.
    case any([Test])
    /// The test does not pass.
    case not(Test)
    /// Compares a property with a value. Comparing with null means equality only.
    case compare(PropertyPath, Comparison, Value)
    /// Compares a property with another one.
    case compareProperties(PropertyPath, Comparison, PropertyPath)
    /// A property is one of some values.
    case oneOf(PropertyPath, [Value])
    /// Tests a text, or part of it.
    case text(PropertyPath, TextTest, String, Collation)
    /// An array has an element, or a dictionary a key.
    case contains(PropertyPath, Value)
    /// A test that any, all or none of the related records pass.
    case related(ToMany, Quantifier, Test)
  }

  /// A comparison, by its symbol in the query language.
  package enum Comparison: String, Hashable, Sendable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// A test of a text, by its word in the query language.
  package enum TextTest: String, Hashable, Sendable {
    /// `equals` is for collations; texts compare by bytes with ``Comparison``.
    case equals, prefix, suffix, contains
    /// The whole text or a part matches a regular expression.
    case matches
    /// The whole text matches a pattern in which `%` matches any text, `_` any character.
    case like
    /// As `like`, but `\` makes the character after it stand for itself.
    case likeEscaped
    /// As `matches`, by the rules of declarations in logs of format 1: those of Swift's `Regex`.
    /// Only such a declaration contains it.
    case matchesFormerly
  }

  package enum Quantifier: String, Hashable, Sendable { case any, all, none }

  /// Records that belong to one record.
  package enum ToMany: Hashable, Sendable {
    /// The records of a collection that refer to this one by a property.
    case inverse(NodePath, property: String)
    /// The records that this one refers to, by an array of references.
    case elements(PropertyPath)
  }

  package var test: Test

  package init(_ test: Test) { self.test = test }
}

/// A property, by the path that leads to it from a record.
public struct PropertyPath: Hashable, Sendable, Refinable {
  /// A function that is applied to the value before it is compared.
  package enum Function: String, Hashable, Sendable, BitwiseCopyable {
    /// The number of characters of a text, of elements of an array.
    case count
    /// A text in lower case.
    case lowercased
    /// A part of a date in UTC.
    case year, month, day, hour
  }

  /// The references to follow.
  package var hops: [String]
  /// The property of the record at the end; nil for its key.
  package var property: String?
  package var function: Function?
  /// The records whose number is the value, which refer to the record at the end; nil for a path to
  /// a property or a key.
  package var referrers: CountedReferrers?
  /// The reason why it leads nowhere, if it does: it is thrown when the path is resolved, since
  /// code that names properties in Swift cannot throw.
  package var problem: String?
  /// The guarantee of the codec that stores the property, which then has a problem wherever more is
  /// asked; nil for no codec, and for the stored form itself.
  package var guarantee: CodecGuarantee?

  package init(hops: [String] = [], _ property: String?, _ function: Function? = nil) {
    self.hops = hops
    self.property = property
    self.function = function
  }

  /// A path that leads nowhere.
  package init(hops: [String] = [], problem: String) {
    self.init(hops: hops, nil)
    self.problem = problem
  }
}

/// One criterion by which a result is sorted.
public struct Ordering: Hashable, Sendable, Refinable {
  /// The place of records that have no value.
  public enum Nulls: Hashable, Sendable {
    /// Before the others.
    case first
    /// After the others.
    case last
  }

  package var path: PropertyPath
  /// True if large values come first.
  public var isDescending: Bool
  /// The place of nulls; if it is nil, null sorts as the smallest value.
  public var nulls: Nulls?
  /// The collation for texts.
  public var collation: Collation

  package init(
    _ path: PropertyPath, isDescending: Bool = false, nulls: Nulls? = nil,
    collation: Collation = .binary
  ) {
    self.path = path
    self.isDescending = isDescending
    self.nulls = nulls
    self.collation = collation
  }
}
