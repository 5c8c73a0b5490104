// Goal: what a schema says about a property for people, and under a condition, holds. Method: one
// model with each, through every way of writing; the declaration read back from the database.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A property")
struct PropertyTests {
  struct Trip: Cambium.Model, Equatable {
    typealias Key = Int
    enum Status: String, RawProperty { case booked, cancelled }
    var id = ID()
    var number = 0
    var status = Status.booked
    var reason: String?
    var refund = 0
    var place = Airport.Place()

    static let schema = ModelSchema<Trip>("trips") {
      Property(\.number).labelled("Trip number", "Printed on the ticket").rejected(outside: 0...999)
      Property(\.reason).labelled("Why").stored { $0.status == .cancelled }
        .required { $0.status == .cancelled && $0.refund > 0 }
      Property(\.refund).stored { $0.status == .cancelled }.defaultOnEmpty()
    }
  }

  @Test("tells its label and what else is known, by its key path and from the database")
  func labels() throws {
    #expect(Trip.schema[\.number]?.label == "Trip number")
    #expect(Trip.schema[\.number]?.documentation == "Printed on the ticket")
    #expect(Trip.schema[\.number]?.type == .integer && Trip.schema[\.number]?.domain != nil)
    #expect(Trip.schema[\.reason]?.label == "Why" && Trip.schema[\.reason]?.documentation == nil)
    #expect(Trip.schema[\.place.latitude]?.name == "place.latitude")
    #expect(Trip.schema[\.place] == nil && Trip.schema[\.id] == nil)
    let names = Trip.schema.definition.properties.map(\.name)
    #expect(
      names == ["number", "status", "reason", "refund", "place.latitude", "place.longitude"])
    try withDatabase { database in
      try database.register(Trip.self)
      let stored = try database.read { try $0.definition(of: "trips") }
      #expect(stored?["number"]?.label == "Trip number" && stored == Trip.schema.definition)
      let head = try database.head
      try database.register(Trip.self)
      #expect(try database.head == head)
    }
  }

  @Test("is stored and required under conditions, however it is written")
  func conditions() throws {
    try withDatabase { database in
      try database.register(Trip.self)
      func stored() throws -> [String] {
        let value = try database.read { try $0["trips/1"].value }
        guard case .map(let record)? = value else { return [] }
        return record.members.map(\.name).filter { ["reason", "refund"].contains($0) }
      }
      let trip = Trip(id: 1, reason: "rain", refund: 5)
      try database.insert(trip)
      #expect(try stored() == [])
      #expect(try database.get(trip.id).reason == nil)
      try database.write { tx in
        try tx.update(trip.id) { ($0.status, $0.reason, $0.refund) = (.cancelled, "rain", 5) }
      }
      #expect(try stored() == ["reason", "refund"])
      #expect(throws: ValidationError.self) {
        try database.write { tx in try tx.update(trip.id) { $0.reason = nil } }
      }
      #expect(throws: ValidationError.self) {
        try database.write { tx in try tx.set(trip.id, \.reason, to: nil) }
      }
      try database.write { tx in try tx.set(trip.id, \.status, to: .booked) }
      #expect(try stored() == [])
      #expect(try database.get(trip.id).refund == 0)
      try database.write { tx in
        try tx.set(trip.id, \.reason, to: "snow")
        try tx.increment(trip.id, \.refund, by: 3)
      }
      #expect(try stored() == [])
      #expect(try database.get(trip.id) == Trip(id: 1))
      try database.write { tx in _ = try tx.upsert(trip) }
      #expect(try database.get(trip.id) == Trip(id: 1))
      #expect(
        Trip(id: 2, status: .cancelled, refund: 1).validationErrors().map(\.property) == ["reason"])
    }
  }

  @Test("that is required under a condition is so whichever property brings that about")
  func requiredByOthers() throws {
    try withDatabase { database in
      try database.register(Trip.self)
      let id = try database.insert(Trip(id: 1, status: .cancelled))
      let head = try database.head
      let error = #expect(throws: ValidationError.self) {
        try database.write { tx in try tx.set(id, \.refund, to: 5) }
      }
      #expect(error?.messages == ["reason is required"])
      #expect(throws: ValidationError.self) {
        try database.write { tx in try tx.increment(id, \.refund, by: 5) }
      }
      #expect(try database.head == head)
      try database.write { tx in
        try tx.set(id, \.reason, to: "rain")
        try tx.increment(id, \.refund, by: 5)
      }
      #expect(try database.get(id) == Trip(id: 1, status: .cancelled, reason: "rain", refund: 5))
    }
  }

  @Test("is the same in every store")
  func stores() throws {
    let store = try MemoryStore(for: Trip.self)
    let kept = try store.create(Trip(id: 1, reason: "rain"))
    #expect(kept == Trip(id: 1))
    let cancelled = try store.update(kept.id) { ($0.status, $0.reason) = (.cancelled, "ice") }
    #expect(cancelled.reason == "ice")
  }
}
