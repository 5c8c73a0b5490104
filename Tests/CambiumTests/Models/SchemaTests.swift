import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A schema")
struct SchemaTests {
  @Test("declares what its type and its lines say")
  func definition() throws {
    let definition = Flight.schema.definition
    #expect(definition.model == "Flight" && definition.keys == .uuid && definition.version == 1)
    #expect(
      definition.properties.map(\.name) == [
        "carrier", "origin", "number", "departureDelay", "scheduled", "status", "crew",
      ])
    #expect(
      definition.properties.map(\.type) == [
        .reference("airlines"), .reference("airports"), .integer, .integer, .date, .string,
        .array(.string),
      ])
    #expect(definition["carrier"]?.deleteRule == .nullify)
    #expect(definition["origin"]?.deleteRule == .deny)
    #expect(definition["origin"]?.isRequired == true)
    #expect(definition.rulesInCode == ["number must be positive"])
    var unique = IndexDefinition([.init("carrier"), .init("number"), .init("scheduled")])
    unique.isUnique = true
    #expect(
      definition.indexes == [
        IndexDefinition([.init("origin"), .init("scheduled", isDescending: true)]), unique,
      ])
    #expect(definition.views == [ViewDefinition(.groups(by: ["carrier"], [.count]))])
    #expect(
      Airport.schema.definition.properties.map(\.name) == [
        "name", "place.latitude", "place.longitude",
      ])
    let everything = Everything.schema.definition
    #expect(everything["seats"]?.type == .keyed(by: "airports", .integer))
    #expect(everything["uint64"]?.type == .decimal)
    #expect(everything["elided"]?.absence == 3)
    #expect(everything["airports"]?.type == .array(.reference("airports")))
  }

  struct Indexed: Cambium.Model {
    var id = ID()
    var name = ""
    var size: Int?
    var place = Airport.Place()
    static let schema = ModelSchema<Indexed>("indexed", version: 3) {
      Index(\.name.ignoringCase, \.size.descending)
        .where {
          $0.size > 5; $0.name != ""
        }
        .covering(\.place.latitude, \.size)
      Sum(\.size, by: \.name)
      Average(\.place.latitude, by: \.name, \.size).where { $0.size != nil }
      Top(\.size.descending, by: \.name)
      TextIndex(\.name, language: "en")
      Count()
      Property(\.name, name: "title")
    }
  }

  @Test("declares indexes and views with conditions, collations and covered properties")
  func indexes() {
    let definition = Indexed.schema.definition
    var index = IndexDefinition([
      .init("title", collation: .ignoringCase), .init("size", isDescending: true),
    ])
    index.condition = Condition(
      .all([
        .compare(PropertyPath("size"), .greater, 5), .compare(PropertyPath("title"), .notEqual, ""),
      ]))
    index.covered = ["place.latitude", "size"]
    #expect(definition.indexes == [index])
    #expect(
      definition.views == [
        ViewDefinition(.groups(by: ["title"], [.count, .sum("size")])),
        ViewDefinition(
          .groups(by: ["title", "size"], [.average("place.latitude")]),
          where: Condition(.compare(PropertyPath("size"), .notEqual, .null))),
        ViewDefinition(.top(by: ["title"], [.init("size", isDescending: true)])),
        ViewDefinition(.text(["title"], language: "en")),
        ViewDefinition(.groups(by: [], [.count])),
      ])
    #expect(definition.version == 3)
  }

  final class Box: Sendable {}
  struct WithClass: Cambium.Model {
    var id = ID()
    var box = Unstorable()
    static let schema = ModelSchema<WithClass>("boxes")
    struct Unstorable: Sendable { var box = Box() }
  }
  struct TwiceOptional: Cambium.Model {
    var id = ID()
    var number: Int??
    static let schema = ModelSchema<TwiceOptional>("twice")
  }
  struct Computed: Cambium.Model {
    var id = ID()
    var number = 0 { didSet { last = oldValue } }
    var last = 0
    static let schema = ModelSchema<Computed>("computed") { Property(\.number).required() }
  }

  struct Fixed: Cambium.Model {
    var id = ID()
    let number = 0
    static let schema = ModelSchema<Fixed>("fixed") { Property(\.number).stored { _ in false } }
  }
  struct Settled: Cambium.Model {
    var id = ID()
    var isSettled = false
    let place = Airport.Place()
    static let schema = ModelSchema<Settled>("settled") {
      Property(\.place).stored { $0.isSettled }
    }
  }

  @Test("says what cannot be stored when the model is used")
  func problems() throws {
    try withDatabase { database in
      func reason(_ body: () throws -> Void) -> String {
        do { try body() } catch DatabaseError.misuse(let reason) { return reason } catch {
          return "\(error)"
        }
        return "nothing"
      }
      let text = reason { try database.insert(WithClass()) }
      #expect(text.hasPrefix("WithClass.box is a Unstorable, which cannot be stored"))
      #expect(reason { _ = try database.find(WithClass.ID()) } == text)
      #expect(reason { try database.register(WithClass.self) } == text)
      #expect(
        reason { try database.insert(TwiceOptional()) }.contains("of two optionals only one"))
      #expect(reason { try database.insert(Computed()) }.contains("is not a stored `var`"))
      #expect(reason { try database.insert(Fixed()) }.contains("number is not a stored `var`"))
      #expect(reason { try database.insert(Settled()) }.contains("place is not a stored `var`"))
    }
  }

  struct Listed: Cambium.Model, Equatable {
    var id = ID()
    var name = ""
    var size: Int?
    static let schema = ModelSchema<Listed>(listing: "listed") {
      Property("id", \.id)
      Property("name", \.name)
      Property("bytes", \.size).required()
    }
  }

  @Test("can list the properties instead of finding them")
  func listing() throws {
    try withDatabase { database in
      let id = try database.insert(Listed(name: "a", size: 4))
      #expect(try database.get(id) == Listed(id: id, name: "a", size: 4))
      #expect(try database.read { try $0[try id.path]["bytes"] } == 4)
      #expect(throws: ValidationError.self) { try database.insert(Listed()) }
    }
  }

  struct Old: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var delay: Int?
    var code = "UA7"
    static let schema = ModelSchema<Old>("renamed")
  }
  struct New: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var departureDelay: Int?
    var number = 0
    static let schema = ModelSchema<New>("renamed") {
      Property(\.departureDelay).was("delay")
      Property(\.number).was("code", as: String.self) { Int($0.drop { !$0.isNumber }) ?? 0 }
    }
  }

  @Test("reads what was stored under a former name or as a former type")
  func formerNames() throws {
    try withDatabase { database in
      try database.register(Old.self)
      try database.write { tx in _ = try tx.insert(Old(delay: 70, code: "UA1545")) }
      // Until New takes the place of Old, it is refused, with both names.
      let refusal = #expect(throws: DatabaseError.self) { try database.get(New.ID(1)) }
      #expect("\(try #require(refusal))".contains("declared for Old, and New claims it"))
      try database.register(New.self)
      #expect(try database.get(New.ID(1)).departureDelay == 70)
      #expect(try database.find(New.ID(1), \.number) == 1545)
      try database.update(New.ID(1)) { $0.number = 7 }
      let new = try database.get(New.ID(1))
      #expect(new.number == 7 && new.departureDelay == 70)
      #expect(try database.read { try $0["renamed/1"].value } == ["delay": 70, "number": 7])
    }
  }

  @Test("is declared where it only adds, and refused where an app is too old")
  func registration() throws {
    struct Newer: Cambium.Model {
      var id = ID()
      var extra = ""
      static let schema = ModelSchema<Newer>("indexed", version: 4) { Index(\.extra) }
    }
    struct First: Cambium.Model {
      var id = ID()
      var size: Int?
      static let schema = ModelSchema<First>("indexed", version: 3) { Index(\.size) }
    }
    struct OtherType: Cambium.Model {
      var id = ID()
      var extra = 0
      static let schema = ModelSchema<OtherType>("indexed", version: 5)
    }
    try withDatabase { database in
      try database.register(First.self)
      let head = try database.head
      try database.register(First.self)
      #expect(try database.head == head)
      try database.register(Newer.self)
      try database.insert(Newer(extra: "x"))
      let merged = try database.read { try $0.definition(of: "indexed") }
      #expect(
        merged?.properties.map(\.name) == ["extra", "size"])
      for refused in [First.self, OtherType.self] as [any Cambium.Model.Type] {
        let error = #expect(throws: DatabaseError.self) { try database.register(refused) }
        guard case .unsupported? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
    }
  }
}
