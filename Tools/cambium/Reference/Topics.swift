/// A page of the help that belongs to no single command.
struct Topic: Sendable {
  let name: String
  let summary: String
  let text: String

  static let all = [moments, filters, environment, exitCodes]

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

  private static let filters = Topic(
    name: "filters", summary: "which transactions log and tail tell of",
    text: """
      A filter is made of conditions FIELD=VALUE, which stand anywhere after the command:

        cambium log air.cambium actor=anna 'path=weather/*' op=delete

      The fields are:

        actor=    who made the transaction; reason= why, as log shows them
        origin=   the database that wrote it
        tx=       its sequence number
        tag=      the name of a tag at it
        event=    the name of an event in it
        op=       insert, update or delete: what it did to a node
        path=     the path of a node that it changed

      Any other name is one of the metadata, as in ticket=77. In a VALUE, `*` stands for any text,
      also with slashes, `?` for one character, and a backslash before one of these takes its
      meaning away. Conditions on the same field are alternatives; those on different fields must
      all hold; a `+` between conditions separates groups, of which one must hold:

        actor=anna actor=bob op=delete      deletions by either
        actor=anna + op=delete              anna's, and all deletions

      What `path=`, `op=` and --grep ask for must be true of one and the same change. A word with a
      = is never a PATH; a node whose key has one is reached by path=a=b.
      """)

  private static let environment = Topic(
    name: "environment", summary: "variables that change what cambium does",
    text: """
        CAMBIUM_DB              the database where none is named
        CAMBIUM_NODE            the node that a PATH without a leading / starts at; `cd` of
                                `cambium shell` sets it
        CAMBIUM_ACTOR           who makes changes where --actor does not say so
        CAMBIUM_PAGER, PAGER    shows long output; cat, or nothing, for no pager
        NO_COLOR                no colours; so does TERM=dumb
        CLICOLOR_FORCE          colours even where the output is no terminal
        COLUMNS                 the width where the terminal does not tell it
        XDG_STATE_HOME          has cambium/history, the lines typed into `cambium shell`; else
                                ~/.local/state
        TZ                      the zone of the times that are read and printed
      """)

  private static let exitCodes = Topic(
    name: "exit-codes", summary: "what each exit code means",
    text: ExitCode.allCases
      .map { "  \(Terminal.padded("\($0.rawValue)", to: 3, leading: true))  \($0.meaning)" }
      .joined(separator: "\n"))
}
