import Cambium
import Foundation

/// `cambium apply`: the transactions of a file, each a line of JSON.
enum ApplyCommand {
  static let file = Operand("FILE", .file, "a file of JSON lines, or - for standard input")
  static let dryRun = Option(flag: "dry-run", "only say what would change")
  static let proceed = Option(flag: "continue", "go on after a transaction that fails")
  static let resume = Option(
    flag: "resume", "begin after the last line that an earlier run of FILE has applied")
  static let create = Option(flag: "create", "create the database where there is none")

  static let command = Command(
    name: "apply", group: .change,
    summary: "makes the transactions that a file describes",
    discussion: """
      Each line is a JSON object, and one transaction: all of it, or nothing.

        {"metadata": {"actor": "anna"}, "if-seq": 12, "operations": [
          {"op": "set", "path": "users/ada", "value": {"name": "Ada"}}]}

      (in one line). With if-seq it is only made if that transaction is still the newest. These are
      the operations, and what they have besides op:

        set             path, value
        update          path, set: new values by name, unset: names to take out
        increment       path, property if it is one's, by (1 if left out)
        append          path, property, value: at the end of an array
        insert          path, property, at, value
        removeElement   path, property, at
        include         path, property, value: an element of a set
        exclude         path, property, value
        setEntry        path, property, key, value: of a dictionary
        removeEntry     path, property, key
        incrementEntry  path, property, key, by
        remove          path
        restore         path, removedAt: the transaction that removed it
        move            path, to
        event           name, payload
        define          name: of a property, so that its number is small
        declare         path, definition: as log --patch -o json shows it; without one, none
        expect          path, sequence: the transaction that last changed it

      Types that JSON lacks are written as `cambium get -o json` shows them. Lines of
      `cambium log --patch -o json` are understood, too: they make the same changes and log the same
      events, where what was changed is as it was; those of archived transactions make the same
      operations. What they cannot carry are numbers, times, the contents of blobs, and nodes
      without a value: such as are left empty go.

      The whole file is read first; if anything in it cannot be understood, nothing is done. Then
      the first transaction that fails ends the run; those before it are kept. Mend it, and go on
      with --resume.
      """,
    operands: [.database, file],
    options: [dryRun, proceed, resume, create, .actor, .reason, .wait, .progress, .quiet]
      + Option.output(.short, .json) + [.color],
    examples: [
      "cambium apply team.cambium changes.jsonl --dry-run": "what would it do?",
      "cambium apply team.cambium changes.jsonl --actor anna": "does it",
      "cambium apply --create copy.cambium log.jsonl":
        "what `cambium log --patch -o json` wrote, in another database",
    ],
    stopsSafely: true,
    servings: [
      Serving(
        .post, scope: .query, without: [proceed, resume, create].map(\.name), body: file.name)
    ], run: run)

  static func run(_ call: Call) throws {
    let name = call.value(file).text
    if name == "-" && call.has(resume) {
      throw Failure.usage(
        "--resume needs a file, which standard input is not", hint: "write it to a file first")
    }
    let source = name == "-" ? try call.standardInput() : try ByteSource(path: name)
    let label = name == "-" ? call.inputName : name
    var script = try ScriptReader(source)
    var (total, last): (UInt64, UInt64) = (0, 0)
    while let transaction = try script.next() {
      try transaction.check(call)
      total += 1
      if !transaction.isEmpty { last = total }
    }
    try script.rewind()
    let database = try OpenDatabase.forWriting(
      call, creating: call.has(create) && !call.has(dryRun))
    let bar = ProgressBar(call, unit: "transactions")
    defer { bar.finish() }
    let job = ApplyJob(call, database, label: label, total: total, last: last, bar)
    if call.has(dryRun) { return try job.preview(&script) }
    try job.run(&script)
  }
}

/// One run over the transactions of a file.
private final class ApplyJob {
  private let call: Call
  private let database: Database
  private let label: String
  private let total: UInt64
  /// The last line that is not empty.
  private let last: UInt64
  private let bar: ProgressBar
  private var applied = 0
  private var failed = 0
  private var firstFailure: ExitCode?
  private var sequences: (first: SequenceNumber, last: SequenceNumber)?

  init(
    _ call: Call, _ database: Database, label: String, total: UInt64, last: UInt64,
    _ bar: ProgressBar
  ) {
    self.call = call
    self.database = database
    self.label = label
    self.total = total
    self.last = last
    self.bar = bar
  }

  // MARK: Doing it

  func run(_ script: inout ScriptReader) throws {
    // Under this name the database keeps how many lines are done, with each transaction.
    let path = URL(filePath: label).standardizedFileURL.path
    let cursor = "apply/" + RowImport.fingerprint([path])
    let done =
      call.has(ApplyCommand.resume)
      ? try database.cursor(cursor) ?? 0 : takeUp(call.served?.keeping)
    var index: UInt64 = 0
    while let transaction = try script.next() {
      index += 1
      if index <= done { continue }
      if !bar.update("apply", index, of: total) { throw stopped() }
      try attempt(transaction, script.line) {
        let sequence = try database.write(
          metadata: metadata(transaction), expecting: transaction.expected
        ) { tx in
          try transaction.perform(tx)
          try call.check(tx)
          if call.served == nil { try tx.saveCursor(cursor, index) }
          try keep(index, tx)
          return tx.sequence
        }
        sequences = (sequences?.first ?? sequence, sequence)
        call.rules.note(changesOf: sequence, in: database)
      }
    }
    try finish()
  }

