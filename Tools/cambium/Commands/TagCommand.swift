import Cambium

/// `cambium tag`: names for moments.
enum TagCommand {
  static let name = Operand(
    "NAME", .text, "the name; without one, the tags are listed", isOptional: true)
  static let moment = Operand("REV", .moment, "the moment; now by default", isOptional: true)
  static let delete = Option(flag: "delete", letter: "d", "take the name away; the moment stays")

  static let command = Command(
    name: "tag", group: .change,
    summary: "names a moment, or lists the names",
    discussion: """
      A tag stands for a moment wherever one is written, as in `--at tag:release-1`. It is stored
      in the log and costs no transaction. Its name has no spaces and no `..`. Exits with 1 where
      there are no tags to list.
      """,
    operands: [.database, name, moment],
    options: [delete, .wait, .quiet] + Option.list + [.color],
    examples: [
      "cambium tag shop.cambium before-import": "names this moment",
      "cambium tag shop.cambium release-1 2026-11-20": "names an earlier one",
      "cambium tag shop.cambium release-1 --delete": "takes the name away",
      "cambium tag shop.cambium": "lists them",
    ],
    servings: [
      Serving(.get, without: ["name", "rev", delete.name], summary: "lists the names of moments"),
      Serving(.post, isObject: true, summary: "names a moment, or takes a name away"),
    ], run: run)

  static func run(_ call: Call) throws {
    guard let name = call[name]?.text else {
      if call.has(delete) { throw Failure.usage("--delete needs a NAME") }
      return try list(call)
    }
    if let problem = CommitTag.problem(name) {
      throw Failure.usage("“\(name)” cannot be a tag: \(problem)")
    }
    if call.has(delete) && call[moment] != nil {
      throw Failure.usage("--delete takes a NAME and no REV")
    }
    let database = try OpenDatabase.forWriting(call)
    if call.has(delete) { return try remove(name, database, call) }
    try add(name, database, call)
  }

  private static func add(_ name: String, _ database: Database, _ call: Call) throws {
    let sequence = try OpenDatabase.sequence(call[moment]?.moment, in: database)
    if let other = try database.tags.first(where: { $0.name == name && $0.sequence != sequence }) {
      throw Failure(
        .refused, "exists", "the tag “\(name)” is at transaction \(other.sequence)",
        hint: "take it away first: `cambium tag \(Shell.quoted(call.database)) "
          + "\(Shell.quoted(name)) --delete`")
    }
    let tag = try database.write { tx in
      let tag = try tx.tag(name, at: .sequence(sequence))
      try call.keepAnswer(tx) { try tell(tag, database, $0) }
      return tag
    }
    if !call.isQuiet { try tell(tag, database, call) }
  }

  private static func tell(_ tag: CommitTag, _ database: Database, _ call: Call) throws {
    let writer = try writer(call)
    try tell(tag, database, writer, call.output, columns: 0)
    try writer.finish()
  }

  private static func remove(_ name: String, _ database: Database, _ call: Call) throws {
    // Fails with what is there instead.
    _ = try OpenDatabase.sequence(.tag(name), in: database)
    try database.write { tx in
      _ = try tx.removeTag(name)
      try call.keepAnswer(tx) { _ in }
    }
  }

  private static func list(_ call: Call) throws {
    let database = try OpenDatabase.forReading(call)
    let tags = try database.tags
    let columns = tags.map { Terminal.displayWidth(Terminal.escaped($0.name)) }.max() ?? 0
    let writer = try writer(call)
    for tag in tags { try tell(tag, database, writer, call.output, columns: columns) }
    try writer.finish()
    guard tags.isEmpty else { return }
    if call.format == .short { System.note("there are no tags") }
    throw Failure.silent(.negative)
  }

  private static func writer(_ call: Call) throws -> ListWriter {
    try ListWriter(call, columns: ["name", "sequence", "time"])
  }

  private static func tell(
    _ tag: CommitTag, _ database: Database, _ writer: ListWriter, _ output: Output, columns: Int
  ) throws {
    let isEarlier = try tag.sequence > .zero && tag.sequence <= database.head
    let time = isEarlier ? try database.commit(tag.sequence, readsArchive: true).time : nil
    if output.format != .short {
      return try writer.write(["name": tag.name, "sequence": tag.sequence, "time": time])
    }
    var line = StyledLine(Terminal.padded(Terminal.escaped(tag.name), to: columns), .heading)
    line.add("  tx \(tag.sequence)")
    if let time { line.add("  \(Zone.system.text(time))", .metadata) }
    try output.line(line)
  }
}
