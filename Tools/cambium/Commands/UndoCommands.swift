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
    let change =
      call.has(dryRun)
      ? try preview(request, resolution, database)
      : try perform(request, resolution, database, call)
    try tell(change, resolution, call, nothing: nothing)
  }

  /// Tells of an undo or a merge; where there was nothing to do, says that.
  static func tell(
    _ change: ConflictingChange?, _ resolution: ConflictResolution, _ call: Call, nothing: String
  ) throws {
    if let change { return try change.tell(resolution, call.output) }
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

  private static func perform(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ database: Database,
    _ call: Call
  ) throws -> ConflictingChange? {
    var metadata = Changing.metadata(call)
    metadata.merge(author(call).metadata) { own, _ in own }
    let undone = try Changing.expecting(call) { expected in
      try database.write(metadata: metadata, expecting: expected) { tx -> Undone? in
        guard let undone = try tx.undo(request, resolution) else { return nil }
        try call.keepAnswer(tx) { try change(undone).tell(resolution, $0.output) }
        return undone
      }
    }
    guard let undone else { return nil }
    call.rules.note(changesOf: undone.sequence, in: database)
    return change(undone)
  }

  private static func change(_ undone: Undone) -> ConflictingChange {
    ConflictingChange(
      json: ["sequence": undone.sequence, "undoes": undone.undoes],
      line: "tx \(undone.sequence)  undoes \(text(undone.undoes))", conflicts: undone.conflicts)
  }

  private static func preview(
    _ request: UndoRequest, _ resolution: ConflictResolution, _ database: Database
  ) throws -> ConflictingChange? {
    try database.preview(request, resolution).map { preview in
      ConflictingChange(
        json: ["undoes": preview.undone.undoes],
        line: "would append 1 transaction that undoes \(text(preview.undone.undoes))",
        conflicts: preview.undone.conflicts, changes: preview.changes)
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
