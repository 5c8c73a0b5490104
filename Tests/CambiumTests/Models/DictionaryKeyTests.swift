// Goal: a dictionary by any kind of key is stored as a map that tools read, and comes back as it
// was; no text is read as a key that is written otherwise. Method: one model with each kind, by
// every way of writing, and maps from a program that does not know the model.

import Foundation
import Testing

@testable import Cambium

@Suite("A key of a dictionary")
struct DictionaryKeyTests {
  private enum Meal: String, RawProperty, DictionaryKey { case lunch, dinner }
  private enum Row: Int, RawProperty, DictionaryKey {
    case front = -1
    case back = 1
  }

  private struct Hall: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var seats: [Int: String] = [:]
    var bytes: [UInt8: Int] = [:]
    var tickets: [UUID: Int] = [:]
    var prices: [Meal: Double] = [:]
    var rows: [Row: [Int]]?
    static let schema = ModelSchema<Hall>("halls")
  }

  private static let ticket = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 171, 205, 239, 0, 1, 2))
  private static let text = "01020304-0506-0708-090a-abcdef000102"

  private static let hall = Hall(
    id: 1, seats: [.min: "least", -1: "minus", 0: "zero", .max: "greatest"], bytes: [0: 1, 255: 2],
    tickets: [ticket: 3], prices: [.lunch: 9.5, .dinner: 20], rows: [.front: [1], .back: []])

  @Test("is stored as its one text, and comes back")
  func roundTrip() throws {
    try withDatabase { database in
      try database.insert(Self.hall)
      #expect(try database.get(Hall.ID(1)) == Self.hall)
      #expect(
        try database.read { try $0["halls/1"].value } == [
          "seats": [
            "-9223372036854775808": "least", "-1": "minus", "0": "zero",
            "9223372036854775807": "greatest",
          ],
          "bytes": ["0": 1, "255": 2], "tickets": [Self.text: 3],
          "prices": ["lunch": 9.5, "dinner": 20.0], "rows": ["-1": [1], "1": []],
        ])
      let definition = try #require(try database.read { try $0.definition(of: "halls") })
      #expect(definition["seats"]?.type == .map(.string))
      #expect(definition["tickets"]?.type == .map(.integer))
      #expect(definition["rows"]?.type == .map(.array(.integer)))
    }
  }

  @Test("is changed alone, and asked for")
  func changes() throws {
    try withDatabase { database in
      try database.insert(Self.hall)
      let id = Hall.ID(1)
      try database.write { tx in
        try tx.set(id, \.seats, 7, to: "seven")
        try tx.removeValue(forKey: -1, from: id, \.seats)
        try tx.increment(id, \.tickets, Self.ticket, by: 4)
        try tx.set(id, \.prices, .lunch, to: 10)
        try tx.set(id, \.rows, .back, to: [2])
      }
      var expected = Self.hall
      expected.seats[7] = "seven"
      expected.seats[-1] = nil
      expected.tickets[Self.ticket] = 7
      expected.prices[.lunch] = 10
      expected.rows?[.back] = [2]
      #expect(try database.get(id) == expected)
      let halls = database.query(Hall.self)
      #expect(
        try halls.where {
          $0.seats.hasKey(7); $0.tickets.hasKey(Self.ticket)
        }.count() == 1)
      #expect(try halls.where { $0.seats.hasKey(-1) || $0.bytes.hasKey(1) }.count() == 0)
      #expect(
        try halls.where {
          $0.prices.hasKey(.dinner); $0.rows.hasKey(.front)
        }.count() == 1)
    }
  }

  @Test(
    "is an error, with path and property, where its text is another",
    arguments: [
      ("seats", "007"), ("seats", "+7"), ("seats", "seven"), ("seats", ""), ("seats", "-0"),
      ("seats", "9223372036854775808"), ("bytes", "256"), ("tickets", "7"),
      ("tickets", text.uppercased()), ("prices", "supper"), ("rows", "0"), ("rows", "front"),
    ])
  func badText(_ property: String, _ text: String) throws {
    try withDatabase { database in
      try database.register(Hall.self)
      let value: Value =
        switch property {
        case "seats": "x"
        case "prices": 1.5
        case "rows": []
        default: 1
        }
      try database.write { try $0.set("halls/1", to: [property: .map([text: value])]) }
      let error = #expect(throws: PropertyError.self) { try database.get(Hall.ID(1)) }
      #expect(error?.path == "halls/1" && error?.property == property)
      #expect(error?.reason.hasPrefix("the key '\(text)' is no ") == true)
    }
  }
}
