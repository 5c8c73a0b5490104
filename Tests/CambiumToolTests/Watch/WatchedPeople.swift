import Cambium
import Testing

@testable import CambiumCommands

/// A live query over people in sections, as a watched list: what is stored, and the step that the
/// query makes of it.
struct WatchedPeople {
  struct Person {
    let name: String
    let section: String
    let number: Int
  }

  private(set) var list: WatchedList
  private let database: Database
  private let live: LiveResults<DynamicQuery>
  private var sectioning: Sectioning<DynamicRecord, Value>
  private var names: Set<String> = []

  /// Follows all people with the clauses at the end of the query.
  init(_ clauses: String) throws {
    database = try Database.inMemory()
    let query = try database.records("people select id, n \(clauses)")
    live = try query.live()
    sectioning = try Sectioning(live.elements, at: live.sequence) { $0.section ?? .null }
    list = WatchedList(of: query, columns: ["id", "n"])
  }

  /// Stores people in this order in place of those that are there.
  mutating func store(_ stored: [Person]) throws -> WatchStep {
    let people: NodePath = "people"
    let gone = names.subtracting(stored.map(\.name))
    names = Set(stored.map(\.name))
    try database.write { tx in
      for name in gone { try tx.remove(people.appending(Key(name))) }
      for (place, person) in stored.enumerated() {
        try tx.set(
          people.appending(Key(person.name)),
          to: [
            "n": .integer(Int64(person.number)), "s": .string(person.section),
            "at": .integer(Int64(place)),
          ])
      }
    }
    let difference = list.apply(try sectioning.apply(try live.refresh()))
    #expect(list.sections.flatMap { $0.rows.map(\.values) } == live.map(\.values))
    #expect(list.sections.map(\.value) == sectioning.sections.map(\.key))
    return WatchStep(list: list, difference: difference)
  }

  /// Checks the database, and closes it.
  func end() throws {
    #expect(try database.verify().findings.isEmpty)
    try database.close()
  }
}
