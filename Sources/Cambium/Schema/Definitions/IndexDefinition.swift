/// An index over properties of a collection's records.
///
/// Its entries are ordered by the first property, then by the next, and last by the record's key.
/// If a property holds several values, there is an entry for each.
public struct IndexDefinition: Hashable, Sendable {
  /// One property of an index.
  public struct Term: Hashable, Sendable {
    /// The property's name.
    public var property: String
    /// True if large values come first.
    public var isDescending = false
    /// The collation for texts.
    public var collation = Collation.binary

    /// Declares an ascending term.
    public init(
      _ property: String, isDescending: Bool = false, collation: Collation = .binary
    ) {
      self.property = property
      self.isDescending = isDescending
      self.collation = collation
    }
  }

  /// The properties, in the order in which they sort; 1 to 16.
  public var terms: [Term]
  /// True if no two records may have the same values. A null never equals another null here.
  public var isUnique = false
  /// The condition that a record must pass to have an entry; nil for all. It uses only the record's
  /// own properties.
  public var condition: Condition?
  /// Properties that the entry holds a copy of, besides the terms, so that queries need not read
  /// the record: its own, and those of a record that it refers to, as in `carrier.name`, which are
  /// called previews.
  public var covered: [String] = []

  /// Declares an index.
  ///
  /// - Parameter terms: The properties.
  public init(_ terms: [Term]) { self.terms = terms }
}
