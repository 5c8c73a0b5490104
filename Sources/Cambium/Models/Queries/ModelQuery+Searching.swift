// Full-text search of models: the best of those that a query's conditions let through.

/// A model whose texts fit what was searched for.
public struct TextResult<M: Model>: Sendable {
  /// The model.
  public let model: M
  /// The relevance of its texts by BM25; a higher score is a better match.
  public let score: Double
  let search: TextSearch

  /// A short piece of one of the model's texts around what was searched for.
  ///
  /// - Parameters:
  ///   - property: The text; nil counts as empty.
  ///   - words: The largest number of words in the piece.
  /// - Returns: The piece, with the places of the words.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  public func snippet<V: PropertyValue>(
    of property: KeyPath<M, V>, words: Int = 16
  ) throws -> TextSnippet where V.Base == String {
    let value = model[keyPath: property].storedValue
    let text = if case .string(let text) = value { text } else { "" }
    return try search.plan.snippet(of: text, for: search.query, words: words)
  }
}

extension ModelQuery {
  /// The models that answer and whose texts fit a search, the best first.
  ///
  ///     let books = database.query(Book.self).where { $0.year < 1900 }.limit(20)
  ///     for result in try books.search("whal* \"in a row\" -title:white") {
  ///       print(result.score, result.model.title, try result.snippet(of: \.body).text)
  ///     }
  ///
  /// The schema says which words are kept: ``TextIndex(_:language:)``. A word is found in any case
  /// and, with a language, in every form; `*` ends the beginning of one, `-` leaves out, `OR` goes
  /// between alternatives, and `title:` before what must be in one property.
  ///
  /// - Parameters:
  ///   - text: The search, as ``TextQuery/init(parsing:)`` reads it.
  ///   - properties: Which of several indexes of texts is meant, by all of its properties; where
  ///     none are named, the first.
  /// - Returns: The results, as many as the query's limit says; equally good ones in the order of
  ///   their keys.
  /// - Throws: ``TextQueryError`` for a text that cannot be read; otherwise as
  ///   ``search(for:in:)``.
  /// - Complexity: as ``search(for:in:)``.
  public func search<each T: PropertyTerm>(
    _ text: String, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> [TextResult<M>] {
    try search(for: try TextQuery(parsing: text), in: repeat each properties)
  }

  /// As ``search(_:in:)``, for what people type: no text is refused.
  ///
  ///     let found = try books.search(anyText: field.text)
  ///
  /// - Parameters:
  ///   - text: The text that was typed, as ``TextQuery/init(anyText:)`` reads it.
  ///   - properties: As for ``search(_:in:)``.
  /// - Returns: The results; none where the text has no word.
  /// - Throws: As ``search(for:in:)``; never because of the text.
  /// - Complexity: as ``search(for:in:)``.
  public func search<each T: PropertyTerm>(
    anyText text: String, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> [TextResult<M>] {
    try search(for: TextQuery(anyText: text), in: repeat each properties)
  }

  /// As ``search(_:in:)``, for a search that was put together.
  ///
  /// - Parameters:
  ///   - search: The search to run.
  ///   - properties: As for ``search(_:in:)``.
  /// - Returns: The results.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where no such index is declared,
  ///   ``DatabaseError/misuse(reason:)`` for a query that is ordered, or continues from a cursor;
  ///   otherwise as ``Walk/fetch()``.
  /// - Complexity: about 1 µs for each record that has one of the words, and one lookup for each
  ///   until there are enough results; at a past moment, one look at each record of the collection.
  public func search<each T: PropertyTerm>(
    for search: TextQuery, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> [TextResult<M>] {
    try searching(for: search, in: repeat each properties).fetch()
  }
}
