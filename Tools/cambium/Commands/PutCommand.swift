import Cambium

/// `cambium put`: sets the value of a node.
enum PutCommand {
  static let value = Operand(
    "VALUE", .text, "the value as JSON, or - to read it from standard input")
  static let text = Option(flag: "text", "VALUE is text, not JSON")
  static let create = Option(flag: "create", "create the database where there is none")

  static let command = Command(
    name: "put", group: .change,
    summary: "sets the value of a node",
    discussion: """
      Creates the node, and with --create the database where there is none. A JSON object becomes a
      record and replaces all properties; `cambium patch` changes some. Types that JSON lacks are
      written as in {"$date": "2013-01-01"}; `cambium get -o json` shows them all.
      """,
    operands: [.database, .path, value],
    options: [text, create] + Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium put team.cambium users/ada '{\"name\": \"Ada\", \"born\": 1815}'": "a record",
      "cambium put --create new.cambium visits 0": "the first node of a new database",
      "cambium put team.cambium motto --text 'Festina lente' --actor anna --reason typo":
        "text, with who and why",
    ],
    run: run)

  static func run(_ call: Call) throws {
    let value =
      call.has(text)
      ? Value.string(try Changing.text(value, call))
      : try Changing.json(value, call, hint: "for text, add --text")
    let path = call.value(.path).path
    try Changing.run(call, creating: call.has(create)) { tx in
      try tx.set(path, to: value)
    }
  }
}
