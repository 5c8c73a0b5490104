// Goal: `cambium schema --swift` loses nothing of a declaration. Method: PrintedModels.swift, which
// is compiled with the tests, is what is printed of declarations that have everything that a
// declaration can hold; and what its schemas declare is those declarations.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("Models that are printed")
struct SwiftModelTests {
  @Test("are the Swift that declares the same again")
  func printed() throws {
    let declared: [SwiftModels.Declared] = [
      ("things", Self.things), ("a/odd", Self.odd), ("people", Self.people),
    ]
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "PrintedModels.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let start = try #require(source.range(of: "import Cambium\n"))
    let printed = SwiftDeclarations.text([], declared)
    if ProcessInfo.processInfo.environment["CAMBIUM_TRANSCRIPTS"] == "write" {
      try (source[..<start.lowerBound] + printed).write(
        to: file, atomically: true, encoding: .utf8)
    }
    #expect(source[start.lowerBound...] == printed)
    // A property that an index names and nobody declared is declared as `.any`.
    var things = Self.things
    things.properties.append(PropertyDefinition("undeclared", .any))
    #expect(Self.unsaid(Thing.schema.definition) == things)
    #expect(Self.unsaid(Odd.schema.definition) == Self.odd)
    #expect(Self.unsaid(Person.schema.definition) == Self.people)
    #expect(Planes.schema.definition.keys == .string)
  }

