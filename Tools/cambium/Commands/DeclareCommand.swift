import Cambium

/// `cambium declare`: gives a collection indexes and views, or takes them away, while others write.
enum DeclareCommand {
  static let collection = Operand("PATH", .path, "the collection, whose children are the records")
  static let index = Option("index", "TERMS", .text, "add an index; see below", repeats: true)
  static let unique = Option(
    "unique", "TERMS", .text, "add an index that no two records have the same values in",
    repeats: true)
  static let view = Option("view", "VIEW", .text, "add a view; see below", repeats: true)
  static let drop = Option(
    "drop", "LINE", .text, "take away what `cambium schema` shows so: “index …”, “view …”",
    repeats: true)

  static let command = Command(
    name: "declare", group: .change,
    summary: "adds and drops indexes and views of a collection",
    discussion: """
      TERMS are properties, and what is said of them:

          origin, -scheduled                            - for large values first
          name ignoring case [and diacritics]
          origin covering number, delay                 the index holds copies of these
          delay where delay > 0                         only records that pass have an entry

      VIEW is what is kept up to date:

          count, sum(P), avg(P), min(P), max(P) [by PROPERTY, …]
          first by -delay, number [by carrier]          the first records, by group
          words of title, body [in en]                  for `cambium search`
          … where CONDITION                             only records that pass count

      Conditions are those of `cambium query`. LINE is as `cambium schema` shows what is there:
      --drop 'index origin, -scheduled'. Dropping is asked for on a terminal, elsewhere --yes is
      needed; records stay as they are.

      Others read and write meanwhile, and queries use what is new once it is whole. Broken off, it
      goes on when the database is next opened for writing; what was to be unique is to be declared
      again. Without changes it shows what is declared.

      An app that opens the database for its models declares their indexes and views, and drops what
      they do not have: what is to stay belongs into its schema, for which `cambium schema --swift`
      has the lines.
      """,
    operands: [.database, collection],
    options: [index, unique, view, drop, .actor, .reason, .dryRun, .yes, .wait, .progress, .quiet]
      + Option.output(.short, .json) + [.color],
    examples: [
      "cambium declare air.cambium flights --index 'origin, -scheduled'": "an index",
      "cambium declare air.cambium flights --view 'count, avg(delay) by carrier'": "aggregates",
      "cambium declare air.cambium flights --drop 'index origin, -scheduled'": "takes it away",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let changes = try DeclarationChanges(call)
    let path = call.value(collection).path
    let isReading = changes.isEmpty || call.has(.dryRun)
    let database = try isReading ? OpenDatabase.forReading(call) : OpenDatabase.forWriting(call)
    let snapshot = try database.snapshot()
    guard try snapshot[path].exists || snapshot.definition(of: path) != nil else {
      throw try MissingNode.failure(path, below: snapshot.root, call.database, at: nil)
    }
    if changes.isEmpty { return try show(path, snapshot, call.output) }
    try warnOfUnknownNames(in: changes, path, snapshot)
    _ = try changes.applied(to: snapshot.definition(of: path), path)
    if !call.has(.dryRun) {
      if !changes.dropped.isEmpty {
        let lines = changes.dropped.map(\.text).joined(separator: "; ")
        try Consent.ask(to: "drop \(lines) of \(path)", call)
      }
      try declare(changes, path, database, call)
    }
    try tell(changes, path, call)
  }

  private static func show(_ path: NodePath, _ snapshot: Snapshot, _ output: Output) throws {
    guard let definition = try snapshot.definition(of: path) else {
      System.note("nothing is declared about \(Terminal.escaped(path.description))")
      throw Failure.silent(.negative)
    }
    if output.format == .json {
      let parts = DeclarationChanges.parts(of: definition).map(\.text)
      return try output.line(["collection": path.description, "declared": parts])
    }
    let count = try snapshot[path].childCount
    let text = DeclarationText(path: path, definition: definition, count: count)
    for line in text.lines { try output.line(line) }
  }

  /// Says on standard error which properties no record has ever had: their index has no entries.
  private static func warnOfUnknownNames(
    in changes: DeclarationChanges, _ path: NodePath, _ snapshot: Snapshot
  ) throws {
    let declared = try snapshot.definition(of: path)?.properties.map(\.name) ?? []
    let known = Set(try snapshot.propertyNames + declared)
    for name in Set(changes.added.flatMap(\.names)).subtracting(known).sorted() {
      Suggestion.warn(ofUnknown: name, among: known.sorted())
    }
  }

  private static func declare(
    _ changes: DeclarationChanges, _ path: NodePath, _ database: Database, _ call: Call
  ) throws {
    do {
      try ProgressBar.showing(call, unit: "records") { progress in
        try database.declare(path, progress, metadata: Changing.metadata(call)) {
          snapshot, _ in try changes.applied(to: snapshot.definition(of: path), path)
        }
      }
    } catch is CancellationError {
      throw Failure.partial(
        "stopped half-way",
        hint: "what is new is filled when the database is next opened for writing")
    }
  }

  private static func tell(_ changes: DeclarationChanges, _ path: NodePath, _ call: Call) throws {
    if call.output.isQuiet { return }
    let (added, dropped) = (changes.added.map(\.text), changes.dropped.map(\.text))
    try call.output.report(["collection": path.description, "added": added, "dropped": dropped]) {
      let words = call.has(.dryRun) ? "would have" : "has"
      try call.output.line(StyledLine("\(Terminal.escaped(path.description)) \(words)", .heading))
      for line in dropped { try call.output.line("  - \(Terminal.escaped(line))") }
      for line in added { try call.output.line("  + \(Terminal.escaped(line))") }
    }
  }
}
