/// An aggregate over some records.
package struct QueryAggregate: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case count
    case sum
    case average = "avg"
    case minimum = "min"
    case maximum = "max"

    /// True if the result is one of the values.
    var isExtreme: Bool { self == .minimum || self == .maximum }
  }

  package var kind: Kind
  /// The property; nil if records are counted.
  package var path: PropertyPath?

  package init(_ kind: Kind, _ path: PropertyPath? = nil) {
    self.kind = kind
    self.path = path
  }

  /// The aggregate's name among the results: `avg(delay)`.
  package var name: String { path.map { "\(kind.rawValue)(\($0))" } ?? kind.rawValue }
}

extension ConditionTextParser {
  /// Reads an aggregate: `count`, or `sum(delay)`.
  mutating func aggregate() throws -> QueryAggregate {
    let aggregates = "an aggregate: count, sum(…), avg(…), min(…), max(…)"
    guard case .word(let word) = try scanner.peek() else { throw try expected(aggregates) }
    let name = word == "average" ? "avg" : word
    guard let kind = QueryAggregate.Kind(rawValue: name) else { throw try expected(aggregates) }
    _ = try scanner.next()
    if kind == .count { return QueryAggregate(.count) }
    try expect("(")
    let path = try path("a property")
    try expect(")")
    return QueryAggregate(kind, path)
  }
}
