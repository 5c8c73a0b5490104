// Goal: an id of one case of an enum of models that names a record of another is refused, with an
// error that names both, wherever something would be done with it; and refused nowhere else.
// Method: boats of two kinds and harbours that refer to them in every way that there is.

import Foundation
import Testing

@testable import Cambium

private enum Boat: ModelUnion {
  typealias Key = Int
  case ferry(Ferry), sailer(Sailer)
  static let cases = ModelCases<Boat>(
    ModelCase("ferry", Boat.ferry) { if case .ferry(let it) = $0 { it } else { nil } },
    ModelCase("sailer", Boat.sailer) { if case .sailer(let it) = $0 { it } else { nil } })
  static let schema = ModelSchema<Boat>(union: "boats")

  struct Ferry: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var seats = 0
    var stops: [String] = []
    static let schema = ModelSchema<Ferry>(caseOf: Boat.self)
  }
  struct Sailer: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var masts = 1
    /// A reference from one case to another.
    var tow: Ferry.ID?
    static let schema = ModelSchema<Sailer>(caseOf: Boat.self)
  }
}

private struct Harbour: Cambium.Model {
  typealias Key = Int
  var id = ID()
  var ferry: Boat.Ferry.ID?
  var sailers: [Boat.Sailer.ID] = []
  var past: Set<Boat.Ferry.ID> = []
  var fees: [Boat.Ferry.ID: Int] = [:]
  var any: Boat.ID?
  static let schema = ModelSchema<Harbour>("harbours")
}

@Suite("An id of one case that names a record of another")
struct CaseReferenceTests {
  private typealias Ferry = Boat.Ferry
  private typealias Sailer = Boat.Sailer

  private func withBoats(_ body: (Database) throws -> Void) throws {
    try withDatabase { database in
      try database.register(Boat.self, Harbour.self)
      try database.write { tx in
        try tx.insert(Ferry(id: 1, seats: 10))
        try tx.insert(Sailer(id: 2, masts: 2))
        try tx.insert(Harbour(id: 1, ferry: 1, sailers: [2], past: [1], fees: [1: 5], any: 2))
      }
      let head = try database.head
      try body(database)
      #expect(try database.head == head)
    }
  }

  private static let reason = "the record is of the case \"sailer\" of Boat, not \"ferry\""

  private func refuses(_ error: DatabaseError, _ body: () throws -> Void) {
    #expect(throws: error, performing: body)
  }

  @Test("finds nothing, and gets an error")
  func reading() throws {
    try withBoats { database in
      let found = try database.find(Ferry.ID(2))
      #expect(found == nil)
      #expect(try database.find([Ferry.ID(2), 1]).map(\.id) == [1])
      #expect(try database.find(Ferry.ID(2), \.seats) == nil)
      #expect(try database.exists(Ferry.ID(2)) == false)
      refuses(.notFound("boats/2", reason: Self.reason)) { _ = try database.get(Ferry.ID(2)) }
      refuses(.notFound("boats/3", reason: "there is no such Ferry")) {
        _ = try database.get(Ferry.ID(3))
      }
      #expect(try database.get(Boat.ID(2)).id == 2)
    }
  }

  @Test("writes nothing")
  func writing() throws {
    try withBoats { database in
      let id = Ferry.ID(2)
      let error = DatabaseError.notFound("boats/2", reason: Self.reason)
      refuses(error) { _ = try database.update(id) { $0.seats = 1 } }
      refuses(error) { _ = try database.delete(id) }
      refuses(error) { try database.write { try $0.set(id, \.seats, to: 1) } }
      refuses(error) { try database.write { try $0.increment(id, \.seats, by: 1) } }
      refuses(error) { try database.write { try $0.append("x", to: id, \.stops) } }
      refuses(error) { _ = try database.write { try $0.removeAll("x", from: id, \.stops) } }
      refuses(error) { _ = try database.write { try $0.delete(contentsOf: [1, id]) } }
      let taken = DatabaseError.exists(
        "boats/2", reason: Self.reason + "; write it as Boat to make it another case")
      refuses(taken) { _ = try database.insert(Ferry(id: 2)) }
      refuses(taken) { _ = try database.upsert(Ferry(id: 2)) }
      refuses(taken) { _ = try database.write { try $0.findOrCreate(id) } }
      let isDeleted = try database.delete(Ferry.ID(3))
      #expect(isDeleted == false)
    }
  }

