// Conditions that an app writes as text, with values of its own types.

extension Condition {
  /// Reads a condition.
  ///
  ///     let late = try Condition(parsing: "delay > 60 and not status in (\"gone\")")
  ///     let flights = try database.query(Flight.self).matching(late).fetch()
  ///     let near = try Condition(parsing: "origin.name prefix $1", userInput)
  ///
  /// - Parameters:
  ///   - text: The condition in the query language.
  ///   - values: The values of `$1`, `$2` and so on in it.
  /// - Throws: ``QueryError`` at the word that is wrong.
  public init(parsing text: String, _ values: any PropertyValue...) throws {
    try self.init(parsing: text, values: values.map(\.storedValue))
  }
}
