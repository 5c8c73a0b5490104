/// `cambium patch`: changes some properties of a record.
enum PatchCommand {
  static let changes = Operand(
    "OBJECT", .text,
    "a JSON object of properties, or - to read it from standard input; null takes one out")

  static let command = Command(
    name: "patch", group: .change,
    summary: "changes some properties of a record",
    discussion: "As in RFC 7396, a property that is null is taken out, and those not named stay.",
    operands: [.database, .path, changes],
    options: Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      .init(
        "cambium patch team.cambium users/ada '{\"born\": 1815, \"draft\": null}'",
        "one set, one taken out"),
      .init(
        "cambium patch team.cambium users/ada '{\"born\": 1816}' --if-seq 12",
        "unless somebody wrote since 12"),
    ],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    throw Failure.unfinished("patch")
  }
}
