import Cambium

/// The common part of `put`, `patch` and `delete`: one transaction, with who made it and why, on
/// condition that nobody wrote in between.
enum Changing {
  /// Makes the change, and prints the number of its transaction. An error of `body` undoes all.
  static func run(
    _ call: Call, creating: Bool = false,
    _ body: (borrowing Database.Transaction) throws -> Void
  ) throws {
    try run(call, OpenDatabase.forWriting(call, creating: creating), body)
  }

  /// As above, for a database that is open.
  static func run(
    _ call: Call, _ database: Database,
    _ body: (borrowing Database.Transaction) throws -> Void
  ) throws {
    let sequence = try write(call, database, body, tell)
    try tell(sequence, call)
  }

  /// Prints the number of a transaction.
  static func tell(_ sequence: SequenceNumber, _ call: Call) throws {
    if call.output.isQuiet { return }
    try call.output.report(["sequence": sequence]) { try call.output.line("tx \(sequence)") }
  }

  // MARK: Records that a condition finds

  /// Makes the change of a command that has `--dry-run`, or with it only tries it: it is refused
  /// for the same reasons, and nothing is stored.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - database: The database, open for writing.
  ///   - body: Makes the change.
  ///   - tell: Prints the number of the transaction, as the caller does once it is committed.
  /// - Returns: The number of the transaction; nil if it was only tried.
  /// - Throws: Any error that `body` throws; ``Failure``, ``DatabaseError``.
  static func make(
    _ call: Call, _ database: Database,
    _ body: (borrowing Database.Transaction) throws -> Void,
    telling tell: (SequenceNumber, Call) throws -> Void
  ) throws -> SequenceNumber? {
    if call.has(.dryRun) {
      try expecting(call) { expected in
        try database.speculate(metadata: metadata(call), expecting: expected) { tx in
          try body(tx)
          try call.check(tx)
        }
      }
      return nil
    }
    return try write(call, database, body, tell)
  }

  /// Makes a change to each record that a query finds, all in one transaction, or says with
  /// `--dry-run` how many they are. Ends with 1 where there are none.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - database: The database, open for writing.
  ///   - query: The query, as text.
  ///   - verb: The change in words, as in “deleted”.
  ///   - body: Changes the record at a path.
  /// - Throws: ``Failure``, ``DatabaseError``, ``QueryError``.
  static func records(
    _ call: Call, _ database: Database, _ query: String, _ verb: String,
    _ body: (borrowing Database.Transaction, NodePath) throws -> Void
  ) throws {
    var count = 0
    let sequence = try make(call, database) { tx in
      let found = try tx.records(query)
      try call.check(found)
      let paths = try paths(found)
      if paths.isEmpty { throw Failure.silent(.negative) }
      for path in paths { try body(tx, path) }
      count = paths.count
    } telling: {
      try tell($1, count, verb, $0)
    }
    try tell(call, count, sequence == nil ? "would be \(verb)" : verb, sequence)
  }

  /// Runs a body that reads a query, and says where that is wrong.
  static func answering(_ body: () throws -> Void) throws {
    do { try body() } catch let error as QueryError { throw Failure(error, help: "query") }
  }

  private static func paths(_ query: DynamicQuery) throws -> [NodePath] {
    guard query.isOfRecords else {
      throw Failure.usage("records are changed whole", hint: "leave out select, group by and |")
    }
    var paths: [NodePath] = []
    try query.forEach { paths.append($0.path) }
    return paths
  }

  private static func tell(
    _ call: Call, _ count: Int, _ verb: String, _ sequence: SequenceNumber?
  ) throws {
    if count == 0 { throw Failure.silent(.negative) }
    if call.output.isQuiet { return }
    try call.output.report(["sequence": sequence, "records": count]) {
      let words = "\(Quantity.count(count, "record")) \(verb)"
      try call.output.line(sequence.map { "tx \($0)  \(words)" } ?? words)
    }
  }

