import Cambium

/// `cambium erase`: takes a subject's data out of everything, for good.
enum EraseCommand {
  static let moved = Option(
    flag: "moved", "erase also where the data was moved from or to; --dry-run names the places")

  static let command = Command(
    name: "erase", group: .keep,
    summary: "erases a place and its whole past, for good",
    discussion: """
      Takes the node at PATH, or the property, all below it and all that was ever there out of the
      present, the history, the archive, the blobs and the files. The transactions stay, with what
      else they did; one more records the erasure. Everything is made anew beside the database and
      then put in place, so it needs room for a second one, and Ctrl-C or a crash leaves all as it
      was. Nobody may have the database open meanwhile.

      What is not at PATH stays: metadata such as actors and reasons, events, references to PATH,
      and backups: make new ones, and delete the old.

      --dry-run makes everything, says what would go, and drops it again. Without it, a terminal is
      asked first; elsewhere --yes is needed.
      """,
    operands: [.database, .path],
    options: [moved, .actor, .reason, .dryRun, .yes, .wait, .progress, .quiet]
      + Option.output(.short, .json) + [.color],
    examples: [
      "cambium erase shop.cambium users/ada --dry-run": "what would go?",
      "cambium erase shop.cambium users/ada --reason 'Art. 17 GDPR' --yes": "erase it",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let (database, path) = (call.database, call.value(.path).path)
    let options = call.databaseOptions
    if call.has(.dryRun) {
      let plan = try ProgressBar.showing(call) {
        try Database.planErasure(of: path, at: database, options: options, progress: $0)
      }
      return try call.output.report(json(plan)) { try tell(plan, "would erase", call.output) }
    }
    try Consent.ask(to: "erase \(path) and its past for good", call)
    do {
      let done = try ProgressBar.showing(call) {
        try Database.erase(
          path, at: database, includingMoved: call.has(moved),
          metadata: Changing.metadata(call), options: options, progress: $0)
      }
      try call.output.report(json(done)) { try tell(done, "erased", call.output) }
    } catch DatabaseError.misuse(let reason) {
      throw Failure.refused(
        reason, hint: path.isRoot ? nil : "--moved erases them all; --dry-run says what that is")
    } catch is CancellationError {
      throw Failure.partial("stopped; nothing was erased")
    }
  }

  private static func tell(_ erasure: Erasure, _ verb: String, _ output: Output) throws {
    let blobs = erasure.blobs > 0 ? ", \(Quantity.count(UInt64(erasure.blobs), "blob"))" : ""
    try output.line(
      "\(verb) \(Quantity.count(erasure.operations, "operation")) in "
        + "\(Quantity.count(erasure.transactions, "transaction"))\(blobs): "
        + "\(Quantity.bytes(erasure.bytesBefore)) → \(Quantity.bytes(erasure.bytesAfter))")
    for place in erasure.places { try output.line("  \(place)") }
    if erasure.sequence > .zero {
      try output.line("tx \(erasure.sequence) records it; backups still hold what was erased")
    }
  }

  private static func json(_ erasure: Erasure) -> JSONLine {
    [
      "places": erasure.places.map { "\($0)" }, "transactions": erasure.transactions,
      "operations": erasure.operations, "blobs": UInt64(erasure.blobs),
      "sequence": erasure.sequence, "bytesBefore": erasure.bytesBefore,
      "bytesAfter": erasure.bytesAfter,
    ]
  }
}
