// The query language.
//
//     flights where departureDelay > 60 and origin.name like "John%" sort -scheduled limit 50
//     flights join planes as p on tail = p.number where p.seats > 300 select number, p.seats
//     flights where scheduled between date("2013-01-01") and date("2013-02-01")
//       | group by carrier select count, avg(departureDelay) having count > 10 sort -count
//     flights where departureDelay > 60 section by origin.name sort -scheduled
//
// In EBNF, where words in quotes are the language's own; NAME is a word of letters, digits and
// underscores, or anything in backticks:
//
//     query      = PATH { join } { clause } [ "|" group ] [ "|" ( "count" | "exists" | "ids" ) ]
//     join       = [ "left" | "inner" ] "join" PATH "as" NAME "on" path "=" NAME "." property
//     clause     = "where" condition | "sort" ordering { "," ordering } | "limit" INTEGER
//                | "offset" INTEGER | "after" TEXT | "select" path { "," path } [ "distinct" ]
//                | "section" "by" path
//     group      = "group" "by" path { "," path } "select" aggregate { "," aggregate }
//                  { refinement }
//                | aggregate { "," aggregate }
//     refinement = "having" condition | "sort" ordering { "," ordering } | "limit" INTEGER
//                | "offset" INTEGER | "section" "by" path
//     update     = PATH { clause } "set" assignment { "," assignment } { clause }
//     assignment = NAME "=" value
//     aggregate  = "count" | ( "sum" | "avg" | "min" | "max" ) "(" path ")"
//     ordering   = [ "-" ] path [ "asc" | "desc" ] [ collation ]
//                  [ "nulls" ( "first" | "last" ) ]
//
//     condition  = conjunction { "or" conjunction }
//     conjunction= negation { "and" negation }
//     negation   = "not" negation | "(" condition ")" | "true" | "false" | test
//     test       = path comparison ( value | path ) [ collation ]
//                | path "is" [ "not" ] "null"
//                | path [ "not" ] "in" "(" [ value { "," value } ] ")"
//                | path [ "not" ] "between" value "and" value
//                | path [ "not" ] ( "equals" | "prefix" | "suffix" | "contains" ) TEXT
//                  [ collation ]
//                | path [ "not" ] "like" TEXT [ "escape" TEXT ] [ collation ]
//                | path [ "not" ] "matches" ( "/" EXPRESSION "/" | TEXT ) [ collation ]
//                | path [ "not" ] "has" value
//                | ( path | NAME "by" NAME ) ( "any" | "all" | "none" ) "(" condition ")"
//     comparison = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//     collation  = "ignoring" "case" [ "and" "diacritics" ]
//     path       = plain | function "(" plain ")" | referrers
//     referrers  = "count" "(" NAME "by" NAME [ "of" path ] [ "where" condition ] ")"
//     plain      = NAME { "." NAME } [ "." "id" ] | "id"
//     function   = "count" | "lowercased" | "year" | "month" | "day" | "hour"
//     value      = "null" | "true" | "false" | NUMBER | TEXT | "inf" | "-inf" | "nan" | GIVEN
//                | ( "date" | "uuid" | "decimal" | "data" | "path" ) "(" TEXT ")"
//                | "[" [ value { "," value } ] "]" | "{" [ member { "," member } ] "}"
//     member     = TEXT ":" value
//
// A GIVEN is `$1`, `$2` and so on: a value beside the text. It may stand for a TEXT or INTEGER of a
// test or a clause as well, and an array for the brackets after "in".
//
// A TEXT is in quotes, "so" or 'so'; within single quotes a doubled one is a quote, and `\` is
// itself.
//
// `%` in a pattern of "like" stands for any text and `_` for one character; after the character of
// "escape" they stand for themselves. A NAME before "by" is a collection, whose records refer to
// the one at hand by the property after it. Groups have the paths and aggregates that they were
// made of as properties: "having avg(departureDelay) > 10".
//
// A query with sections is sorted by their path first, upwards unless "sort" begins with "-" and
// that path. "section" is no reserved word: a property may have that name without backticks.

extension QueryDescription {
  /// Reads a query.
  ///
  /// - Parameters:
  ///   - text: The query in the query language.
  ///   - given: The values that `$1`, `$2` and so on stand for in it.
  /// - Throws: ``QueryError`` at the word that is wrong.
  package init(parsing text: String, _ given: [Value] = []) throws {
    var parser = QueryTextParser(text, given)
    self = try parser.read()
  }
}

/// The records that an update finds, and the values that it gives to properties of each.
package struct UpdateDescription {
  package let query: QueryDescription
  package let changes: [(name: String, value: Value)]

  /// Reads an update.
  ///
  ///     flights where carrier = "UA" set carrier = "UAL", checked = true
  ///
  /// - Throws: ``QueryError`` at the word that is wrong.
  package init(parsing text: String) throws {
    var parser = QueryTextParser(text, [])
    (query, changes) = try parser.readUpdate()
  }
}

/// Reads a query.
struct QueryTextParser {
  private var words: ConditionTextParser
  private var query: QueryDescription
  private var section: PropertyPath?

  init(_ text: String, _ given: [Value]) {
    words = ConditionTextParser(text, given)
    query = QueryDescription(.root)
  }

  mutating func read() throws -> QueryDescription {
    query.collection = try path("a collection")
    while try isJoin() { try join() }
    while try clause() {}
    while try words.take("|") { try stage() }
    try words.expectEnd(
      "a clause (where, sort, section, limit, offset, after, select), “|”, or the end")
    if let section { query.section(by: section) }
    return query
  }

