import Cambium

/// A search of one collection: the index of texts that answers it, and the texts that it found.
struct CollectionSearch {
  /// A piece of a text that was found, and the property whose it is.
  struct Found {
    let property: String
    let snippet: SnippetText
  }

  static let help = "`cambium help search` has the language"

  private let collection: NodePath
  private let snapshot: Snapshot
  private let query: TextQuery
  /// The properties that the index was declared with.
  private let index: [String]
  /// The properties of the index that are searched.
  let properties: [String]

  /// Finds the index.
  ///
  /// - Throws: ``Failure`` where there is none, or none of the property that is asked for.
  init(_ query: TextQuery, _ snapshot: Snapshot, _ call: Call) throws {
    collection = call.value(SearchCommand.collection).path
    self.snapshot = snapshot
    let definition = try snapshot.definition(of: collection)
    let all = definition?.views.compactMap(\.textProperties) ?? []
    guard let first = all.first else {
      throw try CollectionSearch.withoutIndex(collection, definition, snapshot, call)
    }
    guard let name = call[SearchCommand.property]?.text else {
      (index, properties, self.query) = (first, first, query)
      return
    }
    // An index of this property alone counts its words alone.
    guard let index = all.first(where: { $0 == [name] }) ?? all.first(where: { $0.contains(name) })
    else {
      throw CollectionSearch.withoutProperty(name, collection, all)
    }
    (self.index, properties) = (index, [name])
    self.query = index == [name] ? query : .within(name, query)
  }

  /// The records that fit best, the best first.
  func matches(limit: Int) throws -> [TextMatch] {
    do {
      return try snapshot.search(collection, for: query, limit: limit, properties: index)
    } catch DatabaseError.misuse(let reason) {
      throw Failure(.usage, "bad_query", reason, hint: CollectionSearch.help)
    }
  }

  /// The piece that shows most of what was looked for, of all texts of a record; the first of them
  /// where none shows any. Nil where the record has no text.
  func snippet(_ match: TextMatch) throws -> Found? {
    let node = snapshot[collection].child(match.key)
    var best: (property: String, snippet: TextSnippet)?
    for property in properties {
      for text in CollectionSearch.texts(try node[property]) {
        let snippet = try snapshot.snippet(of: text, for: query, in: collection, properties: index)
        if best.map({ $0.snippet.highlights.count < snippet.highlights.count }) ?? true {
          best = (property, snippet)
        }
      }
    }
    return best.map { Found(property: $0.property, snippet: SnippetText($0.snippet)) }
  }

  private static func texts(_ value: Value?) -> [String] {
    switch value {
    case .string(let text)?: [text]
    case .array(let values)?: values.flatMap { texts($0) }
    default: []
    }
  }

  // MARK: Errors

  private static func withoutIndex(
    _ path: NodePath, _ definition: CollectionDefinition?, _ snapshot: Snapshot,
    _ call: Call
  ) throws -> Failure {
    if definition == nil && !path.isRoot {
      try MissingNode.check(snapshot[path], snapshot, call)
    }
    let name = definition?.properties.first { $0.type == .string }?.name ?? "title"
    return Failure(
      .missing, "no_text_index",
      "no index of texts is declared for \(path.isRoot ? "the root" : path.description)",
      hint: "the app declares one in the schema of its model, as in TextIndex(\\.\(name)); "
        + "`cambium query` looks into texts without one, with contains and matches")
  }

  private static func withoutProperty(_ name: String, _ path: NodePath, _ all: [[String]])
    -> Failure
  {
    let known = Set(all.joined()).sorted()
    let hint = Suggestion.nearest(to: name, in: known).map { "did you mean \($0)?" }
    return Failure.usage(
      "no index of texts of \(path) has a property “\(name)”",
      hint: hint ?? "there are \(known.joined(separator: ", "))")
  }
}

extension ViewDefinition {
  /// The properties of an index of texts; nil for other views.
  fileprivate var textProperties: [String]? {
    if case .text(let names, _) = content { names } else { nil }
  }
}
