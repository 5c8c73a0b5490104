import Cambium
import Foundation

/// `cambium import`: files and git histories become transactions.
enum ImportCommand {
  static let file = Operand(
    "FILE", .file, "a .csv, .tsv, .jsonl or .json file, or - for standard input", isOptional: true)
  static let into = Option(
    "into", "PATH", .path, "the node that gets what is imported", isRequired: true)
  static let key = Option(
    "key", "COLUMN[,COLUMN…]", .text,
    "the columns whose values make the key; else keys are made in order of time")
  static let batch = Option(
    "batch", "N", .number(1...1_000_000), "how many rows make a transaction", fallback: "1000")
  static let format = Option(
    "format", "FORMAT", .choice(["csv", "tsv", "jsonl", "json"]),
    "what the input is, where its name does not tell")
  static let onDuplicate = Option(
    "on-duplicate", "ROW", .choice(DuplicateKeys.Treatment.names),
    "which row of a key counts; skip leaves it out also if the database has it")
  static let delimiter = Option(
    "delimiter", "CHARACTER", .text, "what is between the fields of CSV, such as ; or tab")
  static let text = Option("text", "COLUMN", .text, "keep a column as text", repeats: true)
  static let null = Option(
    "null", "TEXT", .text, "a CSV field with this text, such as NA, is absent, as an empty one is")
  static let children = Option(
    flag: "children", "let the members of a JSON row become children instead of a record")
  static let records = Option(
    flag: "records", "where members become children, let an object of only scalars be a record")
  static let model = Option(
    flag: "model", "read each value as what the collection at --into is declared to hold")
  static let keyCase = Option(
    "key-case", "CASE", .choice(["camel", "pascal", "snake", "kebab"]),
    "with --model, how the file writes the names of properties; else as declared")
  static let dates = Option(
    "dates", "FORM", .choice(["seconds", "milliseconds"]),
    "with --model, how the file writes dates; else as ISO 8601")
  static let ignoreUnknown = Option(
    flag: "ignore-unknown", "with --model, pass over names that are not declared")
  static let git = Option(
    "git", "REPOSITORY", .file, "import the history of a git repository instead of a file")
  static let revision = Option(
    "rev", "REVISION", .text, "the newest git commit to import", fallback: "HEAD")
  static let contents = Option(flag: "contents", "import the contents of git's files too")
  static let skipInvalid = Option(
    flag: "skip-invalid", "leave out git paths that are not UTF-8, instead of stopping")

