// Queries that an app writes as text, with values of its own types.

extension Database {
  /// Asks in the query language, at the newest moment there is when a result is asked for.
  ///
  ///     try database.records("flights where origin = $1 and delay > $2", airport.id, 60).fetch()
  ///
  /// - Parameters:
  ///   - text: The query in the query language.
  ///   - values: The values that `$1`, `$2` and so on stand for in it. Pass input from elsewhere
  ///     this way: text that is put together can be made to ask something else.
  /// - Returns: The query; nothing is read for it yet.
  /// - Throws: ``QueryError`` at the word that is wrong.
  public func records(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values.map(\.storedValue), .database(self))
  }
}

extension Snapshot {
  /// Asks in the query language at this moment; see ``Database/records(_:_:)``.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong.
  public func records(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values.map(\.storedValue), .snapshot(self))
  }
}

extension Database.Transaction {
  /// Asks in the query language, about what the transaction has left when a result is asked for;
  /// see ``Database/records(_:_:)``.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong; ``DatabaseError/misuse(reason:)`` after
  ///   the transaction has ended.
  public func records(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values.map(\.storedValue), .snapshot(try readingSnapshot()))
  }
}
