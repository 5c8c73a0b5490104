import Cambium

/// `cambium backup`: copies a database that is in use, or adds what is new to a backup.
enum BackupCommand {
  static let target = Operand("OUT", .file, "the backup; with --file, - is standard output")
  static let file = Option(flag: "file", "make one file, of all there is")

  static let command = Command(
    name: "backup", group: .keep,
    summary: "copies the database while others use it",
    discussion: """
      OUT is a directory. Where it is a backup of this database already, only what is new is added
      to it, so it can be run as often as wanted. What a backup once holds it keeps: also the
      transactions that `cambium compact` has dropped from the database since. With --file, OUT is
      one new file of all there is, and - is standard output.

      A backup holds the transactions, blobs and tags, and the policy of what to keep; not how far
      consumers are. `cambium verify OUT` checks it, `cambium restore OUT NEWDB` makes a database of
      it, as it was at any moment that it holds. Ctrl-C, or a crash, leaves a backup as it was.
      """,
    operands: [.database, target],
    options: [file, .wait, .progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium backup shop.cambium /mnt/b/shop.backup": "each night",
      "cambium backup shop.cambium shop.cambk --file": "one file, to send away",
      "cambium backup shop.cambium - --file | ssh host 'cat > shop.cambk'": "over a pipe",
    ],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let path = call.value(target).text
    if path == "-" { return try stream(call) }
    if call.has(file) {
      try ReplayCommand.checkTarget(path, name: "OUT")
    } else {
      try OpenDatabase.checkFolder(of: path)
    }
    let database = try OpenDatabase.forReading(call)
    let addition = try explaining(path) {
      try ProgressBar.showing(call) {
        try call.has(file)
          ? database.backUp(toFile: path, progress: $0) : database.backUp(to: path, progress: $0)
      }
    }
    try report(addition, path, call.output)
  }

  /// Sends it to standard output, which gets nothing else.
  private static func stream(_ call: Call) throws {
    guard call.has(file) else {
      throw Failure.usage("standard output takes one file", hint: "add --file")
    }
    if call.output.isTerminal {
      throw Failure.usage("a backup is not for a terminal", hint: "send it to a file with > or |")
    }
    let database = try OpenDatabase.forReading(call)
    try ProgressBar.showing(call) {
      try database.backUp(into: { try call.output.write(bytes: $0) }, progress: $0)
    }
  }

  /// Says what is at OUT where it cannot be added to.
  private static func explaining<R>(_ path: String, _ body: () throws -> R) throws -> R {
    do { return try body() } catch DatabaseError.misuse(let reason) {
      throw Failure(
        .refused, "not_this_backup", reason, hint: "choose another OUT; what is there stays")
    } catch DatabaseError.corrupt(let reason) where Database.isBackup(path) {
      let isSound = (try? Database.checkBackup(path).isSound) ?? false
      if isSound { throw DatabaseError.corrupt(reason: reason) }
      throw Failure.corrupt(
        "\(path) is damaged: \(reason)",
        hint: "start another backup; `cambium verify \(Shell.quoted(path))` says what can be "
          + "restored of this one")
    }
  }

  private static func report(_ addition: BackupAddition, _ path: String, _ output: Output) throws {
    if output.isQuiet { return }
    let json: JSONLine = [
      "backup": path, "newest": addition.newest, "transactions": addition.transactions,
      "bytes": addition.bytes, "parts": addition.parts, "unchanged": addition.isUnchanged,
    ]
    let name = Terminal.escaped(path)
    try output.report(json) {
      if addition.isUnchanged {
        return try output.line("nothing new: \(name) has all up to tx \(addition.newest)")
      }
      try output.line(
        "\(addition.parts == 1 ? "made" : "added to") \(name): "
          + "\(Quantity.count(addition.transactions, "transaction")) up to tx \(addition.newest), "
          + Quantity.bytes(addition.bytes))
    }
  }
}
