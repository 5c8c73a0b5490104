@testable import Cambium

/// The languages of queries: a choice of condition, query, cursor or full text, then the text.
///
/// A text that was read must be the same after it was written and read again, since indexes keep
/// their conditions as text. An error must mark a place within the text.
enum QueryTarget {
  static let target = FuzzTarget(name: "query", seeds: seeds, run: run)

  private static func seeds() -> [[UInt8]] {
    let cursor = QueryCursor(index: 3, query: 7, order: [1, 2], key: (7 as Key).stored)
    return conditions.map { [0] + Array($0.utf8) } + queries.map { [1] + Array($0.utf8) }
      + [[2] + Array(cursor.description.utf8)] + words.map { [3] + Array($0.utf8) }
  }

  private static let conditions = [
    "a > 60 and b.c prefix \"John\" or not (d is null)", "a in (1, -2.5e3, nan, -inf, nan(7))",
    "a between date(\"2013-01-01\") and date(1) and true", "a = b.id and `and`.`x\\`y` is not null",
    "name like \"%x_y%\" ignoring case and diacritics", "a matches /x\\/y+/ ignoring case",
    "count(tags) >= 2 or year(scheduled) = 2013",
    "tags has uuid(\"0192f0c1-2d3e-7f40-8abc-def012345678\")",
    "f by carrier none (delay > decimal(\"-1.50\")) and tags any (id = path(\"a/b~1c\"))",
    "a = {\"x\": [1, null, true], \"y\": \"\\u{1F600}\\n\"}", "a = data(\"3q2+7w==\") and false",
    "a = blob(\"CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=\", 7)", "a contains \"b\" and id = 4",
  ]

  private static let queries = [
    "flights where a > 1 sort -scheduled nulls last, b ignoring case limit 50 offset 3",
    "flights join planes as p on tail = p.number where p.seats > 300 select p.seats distinct",
    "flights left join planes as p on tail = p.id | count", "`a/b c` select x | ids", "a | exists",
    "flights section by origin.name sort -origin.name, at limit 5",
    "f | group by carrier, year(at) select count, avg(d) having count > 1 sort -avg(d) limit 1",
    "flights | count, sum(x), min(y.z)", "flights after \"AAcAAAAAAAAAAAAAAAAAAQ\" limit 2",
  ]

  private static let words = [
    "wor* \"in a row\" -not title:this (one OR other)", "NOT a:(b AND \"c d\"*) OR é\u{301}*",
    "a:b:c",
  ]

  private static func run(_ input: inout FuzzInput) {
    let choice = input.byte()
    guard let text = String(validating: input.rest, as: UTF8.self) else { return }
    switch choice % 4 {
    case 0: check(text) { try Condition(parsing: $0) }
    case 1: check(text) { try QueryDescription(parsing: $0) }
    case 2: checkCursor(text)
    default: checkWords(text)
    }
  }

  private static func check<Read: Equatable & CustomStringConvertible>(
    _ text: String, _ read: (String) throws -> Read
  ) {
    do {
      requireReturn(of: try read(text), { $0.description }, read)
    } catch let error as QueryError {
      let count = text.utf8.count
      require(error.text == text, "\(error) shows \(text)")
      require(error.offset >= 0 && error.count >= 0, "\(error) marks a place")
      require(error.offset + error.count <= count, "\(error) marks a place in \(text)")
    } catch {
      fatalError("fuzz: \(text) was refused with \(error)")
    }
  }

  private static func checkCursor(_ text: String) {
    guard let cursor = QueryCursor(text) else { return }
    require(QueryCursor(cursor.description) == cursor, "\(cursor) comes back from \(text)")
  }

  private static func checkWords(_ text: String) {
    let typed = TextQuery(anyText: text)
    if typed != .any([]) {
      let again = mustSucceed("reading \(typed)") { try TextQuery(parsing: typed.description) }
      require(again == typed, "\(typed) comes back as \(again) from \(text)")
    }
    do throws(TextQueryError) {
      let query = try TextQuery(parsing: text)
      let again = mustSucceed("reading \(query)") { try TextQuery(parsing: query.description) }
      // Parentheses that change nothing do not come back.
      require(again.description == query.description, "\(query) comes back as \(again)")
    } catch {
      require((1...text.count + 1).contains(error.column), "\(error) marks a place in \(text)")
    }
  }
}
