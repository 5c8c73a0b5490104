// Goal: the query language asks what the typed face asks, of records without a type, and no value
// that is given beside the text is read as text. Method: random questions, written both ways from
// one seed, about flights at present, in the past and inside a transaction; every kind of result by
// example.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A query as text")
struct DynamicQueryTests {
  private static let day = Date(timeIntervalSince1970: 1_357_000_000)

  private func withFlights(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try TypedQueryTests.fill(database)
      try body(database)
    }
  }

  // MARK: Both faces

  /// A condition in both faces.
  private struct Question {
    var text: String
    var condition: Condition
    var values: [any PropertyValue] = []

    static func both(_ a: Question, _ word: String, _ b: Question) -> Question {
      var second = b.text
      for number in stride(from: b.values.count, to: 0, by: -1) {
        second = second.replacing("$\(number)", with: "$\(number + a.values.count)")
      }
      return Question(
        text: "(\(a.text)) \(word) (\(second))",
        condition: word == "and" ? a.condition && b.condition : a.condition || b.condition,
        values: a.values + b.values)
    }
  }

  private static func question(_ random: inout FormatRandom, depth: Int) -> Question {
    if depth > 0, random.chance(oneIn: 2) {
      let (a, b) = (question(&random, depth: depth - 1), question(&random, depth: depth - 1))
      return .both(a, random.pick(["and", "or"]), b)
    }
    let flight = Fields<Flight>()
    let number = random.below(300)
    let airport = Airport.ID(random.pick(["JFK", "EWR", "42", "x\" or true"]))
    let moment = day + Double(random.below(400)) * 3600
    let crew = random.pick(["Ada", "Eve", "\") or (true"])
    switch random.below(8) {
    case 0: return .init(text: "number <= \(number)", condition: flight.number <= number)
    case 1: return .init(text: "number > $1", condition: flight.number > number, values: [number])
    case 2:
      return .init(text: "origin = $1", condition: flight.origin == airport, values: [airport])
    case 3:
      let names = [airport, "LGA"]
      return .init(text: "origin in $1", condition: flight.origin.in(names), values: [names])
    case 4:
      return .init(text: "scheduled < $1", condition: flight.scheduled < moment, values: [moment])
    case 5:
      return .init(text: "crew has $1", condition: flight.crew.contains(crew), values: [crew])
    case 6:
      return .init(
        text: "origin.name prefix $1", condition: flight.origin.name.hasPrefix(airport.key),
        values: [airport.key])
    default:
      let early = flight.departureDelay < number && flight.carrier != nil
      return .init(
        text: "departureDelay < $1 and carrier is not null", condition: early, values: [number])
    }
  }

  @Test("finds what the typed face finds", arguments: SeededGenerator.seeds(1, 2))
  func random(_ seed: UInt64) throws {
    try withFlights { database in
      var random = FormatRandom(seed: seed)
      let past = try database.snapshot()
      try database.write { tx in
        for flight in try tx.query(Flight.self).filter({ $0.number % 3 == 0 }).ids() {
          try tx.update(flight) { $0.departureDelay = nil }
        }
        try tx.delete(tx.query(Flight.self).where { $0.number < 40 })
      }
      try check(past, &random)
      try check(try database.snapshot(at: .sequence(past.sequence)), &random)
      try check(try database.snapshot(), &random)
      try database.write { tx in
        try tx.delete(tx.query(Flight.self).where { $0.number > 200 })
        try check(try tx.readingSnapshot(), &random)
      }
    }
  }

  private func check(_ snapshot: Snapshot, _ random: inout FormatRandom) throws {
    for _ in 0..<60 {
      let question = Self.question(&random, depth: 3)
      let limit = 1 + random.below(40)
      let typed = snapshot.query(Flight.self).matching(question.condition)
        .order(by: \.carrier.descending, \.number).limit(limit, offset: 3)
      let all = try Self.query(
        snapshot, "flights where \(question.text) sort -carrier, number", question.values)
      #expect(
        try all.limit(limit, offset: 3).fetch().map(\.path) == typed.ids().map { try $0.path },
        "\(question.text) with \(question.values)")
      #expect(try all.count() == snapshot.query(Flight.self).matching(question.condition).count())
      // The query's description is the same question, in one piece.
      #expect(try snapshot.records(all.description).fetch() == all.fetch())
    }
  }

  /// Spreads an array over the values of a query.
  private static func query(
    _ snapshot: Snapshot, _ text: String, _ values: [any PropertyValue]
  ) throws -> DynamicQuery {
    switch values.count {
    case 0: try snapshot.records(text)
    case 1: try snapshot.records(text, values[0])
    case 2: try snapshot.records(text, values[0], values[1])
    case 3: try snapshot.records(text, values[0], values[1], values[2])
    case 4: try snapshot.records(text, values[0], values[1], values[2], values[3])
    default:
      try DynamicQuery(
        QueryDescription(parsing: text, values.map(\.storedValue)), .snapshot(snapshot))
    }
  }

  // MARK: Results

  @Test("gives records, what is selected, figures and single answers")
  func results() throws {
    try withFlights { database in
      let flights = try database.query(Flight.self).where { $0.number <= 20 }
        .order(by: \.number).fetch()
      let records = try database.records("flights where number <= 20 sort number").fetch()
      #expect(try records.map(\.path) == flights.map { try $0.id.path })
      #expect(
        try records.map { try $0["departureDelay", as: Int?.self] } == flights.map(\.departureDelay)
      )
      let selected = try database.records(
        "flights where number <= $1 sort number select number, origin.name, id", 20)
      #expect(
        try selected.properties() == [
          .init(name: "number", type: .integer), .init(name: "origin.name", type: .string),
          .init(name: "id", type: .reference("flights")),
        ])
      #expect(try selected.fetch().map(\.path) == flights.map { try $0.id.path })
      #expect(try selected.fetch().map { $0["number"] } == (1...20).map { .integer($0) })
      let grouped = try database.records(
        "flights | group by carrier select count, avg(number), max(scheduled) having count > $1", 3)
      #expect(
        try grouped.properties().map(\.type) == [.reference("airlines"), .integer, .double, .date])
      let typed = try database.query(Flight.self).group(by: \.carrier)
        .having { $0.count > 3 }.select { ($0.count, $0.average($0.number)) }
      #expect(try grouped.fetch().map { try $0["count", as: Int.self] } == typed.map(\.1))
      #expect(try grouped.fetch().map { try $0["avg(number)", as: Double?.self] } == typed.map(\.2))
      #expect(try grouped.fetch().allSatisfy { $0.path == "flights" })
      let names = try database.records("flights where number <= 20 select origin.name distinct")
      #expect(Set(try names.fetch().map { $0["origin.name"] }).count == (try names.count()))
      let count = try database.records("flights where number <= 20 | count")
      #expect(try count.fetch() == [DynamicRecord("flights", ["count": 20])])
      #expect(try count.count() == 20 && count.properties().map(\.name) == ["count"])
      let exists = try database.records("flights where number > 1000 | exists").fetch()
      #expect(exists == [DynamicRecord("flights", ["exists": false])])
      let ids = try database.records("flights where number <= 20 sort number | ids").fetch()
      #expect(try ids.map(\.path) == flights.map { try $0.id.path })
      let columns = try database.records("flights").properties()
      #expect(columns.map(\.name) == ["id"] + Flight.schema.definition.properties.map(\.name))
    }
  }

  @Test("is read in pages, which go on where they ended")
  func pages() throws {
    try withFlights { database in
      let query = try database.records("flights where number > $1 sort -scheduled, number", 50)
      var found: [DynamicRecord] = []
      var next: QueryCursor?
      repeat {
        let page = try query.limit(7).after(next).page()
        found += page.results
        next = page.next
      } while next != nil && found.count <= 250
      #expect(try found == query.fetch() && found.count == 250)
      for text in ["| count", "| group by carrier select count", "select carrier distinct"] {
        let query = try database.records("flights \(text)")
        var found: [DynamicRecord] = []
        try query.batches(of: 2) { found += $0 }
        #expect(try !found.isEmpty && found == query.fetch(), "\(text)")
      }
    }
  }

  @Test("says how it is answered, and which names nobody has")
  func words() throws {
    try withFlights { database in
      let query = try database.records("flights where nmber = $1 or carrier = \"UA\"", 7)
      #expect(try query.unknownNames() == ["nmber"])
      #expect(try query.explain().contains("nmber = 7 or carrier = \"UA\""))
      #expect(query.collection == "flights")
      #expect(
        try database.query(Flight.self).matching(Condition(parsing: "number < $1", 9)).count() == 8)
    }
  }

  @Test("runs in the background, and ends when its task is cancelled")
  func background() async throws {
    try await withDatabase { database in
      try TypedQueryTests.fill(database)
      let query = try database.records("flights where number > $1", 100)
      #expect(try await query.inBackground { try $0.count() } == 200)
      let task = Task {
        try await query.inBackground { query in
          while true { _ = try query.fetch() }
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  // MARK: Mistakes

  @Test(
    "points at what cannot be read, and at values that are missing, too many or of a wrong kind",
    arguments: [
      (
        "flights where number >> 3", 0, "                      ^", "expected a value or a property"
      ),
      ("flights where a = $2", 1, "                  ^^", "there is no value for $2; 1 are given"),
      (
        "flights where a = $1", 0, "                  ^^", "there is no value for $1; none is given"
      ),
      ("flights where a = $0", 1, "                  ^^", "there is no value for $0; 1 are given"),
      (
        "flights where a = $1", 2, "                    ^",
        "2 values are given, and the text has no $2"
      ),
      ("flights where a prefix $1", 1, "                       ^^", "the value must be a text"),
      (
        "flights where a in $1", 1, "                   ^^", "after “in” the value must be an array"
      ),
      ("flights limit $1 offset $2", 2, "                        ^^", "expected a number"),
      ("flights sort $1", 1, "             ^^", "expected a property"),
    ])
  func mistakes(_ text: String, _ given: Int, _ mark: String, _ reason: String) {
    let error = #expect(throws: QueryError.self) {
      try QueryDescription(parsing: text, Array([.integer(7), .string("x")].prefix(given)))
    }
    #expect(error?.description == "\(text)\n\(mark)\n\(reason)")
  }
}
