// Random declarations, records and conditions that have something to do with each other: few names,
// few values, so that about every second test holds.

import FoundationEssentials

@testable import Cambium

/// Makes them from a seed.
struct RandomConditions {
  static let people: NodePath = "people"
  static let things: NodePath = "things"

  var random: FormatRandom
  /// The views of the first things that were declared: by, in which order, of which.
  var tops: [(by: [String], terms: [IndexDefinition.Term], condition: Condition.Test?)] = []
  /// The indexes with copies that were declared.
  var coverings: [IndexDefinition] = []

  init(seed: UInt64) {
    random = FormatRandom(seed: seed)
    random.blobs = RandomConditions.contents.map { content in
      let bytes = [UInt8](content)
      return Blob(hash: bytes.lend { Digest.of($0) }, size: UInt64(bytes.count))
    }
  }

  private static let contents = (0..<5).map { Data(repeating: $0, count: Int($0) * 100) }

  /// Stores what the records' blobs refer to.
  static func storeBlobs(in database: Database) throws {
    for content in contents { _ = try database.store(content) }
  }

  /// The declarations of people and things; `loose`, `place` and `more` are not declared.
  static let definitions: [NodePath: CollectionDefinition] = {
    var people = CollectionDefinition()
    people.properties = [
      PropertyDefinition("name", .string), PropertyDefinition("age", .integer),
      PropertyDefinition("boss", .reference(RandomConditions.people)),
      PropertyDefinition("since", .date),
    ]
    var things = CollectionDefinition()
    things.properties = [
      PropertyDefinition("count", .integer), PropertyDefinition("weight", .double),
      PropertyDefinition("title", .string), PropertyDefinition("price", .decimal),
      PropertyDefinition("made", .date), PropertyDefinition("mark", .uuid),
      PropertyDefinition("owner", .reference(RandomConditions.people)),
      PropertyDefinition("users", .array(.reference(RandomConditions.people))),
      PropertyDefinition("tags", .array(.string)),
      PropertyDefinition("shares", .keyed(by: RandomConditions.people, .integer)),
      PropertyDefinition("isNew", .bool), PropertyDefinition("raw", .data),
      PropertyDefinition("place.x", .double),
    ]
    things.properties[0].absence = .integer(1)
    return [RandomConditions.people: people, RandomConditions.things: things]
  }()

  // MARK: Values

  private static let texts = [
    "", "a", "A", "ab", "Ab", "abc", "ABC", "b", "Zürich", "zurich", "ZÜRICH", "straße", "STRASSE",
    "é", "e\u{301}", "\u{1F600}", "42", "p1", "p2", "x\u{0}y", "\r\n",
  ]

  mutating func text() -> String {
    random.chance(oneIn: 20) ? random.text(upTo: 40) : random.pick(Self.texts)
  }

  mutating func integer() -> Int64 {
    random.chance(oneIn: 10) ? random.integer() : Int64(random.below(7)) - 2
  }

  mutating func double() -> Double {
    random.chance(oneIn: 8)
      ? random.double() : random.pick([-2, -1, -0.0, 0, 0.5, 1, 1.5, 2, .infinity, .nan, 0x1p53])
  }

  mutating func date() -> Date {
    random.chance(oneIn: 10)
      ? random.date() : Date(timeIntervalSince1970: Double(random.below(9)) * 13_000_000)
  }

  mutating func decimal() -> Decimal {
    random.pick(
      ["0", "1", "1.0", "1.5", "-2", "2", "NaN", "0.5"].map { Decimal(string: $0) ?? .nan })
  }

  static let uuids = (0..<4).map { number in
    UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
  }

  /// A key as a reference stores it.
  mutating func reference() -> Value {
    switch random.below(6) {
    case 0: .integer(Int64(random.below(3)))
    case 1: .uuid(random.pick(Self.uuids))
    case 2: .string(String(random.below(3)))
    default: .string("p\(random.below(5))")
    }
  }

  mutating func anything() -> Value {
    switch random.below(12) {
    case 0: .null
    case 1: .bool(random.chance(oneIn: 2))
    case 2, 3: .integer(integer())
    case 4: .double(double())
    case 5, 6: .string(text())
    case 7: .date(date())
    case 8: .decimal(decimal())
    case 9: .uuid(random.pick(Self.uuids))
    case 10:
      .array(
        (0..<random.below(4)).map { _ in random.chance(oneIn: 2) ? reference() : .string(text()) })
    default: random.chance(oneIn: 2) ? random.value(depth: 2) : .data(Data(random.bytes(1)))
    }
  }

  /// A value that suits a property.
  mutating func value(of name: String) -> Value {
    if random.chance(oneIn: 15) { return .null }
    switch name {
    case "count", "age": return .integer(integer())
    case "weight", "place.x":
      return random.chance(oneIn: 4) ? .integer(integer()) : .double(double())
    case "title", "name": return .string(text())
    case "price": return random.chance(oneIn: 4) ? .integer(integer()) : .decimal(decimal())
    case "made", "since": return .date(date())
    case "mark": return .uuid(random.pick(Self.uuids))
    case "owner", "boss": return reference()
    case "users": return .array((0..<random.below(4)).map { _ in reference() })
    case "tags": return .array((0..<random.below(4)).map { _ in .string(text()) })
    case "shares":
      return .map(
        ValueMap(
          (0..<random.below(3)).map { _ in
            (name: random.pick(["p0", "p1", "2"]), value: .integer(integer()))
          }))
    case "isNew": return .bool(random.chance(oneIn: 2))
    case "raw": return .data(Data(random.bytes(random.below(3))))
    case "link": return .reference(NodePath(keys: ["people", .text("p\(random.below(5))")]))
    case "place":
      return .map(["z": .integer(integer()), "deep": .map(["name": .string(text())])])
    default: return anything()
    }
  }

