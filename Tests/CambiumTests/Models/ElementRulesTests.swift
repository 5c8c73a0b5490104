import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

/// Rules for elements hold for whole values and for what is changed in place, whoever writes. The
/// goal is that no array, set or map with a bad element is ever stored: random changes are held
/// against Swift's own collections, to which the rules are applied in the plainest way.
@Suite("Rules for elements")
struct ElementRulesTests {
  struct Basket: Cambium.Model {
    var id = ID()
    var tags: [String] = []
    var ratings: [Int]? = nil
    var sizes: Set<String> = []
    var levels: Set<Int> = []
    var scores: [Int] = []
    var marks: [Int] = []
    var prices: [String: Double] = [:]
    var stock: [Int?] = []

    static let schema = ModelSchema<Basket>("baskets") {
      Property(\.tags).each {
        $0.validated("must not be empty") { !$0.isEmpty }.validated("must be short") {
          $0.count < 6
        }
      }
      Property(\.ratings).each { $0.rejected(outside: 1...5) }
      Property(\.sizes).each { $0.oneOf(["S", "M"]) }
      Property(\.levels).each { $0.clamped(to: 0...9) }
      Property(\.scores).each { $0.clamped(below: 0, above: 9) }
      Property(\.marks).each { $0.cleared(above: 9) }
      Property(\.prices).each { $0.rejected(below: 0) }
        .eachKey { $0.oneOf(["EUR", "USD"]).validated("must be upper case") { $0 == "EUR" } }
      Property(\.stock).each { $0.oneOf([1, 2]) }
    }
  }

  static let bad = Basket(
    tags: ["fine", "", "much too long"], ratings: [1, 9, 0], sizes: ["XL", "S"], levels: [11, 12],
    scores: [3, -1, 11], marks: [10, 4], prices: ["USD": -1, "GBP": 2], stock: [nil, 3])

  private func messages(_ body: () throws -> Void) -> [String] {
    do {
      try body()
      return []
    } catch let error as ValidationError { return error.messages } catch {
      guard case DatabaseError.invalid(let violations) = error else { return ["\(error)"] }
      return violations.map(\.description)
    }
  }

