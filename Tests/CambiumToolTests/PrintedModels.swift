// The output of `cambium schema --swift` for the declarations in SwiftModelTests.swift.
// swift-format-ignore-file

import Cambium
import Foundation

/// things, as declared.
struct Thing: Model {
  typealias Key = Int
  var id = ID()
  var plain0: Value?
  var plain1: Bool?
  var plain2: Int?
  var plain3: Double?
  var plain4: String?
  var plain5: Data?
  var plain6: Date?
  var plain7: UUID?
  var plain8: Decimal?
  var plain9: Blob?
  var plain10: [Value]?
  var plain11: [[Date]]?
  var plain12: [String: Decimal]?
  var needed0: Value?
  var needed1: Bool = false
  var needed2: Int = 0
  var needed3: Double = 0
  var needed4: String = ""
  var needed5: Data = Data()
  var needed6: Date?
  var needed7: UUID?
  var needed8: Decimal = 0
  var needed10: [Value] = []
  var needed11: [[Date]] = []
  var needed12: [String: Decimal] = [:]
  var isGood: Bool = true
  var count: Int = -7
  var weight: Double = 0.1
  var infinite: Double = -.infinity
  var title: String = "a \"b\" \\(c)\n😀"
  var bytes: Data = Data([1, 255])
  var day: Date = Date(timeIntervalSinceReferenceDate: 86400.123456)
  var mark: UUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))
  var price: Decimal = Decimal(sign: .minus, exponent: -1, significand: 125)
  var tags: [String] = ["x", "y"]
  var scores: [String: Int] = ["a": 1, "b": 2]
  var anything: Value = [1, "x", ["deep": true]]
  var when: Value = .date(Date(timeIntervalSinceReferenceDate: 86400.123456))
  var who: Value = [.uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255)))]
  var some: Value = .reference("a/b")
  var stars: Int?
  var least: Int?
  var most: Int?
  var grade: String?
  var since: Date?
  var ratio: Double?
  var year: Int?
  var size: Double?
  var genre: String?
  var mood: Int?
  var state: String?
  var both: Int? = 3
  var owner: Person.ID?
  var users: [Person.ID]?
  var shares: [Person.ID: Double]?
  var maker: Person.ID = .init("ada")
  var plane: Planes.ID?
  var place = PlacePart()
  var `class`: Value?
  var undeclared: Value?
  struct PlacePart: Nested {
    var latitude: Double = 0
    var zip: String = "?"
  }
  static let schema = ModelSchema<Thing>("things", version: 3) {
    Property(\.needed0).required()
    Property(\.needed1).required()
    Property(\.needed2).required()
    Property(\.needed3).required()
    Property(\.needed4).required()
    Property(\.needed5).required()
    Property(\.needed6).required()
    Property(\.needed7).required()
    Property(\.needed8).required()
    Property(\.needed10).required()
    Property(\.needed11).required()
    Property(\.needed12).required()
    Property(\.isGood).defaultOnEmpty()
    Property(\.count).defaultOnEmpty()
    Property(\.weight).defaultOnEmpty()
    Property(\.infinite).defaultOnEmpty()
    Property(\.title).defaultOnEmpty()
    Property(\.bytes).defaultOnEmpty()
    Property(\.day).defaultOnEmpty()
    Property(\.mark).defaultOnEmpty()
    Property(\.price).defaultOnEmpty()
    Property(\.tags).defaultOnEmpty()
    Property(\.scores).defaultOnEmpty()
    Property(\.anything).defaultOnEmpty()
    Property(\.when).defaultOnEmpty()
    Property(\.who).defaultOnEmpty()
    Property(\.some).defaultOnEmpty()
    Property(\.stars).clamped(to: 1...5)
    Property(\.least).clamped(below: 1)
    Property(\.most).clamped(above: 5)
    Property(\.grade).rejected(outside: "a"..."f")
    Property(\.since).rejected(below: Date(timeIntervalSinceReferenceDate: 86400.123456))
    Property(\.ratio).rejected(above: 1.5)
    Property(\.year).cleared(outside: 1900...2100)
    Property(\.size).cleared(below: 0.5)
    Property(\.genre).oneOf(["jazz", "folk"])
    Property(\.mood).oneOf([1, 2, 4], else: .clamp)
    Property(\.state).oneOf(["on"], else: .clear)
    Property(\.both).defaultOnEmpty().cleared(outside: 1...9)
    Property(\.owner).required().onDelete(.deny)
    Property(\.users).onDelete(.nullify).mustExist(false)
    Property(\.shares).onDelete(.cascade).mustExist(false)
    Property(\.maker).defaultOnEmpty()
    Property(\.place.latitude).required()
    Property(\.place.zip).defaultOnEmpty()
    Property(\.`class`).labelled("Class \"A\"", "What it is.\n")
    Index(\.place.latitude, \.count.descending).covering(\.`class`, \.owner.name, \.plane.seats)
    Unique(\.title.ignoringCase, \.day)
    Index(\.grade.ignoringCaseAndDiacritics.descending)
    Index(\.grade).where { _ in Condition("not (title prefix \"a\\\"\\\\b\" or count = 3)") }
    Index(\.undeclared).where { _ in Condition("day < date(\"2001-01-02T00:00:00.123456Z\")") }
    Count()
    Sum(\.count, by: \.genre, \.place.zip)
    Average(\.weight, by: \.genre, \.place.zip)
    Minimum(\.day, by: \.genre).where { _ in Condition("isGood = true") }
    Count(by: \.genre).where { _ in Condition("isGood = true") }
    Maximum(\.day, by: \.genre).where { _ in Condition("isGood = true") }
    Top(\.count.descending, \.title.ignoringCase, \.day, by: \.genre, \.state)
    Top(\.weight).where { _ in Condition("isGood = true") }
    TextIndex(\.title, \.place.zip, language: "en")
    TextIndex(\.title).where { _ in Condition("isGood = true") }
  }
}

/// a/odd, as declared.
struct Odd: Model {
  var id = ID()
  var propertyAB: String?
  var propertyAB2: String?
  var `self`: String?
  var propertyId: String?
  var propertySchema: String?
  var propertyKey: String?
  var propertyX: String?
  var propertyXY: String?
  var propertyPQR: String?
  var é: String?
  var property1st: String?
  var property: String?
  var property2: String?
  static let schema = ModelSchema<Odd>("a/odd") {
    Property(\.propertyAB, name: "a b")
    Property(\.propertyAB2, name: "a`b")
    Property(\.propertyId, name: "id")
    Property(\.propertySchema, name: "schema")
    Property(\.propertyKey, name: "Key")
    Property(\.propertyX, name: "x")
    Property(\.propertyXY, name: "x.y")
    Property(\.propertyPQR, name: "p.q.r")
    Property(\.property1st, name: "1st")
    Property(\.property, name: "\\")
    Property(\.property2, name: "\n")
    Index(\.propertyAB2, \.propertyXY.descending, \.propertyId)
    Index(\.propertyPQR, \.property2)
    Top(\.propertyX, \.propertyAB, by: \.property1st)
  }
}

/// people, as declared.
struct Person: Model {
  typealias Key = String
  var id = ID()
  var name: String?
  static let schema = ModelSchema<Person>("people")
}

/// planes, to which others refer.
// Its keys may be of any kind.
struct Planes: Model {
  typealias Key = String
  var id = ID()
  var seats: Value?
  static let schema = ModelSchema<Planes>("planes")
}
