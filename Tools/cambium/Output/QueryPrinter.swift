import Cambium

/// Prints the results of a query.
struct QueryPrinter {
  let call: Call

  /// Prints the results, and ends with 1 where there are none.
  func write(_ query: DynamicQuery) throws {
    var isEmpty = true
    if call.format == .short {
      try tell(query) { isEmpty = false }
    } else {
      try list(query) { isEmpty = false }
    }
    if isEmpty { throw Failure.silent(.negative) }
  }

  // MARK: For people

  private func tell(_ query: DynamicQuery, _ found: () -> Void) throws {
    let names = query.isOfRecords ? [] : try query.properties().map(\.name)
    try query.forEach { result in
      found()
      if query.isOfRecords { return try tell(result) }
      let values = names.map { result[$0] ?? .null }
      if names.count == 1 { return try call.output.line(ValueText.whole(values[0])) }
      let items = zip(names, values).map { "\(Terminal.escaped($0)) \(ValueText.short($1))" }
      try call.output.line(items.joined(separator: "  "))
    }
  }

  private func tell(_ record: DynamicRecord) throws {
    var line = StyledLine(Terminal.escaped(record.key?.description ?? ""), .heading)
    for item in ValueText.properties(record.allValues) {
      line.add("  ")
      line.add(item)
    }
    try call.output.line(line)
  }

  // MARK: For programs

  private func list(_ query: DynamicQuery, _ found: () -> Void) throws {
    let names = try query.properties().map(\.name)
    let writer = try ListWriter(call, columns: names)
    func write(_ result: DynamicRecord) throws {
      found()
      var pairs = names.map { (name: $0, value: result[$0] ?? .null) }
      if query.isOfRecords {
        // As in the query itself, id is the key, also where a property has that name.
        let own = result.allValues.members.filter { $0.name != "id" }
        let key = Value.string(result.key?.description ?? "")
        pairs = [(name: "id", value: key)] + own.map { ($0.name, $0.value) }
      }
      try writer.write(JSONLine(pairs.map { ($0.name, $0.value) }))
    }
    if let size = call.page.size {
      let (results, next) = try query.page(of: size)
      for result in results { try write(result) }
      if let next { throw Page.End(changes: [("query", next.description)]) }
    } else {
      try query.forEach(write)
    }
    try writer.finish()
  }
}
