/// A result that is kept up to date with every write.
public struct ViewDefinition: Hashable, Sendable {
  /// A kind of result that a view can keep.
  public enum Content: Hashable, Sendable {
    /// Measures for each combination of values that the properties `by` have; for all records
    /// together where there are none.
    case groups(by: [String], [Measure])
    /// The records in order, by each combination of values that the properties `by` have, so that
    /// the first ones are found at once.
    case top(by: [String], [IndexDefinition.Term])
    /// The words of some properties' texts, in a language by its ISO 639-1 code; nil for words as
    /// they are.
    case text([String], language: String?)
  }

  /// An aggregate over the records of a group.
  public enum Measure: Hashable, Sendable {
    /// How many records there are.
    case count
    /// The sum of a property, exact however the records came and went.
    case sum(String)
    /// The mean of a property where it is a number.
    case average(String)
    /// The least value of a property.
    case minimum(String)
    /// The greatest value of a property.
    case maximum(String)
  }

  /// The result that it keeps.
  public var content: Content
  /// Only records that pass count; nil for all. It names the record's own properties.
  public var condition: Condition?

  /// Declares a view.
  public init(_ content: Content, where condition: Condition? = nil) {
    self.content = content
    self.condition = condition
  }
}
