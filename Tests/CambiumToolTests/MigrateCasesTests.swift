// Goal: cases of an enum of models are renamed, converted and dropped by the command line as by the
// app's own migration, and the app that says the same finds it done. Method: an app writes records
// of three cases, the program migrates them, also after having been interrupted, and the newer app
// reads them.

import Cambium
import Foundation
import Testing

@testable import CambiumCommands

@Suite("Cases of an enum of models, by the command line", .timeLimit(.minutes(1)))
struct MigrateCasesTests {
  // MARK: Before

  private enum Craft1: ModelUnion {
    typealias Key = Int
    case lorry(Lorry), van(Van), sledge(Sledge)
    static let cases = ModelCases<Craft1>(
      ModelCase("lorry", Craft1.lorry) { if case .lorry(let it) = $0 { it } else { nil } },
      ModelCase("van", Craft1.van) { if case .van(let it) = $0 { it } else { nil } },
      ModelCase("sledge", Craft1.sledge) { if case .sledge(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Craft1>(union: "craft")
    struct Lorry: Model {
      typealias Key = Int
      var id = ID()
      var tons = 0
      static let schema = ModelSchema<Lorry>(caseOf: Craft1.self)
    }
    struct Van: Model {
      typealias Key = Int
      var id = ID()
      var tons = 0
      static let schema = ModelSchema<Van>(caseOf: Craft1.self)
    }
    struct Sledge: Model {
      typealias Key = Int
      var id = ID()
      var dogs = 0
      static let schema = ModelSchema<Sledge>(caseOf: Craft1.self)
    }
  }

  // MARK: After

  private enum Craft2: ModelUnion, Equatable {
    typealias Key = Int
    case truck(Truck), boat(Boat)
    static let cases = ModelCases<Craft2>(
      ModelCase("truck", Craft2.truck) { if case .truck(let it) = $0 { it } else { nil } }
        .was("lorry"),
      ModelCase("boat", Craft2.boat) { if case .boat(let it) = $0 { it } else { nil } })
    static let schema = ModelSchema<Craft2>(union: "craft", version: 2) {
      RemovedCase("van") { old in .truck(Truck(tons: try old["tons", as: Int.self])) }
      RemovedCase("sledge", .deleted)
    }
    struct Truck: Model, Equatable {
      typealias Key = Int
      var id = ID()
      var tons = 0
      static let schema = ModelSchema<Truck>(caseOf: Craft2.self)
    }
    struct Boat: Model, Equatable {
      typealias Key = Int
      var id = ID()
      static let schema = ModelSchema<Boat>(caseOf: Craft2.self)
    }
  }

  /// - Returns: The moment before any migration.
  @discardableResult
  private static func write(_ place: Workplace) throws -> SequenceNumber {
    let database = try Database(at: place.folder + "/a.cambium", for: Craft1.self)
    try database.write { tx in
      for key in 0..<9 {
        switch key % 3 {
        case 0: try tx.insert(Craft1.Lorry(id: .init(key), tons: key))
        case 1: try tx.insert(Craft1.Van(id: .init(key), tons: key))
        default: try tx.insert(Craft1.Sledge(id: .init(key), dogs: key))
        }
      }
    }
    let head = try database.head
    try database.close()
    return head
  }

  private static let all = """
    cambium migrate a.cambium craft --rename-case lorry=truck --convert-case van=truck \
    --drop-case sledge
    """

  @Test("are what the newer app says they are")
  func done() throws {
    try Workplace.with { place in
      let written = try Self.write(place)
      let dry = try place.run(Self.all + " --dry-run")
      #expect(
        dry == """
          9 of 9 records of craft would be changed
            case truck renamed from lorry
            case 'van' removed
            case 'sledge' removed
            3 records deleted

          """)
      let refused = try place.run(Self.all)
      #expect(refused.contains("delete 3 records") && refused.hasSuffix("[7]\n"), "\(refused)")
      let printed = try place.run(Self.all + " --yes --batch 2")
      #expect(printed.hasPrefix("9 of 9 records of craft changed\n"), "\(printed)")
      let status = try place.run("cambium migrate a.cambium craft")
      #expect(status.hasPrefix("case truck renamed from lorry  tx "), "\(status)")
      // The newer app opens it as it is.
      let database = try Database(at: place.folder + "/a.cambium", for: Craft2.self)
      #expect(try database.planMigration(of: Craft2.self).steps.isEmpty)
      #expect(
        try database.all(Craft2.self).fetch()
          == [0, 1, 3, 4, 6, 7].map { .truck(Craft2.Truck(id: .init($0), tons: $0)) })
      let before = try database.snapshot(at: .sequence(written))
      #expect(try before["craft/2"].value == ["type": "sledge", "dogs": 2])
      #expect(try database.verify().isSound)
      try database.close()
    }
  }

  @Test("go on where it was broken off, though some records have their new names")
  func resumed() throws {
    try Workplace.with { place in
      try Self.write(place)
      let database = try Database(at: place.folder + "/a.cambium")
      var changes = RecordChanges()
      changes.cases.renamed = [("lorry", "truck")]
      let steps = changes.steps(try database.snapshot().definition(of: "craft"))
      #expect(steps.map(\.name) == ["truck: type was 'lorry'"])
      let migration = CollectionMigration(
        "craft", steps: steps.map(\.name), applied: steps, keepsTarget: true,
        target: { [changes] in try changes.target($0) },
        rewrite: { [changes] record, _ in try changes.apply(to: &record) })
      #expect(throws: CancellationError.self) {
        try database.migrate(migration, batch: 2) { $0.done < 2 }
      }
      try database.close()
      let printed = try place.run("cambium migrate a.cambium craft --rename-case lorry=truck")
      #expect(printed.hasPrefix("2 of 9 records of craft changed\n"), "\(printed)")
      let reopened = try Database(at: place.folder + "/a.cambium")
      let snapshot = try reopened.snapshot()
      for key in 0..<9 {
        let path = NodePath(keys: ["craft", .integer(Int64(key))])
        let expected = ["truck", "van", "sledge"][key % 3]
        #expect(try snapshot[path].record?["type"] == .string(expected))
      }
      #expect(try reopened.verify().isSound)
      try reopened.close()
    }
  }

  @Test("are not put together by a new name, named twice, or left in a condition")
  func refusals() throws {
    try Workplace.with { place in
      try Self.write(place)
      let taken = try place.run("cambium migrate a.cambium craft --rename-case lorry=van")
      #expect(taken.contains("craft/1 is of the case van already; --convert-case"), "\(taken)")
      #expect(taken.hasSuffix("[7]\n"))
      let twice = try place.run(
        "cambium migrate a.cambium craft --rename-case lorry=x --drop-case lorry")
      #expect(twice.contains("a case is named twice"))
      let pair = try place.run("cambium migrate a.cambium craft --rename-case lorry")
      #expect(pair.contains("say it as in --rename-case lorry=truck"))
      let none = try place.run(
        "cambium migrate a.cambium craft --rename-case lorry=truck --case-property kind")
      #expect(none.hasPrefix("0 of 9 records of craft changed"), "\(none)")
      _ = try place.run("cambium declare a.cambium craft --index \"tons where type = 'van'\"")
      let condition = try place.run("cambium migrate a.cambium craft --drop-case van --yes")
      #expect(condition.contains("a condition on type"), "\(condition)")
    }
  }
}
