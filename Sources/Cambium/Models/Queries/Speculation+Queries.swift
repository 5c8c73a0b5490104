// Queries of a speculation, as of a snapshot.

extension Speculation {
  /// Queries the models of a type, as the transaction would leave them.
  public func query<M: Model>(_ type: M.Type = M.self) -> ModelQuery<M> { snapshot.query(type) }

  /// Queries records by text, as the transaction would leave them; otherwise as the query of a
  /// snapshot.
  ///
  /// - Parameters:
  ///   - text: The query.
  ///   - values: The values of `$1`, `$2` and so on.
  /// - Returns: The query; nothing is read yet.
  /// - Throws: ``QueryError`` for a text that cannot be read.
  public func records(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values.map(\.storedValue), .snapshot(snapshot))
  }
}
