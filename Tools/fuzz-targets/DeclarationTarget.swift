@testable import Cambium

/// Declarations of collections, with the state of a migration, as the log and the state hold them.
///
/// The input is the declaration as JSON, which is changed at random with more success than stored
/// bytes; those are the version target's.
enum DeclarationTarget {
  static let target = FuzzTarget(name: "declaration", seeds: seeds, run: run)

  /// Names that the declaration may use, as the catalog has to have them.
  private static let catalog: Catalog = {
    var catalog = Catalog()
    let names = ["a", "b", "c", "d", "e", "place.x"]
    for (id, name) in names.enumerated() { try? catalog.define(name, as: NameID(id)) }
    return catalog
  }()

  private static func seeds() throws -> [[UInt8]] {
    var definition = CollectionDefinition()
    definition.keys = .uuid
    definition.model = "Flight"
    definition.rulesInCode = ["a must be positive"]
    definition.properties = properties()
    var unique = IndexDefinition([
      .init("a"), .init("b", isDescending: true), .init("d", collation: .ignoringCase),
    ])
    unique.isUnique = true
    unique.condition = try Condition(parsing: "a > 1 and not b in (2, 3)")
    unique.covered = ["c"]
    definition.indexes = [IndexDefinition([.init("a")]), unique]
    definition.views = [
      ViewDefinition(
        .groups(by: ["a"], [.count, .sum("b"), .average("b"), .minimum("c"), .maximum("c")])),
      ViewDefinition(.top(by: [], [.init("b", isDescending: true)]), where: unique.condition),
      ViewDefinition(.text(["d", "e"], language: "en")),
    ]
    definition.steps = [AppliedStep("full name", version: 2, sequence: SequenceNumber(41))]
    let target = try definition.value
    let finished = definition
    definition.migration = UnfinishedMigration(["cents"], done: 3000, last: "7", target: target)
    return try [CollectionDefinition(), finished, definition].map {
      Array(JSONWriter.text(try $0.value).utf8)
    }
  }

  private static func properties() -> [PropertyDefinition] {
    let types: [PropertyType] = [
      .any, .integer, .array(.reference("x/y")), .string,
      .keyed(by: "x", .map(.double)), .decimal,
    ]
    var properties = zip(["a", "b", "c", "d", "e", "place.x"], types).map {
      PropertyDefinition($0, $1)
    }
    properties[1].isRequired = true
    properties[1].domain = Domain(.range(.integer(1), nil), .clamp)
    properties[2].deleteRule = .cascade
    properties[3].absence = .string("")
    properties[3].domain = Domain(.list([.string("x"), .string("y")]), .clear)
    properties[4].elementDomain = Domain(.range(nil, .double(9)), .clear)
    properties[4].keyDomain = Domain(.list([.string("k")]))
    return properties
  }

  private static func run(_ input: inout FuzzInput) {
    guard let text = String(validating: input.rest, as: UTF8.self),
      let value = try? JSONReader.value(of: text, name: "input"),
      let found = unlessRefused("declaration", { try CollectionDefinition(value) })
    else { return }
    requireReturn(of: found, { try $0.value.stored() }) {
      try CollectionDefinition($0.lend { try Value($0) })
    }
    do { try use(found) } catch is DatabaseError {} catch is QueryError {} catch {
      fatalError("fuzz: \(found) is refused with \(error)")
    }
  }

  /// Resolves it, which refuses what makes no sense.
  private static func use(_ definition: CollectionDefinition) throws {
    let path: NodePath = "x"
    let count = CollectionPlan.indexes(of: definition).count + definition.views.count
    let numbers = (0..<count).map { UInt32($0) }
    let plan = try CollectionPlan(path, definition, numbers: numbers, catalog)
    let stored = try plan.stored()
    let again = try stored.lend { try CollectionPlan(path, stored: $0, catalog) }
    require(again.numbers == numbers && again.definition == definition, "a plan comes back")
  }
}
