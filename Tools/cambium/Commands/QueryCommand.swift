import Cambium
import FoundationEssentials

/// `cambium query`: asks the records of a collection.
enum QueryCommand {
  static let text = Operand("QUERY", .text, "the query, in the language below")
  static let explain = Option(
    flag: "explain",
    "run it, and say how it was answered instead of what it found; JSON has the plan as steps")
  static let within = Option(
    "within", "MS", .number(1...60_000),
    "with --explain, end after so many milliseconds, and tell what was read so far; for JSON")

  static let command = Command(
    name: "query", group: .look,
    summary: "asks the records of a collection",
    discussion: """
      The records are the children of a node; names are those of their properties, and id is the
      key. Clauses stand in this order, and each may be left out:

          COLLECTION
            join COLLECTION as NAME on PROPERTY = NAME.PROPERTY      (or left join)
            where CONDITION
            select PROPERTY, PROPERTY … [distinct]
            section by PROPERTY                                      (sorts by it first)
            sort PROPERTY, -PROPERTY …         (- or desc behind it for large values first)
            limit N  offset N  after "CURSOR"
            | group by PROPERTY … select count, sum(P), avg(P), min(P), max(P) [having CONDITION]
            | count                                                  (or exists, or ids)

      Conditions are made of and, or, not, brackets, and tests:

          P = V   P != V   P < V   P <= V   P > V   P >= V      V may be another property
          P is null   P in (V, V)   P between V and V   P like "John%"   P has V
          P like "100!%" escape "!"            (after the escape, % and _ are themselves)
          P prefix "T"   P suffix "T"   P contains "T" [ignoring case [and diacritics]]
          P matches /EXPRESSION/   P any (CONDITION)   COLLECTION by P any (CONDITION)

      Values are 12, 1.5, "text" or 'text', true, date("2013-01-31T17:00:00Z"), uuid("…"), [1, 2]. A
      property may lie behind references: origin.name. count(P), lowercased(P), year(P), month(P),
      day(P) and hour(P) are functions. Exits with 1 where nothing is found.
      """,
    operands: [.database, text],
    options: [.at, explain, within] + Option.reading,
    examples: [
      #"cambium query air.cambium 'flights where departureDelay > 60 sort -scheduled limit 5'"#:
        "the last five that were late",
      #"cambium query air.cambium 'flights | group by carrier select count' -o csv"#:
        "how many each airline had",
      #"cambium query shop.cambium 'reviews' -o csv --safe > reviews.csv"#:
        "for a spreadsheet: texts such as =HYPERLINK(…) stay texts",
    ],
    servings: [Serving(.get, scope: .query, isPaged: true)], run: run)

  static func run(_ call: Call) throws {
    let snapshot = try OpenDatabase.snapshot(call)
    do {
      let query = try snapshot.records(call.value(text).text)
      try call.check(query)
      try answer(query, snapshot, call)
    } catch let error as QueryError {
      throw Failure(error, help: "query")
    }
  }

  private static func answer(_ query: DynamicQuery, _ snapshot: Snapshot, _ call: Call) throws {
    if !query.collection.isRoot {
      try MissingNode.check(snapshot[query.collection], snapshot, call)
    }
    for name in try query.unknownNames() {
      Suggestion.warn(ofUnknown: name, among: try snapshot.propertyNames.sorted())
    }
    var query = query
    query.request.check = { if Signals.isInterrupted { throw CancellationError() } }
    if !call.has(explain) { return try QueryPrinter(call: call).write(query) }
    if call.format.isJSON {
      return try call.output.object(json(explanation(query, within: call[within]?.number)))
    }
    for line in try query.explain().split(separator: "\n") { try call.output.line(String(line)) }
  }

  private static func explanation(
    _ query: DynamicQuery, within milliseconds: Int?
  ) throws -> QueryExplanation {
    guard let milliseconds else { return try query.explanation() }
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    return try query.explanation { ContinuousClock.now > end }
  }

  private static func json(_ explanation: QueryExplanation) -> JSONLine {
    [
      "steps": explanation.steps.map { step -> JSONLine in
        [
          "kind": step.kind.rawValue, "words": step.words,
          "indexes": step.indexes.isEmpty ? nil : step.indexes, "estimated": step.estimate,
          "actual": step.actual,
        ]
      },
      "estimated": explanation.estimate,
      "actual": [
        "entries": explanation.entries, "records": explanation.records,
        "accepted": explanation.accepted, "results": explanation.results,
      ] as JSONLine,
      "isPart": explanation.isPart ? true : nil,
    ]
  }
}
