// Goal: what cannot be what it must be is an error that names the property, all of them at once,
// and leaves the model as it was; nothing is lost without a word. Method: the table of what each
// type takes, and damaged texts.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Reading models from JSON")
struct InterchangeReadingTests {
  private func messages(_ json: String, _ profile: InterchangeProfile = .standard) -> [String] {
    let error = #expect(throws: ValidationError.self) { try Everything(json: json, profile) }
    return error?.messages ?? []
  }

  @Test("tells everything that is wrong, by property")
  func all() throws {
    #expect(
      messages(
        """
        {"int":1.5,"int8":300,"bool":"true","string":5,"dateOrNil":"soon","level":9,
         "statusOrNil":"gone","outcome":{"gone":1},"inner":{"deeper":{"one":"x"}},"texts":["a",1],
         "inners":[{"flag":true},{"deeper":{"two":"no"},"extra":1}],"scores":{"a":true},
         "uuid":null,"airline":["UA"],"surprise":1}
        """) == [
          #"airline must be text, not an array"#,
          "bool must be true or false, not the text 'true'",
          "dateOrNil must be a date such as 2013-01-01T10:00:00Z, not the text 'soon'",
          "inner.deeper.one must be a whole number of 64 bits, not the text 'x'",
          "inners[1].deeper.two must be a UUID, not the text 'no'",
          "inners[1].extra is not known",
          "int must be a whole number of 64 bits, not the number 1.5",
          "outcome must be an object with the name of one case: onTime, late, diverted",
          "scores.a must be a number that a double holds exactly, not true",
          "string must be text, not the whole number 5", "surprise is not known",
          "texts[1] must be text, not the whole number 1", "uuid must not be null",
          "int8 holds the whole number 300, which is no Int8",
          "level holds the whole number 9, which is no Level",
          "statusOrNil holds the text 'gone', which is no Status",
        ])
    var model = Everything()
    model.int = 4
    let before = model
    #expect(throws: ValidationError.self) { try model.merge(json: #"{"int":5,"bool":1}"#) }
    #expect(model == before)
  }

  @Test("takes what is the same value, and nothing else")
  func exact() throws {
    let lenient = InterchangeProfile { $0.isLenient = true }
    func int(_ json: String, _ profile: InterchangeProfile = .standard) -> Int? {
      try? Everything(json: "{\"int\":\(json)}", profile).int
    }
    #expect(int("5.0") == 5 && int("1e3") == 1000 && int("1.5") == nil && int("\"5\"") == nil)
    #expect(int("9223372036854775807") == .max && int("9223372036854775808") == nil)
    #expect(int("\"9223372036854775807\"") == .max && int("\"5\"", lenient) == 5)
    #expect(int("\"5.5\"", lenient) == nil && int("true", lenient) == nil)

    func double(_ json: String, _ profile: InterchangeProfile = .standard) -> Double? {
      try? Everything(json: "{\"double\":\(json)}", profile).double
    }
    #expect(
      double("7") == 7 && double("9007199254740993") == nil && double("\"nan\"")?.isNaN == true)
    #expect(double("0.1") == 0.1 && double("0.30000000000000004") == 0.1 + 0.2)
    #expect(double("0.12345678901234567890") == nil)
    #expect(double("0.12345678901234567890", lenient) == 0.12345678901234567890)
    #expect(double("\"0.5\"") == nil && double("\"0.5\"", lenient) == 0.5)

    func decimal(_ json: String, _ profile: InterchangeProfile = .standard) -> Decimal? {
      try? Everything(json: "{\"decimal\":\(json)}", profile).decimal
    }
    let digits = "0.12345678901234567890"
    #expect(decimal(digits, lenient) == Decimal(string: digits))
    #expect(decimal("0.12345678901234567890") == Decimal(string: "0.12345678901234567890"))
    #expect(
      decimal("\"12.50\"") == Decimal(string: "12.5") && decimal("0.1") == Decimal(string: "0.1"))
    #expect(decimal("\"twelve\"") == nil && decimal("12345678901234567890") != nil)

    // A decimal without a fraction is written as an integer, and is a decimal again.
    var definition = CollectionDefinition()
    definition.properties = [PropertyDefinition("d", .decimal)]
    let (_, record) = try CollectionInterchange("x", definition).read(["d": 0], .standard)
    #expect(record["d"] == .decimal(0))

    #expect(try Everything(json: #"{"string":5,"bool":"true"}"#, lenient).string == "5")
    #expect(try Everything(json: #"{"uint64":"18446744073709551615"}"#).uint64 == .max)
    #expect(try Everything(json: #"{"uint64":18446744073709551615}"#).uint64 == .max)
    #expect(try Everything(json: #"{"uint64":18446744073709551615}"#, lenient).uint64 == .max)
    #expect(int("5.000000000000000000001", lenient) == nil)
    let long = "0.1234567890123456789012345678901234567890123"
    #expect(double(long) == nil && double(long, lenient) == Double(long))
    let lenientSeconds = InterchangeProfile { ($0.dates, $0.isLenient) = (.seconds, true) }
    #expect(
      try Everything(json: #"{"date":1.00000100000000000001}"#, lenientSeconds).date.microseconds
        == 1_000_001)
    let seconds = InterchangeProfile { $0.dates = .seconds }
    #expect(try Everything(json: #"{"date":1.000001}"#, seconds).date.microseconds == 1_000_001)
    #expect(throws: ValidationError.self) { try Everything(json: #"{"date":1}"#) }
    #expect(throws: ValidationError.self) { try Everything(json: #"{"date":1e300}"#, seconds) }
    // In the year 10000 a date has no single microseconds.
    #expect(throws: ValidationError.self) {
      try Everything(json: #"{"date":253402300800.000001}"#, seconds)
    }
    #expect(
      try Everything(json: #"{"date":253402300800}"#, seconds).date.microseconds
        == 253_402_300_800_000_000)
  }

  @Test("leaves alone what is missing, and makes nil of null")
  func merging() throws {
    try withDatabase { database in
      try database.register(Person.self)
      let id = try database.insert(
        Person(id: "ada", name: "Ada", age: 36, boss: "bob", friends: ["cy"]))
      let update = try database.update(id) {
        try $0.merge(dictionary: ["age": .null, "home": ["city": "London"]])
      }
      #expect(update.properties == ["age", "home.city"])
      #expect(
        try database.get(id).json()
          == #"{"boss":"bob","friends":["cy"],"home":{"city":"London"},"id":"ada","name":"Ada"}"#)
      // A reference can be the other, of which only the id counts.
      try database.update(id) { try $0.merge(json: #"{"boss":{"id":"eve","name":"Eve"}}"#) }
      #expect(try database.get(id).boss == "eve")
      let mask = InterchangeProfile.standard.only(Person.self, \.name)
      let error = #expect(throws: ValidationError.self) {
        try database.update(id) { try $0.merge(json: #"{"name":"A","age":1}"#, mask) }
      }
      #expect(error?.description == "people/ada: age is not known")
      var ignoring = mask
      ignoring.unknownNames = .ignored
      try database.update(id) { try $0.merge(json: #"{"name":"A","age":1}"#, ignoring) }
      #expect(try database.get(id).name == "A" && database.get(id).age == nil)
      #expect(throws: ValidationError.self) {
        try database.update(id) { try $0.merge(json: #"{"id":"ida"}"#) }
      }
    }
  }

  @Test("makes an error of every damaged text, and never stops", arguments: FormatSeeds.first(2))
  func damage(seed: UInt64) throws {
    var random = FormatRandom(seed: 4200 + seed)
    var refused = 0
    for _ in 0..<30 {
      let text = Array(try random.everything().json(.exact).utf8)
      for _ in 0..<60 {
        var bytes = text
        for _ in 0...random.below(3) {
          bytes[random.below(bytes.count)] = random.pick(Array(#"{}[]",:0x.e-tn "#.utf8))
        }
        if random.chance(oneIn: 4) { bytes.removeLast(random.below(bytes.count)) }
        do {
          _ = try Everything(json: String(decoding: bytes, as: UTF8.self), .exact)
        } catch let error as InputError {
          #expect(error.place != nil)
          refused += 1
        } catch let error as ValidationError {
          #expect(!error.messages.isEmpty)
          refused += 1
        }
      }
    }
    #expect(refused > 1000)
  }

  @Test("of an enum of models says which case it is, and makes that")
  func unions() throws {
    var truck = Vehicle.Truck()
    (truck.id, truck.wheels, truck.axle.count) = (ModelID(UUID()), 8, 4)
    let text = try Vehicle.truck(truck).json()
    #expect(text.contains("\"type\":\"truck\"") && text.contains("\"axle\":{\"count\":4}"))
    #expect(try truck.json() == text)
    #expect(try Vehicle(json: text) == .truck(truck))
    var vehicle = Vehicle.truck(truck)
    try vehicle.merge(json: "{\"wheels\":10}")
    truck.wheels = 10
    #expect(vehicle == .truck(truck))
    try vehicle.merge(dictionary: ["type": "car", "doors": 5])
    var car = Vehicle.Car()
    (car.id, car.doors) = (.init(truck.id.key), 5)
    #expect(vehicle == .car(car))
    var pascal = InterchangeProfile.standard
    pascal.keyCase = .pascal
    #expect(try Vehicle(json: vehicle.json(pascal), pascal) == vehicle)
    let error = #expect(throws: ValidationError.self) {
      try Vehicle(json: "{\"type\":\"boat\"}")
    }
    #expect(error.map { "\($0)" }?.contains("type must be one of car, truck") ?? false)
    #expect(throws: ValidationError.self) {
      try Vehicle(json: "{\"type\":\"car\",\"load\":1}")
    }
  }

  @Test("of a declared collection refuses names that would be another's")
  func declared() throws {
    var definition = CollectionDefinition()
    definition.keys = .string
    definition.properties = [PropertyDefinition("departureDelay", .integer)]
    func text(_ record: ValueMap, _ profile: InterchangeProfile) throws -> String {
      var writer = InterchangeEncoder(profile)
      return try CollectionInterchange("flights", definition).write(record, "a", &writer)
        .json(profile)
    }
    let snake = InterchangeProfile.standard.keys(.snake)
    #expect(try text(["id": "b"], .standard.except("id")) == "{}")
    #expect(try text(["gate": 7], .standard.only("departureDelay")) == #"{"id":"a"}"#)
    #expect(
      try text(["departure_delay": 1, "departureDelay": 2], .standard)
        == #"{"departureDelay":2,"departure_delay":1,"id":"a"}"#)
    for record: ValueMap in [["id": "b"], ["departure_delay": 1]] {
      let error = #expect(throws: DatabaseError.self) { try text(record, snake) }
      #expect(error.map { "\($0)" }?.contains("flights/a: ") ?? false)
    }

    definition.properties = [
      PropertyDefinition("place", .string), PropertyDefinition("place.latitude", .double),
    ]
    let record: ValueMap = ["place": "JFK", "place.latitude": 40.5]
    #expect(throws: DatabaseError.self) { try text(record, .standard) }
    let dotted = InterchangeProfile { $0.nesting = .dottedNames }
    #expect(try text(record, dotted) == #"{"id":"a","place":"JFK","place.latitude":40.5}"#)
  }

  @Test("tells line and column of what is no JSON, and of a model that is refused")
  func files() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/people.json"
    func read(_ text: String, _ form: JSONForm = .lines) throws -> [Person] {
      try Data(text.utf8).write(to: URL(filePath: path))
      var found: [Person] = []
      try Person.forEach(inJSON: path, form) { found.append($0) }
      return found
    }
    let people = [Person(id: "a", name: "A"), Person(id: "b", age: 3)]
    let lines = try people.map { try $0.json() }.joined(separator: "\n")
    #expect(try read(lines) == people)
    #expect(try read("[" + lines.replacing("\n", with: ",") + "]", .array) == people)
    let wrong = #expect(throws: InputError.self) {
      try read(#"{"id":"a"}"# + "\n" + #"{"id":"b","age":"old"}"#)
    }
    #expect(wrong?.place == InputError.Place(line: 2, column: 1, offset: 11))
    #expect(wrong?.reason == "age must be a whole number of 64 bits, not the text 'old'")
    for text in ["{\"id\":", "[{}", "{}", "[1]", "[{}] 1"] {
      #expect(throws: InputError.self, "\(text)") { try read(text, .array) }
    }
  }
}
