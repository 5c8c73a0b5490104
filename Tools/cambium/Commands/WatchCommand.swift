import Cambium

/// `cambium watch`: the results of a query as a list that follows the database.
enum WatchCommand {
  static let text = Operand(
    "QUERY", .text, "the query; see cambium help query for the language")
  static let count = Option(
    "count", letter: "n", "N", .number(1...Int.max),
    "end after N states of the list, of which the first is the one that is found")
  static let once = Option(flag: "once", "print the list as it is, and end")

  static let command = Command(
    name: "watch", group: .look,
    summary: "shows a query's results as a list that follows every change",
    discussion: """
      The list is kept up to date while this or any other process writes. A query with `section by
      PROPERTY` has a heading for each value of it. A mark shows for two seconds what has changed:

          +  came      −  went      ↑ ↓  moved      ~  has other values, which are coloured

      Keys: ↑ ↓ PgUp PgDn Home End scroll, ← → choose the first column, q or Ctrl-C leaves. The list
      has a screen of its own; what the terminal showed before is there again afterwards. Rows that
      are seen stay where they are while others come above them, except at the top of the list.

      Where the output is no terminal, each state is a line of JSON: the changes that lead to it
      from the one before, and first to the list as it is found. Places are counted from 0, with
      sections as [section, row]. To apply a line: remove the rows of `deletions` and those of
      `moves` by their places before; remove, move and insert sections; insert the rows of
      `insertions` and `moves` by their places after; replace values by `updates`. Commits that
      follow one another quickly may come as one line.
      """,
    operands: [.database, text],
    options: [count, once] + Option.output(.short, .json) + [.wait, .color],
    examples: [
      #"cambium watch air.cambium 'flights where departureDelay > 60 section by origin limit 50'"#:
        "the late ones of each airport",
      #"cambium watch air.cambium 'flights | group by carrier select count sort -count'"#:
        "how many each airline has",
      #"cambium watch shop.cambium 'orders sort -placed limit 10' --json | jq .insertions"#:
        "for programs",
    ],
    stopsSafely: true,
    servings: [
      Serving(
        .get, scope: .query, isStream: true, without: [count.name, once.name, "output"],
        name: "live")
    ], run: run)

  static func run(_ call: Call) async throws {
    let database = try OpenDatabase.forReading(call)
    do {
      var query = try database.records(call.value(text).text)
      try call.check(query)
      query.request.check = {
        if Signals.isInterrupted || Task.isCancelled { throw CancellationError() }
      }
      try check(query, try database.snapshot())
      try await watch(query, try columns(of: query, try database.snapshot()), call)
    } catch let error as QueryError {
      throw Failure(error, help: "query")
    } catch DatabaseError.misuse(let reason) {
      throw Failure(
        .usage, "not_followed", reason, hint: "`cambium query` answers it as it is now")
    }
  }

  /// Says what cannot be meant, before the list takes the screen.
  static func check(_ query: DynamicQuery, _ snapshot: Snapshot) throws {
    if try !query.collection.isRoot && !snapshot[query.collection].exists {
      let name = Terminal.escaped(query.collection.description)
      System.note("nothing is at \(name) now; waiting for it")
    }
    for name in try query.unknownNames() {
      Suggestion.warn(ofUnknown: name, among: try snapshot.propertyNames.sorted())
    }
  }

  /// The names of what is selected; of whole records, of what is declared.
  static func columns(of query: DynamicQuery, _ snapshot: Snapshot) throws -> [String] {
    guard query.isOfRecords else { return try query.properties().map(\.name) }
    return try snapshot.definition(of: query.collection)?.properties.map(\.name) ?? []
  }

  private static func watch(_ query: DynamicQuery, _ columns: [String], _ call: Call) async throws {
    let isSmart = Surroundings.current().environment["TERM", default: "dumb"] != "dumb"
    let isForPeople = call.format == .short
    let session = WatchSession(
      call: call, title: call.value(text).text,
      countMax: call.has(once) ? 1 : call[count]?.number ?? .max,
      changes: query.changes { $0.section ?? .null },
      list: WatchedList(of: query, columns: columns))
    if isForPeople && call.has(once) {
      try await session.printOnce()
    } else if isForPeople && call.output.isTerminal && isSmart {
      try await session.show(on: System.standardOutput)
    } else {
      try await session.write()
    }
  }
}
