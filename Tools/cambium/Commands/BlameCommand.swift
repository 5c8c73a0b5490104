import Cambium

/// `cambium blame`: who set each property, when and why.
enum BlameCommand {
  static let command = Command(
    name: "blame", group: .look,
    summary: "tells which transaction set each property of a node",
    discussion: """
      Each property, or the single value of a node, has a line: what it holds, and the transaction
      that gave it this value, with its time and metadata. Writing a value again as it was does not
      count; moving or restoring the node sets all of it.
      """,
    operands: [.database, .path],
    options: [.at] + Option.reading,
    examples: [
      "cambium blame air.cambium planes/N10156": "who set what",
      "cambium blame air.cambium weather/JFK --at yesterday": "of what it held then",
    ],
    servings: [Serving(.get, scope: .paths)], run: run)

  static func run(_ call: Call) throws {
    let path = call.value(.path).path
    let database = try OpenDatabase.forReading(call)
    if path.isRoot {
      throw Failure.usage(
        "the root has no value of its own", hint: "`cambium log` lists what changed below it")
    }
    let snapshot = try OpenDatabase.snapshot(call[.at]?.moment, of: database)
    try MissingNode.check(snapshot[path], snapshot, call)
    let lines = try database.blame(path, at: .sequence(snapshot.sequence))
    if try snapshot[path].value == nil {
      throw Failure(
        .negative, "no_value", "\(Terminal.escaped(path.description)) has no value of its own",
        hint: "`cambium tree` shows what is below it, `cambium log` what changed there")
    }
    let writer = try ListWriter(call, columns: columns, further: ["atOrBefore"])
    if call.format == .short { return try tell(lines, call.output, upTo: snapshot.sequence) }
    for line in lines { try writer.write(json(line), cells: bound(line)) }
    try writer.finish()
  }

  /// Names, values and transactions in columns.
  private static func tell(_ lines: [Blame], _ output: Output, upTo newest: SequenceNumber) throws {
    let names = lines.map { Terminal.escaped($0.property ?? "") }
    let values = lines.map { ValueText.short($0.value) }
    let widths = [names, values].map { $0.map { Terminal.displayWidth($0) }.max() ?? 0 }
    let text = CommitText(upTo: newest)
    for (index, blame) in lines.enumerated() {
      var line = StyledLine()
      if widths[0] > 0 {
        line.add(Terminal.padded(names[index], to: widths[0]) + "  ", .metadata)
      }
      line.add(Terminal.padded(values[index], to: widths[1]) + "  ")
      switch blame.set {
      case .by(let transaction): line.add(text.line(transaction))
      case .atOrBefore(let sequence): line.add("at or before tx \(sequence)", .heading)
      }
      try output.line(line)
    }
  }

  private static func json(_ blame: Blame) -> JSONLine {
    switch blame.set {
    case .by(let transaction):
      [
        "property": blame.property, "value": blame.value, "sequence": transaction.sequence,
        "time": transaction.time, "metadata": transaction.metadata,
      ]
    case .atOrBefore(let sequence):
      ["property": blame.property, "value": blame.value, "atOrBefore": sequence]
    }
  }

  private static let columns = ["property", "value", "sequence", "time", "metadata"]

  /// A table has one column of transactions for those that are known and those that are bounds.
  private static func bound(_ blame: Blame) -> ValueMap {
    if case .atOrBefore(let sequence) = blame.set { return ["sequence": sequence.cell ?? .null] }
    return [:]
  }
}
