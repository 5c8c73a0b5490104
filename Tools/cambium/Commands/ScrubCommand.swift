import Cambium

/// `cambium scrub`: a whole round of what an open database does in the background.
enum ScrubCommand {
  static let command = Command(
    name: "scrub", group: .keep,
    summary: "reads all pages and checksums, and mends the state",
    discussion: """
      Reads all pages of log and state while others read and write, and checks what each page and
      each entry can tell of itself. A damaged state is made anew from the log; damage of the log is
      said, and what can be done about it. Exits with 4 where the log is damaged.

      An open database does the same by itself, a mebibyte a second; `cambium info` says when a
      round was last over. `cambium verify` compares the state with what the log gives as well.
      """,
    operands: [.database],
    options: [.wait, .progress, .quiet] + Option.output(.short, .json) + [.color],
    examples: ["cambium scrub shop.cambium": "is anything damaged? then mend it"],
    stopsSafely: true, run: run)

  static func run(_ call: Call) throws {
    let database = try OpenDatabase.forWriting(call)
    let report = try ProgressBar.showing(call, unit: "bytes") {
      try database.scrub(progress: $0)
    }
    let json: JSONLine = [
      "bytes": report.bytes, "stateDamage": report.stateDamage, "logDamage": report.logDamage,
    ]
    try call.output.report(json) {
      for damage in report.stateDamage {
        try call.output.line("mended: \(Terminal.escaped(damage))")
      }
      try call.output.line("read \(Quantity.bytes(report.bytes)), \(summary(report))")
    }
    guard let first = report.logDamage.first else { return }
    let name = Shell.quoted(call.database)
    throw Failure.corrupt(
      "the log is damaged: \(first)", hint: "`cambium repair \(name)` says what can be saved")
  }

  private static func summary(_ report: ScrubReport) -> String {
    if report.isSound { return "nothing damaged" }
    let count = report.stateDamage.count + report.logDamage.count
    return count == 1 ? "1 damage" : "\(count) damages"
  }
}
