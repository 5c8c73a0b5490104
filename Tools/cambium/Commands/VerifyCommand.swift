/// `cambium verify`: whether every stored byte is what was written.
enum VerifyCommand {
  static let command = Command(
    name: "verify", group: .keep,
    summary: "checks every checksum, and that the log gives this state",
    discussion: """
      Reads the whole log and the whole state, and folds the log again in a scratch place to
      compare. Exits with 0 where all is sound, and with 4 where something is damaged, after
      saying what and where.
      """,
    operands: [.database],
    options: [.progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: [.init("cambium verify air.cambium", "check everything")],
    stopsSafely: true, run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("verify")
  }
}
