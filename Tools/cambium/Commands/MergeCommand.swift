import Cambium

/// `cambium merge`: takes over what a branch has changed.
enum MergeCommand {
  static let other = Operand("OTHER", .file, "the database that is merged; it is only read")
  static let path = Operand.subtree("only this node and what is below it")

  static let command = Command(
    name: "merge", group: .change,
    summary: "takes over what a branch has changed, in one transaction",
    discussion: """
      A place that only one side has changed since the common past, or since the last merge, is
      taken from that side: node by node, and of records property by property. What both have
      changed, each in its own way, is a conflict, and so is what one side has removed and the other
      has changed. Then nothing is done, and the exit code is 7: change one side, or choose with
      --skip-conflicts what is here, or with --overwrite what is there. The rules of this database
      hold, and declarations are not merged.
      """,
    operands: [.database, other, path],
    options: UndoCommands.options,
    examples: [
      "cambium merge shop.cambium trial.cambium --dry-run": "what it would change, what conflicts",
      "cambium merge shop.cambium trial.cambium prices --overwrite": "the prices as they are there",
    ],
    run: run)

  static func run(_ call: Call) throws {
    let resolution = try UndoCommands.resolution(call)
    let database = try OpenDatabase.forWriting(call)
    let branch = try OpenDatabase.other(call, call.value(other).text)
    let under = call[path]?.path ?? .root
    let change =
      call.has(UndoCommands.dryRun)
      ? try preview(database, branch, under, resolution)
      : try perform(database, branch, under, resolution, call)
    try UndoCommands.tell(change, resolution, call, nothing: "there is nothing to merge")
  }

  private static func perform(
    _ database: Database, _ branch: Database, _ under: NodePath,
    _ resolution: ConflictResolution, _ call: Call
  ) throws -> ConflictingChange? {
    let merged = try Changing.expecting(call) { expected in
      try database.merge(branch, under, resolution, Changing.metadata(call), expecting: expected)
    }
    guard let merged else { return nil }
    call.rules.note(changesOf: merged.sequence, in: database)
    return ConflictingChange(
      json: ["sequence": merged.sequence, "merges": merged.upTo],
      line: "tx \(merged.sequence)  merges \(merged.upTo)", conflicts: merged.conflicts)
  }

  private static func preview(
    _ database: Database, _ branch: Database, _ under: NodePath, _ resolution: ConflictResolution
  ) throws -> ConflictingChange? {
    try database.mergePreview(branch, under: under, onConflict: resolution).map { preview in
      ConflictingChange(
        json: ["merges": preview.upTo, "commonPast": preview.commonPast],
        line: "would append 1 transaction that merges up to \(preview.upTo); "
          + "the common past ends with \(preview.commonPast)",
        conflicts: preview.conflicts, changes: preview.changes)
    }
  }
}
