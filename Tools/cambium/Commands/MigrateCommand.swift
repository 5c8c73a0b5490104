import Cambium

/// `cambium migrate`: gives properties of all records of a collection other names or types, or
/// takes them out; and does the same with the cases of an enum of models.
enum MigrateCommand {
  static let collection = Operand("PATH", .path, "the collection, whose children are the records")
  static let rename = Option(
    "rename", "OLD=NEW", .text, "give a property another name", repeats: true)
  static let change = Option(
    "change", "NAME=TYPE", .text, "convert a property's values; see below", repeats: true)
  static let drop = Option(
    "drop", "NAME", .text, "take a property out, with its indexes and views", repeats: true)
  static let dropUnconvertible = Option(
    flag: "drop-unconvertible", "with --change: take out values that cannot be converted")
  static let batch = Option(
    "batch", "N", .number(1...1_000_000), "how many records a transaction has at most",
    fallback: "1000")

  static let command = Command(
    name: "migrate", group: .change,
    summary: "renames, converts or drops properties, and cases, of a collection",
    discussion: """
      Changes every record below PATH, and what is declared about them: indexes, views and rules
      follow a new name. It first looks at all records, says what is to be done, and does nothing
      if a value cannot be converted, or a record has both names; --dry-run ends there. Dropping
      is asked for on a terminal, elsewhere --yes is needed; history keeps what was there.

      The work is done in transactions of --batch records, each of which stores how far it is, so
      that others can write in between. What is broken off goes on with the same command. While it
      is under way, apps that have models of the collection are refused; afterwards they must say
      the same, as in Property(\\.delay).was("oldDelay").

      TYPE is bool, integer, double, decimal, string, date, uuid or any. A value is converted where
      nothing is lost: "42" and 42.0 are integers, "4 2" and 4.2 are not. Without changes it tells
      which steps the collection has behind it, and what is under way. What takes code, as splitting
      a property does, is a Migration in the app's schema.

      Of an enum of models, whose records say in the property “type”, or --case-property, which case
      they are, --rename-case gives a case a name that no record has yet, --convert-case makes its
      records those of a case that there is, with the properties that they have, and --drop-case
      deletes them, by the delete rules. The app then says .was("lorry") of the ModelCase, or
      RemovedCase("van").
      """,
    operands: [.database, collection],
    options: [rename, change, drop, dropUnconvertible, renameCase, convertCase, dropCase]
      + [caseProperty, batch, .actor, .reason, .dryRun, .yes]
      + [.wait, .progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium migrate air.cambium flights": "what was done?",
      "cambium migrate air.cambium flights --rename delay=departureDelay": "another name",
      "cambium migrate air.cambium flights --change number=integer --dry-run":
        "are all of them numbers?",
      "cambium migrate air.cambium craft --rename-case plane=airplane": "another name for a case",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let changes = try changes(call)
    let path = call.value(collection).path
    if changes.isEmpty { return try status(path, call) }
    let database =
      try call.has(.dryRun)
      ? OpenDatabase.forReading(call) : OpenDatabase.forWriting(call)
    let snapshot = try database.snapshot()
    guard try snapshot[path].exists else {
      throw try MissingNode.failure(path, below: snapshot.root, call.database, at: nil)
    }
    let plan = try MigrationSurvey(changes, path, snapshot, call)
    if call.has(.dryRun) || !plan.obstacles.isEmpty {
      try call.output.report(plan.json) { try tell(plan, "would be", call.output) }
    }
    if let failure = plan.failure { throw failure }
    if call.has(.dryRun) { return }
    try ask(plan, call)
    if plan.touched > 0 { call.rules.note(recordsOf: path, in: database) }
    try migrate(database, plan, call)
    try call.output.report(plan.json) { try tell(plan, "", call.output) }
  }

  // MARK: Options

  private static func changes(_ call: Call) throws -> RecordChanges {
    var changes = RecordChanges()
    for argument in call.all(rename) {
      changes.renamed.append(try pair(argument.text, "--rename delay=departureDelay"))
    }
    for argument in call.all(change) {
      let (name, typeName) = try pair(argument.text, "--change number=integer")
      guard let type = ValueConversion.types[typeName] else {
        throw Failure.usage(
          "“\(typeName)” is no type",
          hint: "types are \(ValueConversion.types.keys.sorted().joined(separator: ", "))")
      }
      changes.converted.append((name, type))
    }
    changes.removed = call.all(drop).map(\.text)
    changes.dropsUnconvertible = call.has(dropUnconvertible)
    changes.cases = try caseChanges(call)
    let touched =
      changes.renamed.flatMap { [$0.old, $0.new] } + changes.converted.map(\.name)
      + changes.removed
    if Set(touched).count < touched.count {
      throw Failure.usage("a property is named twice", hint: "change it in two runs")
    }
    return changes
  }

  static func pair(_ text: String, _ example: String) throws -> (String, String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty {
      return (String(parts[0]), String(parts[1]))
    }
    throw Failure.usage("“\(text)” is no pair", hint: "say it as in \(example)")
  }

  // MARK: Output

  private static func status(_ path: NodePath, _ call: Call) throws {
    let database = try OpenDatabase.forReading(call)
    let snapshot = try database.snapshot()
    let definition = try snapshot.definition(of: path)
    if call.format == .json {
      let migration = definition?.migration
      return try call.output.line([
        "collection": path.description, "steps": (definition?.steps ?? []).map(\.name),
        "unfinished": migration?.steps, "done": migration?.done,
        "records": migration == nil ? nil : snapshot[path].childCount,
      ])
    }
    if call.isQuiet { return }
    for step in definition?.steps ?? [] {
      let place = step.sequence == .zero ? "" : "  tx \(step.sequence)"
      try call.output.line("\(Terminal.escaped(StepText.words(step.name)))\(place)")
    }
    if let migration = definition?.migration {
      let steps = migration.steps.map { StepText.words($0) }.joined(separator: "; ")
      try call.output.line(
        "under way: \(Terminal.escaped(steps)), \(Quantity.count(migration.done)) of "
          + "\(Quantity.count(try snapshot[path].childCount)) records")
    } else if definition?.steps.isEmpty ?? true {
      try call.output.line("\(path) has no migrations behind it")
    }
  }

  // MARK: Migrating

  private static func ask(_ plan: MigrationSurvey, _ call: Call) throws {
    if plan.dropped > 0 {
      try Consent.ask(to: "delete \(Quantity.count(UInt64(plan.dropped), "record"))", call)
    }
    let lost = plan.changes.removed + (plan.lost > 0 ? plan.changes.converted.map(\.name) : [])
    if lost.isEmpty { return }
    try Consent.ask(
      to: "take values of \(lost.joined(separator: ", ")) out of "
        + "\(Quantity.count(UInt64(plan.touched), "record"))", call)
  }

  private static func migrate(_ database: Database, _ plan: MigrationSurvey, _ call: Call) throws {
    let changes = plan.changes
    let migration = CollectionMigration(
      plan.path, steps: plan.steps.map(\.name), applied: plan.steps, keepsTarget: true,
      target: { try changes.target($0) },
      rewrite: { record, tx in
        if changes.cases.drops(record) {
          try tx.remove(record.path)
        } else {
          try changes.apply(to: &record)
        }
      })
    do {
      _ = try ProgressBar.showing(call, unit: "records") {
        try database.migrate(
          migration, batch: call.value(batch).number, metadata: Changing.metadata(call),
          progress: $0)
      }
    } catch is CancellationError {
      throw Failure.partial(
        "stopped half-way; the batches until then are stored", hint: "the same command goes on")
    } catch let error as RecordChanges.Unconvertible {
      throw RecordChanges.refused("\(error)")
    }
  }

  // MARK: The report

  private static func tell(_ plan: MigrationSurvey, _ verb: String, _ output: Output) throws {
    let words = verb.isEmpty ? "changed" : "\(verb) changed"
    try output.line(
      "\(Quantity.count(plan.touched)) of \(Quantity.count(UInt64(plan.records), "record")) of "
        + "\(Terminal.escaped(plan.path.description)) \(words)")
    for step in plan.steps { try output.line("  \(Terminal.escaped(plan.words(step)))") }
    if plan.dropped > 0 {
      try output.line("  \(Quantity.count(UInt64(plan.dropped), "record")) deleted")
    }
    if plan.lost > 0 {
      try output.line("  \(Quantity.count(UInt64(plan.lost), "value")) not convertible")
    }
    for obstacle in plan.obstacles { try output.line("  \(Terminal.escaped(obstacle))") }
  }
}

/// A trial run of a migration: every record is tried out on a copy.
private struct MigrationSurvey {
  let changes: RecordChanges
  let path: NodePath
  let steps: [AppliedStep]
  private(set) var records = 0
  /// The number of records that differ afterwards.
  private(set) var touched = 0
  /// The number of values that cannot be converted.
  private(set) var lost = 0
  /// The number of records that are deleted.
  private(set) var dropped = 0
  /// True if the migration is under way, so that some records have their new names.
  private let isResumed: Bool
  /// The first obstacles that were found.
  private(set) var obstacles: [String] = []

