/// `cambium replay`: folds the log again, in place or into a new database.
enum ReplayCommand {
  static let target = Option("to", "NEWDB", .file, "make a new database from the log instead")
  static let until = Option(
    "until", letter: "U", "REV", .moment, "the last transaction of the new database")

  static let command = Command(
    name: "replay", group: .keep,
    summary: "rebuilds the state from the log, here or in a new database",
    discussion: """
      Only the log is precious; the tree, its history and all else is made from it. Without --to,
      the state is dropped and made again. With --to, a new database gets the same log, up to
      --until, and this one is only read.
      """,
    operands: [.database],
    options: [target, until, .wait, .progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: [
      .init("cambium replay air.cambium", "make the state again"),
      .init(
        "cambium replay air.cambium --to rescue.cambium --until -10m",
        "the database of ten minutes ago"),
    ],
    stopsSafely: true, run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("replay")
  }
}