  static let thingNames = [
    "count", "weight", "title", "price", "made", "mark", "owner", "users", "tags", "shares",
    "isNew", "raw", "place.x", "loose", "link", "place", "more",
  ]
  static let personNames = ["name", "age", "boss", "since", "loose"]

  mutating func record(_ names: [String]) -> ValueMap {
    var record = ValueMap()
    for name in names where !random.chance(oneIn: 4) { record[name] = value(of: name) }
    return record
  }

  // MARK: Conditions

  /// A path from a thing, or from a person.
  mutating func path(fromPerson: Bool = false, hops: Int = 2) -> PropertyPath {
    var path = plainPath(fromPerson: fromPerson, hops: hops)
    if random.chance(oneIn: 6) {
      path.function = random.pick([.count, .lowercased, .year, .month, .day, .hour])
    }
    return path
  }

  private mutating func plainPath(fromPerson: Bool, hops: Int) -> PropertyPath {
    if hops > 0, random.chance(oneIn: 5) {
      if fromPerson {
        var rest = plainPath(fromPerson: true, hops: hops - 1)
        rest.hops.insert("boss", at: 0)
        return rest
      }
      switch random.below(6) {
      case 0: return PropertyPath(hops: ["place"], random.pick(["x", "z"]))
      case 1: return PropertyPath(hops: ["place", "deep"], "name")
      case 2: return PropertyPath(hops: ["link"], random.pick(["name", "age", nil]))
      default:
        var rest = plainPath(fromPerson: true, hops: hops - 1)
        rest.hops.insert("owner", at: 0)
        return rest
      }
    }
    if random.chance(oneIn: 12) { return PropertyPath(nil) }
    if random.chance(oneIn: 40) { return PropertyPath("unheard of") }
    return PropertyPath(random.pick(fromPerson ? Self.personNames : Self.thingNames))
  }

  mutating func constant(for path: PropertyPath) -> Value {
    if random.chance(oneIn: 8) { return anything() }
    switch path.function {
    case .count, .day, .hour, .month: return .integer(Int64(random.below(4)))
    case .year: return .integer(Int64(1970 + random.below(3)))
    case .lowercased: return .string(text())
    case nil: break
    }
    guard let property = path.property else { return reference() }
    if property == "made", random.chance(oneIn: 3) { return .string("1970-05-31T11:06:40Z") }
    return value(of: property == "x" ? "place.x" : property == "z" ? "count" : property)
  }

  mutating func test(fromPerson: Bool = false, depth: Int = 3) -> Condition.Test {
    if depth > 0, random.chance(oneIn: 2) { return compound(fromPerson, depth) }
    let path = path(fromPerson: fromPerson)
    let comparison: Condition.Comparison = random.pick([
      .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ])
    switch random.below(8) {
    case 0:
      return .oneOf(path, (0..<random.below(5)).map { _ in constant(for: path) })
    case 1:
      let test: Condition.TextTest = random.pick([.equals, .prefix, .suffix, .contains])
      return .text(
        path, test, text(),
        random.pick([.binary, .ignoringCase, .ignoringCaseAndDiacritics]))
    case 2 where random.chance(oneIn: 3):
      return .text(
        path, .matches, random.pick(["a", "^a", "b$", "[a-c]+", "(?s)^.b.*$", "é"]),
        random.pick([.binary, .ignoringCase]))
    case 3:
      let list = PropertyPath(random.pick(["users", "tags", "shares", "loose", "place"]))
      return .contains(list, random.chance(oneIn: 2) ? reference() : .string(text()))
    case 4: return .compareProperties(path, comparison, self.path(fromPerson: fromPerson))
    default: return .compare(path, comparison, constant(for: path))
    }
  }

  private mutating func compound(_ fromPerson: Bool, _ depth: Int) -> Condition.Test {
    switch random.below(6) {
    case 0: return .not(test(fromPerson: fromPerson, depth: depth - 1))
    case 1:
      let quantifier: Condition.Quantifier = random.pick([.any, .all, .none])
      if fromPerson || random.chance(oneIn: 2) {
        let inner = test(fromPerson: !fromPerson, depth: depth - 2)
        return fromPerson
          ? .related(.inverse(Self.things, property: "owner"), quantifier, inner)
          : .related(.elements(PropertyPath("users")), quantifier, inner)
      }
      let list = PropertyPath(random.pick(["users", "shares", "owner", "loose"]))
      return .related(
        .elements(list), quantifier, test(fromPerson: list.property != "loose", depth: depth - 2))
    case 2, 3:
      return .any((0..<count()).map { _ in test(fromPerson: fromPerson, depth: depth - 1) })
    default:
      return .all((0..<count()).map { _ in test(fromPerson: fromPerson, depth: depth - 1) })
    }
  }

  /// None, or two and more: a single one is not written differently from itself.
  private mutating func count() -> Int { random.chance(oneIn: 10) ? 0 : 2 + random.below(2) }
}
