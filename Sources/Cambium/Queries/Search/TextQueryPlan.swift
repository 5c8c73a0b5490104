// A text query with its words made terms: what is run on a view's entries, and on a single record.

/// A query for one view.
indirect enum TextQueryPlan: Sendable {
  case terms(TextLeaf)
  case all([TextQueryPlan])
  case any([TextQueryPlan])
  case not(TextQueryPlan)

  /// Nothing.
  static let nothing = TextQueryPlan.any([])

  /// Turns the words of a query into terms. A part that has no word in it is ignored; a query
  /// without any word finds nothing.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a property that the view does not have.
  init(_ query: TextQuery, _ plan: TextPlan) throws {
    self = try TextQueryPlan.made(query, plan, nil) ?? .nothing
  }

  private static func made(
    _ query: TextQuery, _ plan: TextPlan, _ property: Int?
  ) throws -> TextQueryPlan? {
    switch query {
    case .word(let text), .phrase(let text, isPrefix: false):
      return try leaf(text, isPrefix: false, plan, property)
    case .prefix(let text), .phrase(let text, isPrefix: true):
      return try leaf(text, isPrefix: true, plan, property)
    case .all(let queries):
      let parts = try queries.compactMap { try made($0, plan, property) }
      return parts.isEmpty && !queries.isEmpty ? nil : .all(parts)
    case .any(let queries):
      let parts = try queries.compactMap { try made($0, plan, property) }
      return parts.isEmpty && !queries.isEmpty ? nil : .any(parts)
    case .not(let query): return try made(query, plan, property).map { .not($0) }
    case .within(let name, let query):
      guard let place = plan.names.firstIndex(where: { ByteOrder.areEqual($0, name) }) else {
        throw DatabaseError.misuse(
          reason: "the view has no words of '\(name)', only of "
            + plan.names.joined(separator: ", "))
      }
      return try made(query, plan, place)
    }
  }

  private static func leaf(
    _ text: String, isPrefix: Bool, _ plan: TextPlan, _ property: Int?
  ) throws -> TextQueryPlan? {
    let words = try plan.analyzer.terms(of: text)
    if words.isEmpty { return nil }
    let rows = rows(of: words).map { terms in
      TextQueryPlan.terms(TextLeaf(terms: terms, isPrefix: isPrefix, property: property))
    }
    return rows.count == 1 ? rows[0] : .any(rows)
  }

  /// The terms of words in a row, in each combination that may occur in a text. After the third
  /// word with two terms, all take the same one.
  private static func rows(of words: [TextAnalyzer.Terms]) -> [[[UInt8]]] {
    var (rows, double) = ([[[UInt8]]()], 0)
    for word in words {
      guard let plain = word.plain else {
        rows = rows.map { $0 + [word.own] }
        continue
      }
      double += 1
      rows =
        double <= 3
        ? rows.flatMap { [$0 + [word.own], $0 + [plain]] }
        : rows.enumerated().map { $1 + [$0 % 2 == 0 ? word.own : plain] }
    }
    return rows
  }
}

extension TextQueryPlan {
  /// The leaves that count for the rank: all but those that are excluded.
  var rankedLeaves: [TextLeaf] {
    switch self {
    case .terms(let leaf): [leaf]
    case .all(let queries), .any(let queries): queries.flatMap(\.rankedLeaves)
    case .not: []
    }
  }

  /// True if a record may have something of a leaf though the part around the leaf does not find
  /// it.
  var mayFindInPart: Bool {
    switch self {
    case .terms, .not: false
    case .all(let queries): queries.contains(where: \.mayFindInPart)
    case .any(let queries):
      queries.contains { if case .terms = $0 { false } else { true } }
    }
  }
}

/// Terms in a row.
struct TextLeaf: Hashable, Sendable {
  /// The terms; not empty.
  let terms: [[UInt8]]
  /// True if the last one may be the beginning of a term.
  let isPrefix: Bool
  /// The property's place in the view, or nil for any.
  let property: Int?

  /// The number of times that the terms occur in a row, given the places of each, in order.
  func count(_ places: [[TermPlace]]) -> Int {
    guard let first = places.first else { return 0 }
    return first.count { place in
      if let property, property != Int(place.property) { return false }
      return places.indices.dropFirst().allSatisfy { index in
        place.advanced(by: index).map { TextLeaf.contains(places[index], $0) } ?? false
      }
    }
  }

  private static func contains(_ places: [TermPlace], _ wanted: TermPlace) -> Bool {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low < places.count && places[low] == wanted
  }
}

// MARK: Without the view

extension RecordTerms {
  /// True if a query finds the record.
  func matches(_ query: TextQueryPlan) -> Bool {
    switch query {
    case .terms(let leaf): count(of: leaf) > 0
    case .all(let queries): queries.allSatisfy(matches)
    case .any(let queries): queries.contains(where: matches)
    case .not(let query): !matches(query)
    }
  }

  /// The number of times that a leaf's terms occur in a row.
  func count(of leaf: TextLeaf) -> Int {
    leaf.count(leaf.terms.indices.map { places(of: leaf, $0) })
  }

  /// True if the record has one of a leaf's terms, given by its index.
  func has(_ index: Int, of leaf: TextLeaf) -> Bool {
    numbers(of: leaf, index) { _ in true }
  }

  /// The places of one of a leaf's terms.
  private func places(of leaf: TextLeaf, _ index: Int) -> [TermPlace] {
    var found: [TermPlace] = []
    var count = 0
    _ = numbers(of: leaf, index) { number in
      found += places(of: number)
      count += 1
      return false
    }
    return count > 1 ? found.sorted() : found
  }

  /// Visits the record's terms that one of a leaf's terms means, until the body returns true.
  private func numbers(of leaf: TextLeaf, _ index: Int, _ body: (Int) -> Bool) -> Bool {
    let term = leaf.terms[index]
    guard leaf.isPrefix && index == leaf.terms.count - 1 else {
      return term.lend { number(of: $0) }.map(body) ?? false
    }
    return (0..<count).contains { number in
      lend(number) { other in term.lend { other.starts(with: $0) } } && body(number)
    }
  }
}