  private static let obstaclesMax = 10

  init(_ changes: RecordChanges, _ path: NodePath, _ snapshot: Snapshot, _ call: Call) throws {
    self.changes = changes
    self.path = path
    let present = try snapshot.definition(of: path)
    // A migration that is resumed keeps to the types that were declared when it began.
    let asked = changes.steps(present)
    let unfinished = try present?.migration.map { try MigrationSurvey.resumed($0, asked) }
    steps = unfinished ?? asked
    isResumed = unfinished != nil
    if unfinished == nil { _ = try changes.target(present) }
    let bar = ProgressBar(call, unit: "records")
    defer { bar.finish() }
    let total = UInt64(try snapshot[path].childCount)
    var cursor = try snapshot[path].children.makeCursor()
    while let node = try cursor.next() {
      records += 1
      if records % 1024 == 0, !bar.update("look", UInt64(records), of: total) {
        throw Failure.stopped()
      }
      if let record = try node.record { try look(at: record) }
    }
  }

  /// The steps of a migration that is under way; they must be those that are asked for now.
  private static func resumed(
    _ unfinished: UnfinishedMigration, _ asked: [AppliedStep]
  ) throws -> [AppliedStep] {
    // A former type is no longer to be seen.
    func name(_ step: String) -> Substring { step.prefix { $0 != ":" } }
    guard asked.map({ name($0.name) }) == unfinished.steps.map(name) else {
      throw RecordChanges.refused(
        "another migration is under way: "
          + unfinished.steps.map { StepText.words($0) }.joined(separator: "; "))
    }
    return zip(asked, unfinished.steps).map { AppliedStep($1, version: $0.version) }
  }

