import Cambium

/// The common part of `undo`, `redo` and `revert`: what happens with conflicts, whose changes
/// count, and how the result is reported, or would be.
enum UndoCommands {
  static let dryRun = Option(flag: "dry-run", "only say what would change, and what conflicts")
  static let skipConflicts = Option(
    flag: "skip-conflicts", "leave what was changed since, and undo the rest")
  static let overwrite = Option(flag: "overwrite", "undo even what was changed since")
  static let who = Option(
    "who", "NAME", .text, "only what was done with --actor NAME; it signs the undo, too")

  static let options =
    [dryRun, skipConflicts, overwrite] + Option.change + [.quiet] + Option.output(.short, .json)
    + [.noPager, .color]

  static let conflicts = """
    Somebody may have changed since what is to be undone. Then nothing is done, and the exit code is
    7: undo the later changes first, or choose with --skip-conflicts or --overwrite. A change of
    another property of the same record is no conflict, nor are increments. Nothing is rewritten:
    the log gets one more transaction, whose metadata says what it undoes.
    """

  /// Whose changes count.
  static func author(_ call: Call) -> Authorship {
    guard call.command.options.contains(where: { $0.name == who.name }),
      let name = call[who]?.text
    else { return .anyone }
    return Authorship(metadata: ["actor": name])
  }

  /// Does it, or says what would be done. Where there is nothing to do it says so, and the exit
  /// code is 1.
  static func run(
    _ call: Call, nothing: String,
    _ request: (Database) throws -> UndoRequest
  ) throws {
    let resolution = try resolution(call)
    let database = try OpenDatabase.forWriting(call)
    let request = try request(database)
    let isDone =
      call.has(dryRun)
      ? try preview(request, resolution, database, call.output)
      : try perform(request, resolution, database, call)
    if isDone { return }
    if call.format == .short { System.note(nothing) }
    throw Failure.silent(.negative)
  }

  static func resolution(_ call: Call) throws -> ConflictResolution {
    switch (call.has(skipConflicts), call.has(overwrite)) {
    case (false, false): return .refuse
    case (true, false): return .skipConflicts
    case (false, true): return .overwrite
    case (true, true):
      throw Failure.usage("--skip-conflicts and --overwrite exclude each other")
    }
  }

  // MARK: Doing it

  private static func perform(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ database: Database,
    _ call: Call
  ) throws -> Bool {
    var metadata = Changing.metadata(call)
    metadata.merge(author(call).metadata) { own, _ in own }
    let undone = try Changing.expecting(call) { expected in
      try database.perform(request, resolution, metadata, expecting: expected)
    }
    guard let undone else { return false }
    call.rules.note(changesOf: undone.sequence, in: database)
    if call.output.isQuiet { return true }
    let json: JSONLine = [
      "sequence": undone.sequence, "undoes": undone.undoes,
      "conflicts": undone.conflicts.map(UndoText.json),
    ]
    try call.output.report(json) {
      try call.output.line("tx \(undone.sequence)  undoes \(text(undone.undoes))")
      try tell(undone.conflicts, resolution, call.output)
    }
    return true
  }

  // MARK: Saying what would be done

  private static func preview(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ database: Database,
    _ output: Output
  ) throws -> Bool {
    guard let preview = try database.preview(request, resolution) else { return false }
    let undone = preview.undone
    if output.format == .json {
      try output.line([
        "undoes": undone.undoes, "conflicts": undone.conflicts.map(UndoText.json),
        "changes": preview.changes.map(ChangeText.json),
      ])
    } else {
      try output.line("would append 1 transaction that undoes \(text(undone.undoes))")
      let text = ChangeText(output: output)
      for change in preview.changes { try text.write(change) }
      try tell(undone.conflicts, resolution, output)
      if undone.conflicts.isEmpty { try output.line("no conflicts") }
    }
    if resolution == .refuse && !undone.conflicts.isEmpty { throw Failure.silent(.refused) }
    return true
  }

  private static func tell(
    _ conflicts: [UndoConflict], _ resolution: ConflictResolution, _ output: Output
  ) throws {
    for conflict in conflicts {
      try output.line("\(word(for: resolution)): \(Terminal.escaped(UndoText.text(conflict)))")
    }
  }

  /// The fate of a conflict in a word.
  static func word(for resolution: ConflictResolution) -> String {
    switch resolution {
    case .refuse: "conflict"
    case .skipConflicts: "left"
    case .overwrite: "overwritten"
    }
  }

  /// The transactions, the newest first; of many, the first and the last.
  private static func text(_ sequences: [SequenceNumber]) -> String {
    guard sequences.count > 5, let first = sequences.first, let last = sequences.last else {
      return sequences.map(\.description).joined(separator: ", ")
    }
    return "\(sequences.count) transactions, \(first) to \(last)"
  }
}
