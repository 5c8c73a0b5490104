// Goal: a form shows what the schema says, takes what a person enters, refuses what the rules
// refuse, and writes only what was edited. Method: forms of a model and of records, whose saved
// values are read again; random values through their texts.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A form")
struct ModelFormTests {
  enum Status: String, RawProperty, CaseIterable { case onTime, delayed, goneForGood }

  struct Airport: Cambium.Model {
    typealias Key = String
    var id = ID()
    var name = ""
    static let schema = ModelSchema<Airport>("airports")
  }

  struct Flight: Cambium.Model {
    var id = ID()
    var number = 1
    var tailCode: String?
    var status = Status.onTime
    var before: Status?
    var origin: Airport.ID?
    var scheduledAt = Date(timeIntervalSince1970: 0)
    var fare: Decimal?
    var isCodeShare = false
    var crew: [String] = []
    var gate = "A"
    var seats = 100
    static let schema = ModelSchema<Flight>("flights") {
      Property(\.number).validated("must be positive") { $0 > 0 }
      Property(\.gate).oneOf(["A", "B"])
      Property(\.seats).rejected(outside: 0...900)
      Property(\.tailCode).labelled("Tail number")
      Rule("a delayed flight has a gate B") { $0.status != .delayed || $0.gate == "B" }
      Unique(\.number)
    }
  }

  @Test(
    "has labels of names",
    arguments: [
      ("scheduledAt", "Scheduled at"), ("id", "Id"), ("imageURL", "Image URL"),
      ("URLPath", "URL path"), ("place.postCode", "Place post code"),
      ("snake_case_2", "Snake case 2"),
      ("x", "X"), ("", ""), ("isOK", "Is OK"), ("ärger", "Ärger"),
    ])
  func labels(_ name: String, _ expected: String) {
    #expect(FormProperty.label(of: name) == expected)
  }

