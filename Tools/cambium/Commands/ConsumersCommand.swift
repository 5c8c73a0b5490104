import Cambium

/// `cambium consumers`: lists those who follow the log by name, with their positions, and removes
/// one.
enum ConsumersCommand {
  static let action = Operand(
    "ACTION", .choice(["ls", "drop", "reset"]), "ls lists, drop forgets one, reset moves one",
    isOptional: true)
  static let name = Operand("NAME", .text, "the consumer's name", isOptional: true)
  static let moment = Operand("REV", .moment, "the last transaction it has seen", isOptional: true)

  static let command = Command(
    name: "consumers", group: .keep,
    summary: "lists consumers of the change feed, and drops or resets one",
    discussion: """
      A consumer is an observer with a name, whose position is stored in the database. `ls` says how
      far each has come. `drop` forgets one; if it comes back it starts anew. `reset` moves one to a
      moment: what came after it is told to the consumer again.

      A consumer that nobody runs any more holds compaction back, until it is a million transactions
      behind: drop it.
      """,
    operands: [.database, action, name, moment],
    options: [.wait, .quiet] + Option.list + [.color],
    examples: [
      .init("cambium consumers shop.cambium", "who is there?"),
      .init("cambium consumers shop.cambium drop mailer", "forget one"),
      .init("cambium consumers shop.cambium reset mailer -1h", "tell it the last hour again"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    switch invocation[action]?.text ?? "ls" {
    case "drop": try drop(invocation, output)
    case "reset": try reset(invocation, output)
    default: try list(invocation, output)
    }
  }

  private static func list(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forReading(invocation)
    defer { try? database.close() }
    let information = try database.information()
    let writer = try ListWriter(invocation, output, columns: ["name", "position", "behind"])
    for consumer in information.consumers {
      let behind = information.head.rawValue - min(information.head, consumer.position).rawValue
      if invocation.format == .short {
        let name = Terminal.padded(Terminal.escaped(consumer.name), to: 20)
        try output.line("\(name)  tx \(consumer.position)  \(Quantity.count(behind)) behind")
        continue
      }
      try writer.write([
        "name": consumer.name, "position": consumer.position, "behind": behind,
      ])
    }
    try writer.finish()
  }

  private static func drop(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forWriting(invocation)
    defer { try? database.close() }
    let consumer = try existing(invocation, database)
    try consumer.drop()
    if !invocation.isQuiet { try output.line("dropped \(Terminal.escaped(consumer.name))") }
  }

  private static func reset(_ invocation: Invocation, _ output: Output) throws {
    let database = try OpenDatabase.forWriting(invocation)
    defer { try? database.close() }
    let consumer = try existing(invocation, database)
    guard let moment = invocation[moment]?.moment else {
      throw Failure.usage(
        "reset needs REV, the last transaction that the consumer has seen",
        hint: "0 tells it everything again, HEAD nothing")
    }
    let sequence = try OpenDatabase.recordedSequence(moment, in: database)
    try consumer.reset(to: sequence)
    if !invocation.isQuiet {
      try output.line("\(Terminal.escaped(consumer.name)) is at tx \(sequence)")
    }
  }

  private static func existing(_ invocation: Invocation, _ database: Database) throws -> Consumer {
    guard let name = invocation[name]?.text else {
      throw Failure.usage("NAME is missing", hint: "`cambium consumers` lists the names")
    }
    let names = try database.information().consumers.map(\.name)
    guard names.contains(name) else {
      let hint = Suggestion.nearest(to: name, in: names).map { "did you mean “\($0)”?" }
      throw Failure(
        .missing, "not_found", "there is no consumer “\(Terminal.escaped(name))”",
        hint: hint ?? "`cambium consumers` lists those there are")
    }
    return database.consumer(name)
  }
}
