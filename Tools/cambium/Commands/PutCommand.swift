import Cambium

/// `cambium put`: sets the value of a node.
enum PutCommand {
  static let value = Operand(
    "VALUE", .text, "the value as JSON, or - to read it from standard input")
  static let text = Option(flag: "text", "VALUE is text, not JSON")
  static let file = Option(flag: "file", "VALUE is a file, whose content is stored")
  static let type = Option(
    "type", "TYPE", .text, "with --file: the media type, as image/png; else by the name's ending")
  static let fileName = Option(
    "name", "NAME", .text, "with --file: its name; else that of the file")
  static let create = Option(flag: "create", "create the database where there is none")

  static let command = Command(
    name: "put", group: .change,
    summary: "sets the value of a node",
    discussion: """
      Creates the node, and with --create the database where there is none. A JSON object becomes a
      record and replaces all properties; `cambium patch` changes some. Types that JSON lacks are
      written as in {"$date": "2013-01-01"}; `cambium get -o json` shows them all.

      With --file the content of a file is stored in pieces, whatever its size, with its name, media
      type and time of change. Others write meanwhile. If it is broken off, the same command goes on
      where it was. `cambium get --to` saves it again.
      """,
    operands: [.database, .path, value],
    options: [text, file, type, fileName, create] + Option.change + [.quiet]
      + Option.output(.short, .json) + [.progress, .color],
    examples: [
      "cambium put team.cambium users/ada '{\"name\": \"Ada\", \"born\": 1815}'": "a record",
      "cambium put --create new.cambium visits 0": "the first node of a new database",
      "cambium put team.cambium motto --text 'Festina lente' --actor anna --reason typo":
        "text, with who and why",
      "cambium put air.cambium plans/jfk --file jfk.pdf": "a file, however large",
    ],
    servings: [
      Serving(
        .post, scope: .paths, isObject: true, without: [file, type, fileName, create].map(\.name),
        body: value.name)
    ], run: run)

  static func run(_ call: Call) async throws {
    if call.has(file) { return try await FileTransfer.put(call) }
    if let extra = [type, fileName].first(where: { call[$0] != nil }) {
      throw Failure.usage("--\(extra.name) goes with --file")
    }
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
