import Cambium

/// Prints the results of a query.
struct QueryPrinter {
  private let invocation: Invocation
  private let output: Output

  init(_ invocation: Invocation, _ output: Output) {
    self.invocation = invocation
    self.output = output
  }

  /// Prints a single answer.
  func write(_ name: String, _ value: Value) throws {
    if invocation.format == .short { return try output.line(ValueText.whole(value)) }
    let writer = try ListWriter(invocation, output, columns: [name])
    var line = JSONLine()
    line.add(name, value)
    try writer.write(line, Record([(name: name, value: value)]))
    try writer.finish()
  }

  /// Prints a list, and ends with 1 where it is empty.
  func write(_ results: QueryResults) throws {
    var isEmpty = true
    if invocation.format == .short {
      try tell(results) { isEmpty = false }
    } else {
      try list(results) { isEmpty = false }
    }
    if isEmpty { throw Failure.silent(.negative) }
  }

  // MARK: For people

  private func tell(_ results: QueryResults, _ found: () -> Void) throws {
    if results.areRecords {
      return try results.forEachRecord { key, record in
        found()
        try tell(ValueText.properties(record), after: Terminal.escaped(key.description))
      }
    }
    let names = try results.columns()
    try results.forEach { values in
      found()
      if names.count == 1 { return try output.line(ValueText.whole(values[0])) }
      let items = zip(names, values).map { "\(Terminal.escaped($0)) \(ValueText.short($1))" }
      try output.line(items.joined(separator: "  "))
    }
  }

  private func tell(_ items: [StyledLine], after key: String) throws {
    var line = StyledLine(key, .heading)
    for item in items {
      line.add("  ")
      line.add(item)
    }
    try output.line(line)
  }

  // MARK: For programs

  private func list(_ results: QueryResults, _ found: () -> Void) throws {
    let names = try results.columns()
    let writer = try ListWriter(invocation, output, columns: names)
    func write(_ pairs: [(name: String, value: Value)]) throws {
      found()
      var line = JSONLine()
      for (name, value) in pairs { line.add(name, value) }
      try writer.write(line, Record(pairs))
    }
    if results.areRecords {
      try results.forEachRecord { key, record in
        let members = record.members.map { (name: $0.name, value: $0.value) }
        try write([(name: "id", value: .string(key.description))] + members)
      }
    } else {
      try results.forEach { try write(Array(zip(names, $0)).map { (name: $0, value: $1) }) }
    }
    try writer.finish()
  }
}
