import Cambium

/// `cambium search`: finds records by the words of their texts.
enum SearchCommand {
  static let collection = Operand("PATH", .path, "the collection, whose children are the records")
  static let text = Operand("TEXT", .text, "what to look for, in the language below")
  static let limit = Option(
    "limit", letter: "n", "N", .number(0...Int.max), "how many records, the best first",
    fallback: "20")
  static let offset = Option(
    "offset", "N", .number(0...1_000_000), "leave out so many, which fit best")
  static let typed = Option(
    flag: "typed", "take the text as people type it into a search field: none is refused")
  static let property = Option("property", "NAME", .text, "look only in this property")

  static let command = Command(
    name: "search", group: .look,
    summary: "finds records by the words of their texts",
    discussion: """
      Tells the records that fit best, the best first: the score (BM25, the more the better), the
      key, and a piece of the text, with what was found between `**`. Where the index has several
      properties, the name of the one stands before its text.

          whale            in any case; in a language, in every form of the word
          white whale      both; AND may stand between them
          whale OR shark   at least one
          whal*            words that begin so
          "in a row"       these words in this order
          -white           not this one; also NOT white
          title:whale      in this property
          (a OR b) c       parentheses, as one expects

      With --typed only words, "…", *, - and OR mean something, and everything else parts words: it
      is for text that comes from elsewhere, such as https://example.org or a lone quotation mark.

      A TEXT that begins with - comes after --. The collection needs an index of texts, which the
      app's schema declares, as in TextIndex(\\.title, \\.body, language: "en"). Of several, the
      first that has the --property is searched; without one, the first. Exits with 1 where nothing
      is found.
      """,
    operands: [.database, collection, text],
    options: [limit, offset, property, typed, .at] + Option.reading,
    examples: [
      #"cambium search library.cambium books 'whal* -title:white' -n 5"#:
        "the five books that fit best",
      #"cambium search library.cambium books '"in a row"' --property body -o json"#:
        "for programs, in one property",
    ],
    servings: [Serving(.get, scope: .paths, isPaged: true)], run: run)

  static func run(_ call: Call) throws {
    let query = try query(call)
    let snapshot = try OpenDatabase.snapshot(call)
    let search = try CollectionSearch(query, snapshot, call)
    let writer = try ListWriter(call, columns: ["score", "key", "property", "snippet"])
    let (limit, offset) = (call.value(limit).number, call[offset]?.number ?? 0)
    // One more says whether another page follows.
    let reach = call.page.size.map { min(limit, offset + $0 + 1) } ?? limit
    let matches = try search.matches(limit: reach).dropFirst(offset)
    var count = offset
    let widths = [
      matches.map { ScoreText.text($0.score).utf8.count }.max() ?? 0,
      matches.map { Terminal.displayWidth(Terminal.escaped($0.key.description)) }.max() ?? 0,
    ]
    for match in matches {
      try call.page.turn { [("offset", "\(count)")] }
      count += 1
      let found = try search.snippet(match)
      if call.format == .short {
        try call.output.line(line(match, found, widths, hasName: search.properties.count > 1))
      } else {
        try writer.write(json(match, found))
      }
    }
    try writer.finish()
    if matches.isEmpty { throw Failure.silent(.negative) }
  }

  private static func query(_ call: Call) throws -> TextQuery {
    let text = call.value(text).text
    if call.has(typed) { return TextQuery(anyText: text) }
    do { return try TextQuery(parsing: text) } catch {
      var failure = Failure(.usage, "bad_query", error.reason, hint: CollectionSearch.help)
      if !text.isEmpty && !text.contains(where: \.isNewline) {
        let offset = text.prefix(error.column - 1).utf8.count
        failure.excerpt = .init(text: text, offset: offset)
      }
      throw failure
    }
  }

  // MARK: Output

  private static func line(
    _ match: TextMatch, _ found: CollectionSearch.Found?, _ widths: [Int], hasName: Bool
  ) -> StyledLine {
    let score = Terminal.padded(ScoreText.text(match.score), to: widths[0], leading: true)
    var line = StyledLine(score + "  ", .metadata)
    let key = Terminal.escaped(match.key.description)
    guard let found else {
      line.add(key, .heading)
      return line
    }
    line.add(Terminal.padded(key, to: widths[1]), .heading)
    line.add("  ")
    if hasName { line.add(Terminal.escaped(found.property) + "  ", .metadata) }
    line.add(found.snippet.line)
    return line
  }

  private static func json(_ match: TextMatch, _ found: CollectionSearch.Found?) -> JSONLine {
    [
      "score": match.score, "key": match.key.description, "property": found?.property,
      "snippet": found?.snippet.text,
    ]
  }
}

/// A score as people read it, with two decimals. A word that most records have counts for almost
/// nothing.
private enum ScoreText {
  static func text(_ score: Double) -> String {
    let hundredths = Int((min(max(score, 0), 1e9) * 100).rounded())
    if hundredths == 0 && score > 0 { return "<0.01" }
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
