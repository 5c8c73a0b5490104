import Cambium

/// `cambium branch`: makes a writable database with the same past.
enum BranchCommand {
  static let target = Operand("NEWDB", .file, "the branch; nothing may be there")

  static let command = Command(
    name: "branch", group: .change,
    summary: "makes a database of its own with the same past",
    discussion: """
      NEWDB has all transactions up to --at, or up to now, with their numbers and history, and may
      be written from then on as any database; this one is only read. `cambium compare` tells what
      differs between the two later, and `cambium merge` takes over the changes of one into the
      other. Where the file system shares blocks (btrfs, XFS), a branch takes next to no room and
      time, whatever the size; elsewhere the log and the state are copied.
      """,
    operands: [.database, target],
    options: [.at, .wait, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium branch shop.cambium trial.cambium": "try something out",
      "cambium branch shop.cambium then.cambium --at tag:release-1": "from an earlier moment",
    ],
    run: run)

  static func run(_ call: Call) throws {
    let path = call.value(target).text
    try ReplayCommand.checkTarget(path)
    let start = ContinuousClock.now
    let database = try OpenDatabase.forReading(call)
    let last = try OpenDatabase.recordedSequence(call[.at]?.moment, in: database)
    try database.branch(at: .sequence(last), to: path)
    if call.output.isQuiet { return }
    let time = ContinuousClock.now - start
    try call.output.report(["database": path, "sequence": last, "seconds": time.seconds]) {
      try call.output.line(
        "made \(Terminal.escaped(path)): branched at transaction \(last) in "
          + Quantity.seconds(time))
    }
  }
}
