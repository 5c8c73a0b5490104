// Indexes and views as text, as tools show and read them:
//
//     origin, -scheduled covering number where delay > 0          an index
//     count, avg(delay) by carrier where not isCancelled          a view of aggregates
//     first by -delay, number by carrier                          a view of the first records
//     words of title, body in en                                  a view of texts
//
//     index = terms [ "covering" names ] [ "where" condition ]
//     view  = ( aggregate { "," aggregate } | "first" "by" terms ) [ "by" names ]
//             [ "where" condition ]
//           | "words" "of" names [ "in" LANGUAGE ] [ "where" condition ]
//     terms = [ "-" ] NAME [ collation ] { "," … }
//
// Names, aggregates, collations and conditions are those of the query language; see
// QueryText.swift.

extension IndexDefinition {
  /// Reads an index.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong.
  package init(parsing text: String) throws {
    var words = ConditionTextParser(text)
    self.init(try words.terms())
    if try words.take(word: "covering") { covered = try words.names() }
    condition = try words.end("“,”, “covering”, “where”, or the end")
  }

  /// The index in words that ``init(parsing:)`` reads; they do not include uniqueness.
  package var text: String {
    var text = terms.map(\.text).joined(separator: ", ")
    if !covered.isEmpty { text += " covering \(ConditionText.names(covered))" }
    return text + (condition.map { " where \($0)" } ?? "")
  }
}

extension IndexDefinition.Term {
  fileprivate var text: String {
    "\(isDescending ? "-" : "")\(ConditionText.names([property]))\(collation.suffix)"
  }
}

extension ViewDefinition {
  /// Reads a view.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong.
  package init(parsing text: String) throws {
    var words = ConditionTextParser(text)
    if try words.take(word: "words") {
      if try !words.take(word: "of") { throw try words.expected("“of”") }
      let names = try words.names()
      let language = try words.take(word: "in") ? try words.name("a language") : nil
      self.init(.text(names, language: language))
    } else if try words.take(word: "first") {
      if try !words.take(word: "by") { throw try words.expected("“by”") }
      let terms = try words.terms()
      self.init(.top(by: try words.take(word: "by") ? try words.names() : [], terms))
    } else {
      let aggregates = try words.list { Aggregate(try $0.aggregate()) }
      self.init(.groups(by: try words.take(word: "by") ? try words.names() : [], aggregates))
    }
    condition = try words.end("“,”, “by”, “where”, or the end")
  }

  /// The view in words that ``init(parsing:)`` reads.
  package var text: String {
    let what =
      switch content {
      case .groups(by: let names, let aggregates):
        aggregates.map(\.text).joined(separator: ", ") + grouped(names)
      case .top(by: let names, let terms):
        "first by \(terms.map(\.text).joined(separator: ", "))" + grouped(names)
      case .text(let names, let language):
        "words of \(ConditionText.names(names))"
          + (language.map { " in \(ConditionText.name($0))" } ?? "")
      }
    return what + (condition.map { " where \($0)" } ?? "")
  }

  private func grouped(_ names: [String]) -> String {
    names.isEmpty ? "" : " by \(ConditionText.names(names))"
  }
}

extension ViewDefinition.Aggregate {
  fileprivate init(_ aggregate: QueryAggregate) {
    let name = aggregate.path.map(\.joinedName) ?? ""
    self =
      switch aggregate.kind {
      case .count: .count
      case .sum: .sum(name)
      case .average: .average(name)
      case .minimum: .minimum(name)
      case .maximum: .maximum(name)
      }
  }

  fileprivate var text: String {
    let (word, name): (QueryAggregate.Kind, String) =
      switch self {
      case .count: (.count, "")
      case .sum(let name): (.sum, name)
      case .average(let name): (.average, name)
      case .minimum(let name): (.minimum, name)
      case .maximum(let name): (.maximum, name)
      }
    return name.isEmpty ? word.rawValue : "\(word.rawValue)(\(ConditionText.names([name])))"
  }
}

extension ConditionText {
  /// Names of properties, with nested names written part by part.
  fileprivate static func names(_ names: [String]) -> String {
    names.map { name in
      name.split(separator: ".", omittingEmptySubsequences: false)
        .map { ConditionText.name(String($0)) }.joined(separator: ".")
    }.joined(separator: ", ")
  }
}

extension PropertyPath {
  /// The name of a property of the record itself, whose parts may have been read as hops.
  fileprivate var joinedName: String {
    (hops + [property].compactMap(\.self)).joined(separator: ".")
  }
}

extension ConditionTextParser {
  /// The name of a property of the record itself.
  private mutating func ownName() throws -> String {
    let path = try path("a property")
    guard path.property != nil, path.function == nil else {
      throw scanner.error("expected a property of the record itself, and not its key")
    }
    return path.joinedName
  }

  fileprivate mutating func names() throws -> [String] {
    try list { try $0.ownName() }
  }

  fileprivate mutating func terms() throws -> [IndexDefinition.Term] {
    try list { words in
      let isDescending = try words.take("-")
      let name = try words.ownName()
      return .init(name, isDescending: isDescending, collation: try words.collation())
    }
  }

  /// The condition, if there is one, and the end.
  fileprivate mutating func end(_ what: String) throws -> Condition? {
    let test = try take(word: "where") ? try condition() : nil
    try expectEnd(test == nil ? what : "“and”, “or”, or the end")
    return test.map { Condition($0) }
  }
}