  @Test("are told all at once, each with the element's place")
  func places() throws {
    let found = Self.bad.validationErrors()
    #expect(
      found.flatMap(\.messages) == [
        "ratings[1] must be from 1 to 5", "ratings[2] must be from 1 to 5",
        "sizes[\"XL\"] must be one of S, M",
        "prices has the key \"GBP\", which must be one of \"EUR\", \"USD\"",
        "prices[\"USD\"] must be 0.0 at least", "stock[1] must be one of Optional(1), Optional(2)",
        "tags[1] must not be empty", "tags[2] must be short",
        "prices has the key \"GBP\", which must be upper case",
        "prices has the key \"USD\", which must be upper case",
      ])
    #expect(found.first?.element == 1)
    #expect(found.map { $0.messages(for: "tags") }.filter { !$0.isEmpty }.count == 2)
    try withDatabase { database in
      try database.register(Basket.self)
      let head = try database.head
      #expect(messages { try database.insert(Self.bad) } == found.flatMap(\.messages))
      #expect(try database.head == head)
    }
  }

  @Test("replace and remove elements where they are to")
  func treatment() throws {
    try withDatabase { database in
      let id = try database.insert(
        Basket(levels: [11, 12, 3], scores: [3, -1, 11], marks: [10, 4, 12], stock: [nil, 1]))
      let basket = try database.get(id)
      #expect(basket.levels == [9, 3] && basket.scores == [3, 0, 9] && basket.marks == [4])
      try database.write { tx in
        try tx.insert(77, into: id, \.levels)
        try tx.insert(-5, into: id, \.levels)
        try tx.append(77, to: id, \.scores)
        try tx.append(77, to: id, \.marks)
      }
      let changed = try database.get(id)
      #expect(
        changed.levels == [9, 3, 0] && changed.scores == [3, 0, 9, 9] && changed.marks == [4])
      #expect(try database.read { try $0[id.path]["levels"] } == [0, 3, 9])
    }
  }

  @Test("hold for changes in place, in code and as declared")
  func parts() throws {
    try withDatabase { database in
      let id = try database.insert(Basket(tags: ["a"], ratings: [1], prices: ["EUR": 1]))
      let path = try id.path
      let refused: [(String, (borrowing Database.Transaction) throws -> Void)] = [
        ("ratings[1] must be from 1 to 5", { try $0.append(6, to: id, \.ratings) }),
        ("ratings[0] must be from 1 to 5", { try $0.insert(0, at: 0, into: id, \.ratings) }),
        ("tags[1] must not be empty", { try $0.append("", to: id, \.tags) }),
        ("tags[0] must be short", { try $0.set(id, \.tags, to: ["endless"]) }),
        ("prices[\"EUR\"] must be", { try $0.set(id, \.prices, "EUR", to: -2) }),
        ("prices[\"EUR\"] must be", { try $0.increment(id, \.prices, "EUR", by: -2) }),
        ("prices has the key \"GBP\"", { try $0.set(id, \.prices, "GBP", to: 2) }),
        ("sizes[", { try $0.insert("XL", into: id, \.sizes) }),
        ("ratings[1] must be from 1 to 5", { try $0.append(9, to: path, "ratings") }),
        ("tags[1] must not be empty", { try $0.append("", to: path, "tags") }),
        ("ratings[0] must be from 1 to 5", { try $0.update(path, ["ratings": [7]]) }),
        ("ratings[0] must be from 1 to 5", { try $0.set(path, to: ["ratings": [7]]) }),
        ("prices[\"EUR\"] must be", { try $0.set(path, "prices", "EUR", to: -3) }),
      ]
      let before = try database.read { try $0[path].value }
      for (message, change) in refused {
        let found = messages { try database.write { try change($0) } }
        #expect(found.contains { $0.contains(message) }, "\(message): \(found)")
        #expect(try database.read { try $0[path].value } == before)
      }
      try database.write { tx in
        try tx.append(5, to: id, \.ratings)
        try tx.append("b", to: id, \.tags)
        try tx.insert("M", into: id, \.sizes)
        try tx.set(id, \.prices, "EUR", to: 3)
      }
      #expect(try database.get(id).ratings == [1, 5])
    }
  }

  @Test("that are declared bind a program that does not know the model")
  func strangers() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    let first = try Database(at: path, for: Basket.self)
    let id = try first.insert(Basket(ratings: [1]))
    try first.close()
    let other = try Database(at: path)
    let place = try id.path
    #expect(
      messages { try other.write { try $0.append(6, to: place, "ratings") } } == [
        "\(place): ratings[1] must be from 1 to 5"
      ])
    #expect(
      messages { try other.write { try $0.update(place, ["prices": ["GBP": 1, "EUR": -1]]) } } == [
        "\(place): prices[\"EUR\"] must be 0.0 at least",
        "\(place): prices has the key \"GBP\", which must be one of \"EUR\", \"USD\"",
      ])
    try other.write { try $0.update(place, ["scores": [1, 99], "marks": [99, 1, .null]]) }
    #expect(try other.read { try $0[place]["scores"] } == [1, 9])
    #expect(try other.read { try $0[place]["marks"] } == [1, .null])
    // Code is not declared, and is told of in words.
    #expect(
      try other.read { try $0.definition(of: "baskets") }?.rulesInCode.first
        == "tags has elements, each of which must not be empty")
    try expectSound(other)
    try other.close()
  }

  @Test("that are new are held against the records that are there")
  func declaring() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("shirts/1", to: ["sizes": [1, 9]])
      }
      var definition = CollectionDefinition()
      var sizes = PropertyDefinition("sizes", .array(.integer))
      sizes.elementDomain = Domain(.range(1, 5))
      definition.properties = [sizes]
      #expect(
        messages { try database.write { try $0.declare("shirts", definition) } }.first?
          .contains("sizes[1] must be from 1 to 5") == true)
      let wrong: [(PropertyType, Domain?, Domain?)] = [
        (.integer, Domain(.range(1, 5)), nil), (.any, Domain(.range(1, 5)), nil),
        (.array(.integer), nil, Domain(.list(["a"]))), (.string, nil, Domain(.list(["a"]))),
        (.map(.integer), nil, Domain(.list(["a"]), .clamp)),
      ]
      for (type, elements, keys) in wrong {
        var property = PropertyDefinition("x", type)
        (property.elementDomain, property.keyDomain) = (elements, keys)
        definition.properties = [property]
        #expect {
          try database.write { try $0.declare("things", definition) }
        } throws: { error in
          if case DatabaseError.badValue("things", _) = error { true } else { false }
        }
      }
    }
  }

  @Test("are stored in the declaration, byte by byte")
  func bytes() throws {
    var property = PropertyDefinition("t", .array(.integer))
    property.elementDomain = Domain(.range(1, nil))
    let domain = "\u{0E}\u{04}from\u{02}\u{03}\u{01}\u{09}treatment\u{07}\u{08}reject"
    let type = "\u{0E}\u{05}array\u{08}\u{08}integer"
    let expected =
      "\u{0E}\u{08}elements\u{1B}\(domain)\u{04}name\u{02}\u{08}t\u{04}type\u{10}\(type)"
    #expect(try property.value.stored() == Array(expected.utf8))
    var map = PropertyDefinition("m", .map(.any))
    map.keyDomain = Domain(.list(["a"]))
    for property in [property, map] {
      var definition = CollectionDefinition()
      definition.properties = [property]
      #expect(try CollectionDefinition(definition.value) == definition)
      #expect(try CollectionDefinition.format(of: definition.value.stored()) == 2)
    }
  }

  @Test(
    "keep every element in its domain through random changes", arguments: [1, 2, 3] as [UInt64])
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      let treatments: [Domain.Treatment] = [.reject, .clamp, .clear]
      var definition = CollectionDefinition()
      definition.properties = treatments.flatMap { treatment in
        var list = PropertyDefinition("list-\(treatment)", .array(.integer))
        list.elementDomain = Domain(.range(2, 7), treatment)
        var map = PropertyDefinition("map-\(treatment)", .map(.integer))
        map.elementDomain = Domain(.range(2, 7), treatment)
        map.keyDomain = Domain(.list(["a", "b", "c"]))
        return [list, map]
      }
      try database.write { tx in
        try tx.declare("things", definition)
        try tx.set("things/1", to: ["n": 1])
      }
      var lists: [Domain.Treatment: [Int64]] = [:]
      var maps: [Domain.Treatment: [String: Int64]] = [:]
      for _ in 0..<400 {
        let treatment = treatments[Int(random.next() % 3)]
        let number = Int64(random.next() % 10)
        var (list, map) = (lists[treatment] ?? [], maps[treatment] ?? [:])
        let key = ["a", "b", "c", "d"][Int(random.next() % 8) % 4]
        let place = list.isEmpty ? 0 : Int(random.next() % UInt64(list.count))
        let kind = random.next() % 6
        switch kind {
        case 0: list.append(number)
        case 1: list.insert(number, at: place)
        case 2: list = (0..<Int(random.next() % 4)).map { _ in Int64(random.next() % 10) }
        case 3: map[key] = number
        case 4: map[key, default: 0] += number
        default:
          map = ["a": number]
          map[key] = 3
        }
        let isList = kind < 3
        let isWrong = { (number: Int64) in number < 2 || number > 7 }
        var (newList, newMap) = (list, map)
        switch treatment {
        case .reject: break
        case .clamp:
          let clamp = { (number: Int64) in min(7, max(2, number)) }
          (newList, newMap) = (list.map(clamp), map.mapValues(clamp))
        case .clear:
          (newList, newMap) = (list.filter { !isWrong($0) }, map.filter { !isWrong($0.value) })
        }
        let isRefused =
          isList
          ? newList.contains(where: isWrong)
          : newMap["d"] != nil || newMap.values.contains(where: isWrong)
        let change = Change(
          kind: kind, treatment: treatment, number: number, place: place, key: key, list: list,
          map: map)
        let wasRefused = !messages { try database.write { try change.apply(to: $0) } }.isEmpty
        try #require(wasRefused == isRefused)
        if isRefused { continue }
        (lists[treatment], maps[treatment]) = (newList, newMap)
        let record = try database.read { try $0["things/1"].value }
        guard case .map(let stored) = record else { throw DatabaseError.corrupt(reason: "no map") }
        if isList {
          try #require((stored["list-\(treatment)"] ?? []) == .array(newList.map { .integer($0) }))
        } else {
          let members = newMap.map { ($0.key, Value.integer($0.value)) }
          try #require((stored["map-\(treatment)"] ?? [:]) == .map(ValueMap(pairs: members)))
        }
      }
    }
  }

  /// A random change of a list or a map.
  private struct Change {
    var kind: UInt64
    var treatment: Domain.Treatment
    var number: Int64
    var place: Int
    var key: String
    /// The whole, for the changes that set it.
    var list: [Int64]
    var map: [String: Int64]

    func apply(to tx: borrowing Database.Transaction) throws {
      let (listName, mapName) = ("list-\(treatment)", "map-\(treatment)")
      switch kind {
      case 0: try tx.append(.integer(number), to: "things/1", listName)
      case 1: try tx.insert(.integer(number), at: place, into: "things/1", listName)
      case 2: try tx.update("things/1", [listName: .array(list.map { .integer($0) })])
      case 3: try tx.set("things/1", mapName, key, to: .integer(number))
      case 4: try tx.increment("things/1", mapName, key, by: .integer(number))
      default:
        let members = map.map { ($0.key, Value.integer($0.value)) }
        try tx.update("things/1", [mapName: .map(ValueMap(pairs: members))])
      }
    }
  }
}
