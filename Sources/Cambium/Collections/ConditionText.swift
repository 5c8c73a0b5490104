extension Condition: CustomStringConvertible {
  /// The condition in the query language.
  public var description: String { "" }

  /// Reads a condition in the query language.
  public init(parsing text: String) throws {
    throw DatabaseError.misuse(reason: "conditions are not there yet")
  }
}
