import FoundationEssentials

/// The models that a search finds among those that answer a query, the best first: as results that
/// can be counted, limited and followed.
///
///     let found = books.limit(20).searching("whal* -title:white")
///     for try await diff in found.changes() { list.apply(diff) }
///
/// ``ModelQuery/searching(_:in:)`` makes them. They have the order of relevance and no other, and
/// no cursor. A live result of them is run again for each commit that concerns the collection,
/// since the score of a text depends on all others; it still gives differences.
public struct TextResults<M: Model>: Results {
  /// A result: a model, with its score.
  public typealias Element = TextResult<M>

  /// The question, and where it is asked.
  public var request: QueryRequest

  init(_ query: ModelQuery<M>, _ search: RankedSearch) {
    let (core, prepare) = (M.schema.core, query.request.prepare)
    request = query.request
    request.search = search
    request.prepare = { snapshot, description in
      let filter = try prepare?(snapshot, description)?.filter
      let hits = try RankedHits(search, in: core.path, snapshot, filter)
      try core.checkAsked(Set(hits.search.plan.names), snapshot)
      return ({ try hits.accepts($0, $1) }, hits)
    }
  }

  /// Decodes what a run finds.
  public func read(_ run: QueryRun, _ body: (TextResult<M>) throws -> Bool) throws {
    guard let hits = run.accepted as? RankedHits else {
      throw DatabaseError.misuse(reason: "a run of another question is read")
    }
    let binding = try run.binding(M.schema.core)
    if case .values(let given) = run.given {
      for values in given {
        guard let hit = TextHit(values),
          let result = try result(hit, run, binding, hits), try body(result)
        else { return }
      }
      return
    }
    try hits.forEach(run) { hit, record in
      let model = try hit.key.lend { try M.schema.decode(record, key: $0, binding) }
      return try body(TextResult(model: model, score: hit.score, search: hits.search))
    }
  }

  /// The result of a search that was made before; nil if there is no such record.
  private func result(
    _ hit: TextHit, _ run: QueryRun, _ binding: Binding, _ hits: RankedHits
  ) throws -> TextResult<M>? {
    try hit.key.lend { key in
      try run.records.lend(request.description.collection, key) { record in
        let model = try M.schema.decode(record, key: key, binding)
        return TextResult(model: model, score: hit.score, search: hits.search)
      }
    }
  }
}

extension TextHit {
  /// The values by which a hit is handed to another run.
  var values: [Value] { [.data(Data(key)), .double(score)] }

  init?(_ values: [Value]) {
    guard values.count >= 2, case .data(let key) = values[0], case .double(let score) = values[1]
    else { return nil }
    self.init(key: Array(key), score: score)
  }
}

extension ModelQuery {
  /// The models that answer and whose texts fit a search, the best first, as results that can be
  /// counted, limited and followed.
  ///
  ///     let live = try books.limit(20).searching(anyText: field.text).live()
  ///
  /// - Parameters:
  ///   - text: The search, as ``TextQuery/init(parsing:)`` reads it.
  ///   - properties: As for ``search(_:in:)``.
  /// - Returns: The results; nothing is read yet.
  /// - Throws: ``TextQueryError`` for a text that cannot be read; ``QueryError`` for what is no
  ///   property of the model's own. Taking results throws as ``search(for:in:)``.
  public func searching<each T: PropertyTerm>(
    _ text: String, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> TextResults<M> {
    try searching(for: try TextQuery(parsing: text), in: repeat each properties)
  }

  /// As ``searching(_:in:)``, for what people type: no text is refused.
  ///
  /// - Parameters:
  ///   - text: The text that was typed, as ``TextQuery/init(anyText:)`` reads it.
  ///   - properties: As for ``search(_:in:)``.
  /// - Returns: The results; none where the text has no word.
  /// - Throws: As ``searching(for:in:)``.
  public func searching<each T: PropertyTerm>(
    anyText text: String, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> TextResults<M> {
    try searching(for: TextQuery(anyText: text), in: repeat each properties)
  }

  /// As ``searching(_:in:)``, for a search that was put together.
  ///
  /// - Parameters:
  ///   - search: The search to run.
  ///   - properties: As for ``search(_:in:)``.
  /// - Returns: The results.
  /// - Throws: ``QueryError`` for what is no property of the model's own.
  public func searching<each T: PropertyTerm>(
    for search: TextQuery, in properties: repeat @escaping (Fields<M>) -> each T
  ) throws -> TextResults<M> {
    let names = try Fields<M>.names(repeat (each properties)(Fields<M>()))
    return TextResults(self, RankedSearch(query: search, properties: names.isEmpty ? nil : names))
  }
}