  static let command = Command(
    name: "import", group: .keep,
    summary: "reads a CSV or JSON file, or the history of a git repository",
    discussion: """
      Creates the database where there is none. Every batch is one transaction: all of it or
      nothing. An import that was interrupted continues after its last complete batch when it is
      run again with the same arguments.

      CSV is that of RFC 4180 with a header; TSV has tabs instead of commas. The type of a column is
      inferred from all its values: integer, number, boolean, ISO date, else text. A column of
      numbers stays one if a few of them have more digits than a number keeps, and that is said. An
      empty field is absent, not empty text. Bad input ends the import with its line and column; the
      batches before it are kept.

      A JSON object in each line, or in an array, becomes a record, whatever it holds. A document
      that is one object becomes children instead, and so does each row with --children.

      With --key, two rows of one key are an error that names both, unless --on-duplicate says which
      one counts. A key that the database has already is none: the row takes its place.

      With --model, --into is a collection that an app has declared. Its declaration says what each
      value is, and what is read as anything else ends the import; so does what a rule of the
      collection refuses. The key is the column or member id, unless --key says otherwise. Members
      of nested values are columns with dotted names, or objects in JSON; arrays and maps are JSON
      in a column. JSON is one array of objects, or an object in each line.

      With --git, the first-parent history becomes one transaction per commit, oldest first, with
      the metadata commit, author, email, date and subject. A file is a node with the properties
      mode, blob and size, and with --contents its contents. Without, a clone made with
      --filter=blob:none will do; it tells no sizes.
      """,
    operands: [.database, file],
    options: [
      into, key, onDuplicate, batch, format, delimiter, text, null, children, records, model,
      keyCase, dates, ignoreUnknown, git, revision, contents, skipInvalid, .actor, .reason,
      .wait, .progress, .quiet, .color,
    ] + Option.output(.short, .json),
    examples: [
      "cambium import air.cambium flights.csv --into flights":
        "a table, under keys in order of time",
      "cambium import air.cambium weather.csv --into weather --key origin,time_hour":
        "a table whose rows have names",
      "cambium import air.cambium late.jsonl --into flights --model --key-case snake":
        "records of a declared collection",
      "cambium import air.cambium planes.txt --format csv --delimiter ';' --into planes":
        "another delimiter",
      "zcat log.jsonl.gz | cambium import air.cambium - --format jsonl --into log":
        "standard input",
      "cambium import src.cambium --git . --into repo --contents": "a git repository's history",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let isGit = call.has(git)
    guard isGit != (call[file] != nil) else {
      throw Failure.usage(
        isGit ? "import takes a FILE or --git, not both" : "there is no input",
        hint: "name a FILE, - for standard input, or --git REPOSITORY")
    }
    try checkOptions(call, isGit: isGit)
    let bar = ProgressBar(call, unit: isGit ? "commits" : "bytes")
    defer { bar.finish() }
    if isGit {
      try importGit(call, bar)
    } else {
      try importRows(call, bar)
    }
  }

  // MARK: Git

  private static func importGit(_ call: Call, _ bar: ProgressBar) throws {
    let job = GitImport(
      repository: try GitRepository(path: call.value(git).text),
      into: call.value(into).path, revision: call.value(revision).text,
      withContents: call.has(contents), skipInvalid: call.has(skipInvalid))
    // A repository or revision that cannot be read must not leave an empty database behind.
    _ = try job.repository.commit(job.revision)
    let database = try OpenDatabase.forWriting(call, creating: true)
    let start = ContinuousClock.now
    let report = try job.run(database, bar)
    if report.changes > 0 { call.rules.note(recordsOf: job.into, in: database) }
    bar.finish()
    if report.skipped > 0 {
      let count = Quantity.count(report.skipped, "change")
      System.note("left out \(count) of paths that are not UTF-8")
    }
    if call.isQuiet { return }
    if !report.hasSizes {
      System.note("the repository is a partial clone, so the sizes of files are left out")
    }
    let rate = Quantity.rate(report.commits, since: start)
    if call.output.format == .json {
      let (commits, changes) = (report.commits, report.changes)
      try call.output.line(
        "{\"commits\":\(commits),\"changes\":\(changes),\"head\":\(try database.head)}")
    } else {
      try call.output.line(
        "imported \(Quantity.count(report.commits, "commit")) with "
          + "\(Quantity.count(report.changes, "change")), \(rate) commits/s")
    }
  }

  // MARK: Files

  private static func importRows(_ call: Call, _ bar: ProgressBar) throws {
    let name = call[file]?.text ?? "-"
    let form = try inputForm(call, name)
    try checkOptions(call, form)
    let collection = try declared(call)
    let source = name == "-" ? try ByteSource.standardInput() : try ByteSource(path: name)
    let size = source.size
    let mark = try absentMark(call[null]?.text)
    let separator = try separator(call, form)
    let isNew = !FileManager.default.fileExists(atPath: call.database)
    if isNew { try OpenDatabase.checkFolder(of: call.database) }
    let rows = try RowImport(
      OpenDatabase.forWriting(call, creating: true), isNew: isNew,
      into: call.value(into).path, batch: call.value(batch).number,
      identity: identity(call, name, form, size),
      metadata: Changing.metadata(call).merging(
        ["import": name == "-" ? "standard input" : name], uniquingKeysWith: { own, _ in own }),
      duplicates: DuplicateKeys(treatment(call)), call.rules)
    defer { try? rows.close() }
    let start = ContinuousClock.now
    var notes: [String] = []
    do {
      if let collection {
        try run(form, source, collection, mark, separator, rows, call, bar)
      } else {
        notes = try run(form, source, mark, separator, rows, call, bar)
      }
    } catch {
      bar.finish()
      throw kept(error, rows, call)
    }
    bar.finish()
    if call.isQuiet { return }
    for note in notes { System.note(Terminal.escaped(note)) }
    try report(rows, start, call.output)
  }

  private static func run(
    _ form: String, _ source: consuming ByteSource, _ mark: AbsentMark, _ separator: UInt8,
    _ rows: RowImport, _ call: Call, _ bar: ProgressBar
  ) throws -> [String] {
    let rowKey = RowKey(call[key]?.text)
    let json = JSONImport(
      key: rowKey, makesRecords: call.has(records), makesChildren: call.has(children))
    switch form {
    case "csv", "tsv":
      let csv = CSVImport(
        key: rowKey, text: call.all(text).map(\.text), absent: mark, delimiter: separator)
      return try csv.run(source, rows, bar)
    case "jsonl": try json.runLines(source, rows, bar)
    default: try json.runDocument(source, rows, bar)
    }
    return []
  }

  // MARK: Declared collections

  private static func run(
    _ form: String, _ source: consuming ByteSource, _ collection: CollectionInterchange,
    _ mark: AbsentMark, _ separator: UInt8, _ rows: RowImport, _ call: Call, _ bar: ProgressBar
  ) throws {
    let isTable = form == "csv" || form == "tsv"
    let profile = profile(call) {
      $0.unknownNames = call.has(ignoreUnknown) ? .ignored : .refused
      // In CSV everything is text.
      if isTable { ($0.isLenient, $0.nesting) = (true, .dottedNames) }
    }
    try checkNames(of: collection, profile)
    let job = ModelImport(
      collection, key: RowKey(call[key]?.text), profile, absent: mark, delimiter: separator)
    switch form {
    case "csv", "tsv": try job.runCSV(source, rows, bar)
    case "jsonl": try job.runJSON(source, .lines, rows, bar)
    default: try job.runJSON(source, .document, rows, bar)
    }
  }

  /// Refuses properties of which a name in the file could be either.
  private static func checkNames(
    of collection: CollectionInterchange, _ profile: InterchangeProfile
  ) throws {
    do { _ = try collection.names(profile) } catch DatabaseError.misuse(let reason) {
      throw Failure(
        .usage, "same_name", reason,
        hint: profile.keyCase == .asDeclared
          ? "import it from CSV, where a nested value's members are columns of their own"
          : "write the names in the file as they are declared, and leave out --key-case")
    }
  }

  /// The form of records outside the database, as the options say.
  static func profile(
    _ call: Call, _ change: (inout InterchangeProfile) -> Void = { _ in }
  ) -> InterchangeProfile {
    InterchangeProfile {
      $0.keyCase = call[keyCase].flatMap { KeyCase(rawValue: $0.text) } ?? .asDeclared
      $0.dates = call[dates].flatMap { .init(rawValue: $0.text) } ?? .iso8601
      change(&$0)
    }
  }

  /// The collection that is imported into, with `--model`.
  private static func declared(_ call: Call) throws -> CollectionInterchange? {
    guard call.has(model) else { return nil }
    let database = try OpenDatabase.forReading(call)
    defer { call.close() }
    return try collection(call.value(into).path, try database.snapshot(), call.database)
  }

  /// A declared collection.
  static func collection(
    _ path: NodePath, _ snapshot: Snapshot, _ database: String
  ) throws -> CollectionInterchange {
    if let definition = try snapshot.definition(of: path) {
      return CollectionInterchange(path, definition)
    }
    throw Failure(
      .missing, "not_declared", "\(path) is not declared as a collection",
      hint: "an app that opens the database declares its models; without --model no declaration "
        + "is needed")
  }

  /// The failure, with what is kept in spite of it.
  private static func kept(_ error: any Error, _ rows: RowImport, _ call: Call) -> Failure {
    var failure = Failure(error, database: call.database)
    if failure.message == nil {
      let words = (try? System.arguments()) ?? []
      failure = .stopped(resume: "cambium " + words.map(Shell.quoted).joined(separator: " "))
    }
    if failure.exit == .usage { return failure }
    failure.hint = [failure.hint, advice(failure.exit, rows, call)].compactMap { $0 }
      .joined(separator: "; ")
    return failure
  }

  private static func advice(_ exit: ExitCode, _ rows: RowImport, _ call: Call) -> String {
    let again = "mend it and run the same command again"
    if rows.committed == 0 {
      return "nothing was imported" + (exit == .negative ? "; \(again)" : "")
    }
    let kept = "the rows before this batch are kept, \(Quantity.count(rows.committed)) of them"
    switch exit {
    case .partial: return kept
    case .negative where call.has(key) || call.has(model): return "\(kept); \(again)"
    case .negative:
      // Rows without keys would be there twice.
      let words = ["delete", call.database, rows.into.description].map(Shell.quoted)
      return "\(kept); mend it, and import the rest from a file of its own, or start anew after "
        + "`cambium \(words.joined(separator: " "))`"
    default: return "\(kept); the same command run again goes on from there"
    }
  }

  private static func report(
    _ rows: RowImport, _ start: ContinuousClock.Instant, _ output: Output
  ) throws {
    let new = rows.committed - rows.resumed - rows.leftOut
    if output.format == .json {
      return try output.line(
        "{\"rows\":\(new),\"transactions\":\(rows.transactions),\"resumed\":\(rows.resumed)"
          + (rows.leftOut > 0 ? ",\"left_out\":\(rows.leftOut)}" : "}"))
    }
    if rows.resumed > 0 {
      try output.line("continued after \(Quantity.count(rows.resumed, "row"))")
    }
    let rate = Quantity.rate(Int(clamping: new), since: start)
    try output.line(
      "imported \(Quantity.count(new, "row")) in "
        + "\(Quantity.count(rows.transactions, "transaction")), \(rate) rows/s")
    if rows.leftOut > 0 {
      let count = Quantity.count(rows.leftOut, "row")
      try output.line("left out \(count) whose key was there")
    }
  }
}
