import Cambium

/// `cambium vacuum`: gives the free pages of a database's files back.
enum VacuumCommand {
  static let command = Command(
    name: "vacuum", group: .keep,
    summary: "gives free pages back to the file system",
    discussion: """
      What compaction drops leaves free pages inside the files, which later writes use. This copies
      each file without them and puts the copy in its place. Nobody may have the database open
      meanwhile. It needs room for a second log; Ctrl-C leaves the old file or the new one.
      """,
    operands: [.database],
    options: [.wait, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium vacuum shop.cambium": "after a `cambium compact`, make the files smaller"
    ],
    run: run)

  static func run(_ call: Call) throws {
    let done = try Database.vacuum(at: call.database, options: call.databaseOptions)
    try call.output.report(["bytesBefore": done.bytesBefore, "bytesAfter": done.bytesAfter]) {
      let (before, after) = (Quantity.bytes(done.bytesBefore), Quantity.bytes(done.bytesAfter))
      try call.output.line("log and state: \(before) → \(after)")
    }
  }
}
