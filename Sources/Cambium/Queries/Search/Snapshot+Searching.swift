// Full text search of one collection.

extension Snapshot {
  /// Finds the records of a collection whose texts fit best, the best first.
  ///
  ///     let hits = try snapshot.search("books", for: TextQuery(parsing: "whal* -title:white"))
  ///
  /// At present, and in an open transaction, the collection's view of texts answers; at a past
  /// moment, and while the view is being filled, all records are looked at, with the same result.
  ///
  /// - Parameters:
  ///   - collection: The collection, with a view of texts declared.
  ///   - query: The words to search for.
  ///   - limit: The most records to find.
  ///   - properties: Which view is meant, by the properties that it was declared with; nil for the
  ///     first.
  /// - Returns: The records' keys with their score; equally good ones in the order of their keys.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where no such view is declared,
  ///   ``DatabaseError/misuse(reason:)`` where the query names a property that it does not have.
  /// - Complexity: about 1 µs for each record that has one of the words; at a past moment, one look
  ///   at each record.
  public func search(
    _ collection: NodePath, for query: TextQuery, limit: Int = 20, properties: [String]? = nil
  ) throws -> [TextMatch] {
    let search = try TextSearch(query, in: collection, properties, self)
    return try search.best(limit: limit, self).map { hit in
      TextMatch(key: try hit.key.lend { try Key($0) }, score: hit.score)
    }
  }

  /// As ``search(_:for:limit:properties:)``, for what people type: no text is refused.
  ///
  /// - Parameters:
  ///   - collection: The collection, with a view of texts declared.
  ///   - text: The typed text, as ``TextQuery/init(anyText:)`` reads it.
  ///   - limit: The most records to find.
  ///   - properties: Which view is meant; nil for the first.
  /// - Returns: As ``search(_:for:limit:properties:)``.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where no such view is declared.
  /// - Complexity: as ``search(_:for:limit:properties:)``.
  public func search(
    _ collection: NodePath, anyText text: String, limit: Int = 20, properties: [String]? = nil
  ) throws -> [TextMatch] {
    try search(collection, for: TextQuery(anyText: text), limit: limit, properties: properties)
  }

  /// A short piece of a text around what was looked for.
  ///
  /// - Parameters:
  ///   - text: A text of a record that was found.
  ///   - query: The query that found the record.
  ///   - collection: The collection, whose view says what counts as the same word.
  ///   - words: The most words that the piece has.
  ///   - properties: As in ``search(_:for:limit:properties:)``.
  /// - Returns: The piece, with the places of the words.
  /// - Throws: As ``search(_:for:limit:properties:)``.
  public func snippet(
    of text: String, for query: TextQuery, in collection: NodePath, words: Int = 16,
    properties: [String]? = nil
  ) throws -> TextSnippet {
    let search = try TextSearch(query, in: collection, properties, self)
    return try search.plan.snippet(of: text, for: search.query, words: words)
  }
}

/// A query, made for the view of texts that answers it.
struct TextSearch: Sendable {
  private let collection: NodePath
  private let view: ViewPlan
  let plan: TextPlan
  let query: TextQueryPlan

  /// Finds the view by its properties; nil for the first.
  init(
    _ query: TextQuery, in collection: NodePath, _ properties: [String]?, _ snapshot: Snapshot
  ) throws {
    for view in try snapshot.names.collections[collection]?.views ?? [] {
      if case .text(let plan) = view.content, properties.map({ $0 == plan.names }) ?? true {
        (self.collection, self.view, self.plan) = (collection, view, plan)
        self.query = try TextQueryPlan(query, plan)
        return
      }
    }
    throw DatabaseError.notFound(collection, reason: "no such view of texts is declared here")
  }

  /// The records that fit best, the best first.
  func best(limit: Int, _ snapshot: Snapshot) throws -> [TextHit] {
    guard try snapshot.moment == nil && !snapshot.names.collections.isFilling(view.number) else {
      let all = try QueryRecords(snapshot)
      let records = view.counted { visit in
        try all.forEach(in: collection) { key, record in
          try visit(key, record)
          return true
        }
      }
      return try plan.best(query, limit: limit, of: records)
    }
    return try TextReader(view.number, plan, in: snapshot).best(query, limit: limit)
  }
}

/// A record that a search has found.
public struct TextMatch: Hashable, Sendable {
  /// The record's key.
  public let key: Key
  /// The relevance of the record by BM25; a higher score is a better match.
  public let score: Double
}
