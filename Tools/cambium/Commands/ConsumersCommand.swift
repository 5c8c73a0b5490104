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
      "cambium consumers shop.cambium": "who is there?",
      "cambium consumers shop.cambium drop mailer": "forget one",
      "cambium consumers shop.cambium reset mailer -1h": "tell it the last hour again",
    ],
    servings: [Serving(.get, without: ["action", "name", "rev"])], run: run)

  static func run(_ call: Call) throws {
    switch call[action]?.text ?? "ls" {
    case "drop": try drop(call)
    case "reset": try reset(call)
    default: try list(call)
    }
  }

  private static func list(_ call: Call) throws {
    let database = try OpenDatabase.forReading(call)
    let information = try database.information()
    let writer = try ListWriter(call, columns: ["name", "position", "behind"])
    for consumer in information.consumers {
      let behind = information.head.rawValue - min(information.head, consumer.position).rawValue
      if call.format == .short {
        let name = Terminal.padded(Terminal.escaped(consumer.name), to: 20)
        try call.output.line("\(name)  tx \(consumer.position)  \(Quantity.count(behind)) behind")
        continue
      }
      try writer.write(["name": consumer.name, "position": consumer.position, "behind": behind])
    }
    try writer.finish()
  }

  private static func drop(_ call: Call) throws {
    let consumer = try existing(call, try OpenDatabase.forWriting(call))
    try consumer.drop()
    if !call.isQuiet { try call.output.line("dropped \(Terminal.escaped(consumer.name))") }
  }

  private static func reset(_ call: Call) throws {
    let database = try OpenDatabase.forWriting(call)
    let consumer = try existing(call, database)
    guard let moment = call[moment]?.moment else {
      throw Failure.usage(
        "reset needs REV, the last transaction that the consumer has seen",
        hint: "0 tells it everything again, HEAD nothing")
    }
    let sequence = try OpenDatabase.recordedSequence(moment, in: database)
    try consumer.reset(to: sequence)
    if !call.isQuiet {
      try call.output.line("\(Terminal.escaped(consumer.name)) is at tx \(sequence)")
    }
  }

  private static func existing(_ call: Call, _ database: Database) throws -> Consumer {
    guard let name = call[name]?.text else {
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