  @Test("has a line for each property, in the order of the type")
  func lines() throws {
    try withDatabase { database in
      let id = try database.insert(Flight())
      var form = try ModelForm(try database.snapshot().get(id), in: database)
      #expect(
        form.properties.map(\.label) == [
          "Id", "Number", "Tail number", "Status", "Before", "Origin", "Scheduled at", "Fare",
          "Is code share", "Crew", "Gate", "Seats",
        ])
      let choices = ["On time", "Delayed", "Gone for good"]
      func labels(_ name: String) -> [String]? {
        guard case .choice(let choices)? = form.draft.property(name)?.editor else { return nil }
        return choices.map(\.label)
      }
      #expect(labels("status") == choices && labels("before") == choices)
      #expect(labels("gate") == ["A", "B"])
      let editors = ["number", "origin", "scheduledAt", "fare", "isCodeShare", "crew"].map {
        form.draft.property($0)?.editor
      }
      #expect(
        editors == [
          .number(isWhole: true), .reference("airports"), .date, .number(isWhole: false), .toggle,
          .list(.text),
        ])
      #expect(form.properties.filter(\.isReadOnly).map(\.name) == ["id"])
      form.properties.removeAll { $0.name == "crew" }
      form.draft.set("crew", to: ["Ada"])
      #expect(!form.isEdited)
      let fresh = try ModelForm<Flight>(in: database)
      #expect(fresh.properties.first?.name == "number" && fresh.isEdited)
      #expect(try ModelForm<Airport>(in: database).properties.first?.name == "id")
    }
  }

  @Test("writes only what was edited, in one transaction")
  func saving() throws {
    try withDatabase { database in
      let id = try database.insert(Flight())
      var form = try ModelForm(try database.snapshot().get(id), in: database)
      let before = try database.head
      try form.save()
      #expect(try database.head == before)
      form.draft.set("tailCode", text: "N1")
      form.draft.set("fare", text: " 12.50 ")
      form.draft.set("crew", text: #"["Ada", "Bob"]"#)
      #expect(form.draft.editedNames == ["tailCode", "fare", "crew"])
      _ = try database.update(id) { $0.seats = 7 }
      let saved = try form.save(actor: "ada")
      #expect(try database.head.rawValue == before.rawValue + 2)
      #expect(saved.tailCode == "N1" && saved.fare == Decimal(string: "12.5"))
      #expect(saved.crew == ["Ada", "Bob"] && saved.seats == 7)
      #expect(!form.isEdited && form.draft.text(of: "seats") == "7")
      form.draft.set("tailCode", text: "")
      #expect(try form.save().tailCode == nil)
      _ = try database.write { try $0.delete(id) }
      form.draft.set("number", text: "9")
      #expect(throws: DatabaseError.self) { try form.save() }
      #expect(form.draft["number"] == 9)
    }
  }

  @Test("refuses what cannot be read, what is missing, and what breaks a rule")
  func problems() throws {
    try withDatabase { database in
      var form = try ModelForm<Flight>(in: database)
      #expect(form.problems() == [])
      form.draft.set("number", text: "many")
      #expect(form.draft.text(of: "number") == "many" && form.draft.isEdited("number"))
      form.draft.set("gate", text: "C")
      form.draft.set("seats", text: "901")
      form.draft.set("scheduledAt", text: "")
      let messages = form.problems().flatMap(\.messages)
      #expect(messages.contains("number must be an integer"))
      #expect(messages.contains("gate must be one of A, B"))
      #expect(messages.contains { $0.hasPrefix("seats must be from 0 to 900") })
      #expect(messages.contains("scheduledAt is required"))
      #expect(throws: ValidationError.self) { try form.save() }
      form.revert()
      form.draft.set("number", text: "-1")
      form.draft.set("status", to: "delayed")
      #expect(
        form.problems().flatMap(\.messages) == [
          "number must be positive", "a delayed flight has a gate B",
        ])
      form.draft.revert("number")
      form.draft.set("gate", text: "B")
      let saved = try form.save()
      #expect(saved.status == .delayed && form.stored?.id == saved.id)
      form.draft.set("number", text: "5")
      #expect(try form.save().number == 5)
      var other = try ModelForm<Flight>(in: database)
      other.draft.set("number", text: "5")
      #expect(throws: DatabaseError.self) { try other.save() }
    }
  }

  @Test("follows the stored model where it was not edited")
  func following() throws {
    try withDatabase { database in
      let id = try database.insert(Flight())
      var form = try ModelForm(try database.snapshot().get(id), in: database)
      form.draft.set("seats", text: "5")
      _ = try database.update(id) { ($0.seats, $0.number) = (6, 8) }
      form.follow(try database.snapshot().get(id))
      #expect(form.draft.text(of: "seats") == "5" && form.draft.text(of: "number") == "8")
      #expect(form.draft.editedNames == ["seats"])
      _ = try database.update(id) { $0.seats = 5 }
      form.follow(try database.snapshot().get(id))
      #expect(!form.isEdited)
    }
  }

  @Test("has a key to enter for a new model whose key is not generated")
  func keys() throws {
    try withDatabase { database in
      var form = try ModelForm<Airport>(in: database)
      #expect(form.problems().map(\.property) == ["id"])
      form.draft.set("id", text: "JFK")
      form.draft.set("name", text: "Kennedy")
      #expect(try form.save().id == Airport.ID("JFK"))
      #expect(form.draft.property("id")?.isReadOnly == true)
      form.draft.set("id", text: "LGA")
      #expect(!form.isEdited)
    }
  }

  @Test("edits records whose type the program does not know")
  func records() throws {
    try withDatabase { database in
      let id = try database.insert(Flight())
      let path = try Flight.schema.core.path(of: id)
      var form = try RecordForm(of: path, in: database)
      form.draft.set("seats", text: "12")
      form.draft.set("tailCode", text: "N2")
      try form.save()
      #expect(try database.snapshot().get(id).seats == 12)
      #expect(!form.draft.isEdited && form.draft.text(of: "tailCode") == "N2")
      form.draft.set("seats", text: "1000")
      #expect(throws: ValidationError.self) { try form.save() }
      form.draft.set("seats", text: "100")
      form.draft.set("tailCode", text: "")
      try form.save()
      #expect(try database.snapshot().get(id).tailCode == nil)
      var new = try RecordForm(of: "loose/a", in: database)
      #expect(new.isNew && new.draft.properties.map(\.name) == ["id"])
      try new.save()
      #expect(!new.isNew)
      #expect(throws: DatabaseError.self) { try RecordForm(of: .root, in: database) }
    }
  }

  @Test("writes values as text that is read as the same", arguments: SeededGenerator.seeds(1, 2))
  func texts(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let number = Int64(bitPattern: random.next())
      let day = Date(timeIntervalSince1970: Double(random.below(4_000_000_000)))
      let text = ["", "a b", "é\n", "[1", "null", " x "][random.below(6)]
      let pairs: [(PropertyType, Value)] = [
        (.bool, .bool(number > 0)), (.integer, .integer(number)),
        (.double, .double(Double(number) / 7)), (.decimal, .decimal(Decimal(number) / 8)),
        (.date, .date(day)), (.uuid, .uuid(UUID())), (.string, .string(text)),
        (.data, .data(Data(text.utf8) + [1])), (.reference("a"), .integer(number)),
        (.reference("a"), .string("k\(number)")),
        (.array(.integer), .array([.integer(number), .integer(1)])),
        (.array(.date), .array([.date(day)])),
        (.map(.string), .map(["a": .string(text)])),
      ]
      for (type, value) in pairs {
        let written = FormText.text(of: value)
        #expect(
          FormText.value(of: written, as: type) == value, "seed \(seed): \(type) “\(written)”")
      }
    }
    for (type, text) in [
      (PropertyType.bool, "maybe"), (.integer, "1.5"), (.double, "x"), (.date, "31.1.2013"),
      (.uuid, "1"), (.data, "?"), (.array(.integer), "[\"a\"]"), (.array(.integer), "{}"),
    ] {
      #expect(FormText.value(of: text, as: type) == nil, "\(type) “\(text)”")
    }
  }
}
