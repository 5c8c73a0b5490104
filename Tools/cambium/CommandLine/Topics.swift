/// A page of the help that belongs to no single command.
struct Topic: Sendable {
  let name: String
  let summary: String
  let text: String

  static let all = [moments, environment, exitCodes]

  private static let moments = Topic(
    name: "moments", summary: "how REV, --at, --since and --until are written",
    text: """
      A moment of the database is written in one of these ways:

        4711, @4711             after transaction 4711
        HEAD, HEAD~3            the newest transaction; three before it
        tag:release-1           what `cambium tag` gave that name
        2026-11-20              the start of that day, local time
        2026-11-20 14:03        that minute, local time; 14:03:05.250 is more exact
        2026-11-20T14:03:05Z    that second in UTC; also +01:00, or UTC
        14:03                   that minute today
        today, yesterday 09:00  with or without a time
        now                     this moment
        -10m, "10 minutes ago"  so long before now; parts add up, as in -1h30m

      The units are s, min (or m), h, d, w, M and y, or their names; M is a month of 30.44 days. A
      time means the last transaction at or before it, by the time that was recorded.

      Where a stretch is wanted, as in `cambium diff`, two moments stand with two dots between them:

        HEAD~3..HEAD            what the last three transactions did
        yesterday..             since yesterday
        ..4711                  from the oldest moment there is to transaction 4711

      `cambium log` shows whole seconds, `cambium show` all of a transaction's time.
      """)

  private static let environment = Topic(
    name: "environment", summary: "variables that change what cambium does",
    text: """
        CAMBIUM_DB              the database where none is named
        CAMBIUM_PAGER, PAGER    shows long output; cat, or nothing, for no pager
        NO_COLOR                no colours; so does TERM=dumb
        CLICOLOR_FORCE          colours even where the output is no terminal
        COLUMNS                 the width where the terminal does not tell it
        TZ                      the zone of the times that are read and printed
      """)

  private static let exitCodes = Topic(
    name: "exit-codes", summary: "what each exit code means",
    text: ExitCode.allCases
      .map { "  \(Terminal.padded("\($0.rawValue)", to: 3, leading: true))  \($0.meaning)" }
      .joined(separator: "\n"))
}
