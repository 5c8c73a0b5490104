import Cambium
import FoundationEssentials

/// `cambium get`: the value of one node.
enum GetCommand {
  static let target = Option(
    "to", "FILE", .file, "save the content of a file or blob; nothing may be there")

  static let command = Command(
    name: "get", group: .look,
    summary: "prints the value of a node",
    discussion: """
      A record is printed as names and values, anything else as it is: text, and the bytes of data
      and blobs, can be sent to a file. A property of a record has a path too: users/ada/name.
      JSON is the value itself and tells all types apart; tables have a row for each property. Exits
      with 3 where there is nothing, and with 1 where a node has children and no value of its own.

      With --to the content of a stored file or blob is saved, whatever its size. It gets its name
      once all of it is there; until then FILE.part has what has come so far, and where that is
      broken off, the same command goes on with it.
      """,
    operands: [.database, .path],
    options: [target, .at] + Option.list + [.wait, .progress, .quiet, .color],
    examples: [
      "cambium get air.cambium airlines/UA": "as it is",
      "cambium get air.cambium weather/JFK --at \"2 hours ago\"": "as it was",
      "cambium get air.cambium plans/jfk --to jfk.pdf": "a file, however large",
    ],
    servings: [Serving(.get, scope: .paths, isObject: true, without: [target.name])], run: run)

  static func run(_ call: Call) async throws {
    if let path = call[target]?.text { return try await FileTransfer.get(call, to: path) }
    let snapshot = try OpenDatabase.snapshot(call)
    let node = snapshot[call.value(.path).path]
    try MissingNode.check(node, snapshot, call)
    guard let value = try node.value else { throw try noValue(node) }
    if call.format != .short { return try list(value, call) }
    switch value {
    case .map(let record): try call.output.table(entries(record))
    case .string(let text): try write(text, call.output)
    case .data(let data): try write([data], call.output)
    case .blob(let blob): try write(blob, snapshot, call.output)
    default: try call.output.line(ValueText.whole(value))
    }
  }

  /// A value as JSON has it, or a row for each of its properties.
  private static func list(_ value: Value, _ call: Call) throws {
    let writer = try ListWriter(call, columns: ["property", "value"])
    if call.format.isJSON { return try writer.write(only: value) }
    if case .map(let record) = value {
      for member in record.members {
        try writer.write(["property": member.name, "value": member.value])
      }
    } else {
      try writer.write(["value": value])
    }
    try writer.finish()
  }

  /// A node without a value of its own has nothing to print, in any form.
  private static func noValue(_ node: Node) throws -> Failure {
    let count = try node.childCount
    return Failure(
      .negative, "no_value",
      "\(node.path.isRoot ? "the root" : node.path.description) has no value of its own, and "
        + "\(Quantity.count(count)) \(count == 1 ? "child" : "children")",
      hint: "`cambium tree` shows what is below it, and `cambium export` writes it")
  }

  private static func entries(_ record: ValueMap) -> Entries {
    Entries(record.members.map { (Terminal.escaped($0.name), ValueText.whole($0.value)) })
  }

  /// Text is written as it is; a terminal gets it line by line, with what could control it escaped.
  private static func write(_ text: String, _ output: Output) throws {
    let ending = text.utf8.last == ASCII.lineFeed ? "" : "\n"
    guard output.isTerminal else { return try output.write(text + ending) }
    try output.write(Terminal.escaped(text, keeping: ["\n"]) + ending)
  }

  private static func write(_ blob: Blob, _ snapshot: Snapshot, _ output: Output) throws {
    if !output.isTerminal { return try snapshot.read(blob) { try output.write(bytes: $0) } }
    var pieces: [Data] = []
    var count = 0
    try snapshot.read(blob) { piece in
      count += piece.count
      if count <= shownBytesMax { pieces.append(piece) }
    }
    if count <= shownBytesMax { return try write(pieces, output) }
    try output.line(ValueText.whole(.blob(blob)))
  }

  /// Bytes are written as they are; a terminal gets them only where they are text.
  private static func write(_ pieces: [Data], _ output: Output) throws {
    if !output.isTerminal {
      for piece in pieces { try output.write(bytes: piece) }
      return
    }
    let bytes = pieces.flatMap { Array($0) }
    if let text = String(validating: bytes, as: UTF8.self) {
      try write(text, output)
    } else {
      try output.line("\(Quantity.bytes(bytes.count)) that are no text; send them to a file")
    }
  }

  /// A blob of more bytes is not shown on a terminal.
  private static let shownBytesMax = 4 << 20
}