  /// Takes up what earlier copies of a request have done, and returns the number of their lines.
  private func takeUp(_ keeping: (any CommandKeeping)?) -> UInt64 {
    guard case .map(let done)? = keeping?.done else { return 0 }
    applied = done.count("applied")
    sequences = (done.sequence("first"), done.sequence("last"))
    return UInt64(done.count("lines"))
  }

  /// Keeps with a line's transaction that it is done; with the last one's, the answer.
  private func keep(_ line: UInt64, _ tx: borrowing Database.Transaction) throws {
    guard let keeping = call.served?.keeping else { return }
    let (applied, first, newest) = (applied + 1, sequences?.first ?? tx.sequence, tx.sequence)
    if line == last {
      return try call.keepAnswer(tx) { try report(applied, (first, newest), $0.output) }
    }
    try keeping.save(
      done: .map([
        "lines": .integer(Int64(line)), "applied": .integer(Int64(applied)),
        "first": .integer(Int64(first.rawValue)), "last": .integer(Int64(newest.rawValue)),
      ]), tx)
  }

  private func metadata(_ transaction: ScriptedTransaction) -> [String: String] {
    Changing.metadata(call).merging(transaction.metadata) { _, own in own }
  }

  /// Does one, and says what is wrong with its line where it fails.
  private func attempt(
    _ transaction: ScriptedTransaction, _ line: Int, _ body: () throws -> Void
  ) throws {
    if transaction.isEmpty { return }
    do {
      try body()
      applied += 1
    } catch {
      let failure = told(error, line)
      let isItsOwn = failure.exit == .refused || failure.exit == .missing
      guard call.has(ApplyCommand.proceed), isItsOwn else { throw failure }
      bar.finish()
      System.complain(failure.text)
      failed += 1
      firstFailure = firstFailure ?? failure.exit
    }
  }

  private func told(_ error: any Error, _ line: Int) -> Failure {
    let failure = Failure(error, database: call.database)
    guard let message = failure.message else { return failure }
    let isPreview = call.has(ApplyCommand.dryRun)
    var hints = [failure.hint].compactMap { $0 }
    if applied > 0 && !isPreview && !call.has(ApplyCommand.proceed) {
      hints.append("what was applied before is kept: \(Quantity.count(applied, "transaction"))")
    }
    return Failure(
      failure.exit, failure.code, "\(label):\(line): \(message)",
      hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
  }

  private func stopped() -> Failure {
    let words = ((try? System.arguments()) ?? []).filter { $0 != "--resume" }
    let line = (["cambium"] + words + ["--resume"]).map(Shell.quoted).joined(separator: " ")
    return .stopped(resume: label == call.inputName || applied == 0 ? nil : line)
  }

  private func finish() throws {
    bar.finish()
    if !call.isQuiet { try report(applied, sequences, call.output) }
    if let firstFailure { throw Failure.silent(firstFailure) }
  }

  private func report(
    _ applied: Int, _ sequences: (first: SequenceNumber, last: SequenceNumber)?, _ output: Output
  ) throws {
    if output.format == .json {
      return try output.line([
        "transactions": applied, "first": sequences?.first, "last": sequences?.last,
        "failed": failed,
      ])
    }
    var text = "applied \(Quantity.count(applied, "transaction"))"
    if let sequences {
      let range = "\(sequences.first)" + (applied > 1 ? " to \(sequences.last)" : "")
      text += ": tx \(range)"
    }
    if failed > 0 { text += "; \(Quantity.count(failed)) failed" }
    try output.line(text)
  }

  // MARK: Saying what would be done

  /// Tries all of it in one transaction, which is then dropped.
  func preview(_ script: inout ScriptReader) throws {
    try database.speculate { tx in
      let head = tx.sequence.previous
      while let transaction = try script.next() {
        let sequence = SequenceNumber(head.rawValue + UInt64(applied))
        try attempt(transaction, script.line) {
          if let expected = transaction.expected, expected != sequence {
            throw DatabaseError.conflict(.root, expected: expected, found: sequence)
          }
          let changes = try tx.attempt { try transaction.performTelling(tx) }
          try tell(transaction, changes, sequence.next)
        }
      }
    }
    bar.finish()
    if call.format == .short && !call.isQuiet {
      let failures = failed > 0 ? ", and \(Quantity.count(failed)) would fail" : ""
      try call.output.line("would apply \(Quantity.count(applied, "transaction"))\(failures)")
    }
    if let firstFailure { throw Failure.silent(firstFailure) }
  }

  private func tell(
    _ transaction: ScriptedTransaction, _ changes: [ScriptedTransaction.Change],
    _ sequence: SequenceNumber
  ) throws {
    if call.isQuiet { return }
    if call.format == .json {
      return try call.output.line([
        "sequence": sequence, "metadata": metadata(transaction),
        "changes": changes.map(ApplyJob.json),
      ])
    }
    var line = StyledLine("tx \(sequence)", .heading)
    if let actor = CommitText.actor(metadata(transaction)) {
      line.add("  \(Terminal.escaped(actor))")
    }
    if let reason = CommitText.reason(metadata(transaction)) {
      line.add("  \(JSONText.quoted(reason))")
    }
    try call.output.line(line)
    let text = ChangeText(output: call.output, indent: 2)
    for change in changes {
      try text.write(Terminal.escaped(change.path.description), from: change.old, to: change.new)
    }
  }

  private static func json(_ change: ScriptedTransaction.Change) -> JSONLine {
    ["path": change.path.description, "old": change.old, "new": change.new]
  }
}