  /// Reads an update.
  fileprivate mutating func readUpdate() throws -> (
    QueryDescription, [(name: String, value: Value)]
  ) {
    query.collection = try path("a collection")
    while try clause() {}
    if try !words.take(word: "set") { throw try words.expected("a clause, or “set”") }
    if !query.isOfRecords { throw words.scanner.error("an update changes whole records") }
    let changes: [(name: String, value: Value)] = try words.list { words in
      let name = try words.name("a property")
      if try !words.take("=") { try words.expect("==", "“=”") }
      return (name, try words.value("a value"))
    }
    while try clause() {}
    try words.expectEnd("“,”, a clause, or the end")
    if let section { query.section(by: section) }
    return (query, changes)
  }

  private mutating func path(_ what: String) throws -> NodePath {
    let text = words.scanner.path()
    if text.isEmpty { throw words.scanner.error("expected \(what)") }
    let isQuoted = text.hasPrefix("`") && text.hasSuffix("`") && text.utf8.count > 1
    do { return try NodePath(isQuoted ? String(text.dropFirst().dropLast()) : text) } catch {
      throw words.scanner.error("this is no path")
    }
  }

  // MARK: Joins

  private func isJoin() throws -> Bool {
    let next = try words.scanner.peek()
    return next == .word("join") || next == .word("left") || next == .word("inner")
  }

  private mutating func join() throws {
    let isLeft = try words.take(word: "left")
    if !isLeft { _ = try words.take(word: "inner") }
    if try !words.take(word: "join") { throw try words.expected("“join”") }
    let collection = try path("a collection")
    if try !words.take(word: "as") { throw try words.expected("“as” and a name") }
    let name = try words.name("a name")
    if try !words.take(word: "on") { throw try words.expected("“on”") }
    let outer = try words.path("a property of \(query.collection)")
    if try !words.take("=") { try words.expect("==", "“=”") }
    let inner = try words.path("a property of \(name)")
    guard inner.hops == [name], inner.function == nil else {
      throw words.scanner.error("expected a property of \(name): \(name).id, for example")
    }
    query.joins.append(.init(name, collection, outer, inner: inner.property, isLeft: isLeft))
  }

  // MARK: Clauses

  /// Reads a clause, if one comes next.
  private mutating func clause() throws -> Bool {
    guard case .word(let word) = try words.scanner.peek() else { return false }
    switch word {
    case "where":
      _ = try words.scanner.next()
      let test = try words.condition()
      let both = query.condition.map { Condition.Test.all([$0.test, test]) }
      query.condition = Condition(both ?? test)
    case "sort", "section", "limit", "offset": try refinement()
    case "after":
      _ = try words.scanner.next()
      guard let cursor = QueryCursor(try words.text("a cursor in quotes")) else {
        throw words.scanner.error("expected a cursor in quotes")
      }
      query.after = cursor
    case "select":
      _ = try words.scanner.next()
      query.selection = try words.list { try $0.path("a property") }
      query.isDistinct = try words.take(word: "distinct")
    default: return false
    }
    return true
  }

  private mutating func refinement() throws {
    guard case .word(let word) = try words.scanner.next() else { return }
    switch word {
    case "sort": query.orderings = try words.list { try QueryTextParser.ordering(&$0) }
    case "section":
      if try !words.take(word: "by") { throw try words.expected("“by”") }
      section = try words.path("a property")
    case "limit": query.limit = try words.count()
    default: query.offset = try words.count()
    }
  }

  private static func ordering(_ words: inout ConditionTextParser) throws -> Ordering {
    var isDescending = try words.take("-")
    let path = try words.path("a property")
    if !isDescending {
      isDescending = try words.take(word: "desc")
      if !isDescending { _ = try words.take(word: "asc") }
    }
    var ordering = Ordering(path, isDescending: isDescending, collation: try words.collation())
    if try words.take(word: "nulls") {
      if try words.take(word: "first") {
        ordering.nulls = .first
      } else if try words.take(word: "last") {
        ordering.nulls = .last
      } else {
        throw try words.expected("“first” or “last”")
      }
    }
    return ordering
  }

  // MARK: Stages

  private mutating func stage() throws {
    let token = try words.scanner.peek()
    switch token {
    case .word("group") where query.grouping == nil: try group()
    case .word(let word)
    where ConditionTextParser.aggregates.contains(word) && query.grouping == nil:
      query.grouping = .init([], try words.list { try $0.aggregate() })
    case .word(let word):
      guard let outcome = QueryDescription.Outcome(rawValue: word), outcome != .list,
        query.outcome == .list
      else { throw try words.expected("“group by”, an aggregate, “count”, “exists” or “ids”") }
      _ = try words.scanner.next()
      if outcome == .count, query.grouping == nil, try words.take(",") {
        let aggregates = try words.list { try $0.aggregate() }
        query.grouping = .init([], [QueryAggregate(.count)] + aggregates)
      } else {
        query.outcome = outcome
      }
    default: throw try words.expected("“group by”, an aggregate, “count”, “exists” or “ids”")
    }
  }

  private mutating func group() throws {
    _ = try words.scanner.next()
    if query.selection != nil {
      throw words.scanner.error(
        "groups are not selected from a selection; leave out one of the two")
    }
    if try !words.take(word: "by") { throw try words.expected("“by”") }
    let paths = try words.list { try $0.path("a property") }
    if try !words.take(word: "select") { throw try words.expected("“select” and aggregates") }
    query.grouping = .init(paths, try words.list { try $0.aggregate() })
    words.namesAggregates = true
    while case .word(let word) = try words.scanner.peek() {
      if word == "having" {
        _ = try words.scanner.next()
        query.grouping?.condition = Condition(try words.condition())
      } else if ["sort", "section", "limit", "offset"].contains(word) {
        try refinement()
      } else {
        return
      }
    }
  }

}
