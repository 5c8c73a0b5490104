import Cambium

/// `cambium export`: a subtree as a stream of JSON lines or CSV.
enum ExportCommand {
  static let path = Operand.subtree("only this node and what is below it; else everything")

  static let null = Option("null", "TEXT", .text, "what CSV has for an absent value")
  static let columns = Option(
    "columns", "COLUMN[,COLUMN…]", .text,
    "the CSV columns and their order; else the key and all, by name")

  static let model = Option(
    flag: "model", "write PATH's records as `import --model` reads them, one object a line")
  static let keyCase = Option(
    "key-case", "CASE", .choice(["camel", "pascal", "snake", "kebab"]),
    "with --model, how names of properties are written; else as declared")
  static let dates = Option(
    "dates", "FORM", .choice(["seconds", "milliseconds"]),
    "with --model, how dates are written; else as ISO 8601")

  static let command = Command(
    name: "export", group: .keep,
    summary: "writes nodes as JSON lines or CSV",
    discussion: """
      JSON has one line for each node with a value, in path order:

        {"path": "users/ada", "value": {"born": 1815, "name": "Ada"}}

      With --model, PATH is a collection that an app has declared, and each of its records becomes
      the object that other programs expect: its key is the member id, nested values are objects,
      and texts stand for what JSON does not have.

        {"born": "1815-12-10T00:00:00Z", "id": "ada", "name": "Ada"}

      CSV is for a collection: PATH is a node whose children are records, and each becomes a row.
      Its key is the first column, id; where records have a property id, the key's column is _id.
      A spreadsheet runs a text such as =HYPERLINK(…) as a formula; --safe puts a ' before it.
      Either is streamed, so that a database of any size can be exported, and all of it is from
      one moment.
      """,
    operands: [.database, path],
    options: [.at, model, keyCase, dates, columns, null, .safe] + Option.output(.json, .csv) + [
      .progress, .quiet, .color,
    ],
    examples: [
      "cambium export air.cambium > air.jsonl": "everything",
      "cambium export air.cambium flights --at yesterday -o csv > flights.csv": "a table as it was",
      "cambium export air.cambium flights --model --key-case snake > flights.jsonl":
        "plain JSON for other programs",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    if call.format != .csv {
      for option in [columns, null, .safe] where call.has(option) {
        throw Failure.usage("--\(option.name) is for CSV", hint: "add -o csv, or leave it out")
      }
    }
    for option in [keyCase, dates] where call.has(option) && !call.has(model) {
      throw Failure.usage("--\(option.name) is for --model", hint: "add --model, or leave it out")
    }
    if call.has(model), call.format == .csv {
      throw Failure.usage("--model is a form of JSON", hint: "leave out -o csv")
    }
    let bar = ProgressBar(call, unit: "nodes")
    defer { bar.finish() }
    let snapshot = try OpenDatabase.snapshot(call)
    let node = snapshot[call[path]?.path ?? .root]
    if !node.path.isRoot { try MissingNode.check(node, snapshot, call) }
    if call.has(model) {
      try exportModels(node, snapshot, call, bar)
    } else if call.format == .csv {
      try exportCSV(node, call, bar)
    } else {
      try exportJSON(node, call.output, bar)
    }
  }

  private static func exportJSON(_ node: Node, _ output: Output, _ bar: ProgressBar) throws {
    var nodes = try node.descendants()
    var line: [UInt8] = []
    var tick = Tick(bar, "export")
    while let node = try nodes.next() {
      try tick.next()
      guard let value = try node.value else { continue }
      line.removeAll(keepingCapacity: true)
      line += Array("{\"path\": ".utf8)
      JSONText.append(node.path.description, to: &line)
      line += Array(", \"value\": ".utf8)
      JSONWriter.append(value, to: &line)
      line += Array("}\n".utf8)
      try output.write(bytes: line)
    }
  }

  private static func exportModels(
    _ node: Node, _ snapshot: Snapshot, _ call: Call,
    _ bar: ProgressBar
  ) throws {
    let collection = try ImportCommand.collection(node.path, snapshot, call.database)
    let profile = ImportCommand.profile(call)
    var writer = InterchangeEncoder(profile)
    var line: [UInt8] = []
    var tick = Tick(bar, "export")
    try node.children.forEach { child in
      try tick.next()
      guard case .map(let record)? = try child.value, let key = child.path.last else { return }
      line.removeAll(keepingCapacity: true)
      JSONWriter.append(try written(record, key, collection, &writer), as: profile, to: &line)
      line.append(ASCII.lineFeed)
      try call.output.write(bytes: line)
    }
  }

  private static func written(
    _ record: ValueMap, _ key: Key, _ collection: CollectionInterchange,
    _ writer: inout InterchangeEncoder
  ) throws -> ValueMap {
    do { return try collection.write(record, key, &writer) } catch DatabaseError.misuse(let reason)
    {
      throw Failure(
        .refused, "same_name", reason,
        hint: "without --model all names stay as they are")
    }
  }

  // MARK: CSV

  /// Looks at all records for their columns first, then writes them; both from one snapshot.
  private static func exportCSV(_ node: Node, _ call: Call, _ bar: ProgressBar) throws {
    var survey = CSVSurvey()
    var count = 0
    try forEachRecord(of: node, bar, "columns") { _, record in
      survey.note(record)
      count += 1
    }
    if count == 0 {
      let name = node.path.isRoot ? "the root" : node.path.description
      throw Failure(
        .usage, "no_records", "\(name) has no children that are records, so there are no rows",
        hint: "name a collection of records; -o json writes any node")
    }
    let key = keyColumn(besides: survey.columns)
    let writer = CSVWriter(
      columns: try chosen(call[columns]?.text, from: [CSVColumn(name: key)] + survey.columns),
      absent: try ImportCommand.absentMark(call[null]?.text),
      isSafe: call.has(.safe))
    var bytes: [UInt8] = []
    writer.appendHeader(to: &bytes)
    try call.output.write(form: bytes)
    try forEachRecord(of: node, bar, "export") { path, record in
      bytes.removeAll(keepingCapacity: true)
      var row = record
      row[key] = .string(path.last?.description ?? "")
      writer.append(row, to: &bytes)
      try call.output.write(form: bytes)
    }
  }

  /// The name of the column with the key, which no property has.
  private static func keyColumn(besides columns: [CSVColumn]) -> String {
    var name = "id"
    while columns.contains(where: { $0.name == name }) { name = "_" + name }
    return name
  }

  private static func chosen(_ list: String?, from columns: [CSVColumn]) throws -> [CSVColumn] {
    guard let list else { return columns }
    let names = list.split(separator: ",")
    if names.isEmpty { throw Failure.usage("--columns names no column") }
    return try names.map { name in
      if let column = columns.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        return column
      }
      throw Failure(
        .usage, "no_column", "no record has the property \(JSONText.quoted(name))",
        hint: "there are \(columns.map(\.name).joined(separator: ", "))")
    }
  }

  private static func forEachRecord(
    of node: Node, _ bar: ProgressBar, _ phase: String, _ body: (NodePath, ValueMap) throws -> Void
  ) throws {
    var tick = Tick(bar, phase)
    try node.children.forEach { child in
      try tick.next()
      switch try child.value {
      case .map(let record)?: try body(child.path, record)
      case nil: break
      default:
        throw Failure(
          .usage, "no_record", "\(child.path) is no record, so it cannot be a row",
          hint: "export it with -o json")
      }
    }
  }
}
