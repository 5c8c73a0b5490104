@testable import Cambium

/// A question about flights: in Cambium's query language, in SQL, and in Swift.
struct FlightQuestion: Sendable {
  let query: String
  let sql: String
  let typed: @Sendable (Snapshot) throws -> [[Value]]

  init(
    _ query: String, _ sql: String, _ typed: @escaping @Sendable (Snapshot) throws -> [[Value]]
  ) {
    self.query = query
    self.sql = sql
    self.typed = typed
  }

  /// True if the order of the answer counts; otherwise it is compared as a set.
  var isOrdered: Bool { sql.contains("ORDER BY") }
}

/// Takes one question after the other, so that the compiler checks each by itself.
@resultBuilder enum FlightQuestionBuilder {
  static func buildBlock(_ questions: FlightQuestion...) -> [FlightQuestion] { questions }
}

// MARK: Answers as rows of values

/// One row.
func row<each V: PropertyValue>(_ values: repeat each V) -> [Value] {
  var row: [Value] = []
  for value in repeat each values { row.append(value.storedValue) }
  return row
}

/// A row of each tuple.
func rows<each V: PropertyValue>(_ tuples: [(repeat each V)]) -> [[Value]] {
  var rows: [[Value]] = []
  for tuple in tuples { rows.append(row(repeat each tuple)) }
  return rows
}

/// A row of each value.
func column(_ values: [some PropertyValue]) -> [[Value]] { values.map { [$0.storedValue] } }

/// All models that answer a query, read page by page.
func paged<M: Cambium.Model>(_ query: ModelQuery<M>, by count: Int) throws -> [M] {
  var page = try query.limit(count).page()
  var models = page.results
  while let next = page.next {
    page = try query.limit(count).after(next).page()
    models += page.results
  }
  return models
}