  @Test("have all that a database declares")
  func declared() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(
        at: folder + "/a.cambium", for: Thing.self, Odd.self, Person.self, Planes.self)
      #expect(try database.snapshot().definition(of: "things")?.indexes == Self.things.indexes)
      let odd = try #require(try database.snapshot().definition(of: "a/odd"))
      #expect(Self.unsaid(odd) == Self.odd)
      #expect(try database.verify().isSound)
      try database.close()
    }
  }

  /// A declaration that says nothing about null, which a model always does.
  private static func unsaid(_ definition: CollectionDefinition) -> CollectionDefinition {
    var unsaid = definition
    for index in unsaid.properties.indices { unsaid.properties[index].isNullable = nil }
    return unsaid
  }

  // MARK: Everything

  private static func property(
    _ name: String, _ type: PropertyType, _ change: (inout PropertyDefinition) -> Void = { _ in }
  ) -> PropertyDefinition {
    var property = PropertyDefinition(name, type)
    change(&property)
    return property
  }

  private static func absent(
    _ name: String, _ type: PropertyType, _ value: Value
  ) -> PropertyDefinition { property(name, type) { $0.absence = value } }

  private static func within(
    _ name: String, _ type: PropertyType, _ low: Value?, _ high: Value?,
    _ treatment: Domain.Treatment
  ) -> PropertyDefinition {
    property(name, type) { $0.domain = Domain(.range(low, high), treatment) }
  }

  private static let day = Date(timeIntervalSinceReferenceDate: 86_400.123456)
  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))

  private static var things: CollectionDefinition {
    var things = CollectionDefinition()
    things.model = "Thing"
    things.version = 3
    things.keys = .integer
    things.properties = types + absences + domains + references
    things.indexes = indexes
    things.views = views
    return things
  }

  private static var types: [PropertyDefinition] {
    let types: [PropertyType] = [
      .any, .bool, .integer, .double, .string, .data, .date, .uuid, .decimal, .blob, .array(.any),
      .array(.array(.date)), .map(.decimal),
    ]
    return types.enumerated().map { property("plain\($0)", $1) }
      + types.enumerated().filter { $0.offset != 9 }
      .map { number, type in property("needed\(number)", type) { $0.isRequired = true } }
  }

  private static var absences: [PropertyDefinition] {
    [
      absent("isGood", .bool, true), absent("count", .integer, -7), absent("weight", .double, 0.1),
      absent("infinite", .double, .double(-.infinity)),
      absent("title", .string, "a \"b\" \\(c)\n\u{1F600}"),
      absent("bytes", .data, .data(Data([1, 255]))),
      absent("day", .date, .date(day)), absent("mark", .uuid, .uuid(uuid)),
      absent("price", .decimal, .decimal(Decimal(sign: .minus, exponent: -2, significand: 1250))),
      absent("tags", .array(.string), ["x", "y"]),
      absent("scores", .map(.integer), ["a": 1, "b": 2]),
      absent("anything", .any, [1, "x", ["deep": true]]), absent("when", .any, .date(day)),
      absent("who", .any, [.uuid(uuid)]),
      absent("some", .any, .reference("a/b")),
    ]
  }

  private static var domains: [PropertyDefinition] {
    [
      within("stars", .integer, 1, 5, .clamp), within("least", .integer, 1, nil, .clamp),
      within("most", .integer, nil, 5, .clamp), within("grade", .string, "a", "f", .reject),
      within("since", .date, .date(day), nil, .reject), within("ratio", .double, nil, 1.5, .reject),
      within("year", .integer, 1900, 2100, .clear), within("size", .double, 0.5, nil, .clear),
      property("genre", .string) { $0.domain = Domain(.list(["jazz", "folk"])) },
      property("mood", .integer) { $0.domain = Domain(.list([1, 2, 4]), .clamp) },
      property("state", .string) { $0.domain = Domain(.list(["on"]), .clear) },
      property("both", .integer) { property in
        (property.absence, property.domain) = (3, Domain(.range(1, 9), .clear))
      },
    ]
  }

  private static var references: [PropertyDefinition] {
    [
      property("owner", .reference("people")) { owner in
        (owner.deleteRule, owner.isRequired, owner.mustExist) = (.deny, true, true)
      },
      property("users", .array(.reference("people"))) { $0.deleteRule = .nullify },
      property("shares", .keyed(by: "people", .double)) { $0.deleteRule = .cascade },
      absent("maker", .reference("people"), "ada"), property("plane", .reference("planes")),
      property("place.latitude", .double) { $0.isRequired = true },
      absent("place.zip", .string, "?"),
      property("class", .any) { ($0.label, $0.documentation) = ("Class \"A\"", "What it is.\n") },
    ]
  }

  private static var indexes: [IndexDefinition] {
    var covering = IndexDefinition([.init("place.latitude"), .init("count", isDescending: true)])
    covering.covered = ["class", "owner.name", "plane.seats"]
    var unique = IndexDefinition([.init("title", collation: .ignoringCase), .init("day")])
    unique.isUnique = true
    let folded = IndexDefinition([
      .init("grade", isDescending: true, collation: .ignoringCaseAndDiacritics)
    ])
    var quoted = IndexDefinition([.init("grade")])
    quoted.condition = try? Condition(parsing: "not (title prefix $1 or count = 3)", "a\"\\b")
    var dated = IndexDefinition([.init("undeclared")])
    dated.condition = try? Condition(parsing: "day < $1", day)
    return [covering, unique, folded, quoted, dated]
  }

  private static var views: [ViewDefinition] {
    let condition = try? Condition(parsing: "isGood = true")
    return [
      ViewDefinition(.groups(by: [], [.count])),
      ViewDefinition(
        .groups(by: ["genre", "place.zip"], [.count, .sum("count"), .average("weight")])),
      ViewDefinition(
        .groups(by: ["genre"], [.minimum("day"), .count, .maximum("day")]), where: condition),
      ViewDefinition(
        .top(
          by: ["genre", "state"],
          [
            .init("count", isDescending: true), .init("title", collation: .ignoringCase),
            .init("day"),
          ])),
      ViewDefinition(.top(by: [], [.init("weight")]), where: condition),
      ViewDefinition(.text(["title", "place.zip"], language: "en")),
      ViewDefinition(.text(["title"], language: nil), where: condition),
    ]
  }

  /// Names that Swift cannot have as they are.
  private static var odd: CollectionDefinition {
    var odd = CollectionDefinition()
    odd.model = "Odd"
    odd.keys = .uuid
    odd.properties = [
      "a b", "a`b", "self", "id", "schema", "Key", "x", "x.y", "p.q.r", "é", "1st", "\\", "\n",
    ].map { property($0, .string) }
    odd.indexes = [
      IndexDefinition([.init("a`b"), .init("x.y", isDescending: true), .init("id")]),
      IndexDefinition([.init("p.q.r"), .init("\n")]),
    ]
    odd.views = [ViewDefinition(.top(by: ["1st"], [.init("x"), .init("a b")]))]
    return odd
  }

  private static var people: CollectionDefinition {
    var people = CollectionDefinition()
    (people.model, people.keys) = ("Person", .string)
    people.properties = [property("name", .string)]
    return people
  }
}
