// Finding a model by what it is, or making it.

extension Database.Transaction {
  /// The first model that answers a query; where there is none, the one that `make` makes is
  /// inserted.
  ///
  ///     let ada = try tx.findOrCreate(tx.query(Account.self).where { $0.mail == mail }) {
  ///       Account(mail: mail)
  ///     }
  ///
  /// In one transaction nobody comes in between; a `Unique` in the schema makes it fast, and holds
  /// for every other writer.
  ///
  /// - Parameters:
  ///   - query: Which one; it is asked of this transaction.
  ///   - make: Makes it, so that the query finds it.
  /// - Returns: The model that is there now.
  /// - Throws: As the query and `insert(_:)`; ``DatabaseError/misuse(reason:)`` where the query
  ///   does not find what was made, so that it would be made again and again.
  @discardableResult
  public func findOrCreate<M: Model>(_ query: ModelQuery<M>, _ make: () throws -> M) throws -> M {
    let query = query.pinned(to: try readingSnapshot())
    if let model = try query.first() { return model }
    let id = try insert(try make())
    guard let model = try query.first(), model.id == id else {
      throw DatabaseError.misuse(reason: "the \(M.self) that was made does not answer the query")
    }
    return model
  }
}
