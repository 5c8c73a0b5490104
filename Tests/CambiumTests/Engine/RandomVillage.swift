// Random transactions on two collections with references, delete rules, indexes, views and texts,
// and everything that can be asked of them.

import Foundation
import Simulation

@testable import Cambium

enum RandomVillage {
  private static let words = ["red", "green", "ladder", "house", "houses", "old"]

  // MARK: Declarations

  static func declare(_ tx: borrowing Database.Transaction) throws {
    var people = CollectionDefinition()
    people.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("age", .integer),
      reference("boss", .nullify),
    ]
    var unique = IndexDefinition([.init("name")])
    unique.isUnique = true
    people.indexes = [unique]
    try tx.declare("people", people)
    try tx.declare("things", things(variant: 0))
  }

  /// A property that refers to a person.
  private static func reference(_ name: String, _ rule: DeleteRule) -> PropertyDefinition {
    var property = PropertyDefinition(name, .reference("people"))
    property.deleteRule = rule
    property.mustExist = rule != .nullify
    return property
  }

  /// One of several declarations of things, which have other indexes and views.
  private static func things(variant: Int) -> CollectionDefinition {
    var things = CollectionDefinition()
    things.properties = [
      PropertyDefinition("title", .string), PropertyDefinition("count", .integer),
      PropertyDefinition("tags", .array(.string)), PropertyDefinition("file", .blob),
      reference("owner", .cascade), reference("guardian", .deny),
    ]
    if variant != 1 {
      things.indexes.append(IndexDefinition([.init("owner"), .init("count", isDescending: true)]))
    }
    if variant != 2 { things.indexes.append(IndexDefinition([.init("tags")])) }
    if variant != 3 {
      things.views.append(
        ViewDefinition(.groups(by: ["owner"], [.count, .sum("count"), .maximum("count")])))
    }
    if variant != 4 {
      things.views.append(
        ViewDefinition(.top(by: ["owner"], [.init("count", isDescending: true)])))
      things.views.append(ViewDefinition(.text(["title"], language: "en")))
    }
    return things
  }

  // MARK: Changes

  /// Makes the changes that follow from a seed; some of them are refused.
  ///
  /// - Returns: The refusals of the parts that were attempted.
  static func change(
    _ seed: UInt64, _ tx: borrowing Database.Transaction
  ) throws -> [String] {
    var random = SeededGenerator(seed: seed)
    var refusals: [String] = []
    for _ in 0...random.below(6) {
      if random.oneIn(12) {
        try call(&random, tx)
      } else {
        do { try tx.attempt { try call(&random, tx) } } catch { refusals.append("\(error)") }
      }
    }
    return refusals
  }

  private static func person(_ random: inout SeededGenerator) -> NodePath {
    NodePath(keys: ["people", .text("p\(random.below(8))")])
  }

  private static func thing(_ random: inout SeededGenerator) -> NodePath {
    NodePath(keys: ["things", .integer(Int64(random.below(20)))])
  }

  private static func someone(_ random: inout SeededGenerator) -> Value {
    random.oneIn(4) ? .null : .string("p\(random.below(8))")
  }

  private static func title(_ random: inout SeededGenerator) -> Value {
    .string((0...random.below(3)).map { _ in random.pick(words) }.joined(separator: " "))
  }

  private static func call(
    _ random: inout SeededGenerator, _ tx: borrowing Database.Transaction
  ) throws {
    switch random.below(14) {
    case 0, 1:
      try tx.set(
        person(&random),
        to: [
          "name": .string("n\(random.below(9))"), "age": .integer(Int64(random.below(80))),
          "boss": someone(&random),
        ])
    case 2, 3, 4:
      try tx.set(
        thing(&random),
        to: [
          "title": title(&random), "count": .integer(Int64(random.below(9))),
          "tags": .array([title(&random)]), "owner": someone(&random),
          "guardian": random.oneIn(3) ? someone(&random) : .null,
        ])
    case 5: try tx.update(thing(&random), ["owner": someone(&random), "title": title(&random)])
    case 6: try tx.increment(thing(&random), "count", by: .integer(Int64(random.below(5))))
    case 7, 8: try tx.remove(person(&random))
    case 9: try tx.remove(thing(&random))
    case 10: try tx.move(person(&random), to: person(&random))
    case 11:
      let blob = try tx.store(Data(repeating: UInt8(random.below(200)), count: 300))
      try tx.update(thing(&random), ["file": .blob(blob), "new\(random.below(30))": 1])
    case 12: try tx.declare("things", things(variant: random.below(5)))
    default:
      try tx.event("passed", .integer(Int64(random.below(9))))
      try tx.restore(
        person(&random), removedAt: SequenceNumber(UInt64(random.below(60))))
    }
  }

  // MARK: Questions

  private static let queries = [
    "people", "people sort age, -name limit 5", "people where name = \"n3\" select age",
    "people where name >= \"n2\" sort -name select name, boss.name",
    "things where owner = \"p1\" sort -count limit 3 select title, count",
    "things where count > 3 select title, owner.name",
    "things where tags = \"red\" select count", "things where owner is null select title",
    "things | count, sum(count)", "things | group by owner select count, sum(count), max(count)",
    "things where owner.age > 30 sort count, title select title, owner.boss",
    "things select owner distinct | count", "people where count(things.owner) > 1 select name",
  ]

  /// Everything that can be read, in words.
  static func answers(_ snapshot: Snapshot) throws -> [String] {
    var answers = try snapshot.root.rows().map(\.description)
    answers += try snapshot.collections.map { "\($0.path): \($0.definition)" }
    answers.append("\(try snapshot.propertyNames)")
    for text in queries { answers += try answer(text, snapshot) }
    for words in ["red", "house ladder", "old -green"] {
      let found = Result { try snapshot.search("things", anyText: words) }
      answers.append("search \(words): \(found)")
    }
    for thing in try snapshot["things"].children.fetch() {
      guard case .blob(let blob)? = try thing["file"] else { continue }
      answers.append("\(thing.path): \(try snapshot.read(blob).map(\.description))")
    }
    for person in try snapshot["people"].children.fetch() {
      answers.append("\(person.path): \(try person["boss"] ?? .null), \(try person.childCount)")
    }
    return answers
  }

  private static func answer(_ text: String, _ snapshot: Snapshot) throws -> [String] {
    let description = try QueryDescription(parsing: text)
    let run = try QueryRun(description, on: snapshot)
    var rows: [String] = []
    try run.visit { rows.append("\(text): \($0)") }
    let count = try QueryRun(description, on: snapshot).count()
    return rows + ["\(text): \(count)", run.explanation]
  }
}
