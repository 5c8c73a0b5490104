/// A result that is kept up to date with every write.
public struct ViewDefinition: Hashable, Sendable {
  /// A kind of result that a view can keep.
  public enum Content: Hashable, Sendable {
    /// Aggregates for each combination of values of the properties `by`; for all records together
    /// if there are none.
    case groups(by: [String], [Aggregate])
    /// The records in order, for each combination of values of the properties `by`, so that the
    /// first ones are found at once.
    case top(by: [String], [IndexDefinition.Term])
    /// The words of some properties' texts, in a language by its ISO 639-1 code; nil for words
    /// without stemming.
    case text([String], language: String?)
  }

  /// An aggregate over the records of a group.
  public enum Aggregate: Hashable, Sendable {
    /// The number of records.
    case count
    /// The sum of a property, exact whatever the history of the records.
    case sum(String)
    /// The mean of a property over the records in which it is a number.
    case average(String)
    /// The least value of a property.
    case minimum(String)
    /// The greatest value of a property.
    case maximum(String)
  }

  /// The result that it keeps.
  public var content: Content
  /// The condition that a record must pass to count; nil for all. It uses only the record's own
  /// properties.
  public var condition: Condition?

  /// Declares a view.
  public init(_ content: Content, where condition: Condition? = nil) {
    self.content = content
    self.condition = condition
  }
}