  /// The query that a collection and the words after it make; nil where there are no such words.
  /// They may be one word of the shell or several.
  static func clauses(_ collection: Operand, _ rest: Operand, _ call: Call) throws -> String? {
    let texts = call.all(rest).map(\.text)
    if !texts.isEmpty, texts.allSatisfy({ $0.allSatisfy(\.isWhitespace) }) {
      throw Failure.usage(
        "the words after the path are empty", hint: "leave them out, or begin with where or set")
    }
    let words = ([call.value(collection).text] + texts).joined(separator: " ")
    let parts = words.split(separator: " ", maxSplits: 1)
    let isClause = parts.count == 2 && ["where ", "set "].contains { parts[1].hasPrefix($0) }
    guard parts.count == 2, isClause || !texts.isEmpty else { return nil }
    let path = try Surroundings.path(String(parts[0]), from: Surroundings.current().base)
    return "\(path.isRoot ? "/" : path.description) \(parts[1])"
  }

  private static func write(
    _ call: Call, _ database: Database,
    _ body: (borrowing Database.Transaction) throws -> Void,
    _ tell: (SequenceNumber, Call) throws -> Void
  ) throws -> SequenceNumber {
    let sequence = try expecting(call) { expected in
      try database.write(metadata: metadata(call), expecting: expected) { tx in
        try body(tx)
        try call.check(tx)
        let sequence = tx.sequence
        try call.keepAnswer(tx) { try tell(sequence, $0) }
        return sequence
      }
    }
    call.rules.note(changesOf: sequence, in: database)
    return sequence
  }

  /// Writes on the condition of `--if-seq`, and says what is wrong where it does not hold.
  static func expecting<R>(_ call: Call, _ body: (SequenceNumber?) throws -> R) throws -> R {
    do {
      return try body(call[.ifSequence].map { SequenceNumber(UInt64($0.number)) })
    } catch DatabaseError.conflict(.root, let expected, let found) {
      let name = Shell.quoted(call.database)
      throw Failure(
        .refused, "conflict", "transaction \(expected) is not the newest: \(found) is",
        hint:
          "`cambium log \(name) --since \(expected)` says what was done since; then decide again"
      )
    }
  }

  /// The metadata that says who made the change, and why.
  static func metadata(_ call: Call) -> [String: String] {
    var metadata: [String: String] = [:]
    metadata["actor"] = call[.actor]?.text
    metadata["reason"] = call[.reason]?.text
    return metadata
  }

  // MARK: Values from the command line

  /// Reads an operand that is JSON, or `-` for JSON from standard input.
  static func json(_ operand: Operand, _ call: Call, hint: String? = nil) throws -> Value {
    let text = call.value(operand).text
    if text == "-" {
      var reader = try JSONReader(call.standardInput(), isTyped: true)
      let value = try reader.value() ?? .null
      _ = try reader.next()
      return value
    }
    do {
      return try JSONReader.value(of: text, name: operand.name)
    } catch {
      var failure = Failure.usage("\(operand.name) is not JSON: \(error.reason)", hint: error.hint)
      if let place = error.place {
        // Text that goes wrong at its first byte was hardly meant to be JSON.
        if place.offset == 0 { failure.hint = hint ?? error.hint }
        failure.excerpt = Failure.Excerpt(text: text, offset: Int(place.offset))
      }
      throw failure
    }
  }

  /// Reads an operand that is text, or `-` for text from standard input, taken to the last byte.
  static func text(_ operand: Operand, _ call: Call) throws -> String {
    let text = call.value(operand).text
    if text != "-" { return text }
    var source = try call.standardInput()
    // One byte more than a value may have lets the database see that it is too long.
    while !source.isAtEnd, source.end - source.position <= Value.bytesMax { try source.more() }
    let bytes = source.buffer[source.position..<source.end]
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let index = UTF8Text.firstInvalidIndex(in: source.buffer.span, source.position..<source.end)
    throw source.error(
      at: index ?? source.position, "expected UTF-8",
      hint: "import binary data as base64: {\"$data\": …}")
  }
}