  @Test("is no reference, in whatever way it is written")
  func references() throws {
    try withBoats { database in
      func refuses(_ property: String, at path: NodePath = "harbours/1", _ body: () throws -> Void)
      {
        let reason = "refers to boats/2: " + Self.reason
        self.refuses(.invalid([Violation(path, property, reason)]), body)
      }
      let id = Harbour.ID(1)
      refuses("ferry", at: "harbours/2") { _ = try database.insert(Harbour(id: 2, ferry: 2)) }
      refuses("past", at: "harbours/2") { _ = try database.upsert(Harbour(id: 2, past: [1, 2])) }
      refuses("ferry") { _ = try database.update(id) { $0.ferry = 2 } }
      refuses("fees") { _ = try database.update(id) { $0.fees[2] = 1 } }
      refuses("ferry") { try database.write { try $0.set(id, \.ferry, to: 2) } }
      refuses("past") { try database.write { try $0.insert(Ferry.ID(2), into: id, \.past) } }
      refuses("fees") { try database.write { try $0.set(id, \.fees, Ferry.ID(2), to: 1) } }
      let sailers = DatabaseError.invalid([
        Violation(
          "harbours/1", "sailers",
          "refers to boats/1: the record is of the case \"ferry\" of Boat, not \"sailer\"")
      ])
      self.refuses(sailers) {
        try database.write { try $0.append(Sailer.ID(1), to: id, \.sailers) }
      }
      self.refuses(sailers) { _ = try database.update(id) { $0.sailers = [2, 1] } }
      // Between cases, by the face of either.
      refuses("tow", at: "boats/3") { _ = try database.insert(Sailer(id: 3, tow: 2)) }
      refuses("tow", at: "boats/2") { _ = try database.update(Sailer.ID(2)) { $0.tow = 2 } }
      refuses("tow", at: "boats/3") {
        _ = try database.insert(Boat.sailer(Sailer(id: 3, tow: 2)))
      }
      refuses("tow", at: "boats/2") {
        _ = try database.upsert(Boat.sailer(Sailer(id: 2, tow: 2)))
      }
    }
  }

  @Test("is no reference for what writes without the models, either")
  func untyped() throws {
    try withBoats { database in
      func refuses(
        _ property: String, at path: NodePath = "harbours/1",
        _ body: (borrowing Database.Transaction) throws -> Void
      ) {
        let reason = "refers to boats/2: " + Self.reason
        self.refuses(.invalid([Violation(path, property, reason)])) { try database.write(body) }
      }
      refuses("ferry") { try $0.set("harbours/1/ferry", to: 2) }
      refuses("ferry") { try $0.update("harbours/1", ["any": 1, "ferry": 2]) }
      refuses("ferry", at: "harbours/2") { try $0.set("harbours/2", to: ["ferry": 2]) }
      refuses("ferry") { _ = try $0.update("harbours/1") { $0["ferry"] = 2 } }
      refuses("past") { try $0.change("harbours/1", "past", .include(2)) }
      refuses("fees") { try $0.set("harbours/1", "fees", "2", to: 3) }
      refuses("past") { try $0.change("harbours/1", "past", .append(2)) }
      refuses("tow", at: "boats/2") { try $0.update("boats/2", ["tow": 2]) }
      refuses("tow", at: "boats/3") { try $0.set("boats/3", to: ["type": "sailer", "tow": 2]) }
    }
  }

  @Test("is not compared with")
  func asking() throws {
    try withBoats { database in
      let error = DatabaseError.notFound("boats/2", reason: Self.reason)
      let harbours = database.query(Harbour.self)
      refuses(error) { _ = try harbours.where { $0.ferry == 2 }.fetch() }
      refuses(error) { _ = try harbours.where { !($0.ferry == 2 || $0.any == 1) }.count() }
      refuses(error) { _ = try harbours.where { $0.ferry.in([1, 2]) }.ids() }
      refuses(error) { _ = try harbours.where { $0.past.contains(2) }.fetch() }
      refuses(error) { _ = try database.query(Ferry.self).where { $0.id == 2 }.fetch() }
      refuses(error) { _ = try database.query(Sailer.self).where { $0.tow == 2 }.fetch() }
      refuses(error) { _ = try harbours.where { $0.sailers.any { $0.tow == 2 } }.fetch() }
      #expect(
        try harbours.where {
          $0.ferry == 1; $0.any == 2; $0.sailers.contains(2)
        }.count() == 1)
      let count = try harbours.where { $0.ferry == 7 }.count()
      #expect(count == 0)
      #expect(try database.query(Boat.self).where { $0.id == 2 }.count() == 1)
    }
  }

  @Test("is one like any other when the record has become that case, or is not there")
  func allowed() throws {
    try withDatabase { database in
      try database.register(Boat.self, Harbour.self)
      // A reference without a rule may name what is not there yet.
      try database.insert(Harbour(id: 1, ferry: 2, sailers: [9]))
      try database.insert(Sailer(id: 2))
      // An older reference stays, and an update of something else is not refused for it.
      try database.update(Harbour.ID(1)) { $0.any = 2 }
      try database.write { try $0.update("harbours/1", ["any": 1, "past": [9]]) }
      #expect(throws: DatabaseError.self) {
        try database.update(Harbour.ID(1)) { $0.fees = [2: 1] }
      }
      try database.upsert(Boat.ferry(Ferry(id: 2, seats: 3)))
      try database.update(Harbour.ID(1)) { $0.fees = [2: 1] }
      #expect(try database.query(Harbour.self).where { $0.ferry.seats == 3 }.count() == 1)
      #expect(try database.get(Ferry.ID(2)).seats == 3)
    }
  }
}
