// The code of the article on live queries.

import Cambium
import Scratch
import Synchronization
import Testing

// Block: Models

/// Stands for a list view: it notes what it is told.
private final class NotedList: Sendable {
  private let notes = Mutex<[String]>([])

  var all: [String] { notes.withLock { $0 } }

  func show(_ anything: some Sendable) { notes.withLock { $0.append("\(anything)") } }

  func apply(
    _ deleted: [Int], _ inserted: [Int], _ moved: [(Int, Int)], _ reloaded: [Int],
    _ elements: LiveElements<Flight>
  ) {
    show("-\(deleted) +\(inserted) \(moved.map { "\($0)>\($1)" }) !\(reloaded) \(elements.count)")
  }

  func deleteSections(_ sections: [Int]) { show("delete \(sections)") }
  func insertSections(_ sections: [Int]) { show("insert \(sections)") }
  func insert(_ rows: [(Int, Int)]) { show("rows \(rows)") }
}

@Suite("LiveQueries.md")
struct LiveArticleTests {
  @Test("shows code that runs")
  func runs() async {
    await #expect(processExitsWith: .success) {
      await reporting {
        let database = try Database.inMemory(for: Flight.self, Trip.self)
        try await database.write { tx in
          for number in 1...80 {
            try tx.insert(
              Flight(
                id: .init(number), number: number, origin: number % 2 == 0 ? "EWR" : "JFK",
                delay: number))
          }
        }
        try await Self.differences(database)
        try await Self.collection(database)
        try Self.pages(database)
        try Self.past(database)
        try await Self.sections(database)
        try await Self.derived(database)
        try Self.light(database)
        try await Self.anything(database)
        try Self.objects(database)
        try Self.forms(database)
        try Self.load(database)
        try checkSound(database)
        try await database.close()
      }
    }
  }

  /// Runs a loop without end until it has noted so much, while a flight's delay changes.
  private static func following(
    _ database: Database, until count: Int,
    _ loop: @escaping @Sendable (NotedList) async throws -> Void
  ) async throws -> [String] {
    let list = NotedList()
    let task = Task { try await loop(list) }
    var delay = 100
    while list.all.count < count {
      delay += 1
      try await database.update(79 as Flight.ID) { [delay] in $0.delay = delay }
      await Task.yield()
    }
    task.cancel()
    try await task.value
    return list.all
  }

  private static func load(_ database: Database) throws {
    let count = try database.query(Flight.self).count()
    // Block: Bulk writes
    #expect(try database.query(Flight.self).count() == count + 3)
  }

  private static func differences(_ database: Database) async throws {
    let notes = try await following(database, until: 2) { list in
      // Block: A query's differences
    }
    #expect(notes[0].hasSuffix(" 20"))
    try await database.update(79 as Flight.ID) { $0.delay = 79 }
  }

  @MainActor
  private static func collection(_ database: Database) async throws {
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    let list = NotedList()
    // Block: A collection that follows
    #expect(other.deletions.count == 10 && live.count == 10)
    // Block: A collection that follows, 2
    #expect(list.all == ["20"] && object.number == first.element.number)
    while list.all.count < 2 {
      try await database.update(80 as Flight.ID) { $0.number += 1 }
      await Task.yield()
    }
    following.cancel()
    try await following.value
  }

  private static func pages(_ database: Database) throws {
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    let list = NotedList()
    // Block: Pages
    #expect(list.all == ["8", "4"] && above.insertions.count == 8)
    #expect(Array(pages) == Array(try late.fetch().prefix(16)))
  }

  private static func past(_ database: Database) throws {
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    try database.tag("monday")
    try database.update(70 as Flight.ID) { $0.delay = 200 }
    // Block: The past
    #expect(forward.insertions.map(\.position) == [0] && back.insertions.map(\.position) == [2])
    try database.update(70 as Flight.ID) { $0.delay = 70 }
  }

  private static func sections(_ database: Database) async throws {
    let notes = try await following(database, until: 3) { table in
      let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
      // Block: Sections
    }
    #expect(notes.prefix(2) == ["delete []", "insert [0, 1]"])
    try await database.update(79 as Flight.ID) { $0.delay = 79 }
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    // Block: What is kept up to date, and how
    #expect(words.contains("limit"))
  }

  private static func derived(_ database: Database) async throws {
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    let counts = try await following(database, until: 1) { list in
      let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
      // Block: Results of results
    }
    #expect(counts.first == "10")
    let pairs = try await following(database, until: 1) { list in
      let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
      // Block: Results of results, 2
    }
    #expect(!pairs.isEmpty)
    try await database.update(79 as Flight.ID) { $0.delay = 79 }
    // Block: Results of results, 3
    #expect(minutes.count == 10 && origins.count == 2)
  }

  private static func light(_ database: Database) throws {
    let late = database.query(Flight.self).where { $0.delay > 60 }.order(by: \.delay.descending)
    let trip: Trip.ID = 1
    try database.insert(Trip(id: trip, flights: [3, 1], seats: [1: "12A", 3: "7C"]))
    // Block: Light keys, references and dictionaries
    #expect(lazy.count == 20 && first?.delay == 80)
    // Block: Light keys, references and dictionaries, 2
    #expect(seat == "7C" && seated.count == 2)
    try database.delete(3 as Flight.ID)
    try seats.refresh()
    #expect(seats.map(\.value) == ["12A"])
  }

  private static func anything(_ database: Database) async throws {
    let id: Flight.ID = 79
    _ = try await following(database, until: 2) { list in
      // Block: Anything else
    }
    _ = try await following(database, until: 2) { list in
      // Block: Anything else, 2
    }
    _ = try await following(database, until: 1) { list in
      // Block: Anything else, 3
    }
  }

  private static func objects(_ database: Database) throws {
    let (id, other) = (1 as Flight.ID, 2 as Flight.ID)
    // Block: Live objects
    #expect(copy.delay == 90)
    #expect(try database.get(id).number == 7)
    binding.end()
  }

  private static func forms(_ database: Database) throws {
    let (stored, list) = (try database.get(1 as Flight.ID), NotedList())
    // Block: Forms
    form.draft.set("number", text: "8")
    try form.save()
    #expect(list.all.contains("Origin"))
    #expect(try database.get(1 as Flight.ID).number == 8)
  }
}
