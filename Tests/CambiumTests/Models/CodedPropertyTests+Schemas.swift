// Schemas that name codecs: those that are refused, and those that follow others.

import FoundationEssentials
import Testing

@testable import Cambium

extension CodedPropertyTests {
  struct Bounded: Cambium.Model {
    var id = ID()
    var code = 0
    static let schema = ModelSchema<Bounded>("bounded") {
      Coded(\.code, by: Backwards())
      Property(\.code).rejected(outside: 0...9)
    }
  }
  struct Elided: Cambium.Model {
    var id = ID()
    var note = ""
    static let schema = ModelSchema<Elided>("elided") {
      Property(\.note).defaultOnEmpty()
      Coded(\.note, by: Sealed())
    }
  }
  struct Placed: Cambium.Model {
    struct PlaceText: PropertyCodec {
      let guarantee = CodecGuarantee.equality
      func encode(_ place: Airport.Place) -> String { "\(place.latitude)" }
      func decode(_ text: String) -> Airport.Place { .init(latitude: Double(text) ?? 0) }
    }
    var id = ID()
    var place = Airport.Place()
    static let schema = ModelSchema<Placed>("placed") { Coded(\.place, by: PlaceText()) }
  }
  struct Sorted: Cambium.Model {
    var id = ID()
    var note = ""
    static let schema = ModelSchema<Sorted>("sorted") {
      Coded(\.note, by: Sealed())
      Index(\.note)
    }
  }

  @Test("is refused beside what would be about other values")
  func problems() throws {
    try withDatabase { database in
      func reason(_ model: any Cambium.Model.Type) -> String {
        do { try database.register(model) } catch { return "\(error)" }
        return "nothing"
      }
      #expect(reason(Bounded.self).contains("Bounded.code is stored by Backwards, and rules"))
      #expect(reason(Elided.self).contains("Elided.note cannot be left out"))
      #expect(reason(Placed.self).contains("is no property of its own, which a codec could store"))
      #expect(reason(Sorted.self).contains("Sorted.note is stored by Sealed"))
    }
  }

  @Test("is read for the rules of other properties, whoever writes it")
  func ruled() throws {
    try withDatabase { database in
      try database.insert(Parcel(id: 1))
      do {
        try database.write { try $0.set("parcels/1/grams", to: 15) }
        Issue.record("half a gram was written")
      } catch let error as PropertyError {
        #expect(error.property == "grams" && error.reason.contains("15 is between two grams"))
      }
    }
  }

  @Test("is given to a profile's converter as the value that it is")
  func converted() throws {
    let parcel = Parcel(id: 1, mass: Mass(grams: 3), due: 5, note: "n")
    let profile = InterchangeProfile.standard.converting(Parcel.self, \.due) {
      .string("day \($0)")
    } back: { value in
      guard case .string(let text) = value, let day = Int(text.dropFirst(4)) else {
        throw Refusal(description: "no day")
      }
      return day
    }
    let json = try parcel.json(profile)
    #expect(json.contains("\"due\":\"day 5\"") && json.contains("\"grams\":30"), "\(json)")
    #expect(try Parcel(json: json, profile) == parcel)
  }

  // MARK: Older forms

  struct Old: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var color = ""
    var kilos = 0.0
    var mass = 0
    static let schema = ModelSchema<Old>("things")
  }
  struct New: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var color: Color?
    var weight = Mass()
    var mass: Mass?
    static let schema = ModelSchema<New>("things", version: 2) {
      Coded(\.color, by: HexColor().reading(NamedColor()))
      Coded(\.weight, by: Grams()).was("kilos", as: Double.self) { Mass(grams: Int($0 * 1000)) }
      Coded(\.mass, by: Grams())
    }
  }

  @Test("reads what was stored in older forms, and writes its own")
  func older() throws {
    try withDatabase { database in
      try database.register(Old.self)
      try database.insert(Old(id: 1, color: "red", kilos: 1.5, mass: 20))
      try database.insert(Old(id: 2, color: "#ff", kilos: 0, mass: 10))
      try database.register(New.self)
      #expect(
        try database.get(New.ID(1))
          == New(
            id: 1, color: Color(rgb: 0xFF0000), weight: Mass(grams: 1500), mass: Mass(grams: 2)))
      #expect(try database.get(New.ID(2)).color == Color(rgb: 0xFF))
      try database.update(New.ID(1)) { $0.color = Color(rgb: 1) }
      let record = try database.read { try $0["things/1"].record }
      #expect(record?["color"] == .string("#1"))
      try database.write { try $0.set("things/2/color", to: "mauve") }
      do {
        _ = try database.get(New.ID(2))
        Issue.record("a color without a name was read")
      } catch let error as PropertyError {
        #expect(error.property == "color" && error.reason.contains("mauve is no color"))
      }
      let query = database.query(New.self).where { $0.stored(\.color, as: String?.self) == "#1" }
      #expect(try query.ids() == [1])
    }
  }
}