  private mutating func look(at record: DynamicRecord) throws {
    if changes.cases.drops(record) {
      touched += 1
      dropped += 1
      return
    }
    if !isResumed, let obstacle = changes.cases.obstacle(record) { note(obstacle) }
    var new = record
    do {
      try changes.apply(to: &new)
      if new != record { touched += 1 }
      for (name, type) in changes.converted {
        if let value = record[name], ValueConversion.convert(value, to: type) == nil { lost += 1 }
      }
    } catch let error as RecordChanges.Unconvertible {
      touched += 1
      lost += 1
      note("\(error)")
    } catch let failure as Failure {
      note(failure.message ?? "")
    }
  }

  private mutating func note(_ obstacle: String) {
    if obstacles.count < MigrationSurvey.obstaclesMax { obstacles.append(obstacle) }
  }

  /// A step in words.
  func words(_ step: AppliedStep) -> String {
    let conversion = changes.converted.first { step.name.hasPrefix("\($0.name) was \($0.name): ") }
    return StepText.words(step.name, to: conversion?.type)
  }

  /// The reason why the migration cannot be run; nil if it can.
  var failure: Failure? {
    if obstacles.isEmpty { return nil }
    return Failure.refused(
      "nothing was changed, because of what is said above",
      hint: lost > 0 ? "correct the values, or take them out with --drop-unconvertible" : nil)
  }

  var json: JSONLine {
    [
      "collection": path.description, "records": records, "changed": touched, "unconvertible": lost,
      "deleted": changes.cases.dropped.isEmpty ? nil : dropped, "steps": steps.map(\.name),
    ]
  }
}
